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

TEST(Decompose, aRefusedOneLeavesTheProgram) {
  for (const char *text :
       {"y(i) = A(i,j) + x(j)", "y(i) = A(i,j) * A(j,i)", "C(i,j) = 2 * A(i,j)", "y(i) = x(j) where ~A(i,j)"})
    EXPECT_THROW(scheduled(text, "decompose(A, [CSR @ i < 3, CSC @ rest])"), support::SyntaxError) << text;
}

} // namespace
} // namespace tulle::notation
