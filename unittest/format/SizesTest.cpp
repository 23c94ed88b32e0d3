// Which sizes an encoding can be stored at: nothing that is computed with them may leave 64 bits.
#include "format/Checks.h"
#include "tulle/error.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace tulle::format {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr int64_t most = std::numeric_limits<int64_t>::max(), half = int64_t(1) << 62;

std::string why(const char *format, std::vector<int64_t> sizes) {
  return whyNotSizes(parseFormat(format, unsigned(sizes.size())), sizes);
}

TEST(Sizes, plainFormatsTakeAll) {
  for (const char *format :
       {"dense", "CSR", "CSC", "COO", "DCSR", "ELL", "ELLR", "JDS", "DOK", "bitmap", "ragged", "jagged"})
    for (int64_t rows : {int64_t(0), int64_t(1), half, most - 1, most})
      for (int64_t columns : {int64_t(0), int64_t(3), most})
        EXPECT_EQ(why(format, {rows, columns}), "") << format << " " << rows << " " << columns;
}

TEST(Sizes, orderAndSign) {
  EXPECT_THAT(why("CSR", {3, -1}), HasSubstr("dimension 1 has size -1"));
  EXPECT_THAT(whyNotSizes(parseFormat("CSR", 2), {3}), HasSubstr("2 dimensions, the tensor 3 has 1"));
}

TEST(Sizes, whatAMapKeepsOfBits) {
  EXPECT_EQ(why("HiCOO(2)", {262144, 262144}), "");
  EXPECT_EQ(why("HiCOO(2)", {262145, 3}),
            "dimension 0 has size 262145, and HiCOO(2) holds at most 262144; choose another format");
  EXPECT_EQ(why("HiCOO(3)", {1 << 19, 1 << 19, 1 << 19}), "");
  EXPECT_NE(why("HiCOO(3)", {1, 1, (1 << 19) + 1}), "");
  EXPECT_EQ(why("(i) -> (i shl 0 : compressed)", {most}), "");
}

TEST(Sizes, diagonals) {
  EXPECT_EQ(why("DIA", {half, half}), "");
  EXPECT_THAT(why("DIA", {half, half + 1}), HasSubstr("more than 64 bits can count")); // 2^63 diagonals
  EXPECT_THAT(why("DIA", {half + 1, half + 1}), HasSubstr("the coordinates of level 0 (j - i : squeezed)"));
  EXPECT_THAT(why("(i, j) -> (i + j : squeezed, i : dense)", {most, 3}), HasSubstr("leaves 64 bits"));
  EXPECT_EQ(why("DIA", {0, most}), "");
}

TEST(Sizes, expressions) {
  EXPECT_THAT(why("(i, j) -> (i shl 62 : compressed, j : compressed)", {3, 3}), HasSubstr("leaves 64 bits"));
  EXPECT_EQ(why("(i, j) -> (i shl 62 : compressed, j : compressed)", {2, 3}), "");
  EXPECT_THAT(why("(i, j) -> (i * 4294967296 * 4294967296 : compressed, j : compressed)", {2, 3}),
              HasSubstr("leaves 64 bits"));
  EXPECT_THAT(why("(i, j) -> (i + 9223372036854775807 : compressed, j : dense)", {2, 2}),
              HasSubstr("leaves 64 bits"));
  // The number behind the last coordinate must be one, too.
  EXPECT_THAT(why("(i, j) -> (i + 9223372036854775806 : compressed, j : dense)", {2, 2}), HasSubstr("count"));
  EXPECT_EQ(why("(i, j) -> (i + 9223372036854775805 : compressed, j : dense)", {2, 2}), "");
  EXPECT_THAT(why("(i, j) -> (let x = i * 8 in x + j : compressed, i : dense)", {half, 2}),
              HasSubstr("leaves 64 bits"));
}

