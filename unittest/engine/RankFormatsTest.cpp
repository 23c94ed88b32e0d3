// What formats would store of a matrix, counted by hand, and which one is suggested.
#include "engine/RankFormats.h"
#include "Programs.h"
#include "runtime/generate/Generate.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tulle::engine {
namespace {

using testing::ElementsAre;
using testing::Pair;

runtime::Entries entriesOf(std::vector<int64_t> dims, const std::vector<double> &elements) {
  return runtime::unpack(doubles(std::move(dims), elements, "COO"));
}

TEST(MatrixProfile, countsWhatFormatsStore) {
  //  1 2 . .
  //  . 3 . .
  //  . . . .
  //  7 8 9 .
  const MatrixProfile m = profile(entriesOf({4, 4}, {1, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 7, 8, 9, 0}));
  EXPECT_EQ(m.entries, 6);
  EXPECT_EQ(m.filledRows, 3);
  EXPECT_EQ(m.longestRow, 3);
  EXPECT_EQ(m.lengthChanges, 3); // 2, 1, 0, 3
  EXPECT_EQ(m.sellSlots, 24);    // one slice of 8 rows
  EXPECT_THAT(m.diagonals, ElementsAre(Pair(-3, 1), Pair(-2, 1), Pair(-1, 1), Pair(0, 2), Pair(1, 1)));
  EXPECT_THAT(m.fullDiagonals, ElementsAre(0));
  EXPECT_EQ(m.fullEntries, 2);
  EXPECT_EQ(m.otherChanges, 2); // 1, 0, 0, 3
  EXPECT_EQ(m.blocks.at(2), 3);
  EXPECT_EQ(m.blocks.at(4), 1);
  EXPECT_THAT(m.bucketRows, ElementsAre(1, 1, 1, 0, 0));
  EXPECT_THAT(m.bucketEntries, ElementsAre(1, 2, 3, 0, 0));
}

Suggestion first(const std::string &generator, int64_t columns = 1) {
  const runtime::FileContents contents = runtime::generate(generator, {}, ElementType::F64);
  return suggest(profile(contents.entries), ElementType::F64, {columns}).front();
}

TEST(RankFormats, followsThePattern) {
  const Suggestion grid = first("grid2d:100");
  EXPECT_EQ(grid.format, "DIA");
  EXPECT_EQ(grid.slots, 50000);                           // five diagonals
  EXPECT_EQ(grid.bytes, 8 * 50000 + 8 * (10000 + 10000)); // values, operand and result
  EXPECT_EQ(first("rmat:17:16").schedule, "decompose(A, hyb(1,3))");
  EXPECT_EQ(first("grid2d:100", 32).format, "CSR");
}

TEST(RankFormats, nothingIsAMatrixToo) {
  for (std::vector<int64_t> dims : {std::vector<int64_t>{0, 0}, {0, 3}, {3, 3}}) {
    runtime::Entries none;
    none.dims = dims;
    none.coords.resize(2);
    EXPECT_FALSE(suggest(profile(none), none.type, {}).empty());
  }
  EXPECT_THROW(profile(entriesOf({2}, {1, 2})), Error);
}

TEST(RankFormats, everySuggestionRuns) {
  const runtime::Entries matrix = entriesOf({4, 4}, {1, 2, 0, 0, 0, 3, 4, 0, 0, 0, 5, 6, 7, 0, 0, 8});
  for (const Suggestion &suggestion : suggest(profile(matrix), matrix.type, {}))
    EXPECT_GT(measure(suggestion, matrix, {}, {.threads = 1, .quick = true}), 0) << suggestion.format;
}

} // namespace
} // namespace tulle::engine
