// What the order of a stream means for the levels of a target.
#include "passes/assemble/choose/Order.h"
#include <gtest/gtest.h>

namespace tulle::assemble {
namespace {

using format::Expr;

/// The keys of a stream that comes in the storage order of `source`, for a target.
Order order(const std::string &source, const std::string &target, bool unique = true) {
  std::vector<Expr> keys = makeOrder({}, format::parseEncoding(source), true).levels;
  return makeOrder(keys, format::parseEncoding(target), unique);
}

const std::string rows = "(i,j) -> (i : dense, j : compressed)";
const std::string columns = "(i,j) -> (j : dense, i : compressed)";
const std::string blocks =
    "(i,j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)";
const std::string diagonals = "(i,j) -> (j - i : squeezed, i : dense, j : offset)";

TEST(Order, SameLevelsAreSorted) {
  EXPECT_TRUE(order(rows, rows).sorted());
  EXPECT_TRUE(order(blocks, blocks).sorted());
  EXPECT_TRUE(order(diagonals, diagonals).sorted());
}

TEST(Order, NoKeysMeanNoOrder) {
  Order none = makeOrder({}, format::parseEncoding(rows), true);
  EXPECT_EQ(none.sortedLevels(), 0u);
  EXPECT_FALSE(none.sorted());
}

TEST(Order, RowsDoNotAscendByColumnsButWithinEachColumn) {
  Order transposed = order(rows, columns);
  EXPECT_EQ(transposed.sortedLevels(), 0u);
  EXPECT_EQ(transposed.sortedLevels(1), 1u);
}

TEST(Order, BlockRowsAscendByRows) {
  // Rows 0 and 1 are of block row 0: the block columns of row 1 start over.
  Order blocked = order(rows, blocks);
  EXPECT_EQ(blocked.sortedLevels(), 1u);
}

TEST(Order, RowsAscendAsBlockRowAndRowWithin) {
  EXPECT_TRUE(order(rows, "(i,j) -> (i floordiv 2 : dense, i mod 2 : dense, j : compressed)").sorted());
}

TEST(Order, BlocksDoNotAscendByRows) {
  Order unblocked = order(blocks, rows);
  EXPECT_EQ(unblocked.sortedLevels(), 0u);
  // Within a row the block columns ascend, and the columns in each.
  EXPECT_EQ(unblocked.sortedLevels(1), 1u);
}

TEST(Order, DigitsMergeIntoTheirNumber) {
  EXPECT_TRUE(order("(i) -> (i floordiv 8 : compressed, i mod 8 floordiv 2 : dense, i mod 2 : dense)",
                    "(i) -> (i : compressed)")
                  .sorted());
  EXPECT_FALSE(
      order("(i) -> (i mod 8 : dense, i floordiv 8 : compressed)", "(i) -> (i : compressed)").sorted());
}

TEST(Order, RadicesThatDoNotSplitEachOther) {
  EXPECT_EQ(order("(i,j) -> (i floordiv 4 : dense, j : compressed, i mod 4 : dense)",
                  "(i,j) -> (i floordiv 6 : compressed, i mod 6 : dense, j : compressed)")
                .sortedLevels(),
            0u);
}

TEST(Order, AllDigitsOfANumberAreItsOrder) {
  const std::string byFour = "(i,j) -> (j : dense, i floordiv 4 : dense, i mod 4 : compressed)";
  EXPECT_TRUE(order(byFour, "(i,j) -> (j : dense, i floordiv 6 : dense, i mod 6 : compressed)").sorted());
  EXPECT_TRUE(order("(i) -> (i floordiv 20 : dense, i floordiv 4 mod 5 : compressed, i mod 4 : compressed)",
                    "(i) -> (i floordiv 6 : dense, i mod 6 : compressed)")
                  .sorted());
  // Without the digits in between they are not.
  EXPECT_EQ(order("(i) -> (i floordiv 20 : dense, i mod 4 : dense, i floordiv 4 mod 5 : compressed)",
                  "(i) -> (i floordiv 6 : dense, i mod 6 : compressed)")
                .sortedLevels(),
            0u);
}

TEST(Order, KnownDigitsOfOtherRadicesDoNotTellAKey) {
  // 2 and 6 agree in their last two binary digits, and 6 comes first: 6 mod 3 is less than 2 mod 3.
  Order mixed = order("(i) -> (i mod 3 : dense, i floordiv 3 : compressed)",
                      "(i) -> (i mod 2 : dense, i floordiv 2 mod 2 : dense, i floordiv 4 : compressed)");
  EXPECT_EQ(mixed.sortedLevels(2), 0u);
}

TEST(Order, ACoarserFirstKeyIsNotEnough) {
  Order coarse = makeOrder({format::binary(format::ExprKind::FloorDiv, format::dim(0), format::constant(2))},
                           format::parseEncoding(rows), true);
  EXPECT_EQ(coarse.sortedLevels(), 0u);
}

TEST(Order, DifferencesAscendWithWhatTheyAreTakenFrom) {
  // Diagonal by diagonal: in one row the columns ascend, in one column the rows descend.
  EXPECT_EQ(order(diagonals, rows).sortedLevels(), 0u);
  EXPECT_EQ(order(diagonals, rows).sortedLevels(1), 1u);
  EXPECT_EQ(order(diagonals, columns).sortedLevels(1), 0u);
  // On each diagonal rows ascend, and the columns follow from both.
  EXPECT_EQ(order(rows, diagonals).sortedLevels(), 0u);
  EXPECT_EQ(order(rows, diagonals).sortedLevels(1), 2u);
}

TEST(Order, LetsAreWrittenOut) {
  EXPECT_TRUE(order(rows, "(i,j) -> (let r = i floordiv 4 in r : dense, i - r * 4 : dense, j : compressed)")
                  .sortedLevels() >= 1u);
}

TEST(Order, TensorsOfThreeDimensions) {
  const std::string csf = "(i,j,k) -> (i : compressed, j : compressed, k : compressed)";
  EXPECT_EQ(order(csf, "(i,j,k) -> (i : compressed, k : compressed, j : compressed)").sortedLevels(), 1u);
  EXPECT_EQ(order(csf, "(i,j,k) -> (k : dense, i : compressed, j : compressed)").sortedLevels(1), 2u);
}

} // namespace
} // namespace tulle::assemble
