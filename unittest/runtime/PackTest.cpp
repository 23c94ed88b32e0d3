// Buffers that must come out exactly, and every refusal.
#include "Model.h"
#include "engine/Conversion.h"
#include "runtime/tensor/MemoryLimits.h"
#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>

namespace tulle::runtime::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Ints = std::vector<int64_t>;

const char *kBlock22 =
    "(i,j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, j mod 2 : dense)";
const char *kNV24 = "(i,j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2,4]), crdWidth = 2";

TEST(Pack, BlockStorageOfTheDesign) {
  Tensor t = engine::store(blockExample(), encoding(kBlock22));
  EXPECT_EQ(field(t, 0), (Ints{0, 2, 3}));
  EXPECT_EQ(field(t, 1), (Ints{0, 2, 1}));
  EXPECT_THAT(values(t), ElementsAre(1, 2, 0, 3, 4, 0, 0, 5, 6, 7, 8, 0));
}

/// The 16x16 matrix whose 2:4 storage is printed with the encoding's definition: rows r = 0..15, and row r of
/// coordinates and values belongs to row r; each row repeats a group of 8 columns twice.
TEST(Pack, StructuredStorageOfTheDesign) {
  const Ints coordinates[16] = {
      {0, 2, 0, 2, 0, 2, 0, 2}, {1, 3, 1, 3, 1, 3, 1, 3}, {0, 1, 2, 3, 0, 1, 2, 3}, {2, 3, 0, 1, 2, 3, 0, 1},
      {0, 1, 0, 1, 0, 1, 0, 1}, {0, 1, 0, 1, 0, 1, 0, 1}, {2, 3, 2, 3, 2, 3, 2, 3}, {2, 3, 2, 3, 2, 3, 2, 3},
      {0, 2, 0, 2, 0, 2, 0, 2}, {1, 3, 1, 3, 1, 3, 1, 3}, {0, 1, 2, 3, 0, 1, 2, 3}, {2, 3, 0, 1, 2, 3, 0, 1},
      {0, 1, 0, 1, 0, 1, 0, 1}, {0, 1, 0, 1, 0, 1, 0, 1}, {2, 3, 2, 3, 2, 3, 2, 3}, {2, 3, 2, 3, 2, 3, 2, 3}};
  std::vector<std::pair<Coordinates, double>> list;
  Ints flatCoordinates;
  std::vector<double> flatValues;
  for (int64_t r = 0; r < 16; ++r)
    for (int64_t k = 0; k < 8; ++k) {
      double v = double(r % 8 * 4 + k % 4 + 1);
      list.push_back({{r, k / 2 * 4 + coordinates[r][k]}, v});
      flatCoordinates.push_back(coordinates[r][k]);
      flatValues.push_back(v);
    }
  std::shuffle(list.begin(), list.end(), std::mt19937(5));
  Tensor t = engine::store(makeEntries({16, 16}, list), encoding(kNV24));
  EXPECT_EQ(field(t, 0), flatCoordinates);
  EXPECT_EQ(t.buffers[0].bytes, 32); // 128 coordinates of two bits
  EXPECT_EQ(values(t), flatValues);
  validate(t);
}

TEST(Pack, CsrAndItsVariants) {
  Entries entries = makeEntries({3, 4}, {{{2, 1}, 5}, {{0, 3}, 2}, {{0, 0}, 1}});
  Tensor csr = engine::store(entries, encoding("CSR"));
  EXPECT_EQ(field(csr, 0), (Ints{0, 2, 2, 3}));
  EXPECT_EQ(field(csr, 1), (Ints{0, 3, 1}));
  EXPECT_THAT(values(csr), ElementsAre(1, 2, 5));
  EXPECT_EQ(csr.encoding->posWidth, 32u);
  EXPECT_EQ(csr.encoding->crdWidth, 32u);

  Tensor dcsr = engine::store(entries, encoding("DCSR"));
  EXPECT_EQ(field(dcsr, 0), (Ints{0, 2}));
  EXPECT_EQ(field(dcsr, 1), (Ints{0, 2}));
  EXPECT_EQ(field(dcsr, 2), (Ints{0, 2, 3}));
  EXPECT_EQ(field(dcsr, 3), (Ints{0, 3, 1}));

  Tensor coo = engine::store(entries, encoding("COO"));
  EXPECT_EQ(field(coo, 0), (Ints{0, 3}));
  EXPECT_EQ(field(coo, 1), (Ints{0, 0, 0, 3, 2, 1}));

  Tensor loose = engine::store(entries, encoding("(i,j) -> (i : dense, j : loose_compressed)"));
  EXPECT_EQ(field(loose, 0), (Ints{0, 2, 2, 2, 2, 3}));
  EXPECT_EQ(field(loose, 1), (Ints{0, 3, 1}));
}

