// Queries on formats of every kind, with answers counted by hand.
#include "Programs.h"
#include "engine/Conversion.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tulle::engine {
namespace {

using testing::ElementsAre;

//     0 2 0 3
// A = 0 0 0 0
//     4 0 5 6
const std::vector<double> matrix = {0, 2, 0, 3, 0, 0, 0, 0, 4, 0, 5, 6};

std::vector<std::vector<int64_t>> ask(const std::string &text, const runtime::Tensor &tensor) {
  std::vector<std::vector<int64_t>> answers;
  for (const runtime::Tensor &answer : query(tensor, notation::parseQuery(text, tensor.encoding)))
    answers.push_back(elements<int64_t>(answer));
  return answers;
}

struct QueryFormats : testing::TestWithParam<const char *> {};

TEST_P(QueryFormats, countsAndBounds) {
  runtime::Tensor a = doubles({3, 4}, matrix, GetParam());
  EXPECT_THAT(ask("select [i] -> count(j) as n, id() as some", a),
              ElementsAre(ElementsAre(2, 0, 3), ElementsAre(1, 0, 1)));
  EXPECT_THAT(ask("select [j] -> count(i) as n", a), ElementsAre(ElementsAre(1, 1, 1, 2)));
  EXPECT_THAT(ask("select [] -> count(i,j) as n", a), ElementsAre(ElementsAre(5)));
  // Differences of column and row run from -2 to 3: nothing in row 1.
  EXPECT_THAT(ask("select [i] -> max(j - i) as upper, min(j - i) as lower", a),
              ElementsAre(ElementsAre(3, -3, 1), ElementsAre(1, 4, -2)));
  EXPECT_THAT(ask("select [] -> max(j floordiv 2) as m", a), ElementsAre(ElementsAre(1)));
}

TEST_P(QueryFormats, distinctCoordinates) {
  // Rows with an entry, columns with an entry.
  runtime::Tensor a = doubles({3, 4}, matrix, GetParam());
  EXPECT_THAT(ask("select [] -> count(i) as rows, count(j) as columns", a),
              ElementsAre(ElementsAre(2), ElementsAre(4)));
}

TEST_P(QueryFormats, computedCoordinates) {
  runtime::Tensor a = doubles({3, 4}, matrix, GetParam());
  // Diagonals -2 to 3.
  EXPECT_THAT(ask("select [j - i] -> id() as nz, count(i) as n, max(j) as last", a),
              ElementsAre(ElementsAre(1, 0, 1, 1, 0, 1), ElementsAre(1, 0, 1, 2, 0, 1),
                          ElementsAre(0, -1, 2, 3, -1, 3)));
  EXPECT_THAT(ask("select [i / 2, j / 2] -> count(i, j) as n", a), ElementsAre(ElementsAre(1, 1, 1, 2)));
  EXPECT_THAT(ask("select [] -> max(#i) as most, count(j - i) as diagonals, min(3 * #j - 1) as least", a),
              ElementsAre(ElementsAre(2), ElementsAre(4), ElementsAre(-1)));
  EXPECT_THAT(ask("select [#i] -> count(i) as rows", a), ElementsAre(ElementsAre(2, 2, 1)));
  EXPECT_THAT(ask("select [i] -> max(i ^ j) as bits", a), ElementsAre(ElementsAre(3, -1, 2)));
}

TEST(Query, computedCoordinatesOfNothing) {
  runtime::Tensor a = doubles({3, 4}, std::vector<double>(12, 0.0), "CSR");
  EXPECT_THAT(ask("select [] -> max(#i) as most", a), ElementsAre(ElementsAre(-1)));
  EXPECT_THAT(ask("select [i / 2] -> id() as some", a), ElementsAre(ElementsAre(0, 0)));
}

/// The levels of a format by letter: what a conversion to it asks.
TEST(Query, levelsOfTheFormat) {
  EXPECT_THAT(ask("select [k] -> id() as nz", doubles({3, 4}, matrix, "DIA")),
              ElementsAre(ElementsAre(1, 0, 1, 1, 0, 1)));
}

INSTANTIATE_TEST_SUITE_P(Query, QueryFormats, testing::Values("COO", "CSR", "CSC", "DCSR"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace tulle::engine
