// Each test breaks one buffer of a good tensor.
#include "GuardedBlocks.h"
#include "Model.h"
#include "engine/Conversion.h"
#include <cstdlib>
#include <gmock/gmock.h>

namespace tulle::runtime::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// 4 x 6, pos[1] = 0 3 5 7 8, crd[1] = 0 1 4 | 1 5 | 2 3 | 2 for CSR.
Tensor good(const char *format) { return engine::store(blockExample(), encoding(format)); }

/// `t` with element i of field f set.
Tensor with(Tensor t, unsigned f, int64_t i, int64_t value) {
  Buffer copy = Buffer::allocate(t.buffers[f].count, t.buffers[f].bytes, false, "test");
  std::memcpy(copy.data, t.buffers[f].data, t.buffers[f].bytes);
  std::memcpy(static_cast<char *>(copy.data) + i * (t.layout().fields[f].width / 8), &value,
              t.layout().fields[f].width / 8);
  t.buffers[f] = copy;
  return t;
}

/// The message for `t` after element i of field f was set.
std::string broken(const Tensor &t, unsigned f, int64_t i, int64_t value) {
  return errorOf([&] { validate(with(t, f, i, value)); });
}

/// Where a declared level's positions begin is looked up for one parent behind the last, and not where they
/// end.
TEST(Validate, DeclaredLevelAboveCompressed) {
  const char *window =
      "{ map = (i, j, k) -> (i : dense, j : window, k : compressed), levels = { level window { "
      "query select [p] -> min(c) as first; query select [p] -> max(c) as last; "
      "coordinates crd[p] = first[p]; edges pos[p + 1] = pos[p] + last[p] + 1 - first[p]; "
      "positions(p) = pos[p] to pos[p + 1]; coordinate(p, q) = crd[p] + q - pos[p]; "
      "insert(p, c) = pos[p] + c - crd[p]; } } }";
  std::vector<std::vector<int64_t>> coords(3);
  for (int64_t i = 0; i < 15; ++i) // 16 positions of 32 bits: what is behind them is nobody's
    for (auto &of : coords)
      of.push_back(i);
  const Entries diagonal{ElementType::F64, {15, 15, 15}, coords, std::vector<std::byte>(15 * 8)};
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        guardBlocks();
        validate(engine::store(diagonal, format::parseFormat(window, 3)));
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(Validate, Positions) {
  Tensor t = good("CSR");
  EXPECT_EQ(broken(t, 0, 0, 0), "no error");
  EXPECT_THAT(broken(t, 0, 0, 1), AllOf(HasSubstr("pos[1][0] = 1"), HasSubstr("start at 0")));
  EXPECT_THAT(broken(t, 0, 2, 2), AllOf(HasSubstr("pos[1][2] = 2"), HasSubstr("pos[1][1] = 3")));
  EXPECT_THAT(broken(t, 0, 4, 9), AllOf(HasSubstr("pos[1][4] = 9"), HasSubstr("number of coordinates, 8")));
  EXPECT_THAT(broken(t, 0, 3, -1), HasSubstr("pos[1][3] = 4294967295"));
}

TEST(Validate, Coordinates) {
  Tensor t = good("CSR");
  EXPECT_THAT(broken(t, 1, 4, 6), AllOf(HasSubstr("crd[1][4] = 6"), HasSubstr("0..5")));
  EXPECT_THAT(broken(t, 1, 4, 0), AllOf(HasSubstr("crd[1][4] = 0 follows 1"), HasSubstr("increase")));
  EXPECT_THAT(broken(t, 1, 4, 1), AllOf(HasSubstr("crd[1][4] = 1"), HasSubstr("unique")));
  EXPECT_EQ(broken(good("(i,j) -> (i : dense, j : compressed(nonunique))"), 1, 4, 1), "no error");
}

TEST(Validate, CoordinatesOf64BitsMayBeNegative) {
  Tensor t = good("(i,j) -> (i : dense, j : compressed), posWidth = 64, crdWidth = 64");
  EXPECT_THAT(broken(t, 1, 0, -5), HasSubstr("crd[1][0] = -5"));
  EXPECT_THAT(broken(t, 0, 2, INT64_MIN), HasSubstr("pos[1][2]"));
}

TEST(Validate, RunsOfCoordinatesAreOrderedTogether) {
  Tensor t = good("COO"); // (0,0) (0,1) (0,4) (1,1) (1,5) (2,2) (2,3) (3,2)
  EXPECT_THAT(broken(t, 1, 7, 5), AllOf(HasSubstr("= 1, 5 follows 1, 5"), HasSubstr("unique")));
  EXPECT_THAT(broken(t, 1, 2, 3), AllOf(HasSubstr("follows 3, 1"), HasSubstr("increase")));
  EXPECT_THAT(broken(t, 1, 15, 6), HasSubstr("outside"));
}

TEST(Validate, LooseSegments) {
  Tensor t = good("(i,j) -> (i : dense, j : loose_compressed)"); // 0 3 3 5 5 7 7 8
  EXPECT_THAT(broken(t, 0, 1, 4), HasSubstr("overlap"));
  EXPECT_EQ(broken(t, 0, 1, 2), "no error"); // free space
  EXPECT_THAT(broken(t, 0, 6, 9), HasSubstr("less than"));
  EXPECT_THAT(broken(t, 0, 7, 9), HasSubstr("number of coordinates"));
}

TEST(Validate, LooseSegmentsOfBatches) {
  // pos[1] = 0 2 | 2 4 | 4 5 | 5 6, and below it pos[2] = 0 2 3 | 3 4 5 | 5 7 | 7 8.
  Tensor t = good("(i,j) -> (i : batch, j floordiv 2 : loose_compressed, j mod 2 : compressed)");
  EXPECT_EQ(broken(t, 0, 0, 0), "no error");
  EXPECT_THAT(broken(t, 2, 3, 4), AllOf(HasSubstr("batch 1 must start"), HasSubstr("batch 0 ends")));
  Tensor exchanged = with(with(with(t, 0, 4, 5), 0, 5, 6), 0, 6, 4);
  EXPECT_THAT(broken(exchanged, 0, 7, 5), HasSubstr("segment 5..6 of batch 2 must lie within 5..4"));
}

TEST(Validate, Buffers) {
  Tensor t = good("CSR");
  Tensor few = t;
  few.buffers.pop_back();
  EXPECT_THAT(errorOf([&] { validate(few); }), HasSubstr("has 3 buffers, got 2"));
  Tensor null = t;
  null.buffers[1].data = nullptr;
  EXPECT_THAT(errorOf([&] { validate(null); }), HasSubstr("crd[1]"));
  Tensor small = t;
  small.buffers[2].count = 7;
  EXPECT_THAT(errorOf([&] { validate(small); }),
              AllOf(HasSubstr("values"), HasSubstr("has 7"), HasSubstr("need 8")));
  Tensor shortPos = t;
  shortPos.buffers[0].count = 4;
  EXPECT_THAT(errorOf([&] { validate(shortPos); }), AllOf(HasSubstr("pos[1]"), HasSubstr("need 5")));
  Tensor lying = t;
  lying.buffers[1].count = 1000;
  EXPECT_THAT(errorOf([&] { validate(lying); }), HasSubstr("need 4000 bytes"));
  Tensor crooked = t;
  crooked.buffers[2].data = static_cast<char *>(crooked.buffers[2].data) + 1;
  EXPECT_THAT(errorOf([&] { validate(crooked); }), HasSubstr("aligned"));
  Tensor dims = t;
  dims.dims = {4, 3};
  EXPECT_THAT(errorOf([&] { validate(dims); }), HasSubstr("outside"));
  dims.dims = {4};
  EXPECT_THAT(errorOf([&] { validate(dims); }), HasSubstr("2 dimensions"));
  dims.dims = {int64_t(1) << 62, int64_t(1) << 62};
  EXPECT_THAT(errorOf([&] { validate(dims); }), HasSubstr("pos[1]"));
  Tensor dense = makeDense(ElementType::F64, {2, 2});
  dense.dims = {int64_t(1) << 40, int64_t(1) << 40};
  EXPECT_THAT(errorOf([&] { validate(dense); }), HasSubstr("out of memory"));
}

TEST(Validate, StoredCoordinatesLieInsideTheTensor) {
  const char *format = "(i,j) -> (i : dense, j floordiv 4 : compressed, j mod 4 : compressed)";
  Tensor t = good(format); // row 0: blocks 0 (0 1), 1 (0); row 1: 0 (1), 1 (1); …
  EXPECT_EQ(broken(t, 3, 2, 1), "no error");
  EXPECT_THAT(broken(t, 3, 2, 3), AllOf(HasSubstr("coordinate 7 of dimension 1"), HasSubstr("size 6")));
}

TEST(Validate, StructuredGroups) {
  const char *format = "(i,j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2,4]), crdWidth = 8";
  Tensor t = engine::store(makeEntries({1, 4}, {{{0, 1}, 1}, {{0, 3}, 2}}), encoding(format));
  EXPECT_EQ(broken(t, 0, 0, 0), "no error");
  EXPECT_THAT(broken(t, 0, 0, 3), HasSubstr("unique"));
  EXPECT_THAT(broken(t, 0, 1, 0), HasSubstr("increase"));
  EXPECT_THAT(broken(t, 0, 1, 4), HasSubstr("crd[2][1] = 4"));
}

/// Random bytes at random addresses: an Error or a tensor that can be read, never a crash.
TEST(Validate, RandomDamageIsSurvived) {
  std::mt19937 random(7);
  for (const char *format :
       {"CSR", "COO", "DCSR", "(i,j) -> (i : dense, j : loose_compressed)",
        "(i,j) -> (i : batch, j : compressed)",
        "(i,j) -> (i : compressed(nonunique, high), j : singleton(soa))",
        "(i,j) -> (i floordiv 3 : compressed, j floordiv 4 : compressed, i mod 3 : "
        "compressed, j mod 4 : compressed)",
        "(i,j) -> (i : loose_compressed, j : compressed), posWidth = 64, crdWidth = 64"}) {
    const Tensor original = good(format);
    for (int time = 0; time < 300; ++time) {
      Tensor t = original;
      for (unsigned f = 0; f < t.buffers.size(); ++f) {
        Buffer copy = Buffer::allocate(t.buffers[f].count, t.buffers[f].bytes, false, "test");
        std::memcpy(copy.data, t.buffers[f].data, t.buffers[f].bytes);
        t.buffers[f] = copy;
      }
      for (int k = random() % 3; k >= 0; --k) {
        unsigned f = random() % t.buffers.size();
        if (t.buffers[f].bytes && random() % 4)
          static_cast<uint8_t *>(t.buffers[f].data)[random() % t.buffers[f].bytes] = random() % 8;
        else
          t.buffers[f].count = std::min<int64_t>(t.buffers[f].count, random() % 10);
      }
      if (errorOf([&] { validate(t); }) == "no error") {
        (void)stored(t);
        (void)printStorage(t);
      }
    }
  }
}

} // namespace
} // namespace tulle::runtime::testing
