// Schedules: what parses, what it is put on, and where errors point.
#include "Support.h"
#include "notation/Program.h"

namespace tulle::notation {
namespace {

using testing::HasSubstr;

/// A and B are CSR matrices, and so is every result but y.
Program checked(std::string_view text) {
  std::map<std::string, Binding> bindings;
  for (const TensorUse &use : tensorsUsed(text)) {
    bindings[use.name] = {ElementType::F64, std::vector<int64_t>(use.order, 3), std::nullopt, !use.written};
    if (use.order == 2)
      bindings[use.name].encoding = format::parseFormat("CSR", 2);
  }
  return check(text, bindings);
}

std::string applied(std::string_view text, std::string_view schedule) {
  Program program = checked(text);
  applySchedule(program, schedule, {"auto", "merge", "gallop"});
  return printSchedule(program);
}

std::string errorOf(std::string_view schedule) {
  try {
    applied("C(i,j) = A(i,k) * B(k,j); D(i,j) = 2 * C(i,j); y(i) = D(i,j) * x(j)", schedule);
  } catch (const support::SyntaxError &error) {
    return error.what();
  }
  return "no error";
}

TEST(Schedule, plansAreThoseOfTheStatements) {
  Program program = checked("C(i,j) = A(i,k) * B(k,j); D(i,j) = A(i,j) + B(i,j); E(i,j) = A(i,j) - B(i,j)");
  applySchedule(program, " assemble ( D , bound ) ;assemble(C,count); ", {});
  EXPECT_EQ(program.statements[0].plan, AssemblyPlan::Count);
  EXPECT_EQ(program.statements[1].plan, AssemblyPlan::Bound);
  EXPECT_EQ(program.statements[2].plan, AssemblyPlan::Auto);
  EXPECT_EQ(printSchedule(program), "assemble(C, count); assemble(D, bound)");
}

TEST(Schedule, nothingIsASchedule) {
  EXPECT_EQ(applied("C(i,j) = A(i,j) + B(i,j)", ""), "");
  EXPECT_EQ(applied("C(i,j) = A(i,j) + B(i,j)", "assemble(C, grow)"), "assemble(C, grow)");
}

TEST(Schedule, statementsOfOneResultShareItsPlan) {
  Program program = checked("C(i,j) = A(i,k) * B(k,j); C(i,j) += A(i,j)");
  applySchedule(program, "assemble(C, count)", {});
  EXPECT_EQ(program.statements[0].plan, AssemblyPlan::Count);
  EXPECT_EQ(program.statements[1].plan, AssemblyPlan::Count);
  EXPECT_EQ(printSchedule(program), "assemble(C, count)");
}

TEST(Schedule, loopsAreNamedByIndicesAndDigitsOfThem) {
  Program program = checked("y(i) = A(i,j) * x(j)");
  applySchedule(program, "reorder(j / 4, i, j%4); strategy(i, merge)", {"auto", "merge"});
  EXPECT_THAT(program.statements[0].loops.order, testing::ElementsAre("j/4", "i", "j%4"));
  EXPECT_EQ(program.statements[0].loops.strategies[0].loop, "i");
  EXPECT_EQ(printSchedule(program), "reorder(j/4, i, j%4); strategy(i, merge)");
}

TEST(Schedule, aPrimitiveIsForAllStatementsThatFitOrForTheOneNamed) {
  constexpr auto text = "y(i) = A(i,j) * x(j); y(i) += B(i,j) * x(j); z(k) = y(k)";
  EXPECT_EQ(applied(text, "reorder(j, i)"), "y: reorder(j, i); y#2: reorder(j, i)");
  EXPECT_EQ(applied(text, "y#2: reorder(j, i); y: strategy(j, gallop)"),
            "y: strategy(j, gallop); y#2: reorder(j, i)");
  EXPECT_EQ(applied(text, "reorder(k)"), "z: reorder(k)");
}

TEST(Schedule, conversionsKeepWhatIsNotStored) {
  Program program = checked("y(i) = A(i,j) * x(j)");
  program.tensors[1].encoding.fill = "inf";
  applySchedule(program, "convert(A, BCSR(4,4)) // blocks", {});
  const format::Encoding &made = program.statements[0].loops.conversions[0].format;
  EXPECT_EQ(made.fill, "inf");
  EXPECT_EQ(made.levels.size(), 4u);
}

TEST(Schedule, aConversionLosesWhatADenseMaskStores) {
  const auto convert = [](std::string_view text) {
    return applied(text, "convert(x, (i) -> (i : compressed))");
  };
  EXPECT_THAT(convert("y(i) = A(i,j) * x(j)"), HasSubstr("convert(x, "));
  EXPECT_THROW(convert("y(i) = A(i,j) where x(i)"), support::SyntaxError);
}

TEST(Schedule, errorsOfLoopsPointAtTheirPlace) {
  EXPECT_THAT(errorOf("unroll(i, 1)"), HasSubstr("a power of two from 2 to 64"));
  EXPECT_THAT(errorOf("vectorize(i, 3)"), HasSubstr("a power of two from 1 to 64"));
  EXPECT_THAT(errorOf("parallelize(i, atomic)"),
              HasSubstr("expected one of none, entries, disjoint, reduce, private, destination"));
  EXPECT_THAT(errorOf("unroll(i, 2); unroll(i, 4)"), HasSubstr("has unroll already"));
  EXPECT_THAT(errorOf("compute_at(y, i)"), HasSubstr("no later statement reads it"));
  EXPECT_THAT(errorOf("compute_at(C, q)"), HasSubstr("no index 'q'"));
  EXPECT_THAT(errorOf("compute_root(C); compute_at(C, i)"), HasSubstr("C has a place already"));
  EXPECT_THAT(errorOf("D: compute_root(C)"), HasSubstr("compute_root names its statement itself"));
  EXPECT_THAT(errorOf("reorder(i, q)"), HasSubstr("1:12: error: no index 'q': the program has i, j, k"));
  EXPECT_THAT(errorOf("reorder(i, j, i)"), HasSubstr("1:15: error: 'i' stands twice in the order"));
  EXPECT_THAT(errorOf("reorder(i/0, j)"), HasSubstr("1:11: error: a block has at least two coordinates"));
  EXPECT_THAT(errorOf("strategy(k%1, merge)"),
              HasSubstr("1:12: error: a block has at least two coordinates"));
  EXPECT_THAT(errorOf("D: reorder(i, k)"), HasSubstr("1:12: error: the statement D has no loops over all"));
  EXPECT_THAT(errorOf("E: reorder(i)"), HasSubstr("1:1: error: no such statement: the program has C, D, y"));
  EXPECT_THAT(errorOf("C#2: reorder(i)"), HasSubstr("1:1: error: no such statement"));
  EXPECT_THAT(errorOf("C: reorder(i, j); reorder(i)"), HasSubstr("1:19: error: C has an order already"));
  EXPECT_THAT(errorOf("strategy(i, hop)"),
              HasSubstr("1:13: error: unknown strategy 'hop': expected one of auto, merge, gallop"));
  EXPECT_THAT(errorOf("strategy(i, merge); strategy(i, gallop)"),
              HasSubstr("1:30: error: the loop over i has a strategy already"));
  EXPECT_THAT(errorOf("convert(C, CSR); C: convert(C, CSR)"),
              HasSubstr("1:9: error: 'D' is stored where 'C' is"));
  EXPECT_THAT(errorOf("C: convert(x, CSR)"), HasSubstr("1:12: error: 'x' is no operand of the statement C"));
  EXPECT_THAT(errorOf("tile(i, 4)"), HasSubstr("1:1: error: there is no primitive 'tile': split each loop"));
  EXPECT_THAT(errorOf("convert(B, CSRR)"), HasSubstr("1:12: error: unknown format"));
  EXPECT_THAT(errorOf("convert(B, CSR; reorder(i)"), HasSubstr("error: expected"));
  EXPECT_THAT(errorOf("convert(B, dense)"), HasSubstr("1:9: error: 'B' would store other coordinates"));
  EXPECT_THAT(errorOf("C: assemble(C, count)"), HasSubstr("assemble names its result itself"));
}

TEST(Schedule, whatIsSaidOfALoopPrintsAndParses) {
  constexpr auto text = "y(i) = A(i,j) * x(j)";
  for (const char *schedule : {"parallelize(i)", "parallelize(i, disjoint); vectorize(j, 8); unroll(j, 2)",
                               "parallelize(i, none)", "vectorize(j, 1)", "unroll(j, 64)"})
    EXPECT_EQ(applied(text, schedule), schedule);
}

TEST(Schedule, placesAreOfStatementsThatAreRead) {
  constexpr auto text = "y(i) = A(i,j) * x(j); y(i) += B(i,j) * x(j); z(i) = y(i) * y(i)";
  EXPECT_EQ(applied(text, "compute_at(y#2, i_block, i); compute_root(y)"),
            "compute_root(y); compute_at(y#2, i_block, i)");
}

/// The statements that are left when some are inlined.
std::string inlined(std::string_view text, std::string_view schedule) {
  Program program = checked(text);
  for (TensorDecl &t : program.tensors)
    if (t.name == "h" || t.name == "g")
      t.encoding = format::parseFormat("dense", unsigned(t.dims.size()));
  applySchedule(program, schedule, {});
  std::string result;
  for (const Statement &s : program.statements)
    result += (result.empty() ? "" : "; ") + print(program, s);
  return result;
}

TEST(Schedule, anInlinedStatementStandsWhereItWasRead) {
  EXPECT_EQ(inlined("h(j,k) = relu(B(j,k)); y(i) = A(i,j) * h(j,k) * h(i,j)", "compute_inline(h)"),
            "y(i) = A(i,j) * relu(B(j,k)) * relu(B(i,j))");
  EXPECT_EQ(
      inlined("h(i) = x(i) + 1; g(i) = h(i) * h(i); y(i) = g(i)", "compute_inline(h); compute_inline(g)"),
      "y(i) = (x(i) + 1.0) * (x(i) + 1.0)");
  // A mask moves to the reader, which is neutral where it is not.
  EXPECT_EQ(inlined("h(i,j) = exp(A(i,j)) where A; y(i) = h(i,j)", "compute_inline(h)"),
            "y(i) = exp(A(i,j)) where A(i,j)");
}

TEST(Schedule, whatCannotBeInlinedIsRefusedWithTheReason) {
  auto error = [](std::string_view text, std::string_view schedule = "compute_inline(h)") {
    try {
      return "no error: " + inlined(text, schedule);
    } catch (const support::SyntaxError &error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(error("h(i) = A(i,j) * x(j); y(i) = h(i)"), HasSubstr("it is a reduction"));
  EXPECT_THAT(error("h(i) = x(i); h(i) *= g(i); y(i) = h(i)", "compute_inline(h#2)"),
              HasSubstr("it is no assignment"));
  EXPECT_THAT(error("h(i) = x(i); h(i) += x(i); y(i) = h(i)"), HasSubstr("h#2 changes it"));
  EXPECT_THAT(error("g(i) = x(i); h(i) = g(i); g(i) += x(i); y(i) = h(i) + g(i)"),
              HasSubstr("g#2 changes what it is computed from"));
  EXPECT_THAT(error("h(i,j) = exp(A(i,j)) where A; y(i) = exp(h(i,j))"), HasSubstr("it has a mask"));
  EXPECT_THAT(error("h(i) = x(i); y(i) = h(i)", "h: reorder(i); compute_inline(h)"),
              HasSubstr("is put on its loops"));
  std::string many = "h(i) = x(i)";
  std::string schedule = "compute_inline(h)";
  for (char c = 'a'; c < 'g'; ++c) {
    const std::string last = c == 'a' ? "h" : fmt::format("v{}", char(c - 1));
    many += fmt::format("; v{0}(i) = {1}(i) * {1}(i) * {1}(i) * {1}(i)", c, last);
    if (c != 'a')
      schedule += fmt::format("; compute_inline({})", last);
  }
  EXPECT_THAT(error(many, schedule), HasSubstr("too large"));
}

TEST(Schedule, errorsPointAtTheirPlace) {
  EXPECT_THAT(errorOf("unroll(i, 1)"), HasSubstr("a power of two from 2 to 64"));
  EXPECT_THAT(errorOf("vectorize(i, 3)"), HasSubstr("a power of two from 1 to 64"));
  EXPECT_THAT(errorOf("parallelize(i, atomic)"),
              HasSubstr("1:16: error: unknown way 'atomic': expected one of none, entries, disjoint, reduce, "
                        "private, destination"));
  EXPECT_THAT(errorOf("unroll(i, 2); unroll(i, 4)"), HasSubstr("has unroll already"));
  EXPECT_THAT(errorOf("compute_at(y, i)"), HasSubstr("1:12: error: no later statement reads it"));
  EXPECT_THAT(errorOf("compute_at(C, q)"), HasSubstr("1:15: error: no index 'q'"));
  EXPECT_THAT(errorOf("compute_root(C); compute_at(C, i)"), HasSubstr("C has a place already"));
  EXPECT_THAT(errorOf("D: compute_root(C)"), HasSubstr("compute_root names its statement itself"));
  EXPECT_THAT(errorOf("compute_inline(C)"),
              HasSubstr("1:1: error: 'C' cannot be inlined: it is a reduction"));
  EXPECT_THAT(errorOf("reordr(i, j)"), HasSubstr("<schedule>:1:1: error: unknown primitive 'reordr'"));
  EXPECT_THAT(errorOf("assemble(C)"), HasSubstr("1:11: error: expected ','"));
  EXPECT_THAT(errorOf("assemble(C, guess)"), HasSubstr("1:13: error: unknown plan 'guess': expected count"));
  EXPECT_THAT(errorOf("assemble(A, count)"),
              HasSubstr("1:10: error: 'A' is no result of the program, which computes C, D, y"));
  EXPECT_THAT(errorOf("assemble(C, count) assemble(C, grow)"), HasSubstr("1:20: error: expected ';'"));
  EXPECT_THAT(errorOf("assemble(C, count); assemble(C, grow)"),
              HasSubstr("1:30: error: 'C' has a plan already"));
  EXPECT_THAT(errorOf("assemble(D, count)"),
              HasSubstr("1:10: error: 'D' is stored where an operand is stored"));
  EXPECT_THAT(errorOf("assemble(y, count)"), HasSubstr("1:10: error: 'y' is dense"));
  EXPECT_THAT(errorOf("assemble"), HasSubstr("expected '('"));
}

TEST(Schedule, partsOfALoopHaveNames) {
  EXPECT_EQ(applied("y(i) = A(i,j) * x(j)",
                    "reorder(i, j); split(j, j0, j1, 8); unroll(j1, 2); divide(j0, a, b, 3)"),
            "split(j, j0, j1, 8); divide(j0, a, b, 3); reorder(i, a, b, j1); unroll(j1, 2)");
  EXPECT_EQ(applied("y(i) = A(i,j) * x(j)", "bound(i, 3); jam(i, 2); prefetch(x, j, 16); prefetch(A, j, 0)"),
            "bound(i, 3); jam(i, 2); prefetch(x, j, 16); prefetch(A, j, 0)");
}

TEST(Schedule, whatIsSplitIsNoLoop) {
  EXPECT_THAT(errorOf("split(k, a, b, 2); vectorize(k, 4)"),
              HasSubstr("the loop over k is split: it is two, a and b"));
  EXPECT_THAT(errorOf("split(k, a, b, 2); split(j, a, c, 2)"), HasSubstr("'a' is a loop already"));
  EXPECT_THAT(errorOf("split(k, a, i, 2)"), HasSubstr("'i' is a loop already"));
  EXPECT_THAT(errorOf("split(k/4, a, b, 2)"), HasSubstr("is a tile already"));
  EXPECT_THAT(errorOf("divide(k, a, b, 0)"), HasSubstr("the number of tiles is from 1 to"));
  EXPECT_THAT(errorOf("bound(k, 4)"), HasSubstr("k runs over dimension 1 of 'A', which has size 3"));
  EXPECT_THAT(errorOf("jam(k, 1)"), HasSubstr("the number of iterations at a time is from 2 to 16"));
  EXPECT_THAT(errorOf("prefetch(y, i, 4)"), HasSubstr("'y' is no operand"));
  EXPECT_THAT(errorOf("prefetch(x, k, 4)"), HasSubstr("no statement that reads 'x' has a loop over k"));
}

TEST(Schedule, loopsCountPositions) {
  EXPECT_EQ(
      applied("y(i) = A(i,j) * x(j)", "reorder(i, j); pos(j, p, A); split(p, p0, p1, 8); unroll(p1, 2)"),
      "pos(j, p, A); split(p, p0, p1, 8); reorder(i, p0, p1); unroll(p1, 2)");
  EXPECT_EQ(applied("y(i) = A(i,j) * x(j)", "split(j, a, b, 4); pos(b, p, A)"),
            "split(j, a, b, 4); pos(b, p, A)");
  EXPECT_THAT(errorOf("pos(k, a, A); vectorize(k, 4)"), HasSubstr("the loop over k is called a now"));
  EXPECT_THAT(errorOf("pos(k, a, A); pos(a, b, A)"),
              HasSubstr("1:19: error: the loop over a counts positions of 'A'"));
  EXPECT_THAT(errorOf("pos(k, i, A)"), HasSubstr("'i' is a loop already"));
  EXPECT_THAT(errorOf("pos(k, a, y)"), HasSubstr("'y' is no operand"));
  EXPECT_THAT(errorOf("unroll(k, 2); pos(k, a, A)"), HasSubstr("unroll(k, …) stands before it: say it of a"));
}

TEST(Schedule, twoLoopsAreOne) {
  // What is said of it is said of the inner one, but threads have chunks of the outer one.
  EXPECT_EQ(
      applied("y(i) = A(i,j) * x(j)", "reorder(i, j); fuse(i, j, f); unroll(f, 2); parallelize(f, entries)"),
      "fuse(i, j, f); reorder(f); unroll(j, 2); parallelize(i, entries)");
  const std::string tiled = "fuse(i, j, f); pos(f, p, A); split(p, p0, p1, 8); reorder(p0, p1); unroll(j, 2)";
  EXPECT_EQ(applied("y(i) = A(i,j) * x(j)",
                    "fuse(i, j, f); pos(f, p, A); split(p, p0, p1, 8); reorder(p0, p1); unroll(p1, 2)"),
            tiled);
  EXPECT_EQ(applied("y(i) = A(i,j) * x(j)", tiled), tiled);
}

TEST(Schedule, aPartBecomesAStatement) {
  Program program = checked("y(i) = A(i,j) * x(j) * z(i)");
  applySchedule(program, "precompute(A(i,j)*x(j), i, w); y: unroll(i, 2)", {});
  EXPECT_THAT(print(program), HasSubstr("w(i) = A(i,j) * x(j);\ny(i) = w(i) * z(i)"));
  EXPECT_TRUE(program.statements[1].assign);
  EXPECT_EQ(program.statements[0].loops.place->loops, std::vector<std::string>{"i"});
  EXPECT_EQ(printSchedule(program), "y: precompute(A(i,j)*x(j), i, w); y: unroll(i, 2)");
  // Given back, it makes the same program.
  EXPECT_EQ(applied("y(i) = A(i,j) * x(j) * z(i)", printSchedule(program)), printSchedule(program));
}

TEST(Schedule, aSparsePartHasRows) {
  const std::string text = "D(i,l) = A(i,j) * B(j,k) * B(k,l)",
                    schedule = "D: precompute(A(i,j) * B(j,k), i, w : hashed)";
  Program program = checked(text);
  applySchedule(program, schedule, {});
  EXPECT_THAT(print(program), HasSubstr("w(i,k) = A(i,j) * B(j,k);\nD(i,l) = w(i,k) * B(k,l)"));
  EXPECT_EQ(program.statements[0].loops.workspace, WorkspaceKind::Hashed);
  EXPECT_FALSE(format::isAllDense(program.tensors[program.statements[0].lhs.tensor].encoding));
  EXPECT_EQ(printSchedule(program), schedule);
  EXPECT_EQ(applied(text, schedule + "; compute_at(w, i)"), schedule);
}
} // namespace
} // namespace tulle::notation
