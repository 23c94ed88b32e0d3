// Slices of tensors over the buffers of the whole.
#include "Model.h"
#include <gmock/gmock.h>

namespace tulle::runtime::testing {
namespace {

using ::testing::HasSubstr;

/// 10 * i + j + 1 everywhere in 5 x 6.
Tensor table() {
  Tensor tensor = makeDense(ElementType::F64, {5, 6});
  for (int64_t k = 0; k < 30; ++k)
    static_cast<double *>(tensor.values())[k] = double(10 * (k / 6) + k % 6 + 1);
  return tensor;
}

std::string refusal(const Tensor &tensor, unsigned dimension, int64_t offset, int64_t size, int64_t stride) {
  try {
    slice(tensor, dimension, offset, size, stride);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Slice, sharesBuffers) {
  Tensor all = table(), part = slice(slice(all, 0, 1, 2, 2), 1, 2, 4);
  EXPECT_EQ(part.values(), all.values());
  EXPECT_EQ(part.dims, Coordinates({2, 4}));
  EXPECT_EQ(part.wholeDims, Coordinates({5, 6}));
  EXPECT_EQ(format::printBody(part.encoding).substr(0, 66),
            "map = (i : #tulle<slice(1, 2, 2)>, j : #tulle<slice(2, 4, 1)>) -> ");
  EXPECT_NO_THROW(validate(part));
  const Map expected = {{{0, 0}, 13}, {{0, 1}, 14}, {{0, 2}, 15}, {{0, 3}, 16},
                        {{1, 0}, 33}, {{1, 1}, 34}, {{1, 2}, 35}, {{1, 3}, 36}};
  EXPECT_EQ(stored(part), expected);
  Tensor dense = toDense(part);
  EXPECT_EQ(dense.dims, Coordinates({2, 4}));
  EXPECT_EQ(stored(dense), expected);
  EXPECT_EQ(unpack(part).count(), 8);
  Tensor again = whole(part);
  EXPECT_EQ(again.encoding, all.encoding);
  EXPECT_EQ(again.dims, all.dims);
  EXPECT_TRUE(again.wholeDims.empty());
}

/// Rows 4, 2 are rows 1 and 0 of every second row; of these the second alone.
TEST(Slice, ofSlice) {
  Tensor part = slice(slice(table(), 0, 0, 3, 2), 0, 1, 2, 1);
  EXPECT_EQ(part.encoding->dims[0].slice, (format::Slice{2, 2, 2}));
  EXPECT_EQ((stored(part).at({1, 5})), 46);
  Tensor twice = slice(slice(table(), 1, 1, 5, 1), 1, 0, 3, 2); // columns 1, 3, 5
  EXPECT_EQ(twice.encoding->dims[1].slice, (format::Slice{1, 3, 2}));
  EXPECT_EQ((stored(twice).at({0, 2})), 6);
  Tensor one = slice(slice(table(), 0, 0, 5, 1), 0, 3, 1, int64_t(1) << 62); // a stride nobody takes
  EXPECT_EQ(one.encoding->dims[0].slice, (format::Slice{3, 1, 1}));
  EXPECT_EQ(whole(one).dims, Coordinates({5, 6}));
}

TEST(Slice, refusals) {
  Tensor tensor = table();
  EXPECT_THAT(refusal(tensor, 2, 0, 1, 1), HasSubstr("dimension 2 of a tensor with 2 dimensions"));
  EXPECT_THAT(refusal(tensor, 0, -1, 1, 1), HasSubstr("offset is at least 0"));
  EXPECT_THAT(refusal(tensor, 0, 0, 0, 1), HasSubstr("size and stride are at least 1"));
  EXPECT_THAT(refusal(tensor, 0, 0, 1, 0), HasSubstr("size and stride are at least 1"));
  EXPECT_THAT(refusal(tensor, 0, 1, 3, 2), HasSubstr("its size is 5; at most 2 coordinates fit"));
  EXPECT_EQ(refusal(tensor, 0, 0, 3, 2), "");
  EXPECT_THAT(refusal(tensor, 1, 6, 1, 1), HasSubstr("at most 0 coordinates fit"));
  EXPECT_THAT(refusal(tensor, 1, 1, INT64_MAX, INT64_MAX), HasSubstr("at most 1 coordinates fit"));
  // What matters of a slice of a slice are the slice's sizes.
  EXPECT_THAT(refusal(slice(tensor, 0, 0, 2, 1), 0, 1, 2, 1), HasSubstr("its size is 2"));
  EXPECT_THROW(cut(tensor, encoding("(i : #tulle<slice(0, 4, ?)>, j) -> (i : dense, j : dense)")), Error);
  Tensor same = cut(tensor, encoding("(i : #tulle<slice(1, 2, 3)>, j) -> (i : dense, j : dense)"));
  EXPECT_EQ((stored(same).at({1, 0})), 41);
}

/// The storage is that of the whole.
TEST(Slice, print) {
  const std::string text = printStorage(slice(table(), 0, 1, 2));
  EXPECT_THAT(text, HasSubstr("dim = ( 2, 6 )"));
  EXPECT_THAT(text, HasSubstr("lvl = ( 5, 6 )"));
}

} // namespace
} // namespace tulle::runtime::testing
