// Every format times many shapes, against a plain map.
#include "Model.h"
#include "engine/Conversion.h"

namespace tulle::runtime::testing {
namespace {

/// Formats by order.
const std::vector<std::vector<std::string>> kFormats = {
    {"() -> ()"},
    {"(i) -> (i : dense)", "(i) -> (i : compressed)", "(i) -> (i : compressed(nonunique))",
     "(i) -> (i : loose_compressed)", "(i) -> (i floordiv 3 : dense, i mod 3 : dense)",
     "(i) -> (i floordiv 3 : compressed, i mod 3 : dense)",
     "(i) -> (i floordiv 2 : compressed, i mod 2 : compressed)", "(i) -> (i : batch)",
     "(i) -> (i mod 4 : dense, i floordiv 4 : compressed)"},
    {"CSR",
     "CSC",
     "DCSR",
     "COO",
     "dense",
     "BCSR(4,4)",
     "(i,j) -> (j : compressed, i : compressed)",
     "(i,j) -> (j : dense, i : dense)",
     "(i,j) -> (i : compressed(nonunique), j : singleton(soa))",
     "(i,j) -> (j : compressed(nonunique), i : singleton)",
     "(i,j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)",
     "(i,j) -> (j floordiv 8 : dense, i floordiv 8 : compressed, i mod 8 : dense, j mod 8 : dense)",
     "(i,j) -> (i floordiv 2 : compressed(nonunique), j floordiv 2 : singleton, i mod 2 : dense, j mod 2 : "
     "dense)",
     "(i,j) -> (i : dense, j : loose_compressed)",
     "(i,j) -> (i : loose_compressed, j : compressed)",
     "(i,j) -> (i : compressed(nonunique, high), j : singleton)",
     "(i,j) -> (i : batch, j : compressed)",
     "(i,j) -> (i : batch, j : dense)",
     "(i,j) -> (i floordiv 3 : dense, i mod 3 : compressed, j : compressed)",
     "(i,j) -> (i : compressed, j : dense)",
     "(i,j) -> (i : dense, j : compressed), posWidth = 16, crdWidth = 8",
     "(i,j) -> (i : dense, j : compressed), posWidth = 64, crdWidth = 64"},
    {"(i,j,k) -> (i : compressed, j : compressed, k : compressed)",
     "(i,j,k) -> (k : compressed, i : compressed, j : compressed)",
     "(i,j,k) -> (j : dense, k : compressed, i : compressed)",
     "(i,j,k) -> (i : compressed(nonunique), j : singleton(nonunique), k : singleton)",
     "(i,j,k) -> (i : compressed(nonunique), j : singleton(nonunique, soa), k : singleton(soa))",
     "(i,j,k) -> (i : dense, j : compressed(nonunique), k : singleton)",
     "(i,j,k) -> (i : dense, j : compressed(nonunique, high), k : singleton)",
     "(i,j,k) -> (i : batch, j : dense, k : compressed)",
     "(i,j,k) -> (i : batch, j : compressed, k : compressed)",
     "(i,j,k) -> (i : batch, j : batch, k : compressed)",
     "(i,j,k) -> (i : batch, j : compressed(nonunique), k : singleton)",
     "(i,j,k) -> (i : compressed, j floordiv 2 : compressed, k floordiv 2 : compressed, j mod 2 : dense, k "
     "mod 2 : dense)",
     "(i,j,k) -> (k : dense, j : dense, i : dense)"},
    {"(i,j,k,l) -> (i : compressed, j : compressed, k : compressed, l : compressed)",
     "(i,j,k,l) -> (l : compressed, j : dense, k : compressed, i : dense)",
     "(i,j,k,l) -> (i : compressed(nonunique), j : singleton(nonunique), k : singleton(nonunique), l : "
     "singleton)",
     "(i,j,k,l) -> (i : batch, j : compressed, k : dense, l : compressed)",
     "(i,j,k,l) -> (i : dense, j : dense, k : dense, l : dense)"}};

const std::vector<std::vector<std::vector<int64_t>>> kShapes = {
    {{}},
    {{0}, {1}, {2}, {7}, {64}, {255}},
    {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {1, 9}, {9, 1}, {4, 6}, {7, 5}, {13, 130}},
    {{0, 3, 2}, {3, 0, 2}, {2, 3, 0}, {1, 1, 1}, {3, 4, 5}, {1, 7, 2}, {11, 3, 6}},
    {{1, 1, 1, 1}, {2, 0, 3, 1}, {3, 4, 2, 5}, {2, 1, 6, 3}}};

Entries randomEntries(const std::vector<int64_t> &dims, int64_t count, std::mt19937 &random) {
  std::vector<std::pair<Coordinates, double>> list;
  for (int64_t size : dims)
    if (size == 0)
      count = 0;
  for (int64_t e = 0; e < count; ++e) {
    Coordinates c;
    for (int64_t size : dims)
      c.push_back(random() % size);
    list.push_back({c, double(1 + random() % 9)}); // positive: sums are never zero
  }
  return makeEntries(dims, list);
}

TEST(RoundTrip, EveryFormatTimesEveryShapeAgreesWithAMap) {
  std::mt19937 random(1);
  for (unsigned order = 0; order < kFormats.size(); ++order)
    for (const auto &dims : kShapes[order])
      for (const std::string &text : kFormats[order])
        for (int64_t count : {0, 1, 3, 40, 300}) {
          SCOPED_TRACE(text + " with " + std::to_string(count) + " entries, " +
                       ::testing::PrintToString(dims));
          Entries entries = randomEntries(dims, count, random);
          Map expected = sum(entries);
          Tensor t = engine::store(entries, encoding(text, order));
          ASSERT_EQ(t.dims, dims);
          ASSERT_EQ(errorOf([&] { validate(t); }), "no error");
          Map have = stored(t);
          if (!t.encoding->levels.empty() && !format::storesPadding(t.encoding))
            ASSERT_EQ(have, expected);
          ASSERT_EQ(nonzeros(have), expected);
          ASSERT_EQ(sum(unpack(t)), have);
          Tensor dense = toDense(t);
          ASSERT_EQ(dense.layout().fields.size(), 1u);
          ASSERT_EQ(nonzeros(stored(dense)), expected);
          ASSERT_NE(printStorage(t), "");
        }
}

/// Each format is the source and the target of a third of the others: test/convert/ has all pairs of the
/// named ones.
TEST(RoundTrip, EveryFormatConvertsIntoOthersOfEveryKind) {
  std::mt19937 random(2);
  for (unsigned order = 0; order < kFormats.size(); ++order) {
    const std::vector<int64_t> &dims = kShapes[order].back();
    Entries entries = randomEntries(dims, 50, random);
    Map expected = sum(entries);
    const std::vector<std::string> &formats = kFormats[order];
    for (size_t s = 0; s < formats.size(); ++s) {
      const std::string &from = formats[s];
      Tensor source = engine::store(entries, encoding(from, order));
      for (size_t t = s % 3; t < formats.size(); t += 3) {
        const std::string &to = formats[t];
        SCOPED_TRACE(from + " to " + to);
        Tensor result = engine::convert(source, encoding(to, order));
        ASSERT_EQ(errorOf([&] { validate(result); }), "no error");
        ASSERT_EQ(nonzeros(stored(result)), expected);
        if (format::isAllDense(source.encoding) && !result.encoding->levels.empty() &&
            !format::storesPadding(result.encoding))
          ASSERT_EQ(stored(result), expected); // a dense source's zeros are not stored
      }
    }
  }
}

TEST(RoundTrip, CoordinatesThatNeedMoreThan64BitsAreSorted) {
  const int64_t large = int64_t(1) << 40;
  std::mt19937_64 random(3);
  std::vector<std::pair<Coordinates, double>> list;
  for (int e = 0; e < 500; ++e)
    list.push_back(
        {{int64_t(random() % large), int64_t(random() % large), int64_t(random() % 3)}, double(e + 1)});
  list.push_back(list[17]);
  Entries entries = makeEntries({large, large, 3}, list);
  for (const char *text :
       {"(i,j,k) -> (i : compressed, j : compressed, k : compressed)",
        "(i,j,k) -> (k : dense, j : compressed, i : compressed)",
        "(i,j,k) -> (i : compressed(nonunique), j : singleton(nonunique), k : singleton)"}) {
    Tensor t = engine::store(entries, encoding(text, 3));
    EXPECT_EQ(t.encoding->crdWidth, 64u);
    EXPECT_EQ(errorOf([&] { validate(t); }), "no error");
    EXPECT_EQ(nonzeros(stored(t)), sum(entries));
  }
}

TEST(RoundTrip, ManyEntriesInAnyOrder) {
  std::mt19937 random(4);
  Entries shuffled = randomEntries({3000, 70000}, 20000, random);
  Map expected = sum(shuffled);
  for (const char *text : {"CSR", "CSC", "COO", "DCSR", "BCSR(4,4)"}) {
    Tensor t = engine::store(shuffled, encoding(text));
    EXPECT_EQ(errorOf([&] { validate(t); }), "no error");
    EXPECT_EQ(nonzeros(stored(t)), expected);
    Entries sorted = unpack(t); // in that format's own order: no sorting is needed
    EXPECT_EQ(nonzeros(stored(engine::store(sorted, encoding("CSC")))), expected);
    EXPECT_EQ(nonzeros(stored(engine::store(sorted, encoding("CSR")))), expected);
  }
}

TEST(RoundTrip, EveryElementType) {
  for (int type = 0; type <= int(ElementType::C128); ++type) {
    SCOPED_TRACE(std::string(name(ElementType(type))));
    Entries entries = makeEntries({3, 4}, {{{2, 1}, 1}, {{0, 3}, 1}, {{0, 0}, 1}}, ElementType(type));
    for (const char *text : {"CSR", "dense", "BCSR(4,4)", "COO"}) {
      Tensor t = engine::store(entries, encoding(text));
      EXPECT_EQ(t.type, ElementType(type));
      EXPECT_EQ(nonzeros(stored(t)), sum(entries));
      EXPECT_EQ(nonzeros(stored(toDense(t))), sum(entries));
    }
  }
}

} // namespace
} // namespace tulle::runtime::testing
