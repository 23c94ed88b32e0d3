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
  applySchedule(program, schedule);
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
  applySchedule(program, " assemble ( D , bound ) ;assemble(C,count); ");
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
  applySchedule(program, "assemble(C, count)");
  EXPECT_EQ(program.statements[0].plan, AssemblyPlan::Count);
  EXPECT_EQ(program.statements[1].plan, AssemblyPlan::Count);
  EXPECT_EQ(printSchedule(program), "assemble(C, count)");
}

TEST(Schedule, errorsPointAtTheirPlace) {
  EXPECT_THAT(errorOf("reorder(i, j)"), HasSubstr("<schedule>:1:1: error: unknown primitive 'reorder'"));
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

} // namespace
} // namespace tulle::notation
