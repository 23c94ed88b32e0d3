// Reading every format: traversals, checks, texts.
#include "Stored.h"
#include "Model.h"
#include <gmock/gmock.h>

namespace tulle::runtime::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::vector<double> elements(const Tensor &tensor) {
  Tensor dense = toDense(tensor);
  std::vector<double> values(size_t(dense.storedCount()));
  std::memcpy(values.data(), dense.values(), values.size() * sizeof(double));
  return values;
}

TEST(Stored, everyFormatIsValidAndHoldsTheMatrix) {
  for (const auto &[format, tensor] : storedExamples()) {
    EXPECT_EQ(errorOf([&, &t = tensor] { validate(t); }), "no error") << format;
    EXPECT_EQ(elements(tensor), storedExample()) << format;
  }
}

/// The message for an example after element i of field f was set.
std::string broken(const std::string &format, unsigned f, int64_t i, int64_t value) {
  Tensor t = storedExamples().at(format);
  unsigned bytes = t.layout().fields[f].width / 8;
  std::memcpy(static_cast<char *>(t.buffers[f].data) + i * bytes, &value, bytes);
  return errorOf([&] { validate(t); });
}

TEST(Stored, sizesMustFitTheBuffersAndTheLevel) {
  EXPECT_THAT(broken("DIA", 0, 0, -1), HasSubstr("size[0] = -1 is outside 0..9"));
  EXPECT_THAT(broken("DIA", 0, 0, 10), HasSubstr("size[0] = 10 is outside 0..9"));
  EXPECT_THAT(broken("DIA", 0, 0, 5), HasSubstr("crd[0]: the buffer has 4 elements"));
  EXPECT_THAT(broken("ELL", 0, 0, 4), HasSubstr("the buffer has 15 elements, the levels above it need 20"));
  EXPECT_THAT(broken("ELLR", 0, 0, 6), HasSubstr("size[1] = 6 is outside 0..5"));
}

TEST(Stored, coordinatesMustBeInRangeAndInOrder) {
  EXPECT_THAT(broken("DIA", 1, 0, -5), HasSubstr("crd[0][0] = -5 is outside the level's coordinates, -4..4"));
  EXPECT_THAT(broken("DIA", 1, 1, 0), HasSubstr("crd[0][2] = 0 follows 0"));
  EXPECT_THAT(broken("ELL", 1, 0, 5), HasSubstr("crd[2][0] = 5 is outside the level's coordinates, 0..4"));
  EXPECT_THAT(broken("ELLR", 1, 2, 1), HasSubstr("crd[1][2] = 1 follows 1"));
  EXPECT_THAT(broken("ELLR", 1, 9, -1), HasSubstr("crd[1][10] = 3 follows the empty slot 9"));
  EXPECT_THAT(broken("(i, j) -> (i : dense, j : compressed(nonordered))", 1, 3, 3),
              HasSubstr("crd[1][5] = 3 is also at 3"));
  EXPECT_THAT(broken("HiCOO(1)", 1, 19, 1), HasSubstr("coordinate 5 of dimension 0, which has size 5"));
}

TEST(Stored, ranksAreAPermutationOfTheirWindows) {
  EXPECT_THAT(broken("JDS", 1, 0, 5), HasSubstr("perm[1][0] = 5 is outside 0..4"));
  EXPECT_THAT(broken("JDS", 1, 1, 3), HasSubstr("perm[1][1] = 3 occurs before"));
  EXPECT_THAT(broken("SELL(2,4)", 0, 0, 4), HasSubstr("perm[0][0] = 4: ranks 0..3 are those"));
}

TEST(Stored, runsMustFitTheLevel) {
  EXPECT_THAT(broken("JDS", 2, 1, 6), HasSubstr("pos[1][1] = 6 ends a segment of 6 coordinates"));
  EXPECT_THAT(broken("ragged", 0, 3, 1), HasSubstr("positions must not decrease"));
  EXPECT_THAT(broken("skyline", 1, 3, 1), HasSubstr("crd[1][3] = 1 begins a run of 5"));
  EXPECT_THAT(broken("skyline", 1, 2, 1), HasSubstr("crd[1][2] = 1 begins no run: it must be 0"));
}

TEST(Stored, hashTablesMustBeSearchable) {
  EXPECT_THAT(broken("DOK", 0, 1, 7), HasSubstr("has 7 slots: expected a power of two"));
  EXPECT_THAT(broken("DOK", 1, 1, 2), HasSubstr("holds 5 entries: at most half"));
  EXPECT_THAT(broken("DOK", 1, 6, 2), HasSubstr("crd[0][6] = 2 is not found from slot 1 on"));
  EXPECT_THAT(broken("DOK", 1, 4, 0), HasSubstr("crd[0][4] = 0 is also at 0"));
}

TEST(Stored, dimensionsAreBoundedWhereTheMapKeepsSoManyBits) {
  Tensor t = storedExamples().at("HiCOO(1)");
  t.dims = {1 << 18, 5};
  EXPECT_THAT(errorOf([&] { validate(t); }),
              AllOf(HasSubstr("dimension 0 has size 262144"), HasSubstr("at most 131072")));
}

TEST(Stored, printsWhatIsThere) {
  EXPECT_EQ(printStorage(storedExamples().at("DIA")),
            "---- Sparse Tensor ----\nnse = 20\ndim = ( 5, 5 )\nlvl = ( 9, 5, 5 )\nsize[0] : 4\n"
            "crd[0] : ( -3, -2, 0, 1 )\n"
            "values : ( 0, 0, 0, 4, 0, 0, 0, 0, 0, 7, 1, 3, 0, 5, 0, 2, 0, 0, 6, 0 )\n----\n");
  EXPECT_EQ(printStorage(storedExamples().at("SELL(2,4)")),
            "---- Sparse Tensor ----\nnse = 10\ndim = ( 5, 5 )\nlvl = ( 3, 5, 2, 5 )\n"
            "perm[0] : ( 3, 0, 1, 2, 4 )\npos[1] : ( 0, 3, 4, 5 )\n"
            "crd[3] : ( 0, 0, 3, 1, 4, _, 1, _, 2, _ )\nvalues : ( 4, 1, 5, 2, 6, 0, 3, 0, 7, 0 )\n----\n");
  EXPECT_THAT(
      printStorage(storedExamples().at("bitmap")),
      HasSubstr("bits[1] : ( 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0 "
                ")\n"));
}

} // namespace
} // namespace tulle::runtime::testing
