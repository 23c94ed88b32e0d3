// decompose on checked programs: what statements become, and what replays it.
#include "Support.h"

namespace tulle::notation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Program scheduled(std::string_view text, std::string_view schedule) {
  std::map<std::string, Binding> bindings;
  for (const TensorUse &use : tensorsUsed(text)) {
    bindings[use.name] = {ElementType::F64, std::vector<int64_t>(use.order, 6), std::nullopt, !use.written};
    if (use.order == 2)
      bindings[use.name].encoding = format::parseFormat("CSR", 2);
  }
  Program program = check(text, bindings);
  applySchedule(program, schedule, {"auto", "merge"});
  return program;
}

std::vector<std::string> statements(const Program &program) {
  std::vector<std::string> texts;
  for (const Statement &s : program.statements)
    texts.push_back(print(program, s));
  return texts;
}

TEST(Decompose, laterPartsAccumulateByTheStatementsOperation) {
  EXPECT_THAT(statements(scheduled("y(i) = A(i,j) * x(j)", "decompose(A, [CSR @ i < 3, CSC @ rest])")),
              ElementsAre("y(i) = A_1(i,j) * x(j)", "y(i) += A_2(i,j) * x(j)"));
  EXPECT_THAT(statements(scheduled("y(i) max= x(j) where A(i,j)", "decompose(A, [CSR @ i < 3, CSC @ rest])")),
              ElementsAre("y(i) max= x(j) where A_1(i,j)", "y(i) max= x(j) where A_2(i,j)"));
  EXPECT_THAT(statements(scheduled("s *= x(i) where A(i,j) & B(i,j)", "decompose(A, [CSR @ rest])")),
              ElementsAre("s() *= x(i) where A_1(i,j) & B(i,j)"));
}

TEST(Decompose, statementsShareParts) {
  const Program program = scheduled("y(i) = A(i,j) * x(j); z(i) = A(j,i) * x(j); w(i) = A(i,j) * y(j)",
                                    "y: decompose(A, [CSR @ i < 3, CSC @ rest]);"
                                    "z: decompose(A, [CSR @ i < 3, CSC @ rest]);"
                                    "w: decompose(A, [COO @ rest])");
  EXPECT_THAT(statements(program),
              ElementsAre("y(i) = A_1(i,j) * x(j)", "y(i) += A_2(i,j) * x(j)", "z(i) = A_1(j,i) * x(j)",
                          "z(i) += A_2(j,i) * x(j)", "w(i) = A_1_(i,j) * y(j)"));
  EXPECT_EQ(program.decompositions.size(), 2u);
}

TEST(Decompose, whatWasSaidBeforeHoldsForAllParts) {
  const Program program = scheduled(
      "y(i) = A(i,j) * x(j)", "reorder(j, i); decompose(A, [CSC @ i < 3, CSC @ rest]); y#2: unroll(i, 2)");
  EXPECT_EQ(program.statements[0].loops.order, program.statements[1].loops.order);
  EXPECT_TRUE(program.statements[0].loops.directives.empty());
  const std::string text = printSchedule(program);
  EXPECT_THAT(text, HasSubstr("decompose(A, ["));
  EXPECT_THAT(text, HasSubstr("; y: reorder(j, i); y#2: reorder(j, i); y#2: unroll(i, 2)"));
  EXPECT_EQ(printSchedule(scheduled("y(i) = A(i,j) * x(j)", text)), text);
}

TEST(Decompose, partsHaveTheWidthsOfTheWhole) {
  std::map<std::string, Binding> bindings;
  bindings["A"] =
      input({6, 6}, ElementType::F64,
            format::parseFormat("(i, j) -> (i : dense, j : compressed), posWidth = 16, crdWidth = 8", 2));
  bindings["x"] = input({6});
  Program program = check("y(i) = A(i,j) * x(j)", bindings);
  applySchedule(
      program,
      "decompose(A, [COO @ i = j, { map = (i, j) -> (i : dense, j : compressed), crdWidth = 64 } @ rest])",
      {});
  EXPECT_EQ(program.tensors[3].encoding.posWidth, 16u);
  EXPECT_EQ(program.tensors[3].encoding.crdWidth, 8u);
  EXPECT_EQ(program.tensors[4].encoding.crdWidth, 64u);
}

