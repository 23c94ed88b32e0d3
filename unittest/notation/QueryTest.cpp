// The query language: what parses, and where errors point.
#include "notation/Query.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tulle::notation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

Query parse(const std::string &text) { return parseQuery(text, format::denseEncoding(3)); }

std::string errorOf(const std::string &text) {
  try {
    parse(text);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Query, selectionAndAggregates) {
  Query query = parse("select [k, i] -> count(j) as n, id() as some, max(2 * j - i) as most");
  EXPECT_THAT(query.select, ElementsAre(2, 0));
  ASSERT_EQ(query.aggregates.size(), 3u);
  EXPECT_EQ(query.aggregates[0].kind, AggregateKind::Count);
  EXPECT_THAT(query.aggregates[0].counted, ElementsAre(1));
  EXPECT_EQ(query.aggregates[0].name, "n");
  EXPECT_EQ(query.aggregates[1].kind, AggregateKind::Id);
  EXPECT_EQ(query.aggregates[2].kind, AggregateKind::Max);
  EXPECT_EQ(query.aggregates[2].name, "most");
}

TEST(Query, nothingSelected) {
  Query query = parse("select [] -> min(i mod 4) as low");
  EXPECT_THAT(query.select, IsEmpty());
}

TEST(Query, errorsPointAtTheirPlace) {
  EXPECT_THAT(errorOf("select [x] -> id() as a"),
              HasSubstr("1:9: error: there is no dimension 'x'; the tensor has i, j, k"));
  EXPECT_THAT(errorOf("select [i,i] -> id() as a"), HasSubstr("1:11: error: dimension 'i' is listed twice"));
  EXPECT_THAT(errorOf("select [i] -> count(i) as a"), HasSubstr("1:21: error: dimension 'i' is selected"));
  EXPECT_THAT(errorOf("select [i] -> count() as a"),
              HasSubstr("expected the dimensions whose coordinates are counted"));
  EXPECT_THAT(errorOf("select [i] -> sum(j) as a"), HasSubstr("1:15: error: unknown aggregate 'sum'"));
  EXPECT_THAT(errorOf("select [i] -> id()"), HasSubstr("'as'"));
  EXPECT_THAT(errorOf("select [i] -> id() as a, max(j) as a"), HasSubstr("two results are called 'a'"));
  EXPECT_THAT(errorOf("select [i] -> max(i * j) as a"),
              HasSubstr("1:21: error: a product of two variables is not affine"));
  EXPECT_THAT(errorOf("select [#i + 1] -> id() as a"), HasSubstr("1:9: error: a counter stands alone here"));
  EXPECT_THAT(errorOf("select [7] -> id() as a"),
              HasSubstr("1:9: error: expected an expression of dimensions"));
  EXPECT_THAT(errorOf("select [rank(i by count(j))] -> id() as a"), HasSubstr("a query knows no ranks"));
  EXPECT_THAT(errorOf("select [j - i, j - i] -> id() as a"), HasSubstr("1:16: error: this is listed twice"));
  EXPECT_THAT(errorOf("select [j - i] -> count(j - i) as a"), HasSubstr("1:25: error: this is selected"));
  EXPECT_THAT(errorOf("select [i] -> max(j) as a b"), HasSubstr("expected ',' or the end of the query"));
  EXPECT_THAT(errorOf(""), HasSubstr("select"));
  EXPECT_THAT(errorOf("select [i"), HasSubstr("error"));
}

TEST(Query, computedCoordinates) {
  Query query = parse("select [j - i, k] -> count(i / 2) as n, max(2 * #i + j) as most");
  EXPECT_THAT(query.select, ElementsAre(3, 2));
  EXPECT_THAT(query.aggregates[0].counted, ElementsAre(4));
  ASSERT_EQ(query.computed.size(), 3u);
  EXPECT_EQ(query.computed[2]->kind, format::ExprKind::Counter);
  EXPECT_TRUE(format::equal(query.aggregates[1].value->lhs->rhs, format::dim(5)));
}

TEST(Query, levelsHaveNames) {
  auto computed = [](const char *text, const char *format) {
    return parseQuery(text, format::parseFormat(format, 2)).computed;
  };
  const format::Expr difference = format::binary(format::ExprKind::Sub, format::dim(1), format::dim(0));
  EXPECT_TRUE(format::equal(computed("select [k] -> id() as nz", "DIA").at(0), difference));
  EXPECT_EQ(computed("select [k] -> id() as nz", "ELL").at(0)->kind, format::ExprKind::Counter);
  EXPECT_TRUE(format::equal(computed("select [offset] -> id() as nz",
                                     "(i, j) -> (offset = j - i : squeezed, i : dense, j : offset)")
                                .at(0),
                            difference));
  EXPECT_EQ(computed("select [l, m] -> id() as nz", "BCSR(2,3)").at(1)->kind, format::ExprKind::Mod);
}

format::Expr valueOf(const std::string &text) {
  return parse("select [] -> max(" + text + ") as x").aggregates[0].value;
}

TEST(Query, rangesOfExpressions) {
  std::vector<int64_t> sizes = {4, 6, 1};
  EXPECT_THAT(valueRange(valueOf("j - i"), sizes), Pair(-3, 5));
  EXPECT_THAT(valueRange(valueOf("-2 * j"), sizes), Pair(-10, 0));
  EXPECT_THAT(valueRange(valueOf("(i - j) floordiv 2"), sizes), Pair(-3, 1));
  EXPECT_THAT(valueRange(valueOf("j mod 4"), sizes), Pair(0, 3));
  EXPECT_THAT(valueRange(valueOf("k + 7"), sizes), Pair(7, 7));
  EXPECT_THROW(valueRange(valueOf("4611686018427387904 * i"), sizes), Error);
}

} // namespace
} // namespace tulle::notation