TEST(Pack, PlacesInReserve) {
  const int64_t free = 0xffffffff;
  // Rows (1 . . 2), nothing, nothing, (. 3 . .).
  Entries entries = makeEntries({4, 4}, {{{3, 1}, 3}, {{0, 3}, 2}, {{0, 0}, 1}});
  Tensor t = engine::store(entries, encoding("(i,j) -> (i : dense, j : loose_compressed[2])"));
  EXPECT_EQ(field(t, 0), (Ints{0, 2, 4, 4, 6, 6, 8, 9}));
  EXPECT_EQ(field(t, 1), (Ints{0, 3, free, free, free, free, free, free, 1, free, free}));
  EXPECT_THAT(values(t), ElementsAre(1, 2, 0, 0, 0, 0, 0, 0, 3, 0, 0));
  validate(t);
  // What lies below a position in reserve holds nothing: no segment, and a block of the fill.
  t = engine::store(entries, encoding("(i,j) -> (i : loose_compressed[1], j : compressed)"));
  EXPECT_EQ(field(t, 0), (Ints{0, 2}));
  EXPECT_EQ(field(t, 1), (Ints{0, 3, free}));
  EXPECT_EQ(field(t, 2), (Ints{0, 2, 3, 3}));
  t = engine::store(entries,
                    encoding("(i,j) -> (i floordiv 2 : loose_compressed[1], j : dense, i mod 2 : dense)"));
  EXPECT_EQ(field(t, 1), (Ints{0, 1, free}));
  EXPECT_THAT(values(t), ElementsAre(1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
}

TEST(Pack, RanksCountDifferentCoordinates) {
  // Of the first slice all three entries have j = 1; of the second, one each has j = 0 and j = 2.
  Entries entries = makeEntries(
      {2, 3, 4}, {{{0, 1, 0}, 1}, {{0, 1, 1}, 2}, {{0, 1, 2}, 3}, {{1, 0, 3}, 4}, {{1, 2, 0}, 5}});
  Tensor t = engine::store(
      entries, encoding("(i,j,k) -> (rank(i by count(j)) : dense, j : dense, k : compressed)", 3));
  EXPECT_EQ(field(t, 0), (Ints{1, 0}));
  EXPECT_EQ(field(t, 1), (Ints{0, 1, 1, 2, 2, 5, 5}));
  EXPECT_EQ(field(t, 2), (Ints{3, 0, 0, 1, 2}));
  EXPECT_THAT(values(t), ElementsAre(4, 5, 1, 2, 3));
  validate(t);
}

TEST(Pack, WithoutDimensionsAllValuesMeet) {
  Entries entries;
  Tensor nothing = engine::store(entries, encoding("dense", 0));
  EXPECT_THAT(values(nothing), ElementsAre(0));
  const double list[] = {1.5, 2, -0.25};
  entries.values.resize(sizeof list);
  std::memcpy(entries.values.data(), list, sizeof list);
  Tensor sum = engine::store(entries, encoding("dense", 0));
  EXPECT_THAT(values(sum), ElementsAre(3.25));
  validate(sum);
  entries.values.resize(12);
  EXPECT_THAT(errorOf([&] { engine::store(entries, encoding("dense", 0)); }), HasSubstr("12 bytes"));
}

TEST(Pack, EveryBatchOwnsItsPositions) {
  Entries entries = makeEntries({2, 3, 4}, {{{0, 0, 1}, 1}, {{0, 2, 0}, 2}, {{1, 1, 3}, 3}, {{1, 1, 0}, 4}});
  Tensor t = engine::store(entries, encoding("(b,i,j) -> (b : batch, i : dense, j : compressed)", 3));
  EXPECT_EQ(field(t, 0), (Ints{0, 1, 1, 2, 2, 2, 4, 4}));
  EXPECT_EQ(field(t, 1), (Ints{1, 0, 0, 3}));
  Tensor u = engine::store(entries, encoding("(b,i,j) -> (b : batch, i : compressed, j : compressed)", 3));
  EXPECT_EQ(field(u, 0), (Ints{0, 2, 2, 3}));
  EXPECT_EQ(field(u, 1), (Ints{0, 2, 1}));
  EXPECT_EQ(field(u, 2), (Ints{0, 1, 2, 2, 4}));
}

TEST(Pack, DuplicatesAreSummed) {
  for (const char *text : {"CSR", "CSC", "COO", "dense", "BCSR(4,4)"}) {
    Tensor t = engine::store(makeEntries({3, 3}, {{{1, 1}, 2}, {{0, 2}, 1}, {{1, 1}, 3}, {{1, 1}, 4}}),
                             encoding(text));
    EXPECT_EQ(nonzeros(stored(t)), (Map{{{0, 2}, 1}, {{1, 1}, 9}})) << text;
  }
  Tensor b =
      engine::store(makeEntries({2, 2}, {{{1, 1}, 1}, {{1, 1}, 1}}, ElementType::Bool), encoding("CSR"));
  EXPECT_EQ(static_cast<uint8_t *>(b.values())[0], 1); // or, not a sum
  Tensor i =
      engine::store(makeEntries({2, 2}, {{{1, 1}, 100}, {{1, 1}, 100}}, ElementType::I8), encoding("CSR"));
  EXPECT_EQ(static_cast<int8_t *>(i.values())[0], -56); // wraps as i8 arithmetic does
}

TEST(Pack, ZerosAndSignsThatAreGivenStay) {
  Tensor t = engine::store(makeEntries({2, 2}, {{{0, 1}, 0.0}, {{1, 0}, -0.0}}), encoding("CSR"));
  EXPECT_EQ(t.storedCount(), 2);
  EXPECT_TRUE(std::signbit(values(t)[1]));
  Tensor dense = engine::store(makeEntries({2, 2}, {{{1, 0}, -0.0}}), encoding("dense"));
  EXPECT_TRUE(std::signbit(values(dense)[2]));
}

TEST(Pack, PaddingHoldsTheFill) {
  format::Encoding blocks =
      encoding("(i,j) -> (i floordiv 2 : dense, j floordiv 2 : compressed, i mod 2 : dense, "
               "j mod 2 : dense), fill = inf");
  if (std::string why = format::whyNotExecutable(blocks); !why.empty())
    GTEST_SKIP() << why;
  Tensor t = engine::store(makeEntries({2, 2}, {{{0, 1}, 3}}), blocks);
  EXPECT_THAT(values(t), ElementsAre(INFINITY, 3, INFINITY, INFINITY));
  EXPECT_THAT(values(toDense(t)), ElementsAre(INFINITY, 3, INFINITY, INFINITY));
}

TEST(Pack, CoordinateOutsideItsDimension) {
  EXPECT_THAT(
      errorOf([] { engine::store(makeEntries({3, 4}, {{{0, 0}, 1}, {{2, 4}, 1}}), encoding("CSR")); }),
      AllOf(HasSubstr("entry 1 at (2, 4)"), HasSubstr("dimension 1, which has size 4")));
  EXPECT_THAT(errorOf([] { engine::store(makeEntries({3, 4}, {{{-1, 0}, 1}}), encoding("dense")); }),
              HasSubstr("coordinate -1"));
  EXPECT_THAT(errorOf([] { engine::store(makeEntries({0, 4}, {{{0, 0}, 1}}), encoding("COO")); }),
              HasSubstr("size 0"));
}

TEST(Pack, WidthTooNarrow) {
  Entries wide = makeEntries({2, 1000}, {{{0, 3}, 1}, {{1, 300}, 1}});
  EXPECT_THAT(
      errorOf([&] { engine::store(wide, encoding("(i,j) -> (i : dense, j : compressed), crdWidth = 8")); }),
      AllOf(HasSubstr("level 1"), HasSubstr("coordinate 300"), HasSubstr("crdWidth = 8")));
  // The data decides, not the size: these coordinates fit.
  EXPECT_EQ(engine::store(makeEntries({2, 1000}, {{{1, 255}, 1}}),
                          encoding("(i,j) -> (i : dense, j : compressed), crdWidth = 8"))
                .storedCount(),
            1);
  std::vector<std::pair<Coordinates, double>> many;
  for (int64_t i = 0; i < 256; ++i)
    many.push_back({{i}, 1.0});
  EXPECT_THAT(errorOf([&] {
                engine::store(makeEntries({256}, many), encoding("(i) -> (i : compressed), posWidth = 8", 1));
              }),
              AllOf(HasSubstr("position 256"), HasSubstr("posWidth = 8")));
  many.pop_back();
  EXPECT_EQ(engine::store(makeEntries({256}, many), encoding("(i) -> (i : compressed), posWidth = 8", 1))
                .storedCount(),
            255);
}

TEST(Pack, WidthsWidenByThemselves) {
  Tensor t = engine::store(makeEntries({2, int64_t(1) << 33}, {{{1, int64_t(1) << 32}, 1}}), encoding("CSR"));
  EXPECT_EQ(t.encoding->crdWidth, 64u);
  EXPECT_EQ(t.encoding->posWidth, 32u);
  EXPECT_EQ(field(t, 1), (Ints{int64_t(1) << 32}));
}

TEST(Pack, StructuredGroupsHoldNoMoreThanTheirEntries) {
  auto packed = [](std::vector<std::pair<Coordinates, double>> list, Ints dims = {2, 8}) {
    return errorOf([&] { engine::store(makeEntries(dims, list), encoding(kNV24)); });
  };
  std::vector<std::pair<Coordinates, double>> good = {{{0, 0}, 1}, {{0, 1}, 1}, {{0, 5}, 1}, {{0, 7}, 1},
                                                      {{1, 0}, 1}, {{1, 3}, 1}, {{1, 4}, 1}, {{1, 6}, 1}};
  EXPECT_EQ(packed(good), "no error");
  auto three = good;
  three.push_back({{1, 7}, 1});
  EXPECT_THAT(packed(three),
              AllOf(HasSubstr("(i = 1, j = 4..7)"), HasSubstr("has 3 entries"), HasSubstr("at most 2")));
  // A group of one column has no place for two.
  EXPECT_THAT(packed({{{0, 4}, 1}}, {2, 5}),
              HasSubstr("the last group has 1 coordinate inside the tensor, and 2 are"));
  // Duplicates are one entry.
  auto twice = good;
  twice.push_back({{1, 6}, 1});
  EXPECT_EQ(packed(twice), "no error");
}

/// Zeros at the lowest free columns, among the entries in ascending order.
TEST(Pack, FreeSlotsOfStructuredGroupsHoldZeros) {
  Tensor t = engine::store(makeEntries({2, 8}, {{{1, 7}, 4}, {{0, 0}, 1}, {{0, 6}, 2}, {{0, 7}, 3}}),
                           encoding("(i,j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2,4])"));
  EXPECT_EQ(field(t, 0), (Ints{0, 1, 2, 3, 0, 1, 0, 3}));
  EXPECT_THAT(values(t), ElementsAre(1, 0, 2, 3, 0, 0, 0, 4));
  validate(t);
  // What is not stored is the fill, and so are free slots.
  t = engine::store(
      makeEntries({1, 4}, {{{0, 2}, 5}}),
      encoding("(i,j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[3,4]), fill = -1"));
  EXPECT_EQ(field(t, 0), (Ints{0, 1, 2}));
  EXPECT_THAT(values(t), ElementsAre(-1, -1, 5));
}

/// Groups of more coordinates than a word has bits, and levels below them.
TEST(Pack, WideStructuredGroups) {
  Tensor t = engine::store(makeEntries({300}, {{{299}, 3}, {{64}, 1}, {{130}, 2}}),
                           encoding("(i) -> (i floordiv 150 : dense, i mod 150 : structured[3,150])", 1));
  EXPECT_EQ(field(t, 0), (Ints{0, 64, 130, 0, 1, 149}));
  EXPECT_THAT(values(t), ElementsAre(0, 1, 2, 0, 0, 3));
  t = engine::store(makeEntries({4, 3}, {{{2, 0}, 1}, {{2, 2}, 2}}),
                    encoding("(i,j) -> (i floordiv 4 : dense, i mod 4 : structured[2,4], j : compressed)"));
  EXPECT_EQ(field(t, 0), (Ints{0, 2}));
  EXPECT_EQ(field(t, 1), (Ints{0, 0, 2}));
  EXPECT_EQ(field(t, 2), (Ints{0, 2}));
}

TEST(Pack, StructuredGroupsThatBlocksPadAreFilled) {
  const char *text =
      "(i,j) -> (i floordiv 2 : dense, j floordiv 4 : dense, i mod 2 : dense, j mod 4 : structured[2,4])";
  Tensor t = engine::store(makeEntries({1, 4}, {{{0, 1}, 5}, {{0, 3}, 6}}), encoding(text));
  EXPECT_EQ(field(t, 0), (Ints{1, 3, 0, 1}));
  EXPECT_THAT(values(t), ElementsAre(5, 6, 0, 0));
  EXPECT_EQ(stored(t), (Map{{{0, 1}, 5}, {{0, 3}, 6}}));
  validate(t);
}

TEST(Pack, UnstructuredDataIsRefusedBeforeItsMemory) {
  const int64_t large = int64_t(1) << 30;
  EXPECT_THAT(errorOf([&] { engine::store(makeEntries({large, large}, {{{0, 0}, 1}}), encoding(kNV24)); }),
              HasSubstr("out of memory"));
}

TEST(Pack, SizesBeyondMemoryAreRefusedBeforeAllocation) {
  const int64_t large = int64_t(1) << 40;
  EXPECT_THAT(errorOf([&] { makeDense(ElementType::F64, {large, 64}); }),
              AllOf(HasSubstr("out of memory"), HasSubstr(std::to_string(large * 64 * 8) + " bytes")));
  EXPECT_THAT(errorOf([&] { makeDense(ElementType::F64, {large, large}); }),
              HasSubstr("more than 2^63 bytes"));
  EXPECT_THAT(errorOf([&] { makeDense(ElementType::F64, {large, 1 << 22}); }),
              HasSubstr("more than 2^63 bytes"));
  EXPECT_THAT(errorOf([&] { engine::store(makeEntries({large, large}, {}), encoding("CSR")); }),
              HasSubstr("out of memory"));
  EXPECT_THAT(errorOf([&] { engine::store(makeEntries({large, large}, {}), encoding("dense")); }),
              HasSubstr("out of memory"));
  EXPECT_EQ(engine::store(makeEntries({large, large}, {{{large - 1, 0}, 1}}), encoding("DCSR")).storedCount(),
            1);
  EXPECT_EQ(makeDense(ElementType::F64, {large, large, 0}).storedCount(), 0);
}

TEST(Pack, PaddingBeyondMemoryIsRefusedWithItsTotal) {
  // One row of 30000 entries on as many diagonals.
  const int64_t rows = int64_t(1) << 22, entries = 30000;
  std::vector<std::pair<Coordinates, double>> row;
  for (int64_t k = 0; k < entries; ++k)
    row.push_back({{0, 7 * k}, 1});
  auto refusal = [&](const char *format) {
    return errorOf([&] { engine::store(makeEntries({rows, rows}, row), encoding(format)); });
  };
  EXPECT_THAT(refusal("DIA"), AllOf(HasSubstr("DIA needs 1.01 TB (1006632960000 bytes)"),
                                    HasSubstr("level 1 (dense) has 30000 x 4194304 positions")));
  // A coordinate and a value at each position.
  EXPECT_THAT(refusal("ELL"), AllOf(HasSubstr("ELL needs 1.51 TB (1509949440000 bytes)"),
                                    HasSubstr("level 1 (dense) has 30000 x 4194304 positions")));
  EXPECT_THAT(refusal("ELLR"), AllOf(HasSubstr("(1509949440000 bytes)"), HasSubstr("level 1 (fixed)")));
  // A bit for each eight bytes of values.
  EXPECT_THAT(refusal("bitmap"), AllOf(HasSubstr("bitmap needs 143 TB (142936511610880 bytes)"),
                                       HasSubstr("level 1 (bitmap) has 4194304 x 4194304 positions")));
}

TEST(Pack, EntriesThatContradictThemselves) {
  Entries entries = makeEntries({3, 4}, {{{0, 0}, 1}});
  entries.coords[1].push_back(2);
  EXPECT_THAT(errorOf([&] { engine::store(entries, encoding("CSR")); }), HasSubstr("2 for dimension 1"));
  entries = makeEntries({3, 4}, {{{0, 0}, 1}});
  entries.values.pop_back();
  EXPECT_THAT(errorOf([&] { engine::store(entries, encoding("CSR")); }), HasSubstr("need 8 bytes"));
  EXPECT_THAT(errorOf([&] { engine::store(makeEntries({3}, {{{0}, 1}}), encoding("CSR")); }),
              HasSubstr("has 2 dimensions"));
  EXPECT_THAT(errorOf([&] { engine::store(makeEntries({3, -4}, {}), encoding("CSR")); }), HasSubstr("-4"));
}

TEST(Dense, NothingBelowAHugeDimension) {
  const int64_t large = int64_t(1) << 50;
  Tensor t = engine::store(makeEntries({0, large}, {}), encoding("(i,j) -> (j : dense, i : dense)"));
  EXPECT_EQ(stored(t).size(), 0u); // at once, not after 2^50 steps
  EXPECT_EQ(toDense(t).storedCount(), 0);
}

TEST(Dense, BorrowedMemoryIsNotCopied) {
  double data[6] = {1, 2, 3, 4, 5, 6};
  Tensor t = borrowDense(ElementType::F64, {2, 3}, data);
  EXPECT_EQ(t.values(), data);
  EXPECT_EQ(stored(t).at({1, 2}), 6);
  EXPECT_THAT(errorOf([] { borrowDense(ElementType::F64, {2, 3}, nullptr); }), HasSubstr("no memory"));
  auto owner = std::make_shared<int>(1);
  {
    Tensor kept = borrowDense(ElementType::F64, {2, 3}, data, owner);
    EXPECT_EQ(owner.use_count(), 2);
  }
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(Dense, LikePatternSharesEverythingButTheValues) {
  Tensor a = engine::store(blockExample(), encoding("CSR"));
  Tensor b = likePattern(a, ElementType::F32);
  EXPECT_EQ(b.buffers[0].data, a.buffers[0].data);
  EXPECT_NE(b.values(), a.values());
  EXPECT_EQ(b.buffers.back().bytes, 8 * 4);
  EXPECT_THAT(values(b), ::testing::Each(0));
  validate(b);
}

TEST(Convert, FillMustAgree) {
  format::Encoding infinite = encoding("(i,j) -> (i : dense, j : compressed), fill = inf");
  EXPECT_THAT(errorOf([&] { engine::convert(engine::store(blockExample(), encoding("CSR")), infinite); }),
              HasSubstr("same fill"));
}

TEST(Convert, TheSameFormatSharesItsBuffers) {
  Tensor t = engine::store(blockExample(), encoding("CSR"));
  EXPECT_EQ(engine::convert(t, t.encoding).values(), t.values());
  EXPECT_EQ(engine::convert(t, encoding("CSR")).values(),
            t.values()); // its widths are the ones that would be chosen
  Tensor narrow =
      engine::store(blockExample(), encoding("(i,j) -> (i : dense, j : compressed), crdWidth = 8"));
  EXPECT_EQ(engine::convert(narrow, encoding("CSR")).encoding->crdWidth, 32u);
}

TEST(Convert, StoredZerosSurviveBetweenSparseFormats) {
  Tensor t = engine::store(makeEntries({2, 2}, {{{0, 1}, 0}, {{1, 0}, 4}}), encoding("CSR"));
  EXPECT_EQ(engine::convert(t, encoding("COO")).storedCount(), 2);
  EXPECT_EQ(engine::convert(toDense(t), encoding("COO")).storedCount(), 1);
}

} // namespace
} // namespace tulle::runtime::testing