/// Of each part but the first, whether it has no row of the first one.
std::vector<bool> disjointRows(std::string_view text, std::vector<int64_t> dims = {6, 6}) {
  TensorDecl decl;
  decl.name = "A";
  decl.encoding = format::parseFormat("COO", unsigned(dims.size()));
  decl.dims = std::move(dims);
  const std::vector<Part> parts = parseParts(text, decl, "parts");
  std::vector<bool> disjoint;
  for (size_t p = 1; p < parts.size(); ++p)
    disjoint.push_back(areDisjoint(parts[0], parts[p], 0));
  return disjoint;
}

TEST(Decompose, aPartThatTakesWholeRowsLeavesNoneOfThem) {
  EXPECT_THAT(disjointRows("[DCSR @ count(j) <= 2, DCSR @ rest]"), ElementsAre(true));
  EXPECT_THAT(disjointRows("[DCSR @ i mod 2 = 0 and count(j) = 2, DCSR @ j > i, DCSR @ rest]"),
              ElementsAre(true, true));
  EXPECT_THAT(disjointRows("[DCSR @ j - i in {0, 1}, DCSR @ rest]"), ElementsAre(false));
  EXPECT_THAT(disjointRows("[DCSR @ count(i) <= 2, DCSR @ rest]"), ElementsAre(false));
  EXPECT_THAT(disjointRows("[DCSR @ count(j) = 2 and j < 3, DCSR @ rest]"), ElementsAre(false));
  // A row may have two entries among some columns, and more among others.
  EXPECT_THAT(disjointRows("[DCSR @ count(j within 3) <= 2, DCSR @ rest]"), ElementsAre(false));
  EXPECT_THAT(disjointRows("[DCSR @ fill(2, 2) >= 1/2, DCSR @ rest]"), ElementsAre(false));
  EXPECT_THAT(disjointRows("[CSF @ count(j) = 2, CSF @ rest]", {6, 6, 6}), ElementsAre(false));
  EXPECT_THAT(disjointRows("[CSF @ count(j, k) = 2, CSF @ rest]", {6, 6, 6}), ElementsAre(true));
}

TEST(Decompose, partsOfTheSameColumnsHaveDisjointRows) {
  EXPECT_THAT(disjointRows("[DCSR @ j / 3 = 0 and count(j within 3) <= 1, DCSR @ j / 3 = 0, DCSR @ rest]"),
              ElementsAre(true, false));
  EXPECT_THAT(disjointRows("[DCSR @ j / 2 = 0 and count(j within 3) <= 1, DCSR @ j / 2 = 0]"),
              ElementsAre(false));
}

TEST(Decompose, rowsOfOneLengthHaveNoPadding) {
  auto isFull = [](std::string_view format, std::string_view pattern) {
    TensorDecl decl;
    decl.name = "A";
    decl.dims = {6, 6};
    decl.encoding = format::parseFormat("COO", 2);
    return hasNoPadding(parseParts(fmt::format("[{} @ {}]", format, pattern), decl, "parts").front());
  };
  const std::string three = "(i, j) -> (i : compressed, j : fixed[3](padded))";
  EXPECT_TRUE(isFull(three, "count(j) = 3"));
  EXPECT_TRUE(isFull("(i, j) -> (i : compressed, j : fixed[1](padded))", "count(j) <= 1"));
  EXPECT_TRUE(isFull(three, "j / 3 = 1 and count(j within 3) = 3 and i < 4"));
  EXPECT_TRUE(isFull("(i, j) -> (j : compressed, i : fixed[3])", "count(i) = 3"));
  EXPECT_FALSE(isFull(three, "count(j) <= 3"));
  EXPECT_FALSE(isFull(three, "count(j) = 2"));
  EXPECT_FALSE(isFull(three, "count(i) = 3"));
  EXPECT_FALSE(isFull(three, "count(j) = 3 and j > 2"));
  EXPECT_FALSE(isFull(three, "count(j) = 3 and j / 3 = 0"));                   // of the whole row
  EXPECT_FALSE(isFull(three, "count(j within 3) = 3"));                        // maybe twice in a row
  EXPECT_FALSE(isFull(three, "count(j) = 3 and count(i) <= 2"));               // some of the row
  EXPECT_FALSE(isFull("(i, j) -> (i : dense, j : fixed[3])", "count(j) = 3")); // other rows have none
}

TEST(Decompose, aRefusedOneLeavesTheProgram) {
  for (const char *text :
       {"y(i) = A(i,j) + x(j)", "y(i) = A(i,j) * A(j,i)", "C(i,j) = 2 * A(i,j)", "y(i) = x(j) where ~A(i,j)"})
    EXPECT_THROW(scheduled(text, "decompose(A, [CSR @ i < 3, CSC @ rest])"), support::SyntaxError) << text;
}

} // namespace
} // namespace tulle::notation