TEST(Sizes, blocksAreRoundedUp) {
  EXPECT_EQ(why("BCSR(4,4)", {most - 3, 4}), "");
  EXPECT_THAT(why("BCSR(4,4)", {4, most - 2}),
              StartsWith("dimension 1 has size 9223372036854775805, and in blocks of 4"));
}

TEST(Sizes, ofDimensionsThatShareALevel) {
  EXPECT_EQ(why("(i, j) -> (i * 6 + j : compressed)", {4, 6}), "");
  EXPECT_EQ(why("(i, j) -> ((i shl 3) | j : dense)", {4, 8}), "");
  EXPECT_EQ(
      why("(i, j) -> (i * 5 + j : compressed)", {4, 6}),
      "dimension 1 has size 6, and in level 0 (i * 5 + j : compressed) two coordinates become one from 5 "
      "on; the factor 5 has to be at least 6");
  EXPECT_THAT(
      why("(i, j, k) -> (k : dense, i shl 2 | j floordiv 2 : compressed, j mod 2 : dense)", {4, 9, 3}),
      HasSubstr("from 8 on; the factor 4 has to be at least 5"));
  EXPECT_THAT(why("(i, j) -> (i * 6 + j : compressed)", {half, 6}), HasSubstr("leaves 64 bits"));
}

TEST(Sizes, ofGivenInverses) {
  // No inverse of it is inferred: j counts down.
  const char *down = "{l} (i = l floordiv 6, j = 5 - l mod 6) -> (l = i * 6 + 5 - j : compressed)";
  EXPECT_EQ(why(down, {4, 6}), "");
  EXPECT_EQ(why(down, {4, 0}), "");
  EXPECT_THAT(why(down, {4, 7}),
              StartsWith("this is not the inverse of the map: at coordinate 0 of dimension"));
  EXPECT_THAT(why(down, {4000, 7000}), HasSubstr("for sizes 4000 x 7000; correct the inverse"));
  EXPECT_EQ(why("{l} (i = l floordiv 6, j = l mod 6) -> (l = i * 6 + j : compressed)", {4, 6}), "");
}

TEST(Sizes, arePointedAt) {
  try {
    parseFormatFor("(i, j) -> (i*5 + j : compressed)", {4, 6}, "-f");
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), StartsWith("-f:1:12: error: dimension 1 has size 6"));
    EXPECT_THAT(error.what(), HasSubstr("            ^~~~~~~"));
  }
  EXPECT_EQ(parseFormatFor("(i, j) -> (i*5 + j : compressed)", {4, -1}, "-f").order(), 2u);
}

TEST(Sizes, counters) {
  const char *ranks = "(i, j, k) -> (#i : dense, i : dense, j : compressed(nonunique), k : singleton)";
  EXPECT_EQ(why(ranks, {3, most, most}), ""); // how far it counts is stored
  EXPECT_THAT(
      why("(i, j, k) -> (i : dense, #i : compressed(nonunique), j : singleton(nonunique), k : singleton)",
          {3, half, half}),
      HasSubstr("the counter can leave 64 bits"));
}

TEST(Expressions, nothingWraps) {
  Bindings none;
  auto value = [&](ExprKind kind, int64_t a, int64_t b) {
    return evaluate(binary(kind, constant(a), constant(b)), {}, {}, none);
  };
  EXPECT_EQ(value(ExprKind::Add, most, 1), std::nullopt);
  EXPECT_EQ(value(ExprKind::Sub, -2, most), std::nullopt);
  EXPECT_EQ(value(ExprKind::Mul, half, 2), std::nullopt);
  EXPECT_EQ(value(ExprKind::Shl, 1, 62), half);
  EXPECT_EQ(value(ExprKind::Shl, 2, 62), std::nullopt);
  EXPECT_EQ(value(ExprKind::Mod, -1, most), most - 1);
  EXPECT_EQ(value(ExprKind::FloorDiv, std::numeric_limits<int64_t>::min(), 3), -3074457345618258603);
}

} // namespace
} // namespace tulle::format
