#include "notation/Program.h"
#include <gtest/gtest.h>

namespace tulle::notation {
namespace {

std::vector<std::string> statements(std::string_view text) {
  std::map<std::string, Binding> bindings;
  for (const TensorUse &use : tensorsUsed(text))
    if (!use.written)
      bindings[use.name] = {{}, std::vector<int64_t>(use.order, 4), {}, true};
  Program p = check(text, bindings);
  std::vector<std::string> result;
  for (const Statement &s : p.statements)
    result.push_back(print(p, s) +
                     (s.assign       ? " assign"
                      : s.accumulate ? " accumulate"
                                     : " start") +
                     " over " + std::to_string(s.reductionIndices.size()));
  return result;
}

TEST(Terms, EachTermIsSummedOverItsOwnIndices) {
  auto s = statements("y(i) = b(i) - A(i,j) * x(j)");
  ASSERT_EQ(s.size(), 2u);
  EXPECT_NE(s[0].find("b(i) assign over 0"), std::string::npos) << s[0];
  EXPECT_NE(s[1].find("accumulate over 1"), std::string::npos) << s[1];
}

TEST(Terms, TermsOfOneSetStayTogether) {
  EXPECT_EQ(statements("y(i) = A(i,j) * x(j) + A(i,j)").size(), 1u);
  EXPECT_EQ(statements("s = b(i) * b(i) + x(i)").size(), 1u);
}

TEST(Terms, ProductsExpandOnlyWhereThatSeparates) {
  EXPECT_EQ(statements("y(i) = 2 * (b(i) - A(i,j) * x(j))").size(), 2u);
  EXPECT_EQ(statements("y(i) = (b(i) - A(i,j)) * x(j)").size(), 1u);
}

TEST(Terms, AConstantIsAddedOnce) {
  auto s = statements("y(i) = A(i,j) * x(j) + c");
  ASSERT_EQ(s.size(), 2u);
  EXPECT_NE(s[0].find("start over 1"), std::string::npos) << s[0];
  EXPECT_NE(s[1].find("accumulate over 0"), std::string::npos) << s[1];
}

TEST(Terms, OtherReductionsTakeTheWholeRightSide) {
  EXPECT_EQ(statements("y(i) max= b(i) - A(i,j) * x(j)").size(), 1u);
}

TEST(Terms, FunctionsOfSumsAreOneTerm) { EXPECT_EQ(statements("s = exp(A(i,j) - b(i))").size(), 1u); }

} // namespace
} // namespace tulle::notation
