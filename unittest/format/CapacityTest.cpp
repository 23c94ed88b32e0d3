#include "format/Layout.h"
#include <gtest/gtest.h>

namespace tulle::format {
namespace {

Capacity capacity(const char *format, std::vector<int64_t> dims, size_t level, int64_t parents,
                  int64_t each) {
  Encoding encoding = parseFormat(format, unsigned(dims.size()));
  encoding.posWidth = encoding.crdWidth = 32;
  return capacityFor(encoding, dims, 8, level, parents, each);
}

TEST(Capacity, EntriesTakeACoordinateAndAValue) {
  // 10 of CSR's second level: 4 bytes and 8 bytes each.
  Capacity r = capacity("CSR", {5, 7}, 1, 1, 10);
  EXPECT_EQ(uint64_t(r.bytes), 120u);
  EXPECT_TRUE(r.exact);
}

TEST(Capacity, BlocksTakeAllOfTheirValues) {
  // A coordinate for each of 10 blocks, and 2 x 3 values.
  Capacity r = capacity("BCSR(2,3)", {4, 6}, 1, 1, 10);
  EXPECT_EQ(uint64_t(r.bytes), 10u * 4 + 60u * 8);
  EXPECT_EQ(r.level, 3u);
  EXPECT_EQ(uint64_t(r.parents), 20u);
  EXPECT_EQ(uint64_t(r.each), 3u);
}

TEST(Capacity, WhatLiesBelowACompressedLevelDoesNotFollow) {
  // Of 5 rows of CSR nothing is known but their positions.
  Capacity r = capacity("CSR", {5, 7}, 0, 1, 5);
  EXPECT_FALSE(r.exact);
  EXPECT_EQ(uint64_t(r.bytes), 20u);
}

TEST(Capacity, ProductsBeyondAnyMemoryDoNotWrap) {
  Capacity r = capacity("Dense", {INT64_MAX, INT64_MAX}, 0, 1, INT64_MAX);
  EXPECT_TRUE(r.bytes > Large(INT64_MAX));
}

} // namespace
} // namespace tulle::format
