// Loops of statements: what they hold, what a round leaves to the next, and what is refused.
#include "notation/Loops.h"
#include "Support.h"

namespace tulle::notation {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::map<std::string, Binding> solver = {{"A", input({4, 4})}, {"p", input({4})}, {"x", input({4})},
                                               {"r", input({4})},    {"rr", input({})}, {"b", input({4})}};

/// Of `solver`, what the program uses; nothing where the text does not parse.
std::map<std::string, Binding> bindingsOf(std::string_view text) {
  std::map<std::string, Binding> used;
  try {
    for (const TensorUse &use : tensorsUsed(text))
      if (auto it = solver.find(use.name); it != solver.end())
        used.insert(*it);
  } catch (const support::SyntaxError &) {
  }
  return used;
}

Program checked(std::string_view text) { return check(text, bindingsOf(text)); }
std::string refused(std::string_view text) { return refusal(text, bindingsOf(text)); }

std::vector<std::string> namesWhere(const Program &program, const std::vector<bool> &holds) {
  std::vector<std::string> names;
  for (size_t t = 0; t < holds.size(); ++t)
    if (holds[t])
      names.push_back(program.tensors[t].name);
  return names;
}

constexpr std::string_view gradients =
    "repeat 500 { q(i) = A(i,j) * p(j); pq = p(i) * q(i); a = rr / pq; x(i) += a * p(i); r(i) -= a * q(i); "
    "s = r(i) * r(i); p(i) = r(i) + s / rr * p(i); rr = s } until rr < 1e-16";

TEST(Loops, AreIntervalsOfStatements) {
  const Program program =
      checked("s = r(i); repeat 3 { t = s; repeat 2 { s += r(i) }; repeat 7 { u = s } until u > 1; } v = s");
  ASSERT_EQ(program.loops.size(), 3u);
  auto interval = [&](unsigned l) { return std::pair(program.loops[l].begin, program.loops[l].end); };
  EXPECT_EQ(interval(0), std::pair(1u, 5u));
  EXPECT_EQ(interval(1), std::pair(2u, 3u));
  EXPECT_EQ(interval(2), std::pair(3u, 5u)); // with its condition
  EXPECT_EQ(program.loops[2].most, 7);
  EXPECT_FALSE(program.loops[0].until);
  ASSERT_TRUE(program.loops[2].until);
  const TensorDecl &condition = program.tensors[*program.loops[2].until];
  EXPECT_EQ(condition.type, ElementType::Bool);
  EXPECT_TRUE(condition.condition);
  EXPECT_FALSE(condition.result);
  EXPECT_THAT(computedNames(program), Not(testing::Contains("until")));
}

TEST(Loops, StatementsThatBecomeSeveralStayInTheirLoop) {
  const Program program = checked("repeat 3 { r(i) = b(i) - A(i,j) * x(j) } y(i) = r(i)");
  ASSERT_EQ(program.statements.size(), 3u);
  EXPECT_EQ(program.loops[0].begin, 0u);
  EXPECT_EQ(program.loops[0].end, 2u);
}

TEST(Loops, CarryWhatIsReadBeforeItIsWritten) {
  const Program program = checked(gradients);
  EXPECT_THAT(namesWhere(program, carriedTensors(program)), ElementsAre("p", "rr", "x", "r"));
  const Program fresh = checked("r(i) = b(i); repeat 3 { m(i) max= A(i,j) where A; r(i) = m(i) }");
  EXPECT_THAT(namesWhere(fresh, carriedTensors(fresh)), ElementsAre());
  const Program outer = checked("u = rr; repeat 3 { v = u; repeat 2 { w = v; u = w } }");
  EXPECT_THAT(namesWhere(outer, carriedTensors(outer)), ElementsAre("u"));
}

TEST(Loops, AReductionStartsAnewUnlessItHasAValueBefore) {
  const Program program = checked("repeat 3 { m(i) max= A(i,j) where A; m(i) max= p(i); x(i) += m(i) }");
  EXPECT_FALSE(program.statements[0].accumulate);
  EXPECT_TRUE(program.statements[1].accumulate);
  EXPECT_TRUE(program.statements[2].accumulate);
}

TEST(Loops, ResultsAreWhatTheLastRoundLeaves) {
  const Program program =
      checked("u(i) = b(i); repeat 9 { v(i) = A(i,j) * u(j); e = v(i) * u(i); u(i) = v(i) } until e < 1");
  std::vector<bool> results;
  for (const TensorDecl &tensor : program.tensors)
    results.push_back(tensor.result);
  EXPECT_THAT(namesWhere(program, results), ElementsAre("u", "e"));
}

TEST(Loops, PrintAsTextThatMeansTheSame) {
  constexpr std::string_view text =
      "u = rr; repeat 3 { v = u; repeat 2 { w = v; u = w } } until (u < 1) & (v > 2); x(i) = u * b(i)";
  const std::string printed = print(checked(text));
  EXPECT_EQ(printed, "u() = rr();\n"
                     "repeat 3 {\n"
                     "  v() = u();\n"
                     "  repeat 2 {\n"
                     "    w() = v();\n"
                     "    u() = w()\n"
                     "  }\n"
                     "} until (u() < 1.0) & (v() > 2.0);\n"
                     "x(i) = u() * b(i)\n");
  EXPECT_EQ(print(checked(printed)), printed);
  const std::string cg = print(checked(gradients));
  EXPECT_EQ(print(checked(cg)), cg);
}

/// The program with a statement inlined, or why that cannot be.
std::string inlined(std::string_view text, std::string_view statement) {
  Program program = checked(text);
  for (size_t s = 0; s < program.statements.size(); ++s)
    if (nameOf(program, s) == statement) {
      const std::string why = inlineStatement(program, s);
      return why.empty() ? print(program) : why;
    }
  return "no such statement";
}

TEST(Loops, StatementsAreInlinedWithinARound) {
  EXPECT_EQ(inlined("s = r(i); repeat 3 { u = 2 * s; repeat 2 { v = s; w = v + 1 } s = u } until s > 1", "v"),
            "s() = r(i);\n"
            "repeat 3 {\n"
            "  u() = 2.0 * s();\n"
            "  repeat 2 {\n"
            "    w() = s() + 1.0\n"
            "  };\n"
            "  s() = u()\n"
            "} until s() > 1.0\n");
  EXPECT_EQ(inlined("u = 2 * rr; repeat 3 { v = u + rr }", "u"), "v is in another loop");
  EXPECT_EQ(inlined("repeat 3 { u = 2 * rr } v = u", "u"), "v is in another loop");
  EXPECT_EQ(inlined("u = rr; repeat 3 { v = u; u = 2 * v }", "u#2"), "the next round of a loop reads it");
  EXPECT_EQ(inlined("x(i) = 2 * x(i); y(i) = x(i)", "x"), "it reads its own old value");
}

TEST(Loops, StepsRunInTheirRounds) {
  const std::vector<Loop> loops = {{1, 4, 2, {}}, {1, 2, 2, {}}, {3, 4, 3, {}}, {4, 5, 1, {}}};
  std::string steps;
  runSteps(
      loops, 0, 6, [&](unsigned s) { steps += std::to_string(s); },
      [&](const Loop &loop) { return &loop != &loops[2]; });
  EXPECT_EQ(steps, "0"
                   "1123"
                   "1123"
                   "45");
}

TEST(Loops, WithoutAFirstValueAreRefused) {
  EXPECT_THAT(
      refused("repeat 3 { t = s; s = r(i) }"),
      AllOf(HasSubstr("<expr>:1:16: error: 's' has no value in the first round; give its first value, or "
                      "write it before the loop"),
            HasSubstr("<expr>:1:19: note: written here")));
  EXPECT_THAT(refused("repeat 3 { n += r(i) }"),
              AllOf(HasSubstr("<expr>:1:14: error: 'n' has no value in the first round"),
                    HasSubstr("write = for that, or give its first value")));
  EXPECT_THAT(refused("repeat 3 { y(i) = y(i) + r(i) }"), HasSubstr("'y' has no value in the first round"));
  EXPECT_THAT(refused("repeat 3 { t = r(i) } until zz > t"), HasSubstr("tensor 'zz' has no value"));
  EXPECT_THAT(refused("repeat 3 { t = u } u = r(i)"), HasSubstr("swap the statements"));
}

TEST(Loops, ConditionsCompareSingleValues) {
  EXPECT_THAT(refused("repeat 3 { x(i) = r(i) } until x(i) < 1"),
              AllOf(HasSubstr("<expr>:1:32: error: 'until' compares single values, but 'x' has subscripts"),
                    HasSubstr("s = r(i) * r(i)")));
  EXPECT_THAT(refused("repeat 3 { x(i) = r(i) } until x < 1"), HasSubstr("'x' is used with 0 subscripts"));
  EXPECT_THAT(refused("repeat 3 { s = r(i) } until s < 1 < 2"), HasSubstr("comparisons do not chain"));
  EXPECT_THAT(refused("repeat 3 { s = r(i) } until s < 1 where A"),
              HasSubstr("expected an operator, ';' or the end"));
}

TEST(Loops, SyntaxErrorsPointAtTheirPlace) {
  EXPECT_THAT(
      refused("repeat { s = r(i) }"),
      AllOf(HasSubstr("<expr>:1:8: error: expected the number of rounds"), HasSubstr("repeat 100 {")));
  EXPECT_THAT(refused("repeat n { s = r(i) }"), HasSubstr("expected the number of rounds"));
  EXPECT_THAT(refused("repeat 0 { s = r(i) }"),
              HasSubstr("<expr>:1:8: error: a loop has at least one round"));
  EXPECT_THAT(refused("repeat 3 s = r(i)"), HasSubstr("expected '{' and the statements of the loop"));
  EXPECT_THAT(refused("repeat 3 { s = r(i)"), AllOf(HasSubstr("expected ';' or '}', found the end"),
                                                    HasSubstr("<expr>:1:10: note: to match this '{'")));
  EXPECT_THAT(refused("repeat 3 { ; }"), HasSubstr("<expr>:1:1: error: the loop has no statement"));
  EXPECT_THAT(refused("s = r(i) }"), HasSubstr("<expr>:1:10: error: this '}' closes no loop"));
  EXPECT_THAT(refused("repeat 3 { s = r(i) t = s }"), HasSubstr("expected an operator, 'where', ';' or '}'"));
  EXPECT_THAT(refused("s = r(i) until s > 1"), HasSubstr("expected an operator"));
  EXPECT_THAT(refused("repeat(i) = r(i)"), HasSubstr("expected the number of rounds"));
  EXPECT_THAT(refused("t = until"), HasSubstr("'until' is a word of the notation"));
  std::string nested;
  for (int n = 0; n < 700; ++n)
    nested += "repeat 1 { ";
  EXPECT_THAT(refused(nested), HasSubstr("nested deeper"));
}

TEST(Loops, AStatementReadsTheOldValueOfItsResult) {
  const Program program = checked("x(i) = 2 * b(i) - A(i,j) * x(j)");
  ASSERT_EQ(program.statements.size(), 2u);
  EXPECT_EQ(print(program, program.statements[0]), "x(i) = -(A(i,j) * x(j))"); // before x has changed
  EXPECT_EQ(print(program, program.statements[1]), "x(i) += 2.0 * b(i)");
  EXPECT_THAT(
      refused("x(i) = x(i) - A(i,j) * x(j)"),
      AllOf(HasSubstr("<expr>:1:24: error: 'x' is written by this statement, whose terms are summed over "
                      "different indices"),
            HasSubstr("under another name")));
}

} // namespace
} // namespace tulle::notation
