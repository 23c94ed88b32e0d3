// Vector code agrees with plain loops at every length around the vector length, for every monoid. Values are
// small integers, so that sums are exact in any order.
#include "Programs.h"
#include "engine/Kernel.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <set>

namespace tulle::engine {
namespace {

using testing::ElementsAreArray;

struct Monoid {
  const char *assignment;
  int64_t start;
  int64_t (*combine)(int64_t, int64_t);
};
const Monoid monoids[] = {
    {"+=", 5, [](int64_t a, int64_t b) { return a + b; }},
    {"*=", 3, [](int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }},
    {"min=", 2, [](int64_t a, int64_t b) { return std::min(a, b); }},
    {"max=", 2, [](int64_t a, int64_t b) { return std::max(a, b); }},
    {"|=", 1, [](int64_t a, int64_t b) { return a | b; }},
    {"&=", 127, [](int64_t a, int64_t b) { return a & b; }},
    {"^=", 1, [](int64_t a, int64_t b) { return a ^ b; }},
};

TEST(Vector, wideIndicesReachThePasses) {
  EXPECT_TRUE(pipelineOptions({}, /*index32=*/true).index32);
  EXPECT_FALSE(pipelineOptions({.wideIndices = true}, /*index32=*/true).index32);
}

TEST(Vector, everyMonoidAtEveryLength) {
  std::mt19937 random(1);
  for (unsigned vl : {0u, 2u, 8u})
    for (const Monoid &monoid : monoids)
      for (int64_t n = 0; n <= 37; n += n < 20 ? 1 : 5) {
        std::vector<int64_t> a(static_cast<size_t>(n));
        int64_t expected = monoid.start;
        for (int64_t &v : a) {
          v = int64_t(random() % 61) - 30;
          expected = monoid.combine(expected, v);
        }
        Tensors in{{"a", tensor<int64_t>(ElementType::I64, {n}, a, "dense")},
                   {"s", tensor<int64_t>(ElementType::I64, {}, {monoid.start}, "dense")}};
        // `s op= …` of an s that is given starts from its value.
        std::string text = std::string("s ") + monoid.assignment + " a(i)";
        EXPECT_EQ(elements<int64_t>(evaluate(text, "s", in, {}, {.vectorLength = vl}))[0], expected)
            << monoid.assignment << " n=" << n << " vl=" << vl;
      }
}

/// Rows of 0 to 40 entries, of a matrix in every format whose rows are gathered.
TEST(Vector, gathersAtEveryRowLength) {
  std::mt19937 random(2);
  const int64_t rows = 41, columns = 64;
  std::vector<double> a(size_t(rows * columns)), x(static_cast<size_t>(columns)),
      expected(static_cast<size_t>(rows));
  for (double &v : x)
    v = double(random() % 19) - 9;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < i; ++k) {
      int64_t j = (k * 37 + i * 11) % columns; // 37 is coprime to 64: distinct
      double v = double(random() % 7) + 1;
      a[size_t(i * columns + j)] = v;
      expected[size_t(i)] += v * x[size_t(j)];
    }
  for (const char *form : {"CSR", "COO", "COO-soa", "DCSR", "dense", "BCSR(4,4)", "BCSR(8,8)", "BCSR(3,16)",
                           "(i,j) -> (i : dense, j : compressed), crdWidth = 8",
                           "(i,j) -> (i : dense, j : compressed), crdWidth = 16, posWidth = 64",
                           "(i,j) -> (i : dense, j : compressed), crdWidth = 64"})
    for (unsigned vl : {0u, 2u, 16u}) {
      std::string text = std::string(form).find("Width") == std::string::npos
                             ? std::string(form)
                             : "{ map = " + std::string(form) + " }";
      Tensors in{{"A", doubles({rows, columns}, a, text)}, {"x", doubles({columns}, x)}};
      EXPECT_THAT(elements(evaluate("y(i) = A(i,j) * x(j)", "y", in, {}, {.vectorLength = vl})),
                  ElementsAreArray(expected))
          << form << " vl=" << vl;
    }
}

/// Every number of columns around the tiles of eight and of two vectors; order is kept, so strict sums are
/// the same.
TEST(Vector, registerTilesAtEveryWidth) {
  std::mt19937 random(3);
  const int64_t rows = 7, inner = 9;
  std::vector<double> a(size_t(rows * inner));
  for (double &v : a)
    v = random() % 3 ? double(random() % 9) - 4 : 0;
  for (bool strict : {false, true})
    for (int64_t n : {0, 1, 7, 8, 9, 16, 31, 32, 33, 40, 41, 64, 75}) {
      std::vector<double> b(size_t(inner * n)), expected(size_t(rows * n));
      for (double &v : b)
        v = double(random() % 9) - 4;
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < inner; ++j)
          for (int64_t k = 0; k < n; ++k)
            expected[size_t(i * n + k)] += a[size_t(i * inner + j)] * b[size_t(j * n + k)];
      for (const char *form : {"CSR", "COO", "dense"}) {
        Tensors in{{"A", doubles({rows, inner}, a, form)}, {"B", doubles({inner, n}, b)}};
        EXPECT_THAT(elements(evaluate("C(i,k) = A(i,j) * B(j,k)", "C", in, {}, {.strictFp = strict})),
                    ElementsAreArray(expected))
            << form << " n=" << n;
      }
    }
}

TEST(Vector, conditionsKeepLanes) {
  for (int64_t n : {0, 1, 3, 4, 5, 16, 17, 33}) {
    std::vector<int64_t> a(static_cast<size_t>(n)), b(static_cast<size_t>(n));
    int64_t expected = 0;
    for (int64_t k = 0; k < n; ++k) {
      a[size_t(k)] = k * 3 - 20;
      b[size_t(k)] = k % 4;
      expected += b[size_t(k)] > 1 ? a[size_t(k)] : 1;
    }
    Tensors in{{"a", tensor<int64_t>(ElementType::I64, {n}, a, "dense")},
               {"b", tensor<int64_t>(ElementType::I64, {n}, b, "dense")}};
    EXPECT_EQ(elements<int64_t>(evaluate("s = select(b(i) > 1, a(i), 1)", "s", in))[0], expected) << n;
  }
}

/// C(i,r) = A(i,j,k) * D(j,r) * E(k,r). Every row of A reaches most of D, which is larger than the innermost
/// cache, and segments are short, empty ones among them: rows read the same vectors of D where the format
/// lists its segments, and one loop iterates the segments of a row together.
TEST(Vector, shortSegmentsShareRows) {
  std::mt19937 random(4);
  const int64_t rows = 37, fibers = 700, depth = 20, columns = 32;
  std::vector<double> a(size_t(rows * fibers * depth)), d(size_t(fibers * columns)),
      e(size_t(depth * columns)), expected(size_t(rows * columns));
  for (std::vector<double> *list : {&d, &e})
    for (double &v : *list)
      v = double(random() % 9) - 4;
  for (int64_t i = 0; i < rows; ++i)
    // Rows without any, and ones that end early.
    for (int64_t j = 0, end = i % 9 == 4 ? 0 : i % 5 == 1 ? fibers / 3 : fibers; j < end; ++j)
      for (uint32_t n = random() % 4; n > 0; --n) {
        const int64_t k = int64_t(random() % uint32_t(depth));
        double &value = a[size_t((i * fibers + j) * depth + k)];
        if (value != 0)
          continue;
        value = double(random() % 7) + 1;
        for (int64_t r = 0; r < columns; ++r)
          expected[size_t(i * columns + r)] +=
              value * d[size_t(j * columns + r)] * e[size_t(k * columns + r)];
      }
  Tensors in{{"D", doubles({fibers, columns}, d)}, {"E", doubles({depth, columns}, e)}};
  for (const char *form : {"CSF", "(i,j,k) -> (i : dense, j : compressed, k : compressed)",
                           "(i,j,k) -> (i : dense, j : dense, k : compressed)",
                           "(i,j,k) -> (i : dense, j : compressed, k : loose_compressed[2])",
                           "(i,j,k) -> (i : dense, j : bitmap, k : compressed)"}) {
    in["A"] = doubles({rows, fibers, depth}, a, form);
    for (unsigned threads : {1u, 2u})
      for (unsigned vl : {0u, 2u})
        EXPECT_THAT(
            elements(evaluate("C(i,r) = A(i,j,k) * D(j,r) * E(k,r)", "C", in, {},
                              {.vectorLength = vl, .threads = threads, .workPerThread = 1, .quick = true})),
            ElementsAreArray(expected))
            << form << " vl=" << vl << " threads=" << threads;
  }
}

/// Rows enough to be sampled, whose last vectors read on into the next row where that pays: what stands there
/// must not count, though it is infinite. Even rows name even columns, odd ones odd columns.
runtime::Entries manyRows(int64_t rows, int64_t columns, unsigned least, unsigned most) {
  std::mt19937 random(3);
  runtime::Entries entries;
  entries.type = ElementType::F64;
  entries.dims = {rows, columns};
  entries.coords.resize(2);
  std::vector<double> values;
  for (int64_t i = 0; i < rows; ++i) {
    std::set<int64_t> row;
    for (unsigned wanted = least + random() % (most - least + 1); row.size() < wanted;)
      row.insert(int64_t(random() % uint64_t(columns / 2)) * 2 + i % 2);
    for (int64_t j : row) {
      entries.coords[0].push_back(i);
      entries.coords[1].push_back(j);
      values.push_back(double(random() % 7) + 1);
    }
  }
  entries.values.resize(values.size() * sizeof(double));
  std::memcpy(entries.values.data(), values.data(), entries.values.size());
  return entries;
}

void expectOwnEntries(const runtime::Entries &entries, const char *form, int64_t parity, Options options) {
  const int64_t rows = entries.dims[0], columns = entries.dims[1];
  std::vector<double> x(static_cast<size_t>(columns)), expected(static_cast<size_t>(rows));
  for (int64_t j = 0; j < columns; ++j)
    x[size_t(j)] = j % 2 == parity ? double(j % 11) - 5 : std::numeric_limits<double>::infinity();
  for (size_t k = 0; k < entries.coords[0].size(); ++k) {
    double value;
    std::memcpy(&value, &entries.values[k * sizeof(double)], sizeof(double));
    expected[size_t(entries.coords[0][k])] += value * x[size_t(entries.coords[1][k])];
  }
  Tensors in{{"A", store(entries, format::parseFormat(form, 2))}, {"x", doubles({columns}, x)}};
  const std::vector<double> y = elements(evaluate("y(i) = A(i,j) * x(j)", "y", in, {}, options));
  for (int64_t i = parity; i < rows; i += 2)
    ASSERT_EQ(y[size_t(i)], expected[size_t(i)]) << form << " row " << i;
}

TEST(Vector, rowsEndWhereTheyEnd) {
  // x fits the caches, or does not; the last rows are empty.
  runtime::Entries different = manyRows(9001, 500, 0, 9), far = manyRows(9000, 300000, 0, 9);
  far.dims[0] += 100;
  const runtime::Entries equal = manyRows(9000, 500, 9, 9), equalAndFar = manyRows(9000, 300000, 9, 9),
                         whole = manyRows(9000, 300000, 12, 12);
  for (const char *form : {"CSR", "DCSR", "{ map = (i,j) -> (i : dense, j : compressed), posWidth = 64 }"})
    for (int64_t parity : {0, 1})
      for (unsigned threads : {1u, 2u})
        for (const runtime::Entries *entries :
             std::initializer_list<const runtime::Entries *>{&different, &far, &equal, &equalAndFar, &whole})
          expectOwnEntries(*entries, form, parity, {.threads = threads, .workPerThread = 1, .quick = true});
}

/// Row i of the one has i entries, of the other one 40 - i.
TEST(Vector, segmentsAreAppendedAtEveryLength) {
  const int64_t rows = 41, columns = 50;
  std::vector<float> a(size_t(rows * columns)), b(a.size()), both(2 * a.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      const float value = float(i * columns + j + 1);
      both[size_t(2 * i * columns + j)] = a[size_t(i * columns + j)] = (j * 7 + i) % columns < i ? value : 0;
      both[size_t((2 * i + 1) * columns + j)] = b[size_t(i * columns + j)] =
          (j * 3 + i) % columns < rows - 1 - i ? -value : 0;
    }
  for (const char *form : {"CSR", "DCSR", "{ map = (i,j) -> (i : dense, j : compressed), crdWidth = 8 }"})
    for (unsigned threads : {1u, 2u}) {
      const Tensors in{{"A", tensor<float>(ElementType::F32, {rows, columns}, a, form)},
                       {"B", tensor<float>(ElementType::F32, {rows, columns}, b, form)}};
      const runtime::Tensor c = evaluate("C(i,j) = concat(A, B; 1)", "C", in, {{"C", form}},
                                         {.threads = threads, .workPerThread = 1});
      EXPECT_EQ(elements<float>(c), both) << form << ", threads: " << threads;
    }
}

/// The last coordinate of the second part needs eight bits, 255, or nine.
TEST(Vector, appendedCoordinatesMayBeTooWide) {
  const char *narrow = "{ map = (i,j) -> (i : dense, j : compressed), crdWidth = 8 }";
  for (int64_t last : {55, 56}) {
    std::vector<double> a(200), b(200);
    a[199] = b[0] = b[size_t(last)] = 1;
    const Tensors in{{"A", doubles({1, 200}, a, "CSR")}, {"B", doubles({1, 200}, b, "CSR")}};
    auto run = [&] { return evaluate("C(i,j) = concat(A, B; 1)", "C", in, {{"C", narrow}}); };
    if (last == 55)
      EXPECT_EQ(run().storedCount(), 3);
    else
      EXPECT_THROW(run(), std::exception);
  }
}

/// Results that no cache holds: the lines of the second part do not begin where those of its operand do, and
/// threads' parts begin anywhere.
template <typename T> void expectStreamed(ElementType type) {
  const int64_t columns = 2001, bytes = 1 << 24, size = bytes / int64_t(sizeof(T)) + 13,
                rows = bytes / (int64_t(sizeof(T)) + 4) / columns / 2 + 1;
  std::vector<T> a(size_t((rows + 1) * columns)), b(size_t(rows * columns)), x(static_cast<size_t>(size));
  for (std::vector<T> *values : {&a, &b, &x})
    for (size_t k = 0; k < values->size(); ++k)
      (*values)[k] = T(k % 113 + 1);
  std::vector<T> both(a), twice(x);
  both.insert(both.end(), b.begin(), b.end());
  for (T &value : twice)
    value = T(2) * value + T(1);
  const Tensors in{{"A", tensor<T>(type, {rows + 1, columns}, a, "CSR")},
                   {"B", tensor<T>(type, {rows, columns}, b, "CSR")}},
      dense{{"x", tensor<T>(type, {size}, x, "dense")}};
  for (unsigned threads : {1u, 2u}) {
    EXPECT_EQ(
        elements<T>(evaluate("C(i,j) = concat(A, B; 0)", "C", in, {{"C", "CSR"}}, {.threads = threads})),
        both);
    EXPECT_EQ(elements<T>(evaluate("y(i) = 2 * x(i) + 1", "y", dense, {}, {.threads = threads})), twice);
  }
}

TEST(Vector, largeResultsAreStreamed) {
  expectStreamed<float>(ElementType::F32);
  expectStreamed<double>(ElementType::F64);
  expectStreamed<int16_t>(ElementType::I16);
}

/// Blocks that the caches do not hold, in an odd number of rows of which the last is cut off: rows form
/// two interleaved streams, each row once.
TEST(Vector, manyBlocks) {
  const int64_t rows = 4 * 70000 + 3, columns = 40;
  runtime::Entries entries;
  entries.type = ElementType::F64;
  entries.dims = {rows, columns};
  entries.coords.resize(2);
  std::vector<double> values, x(static_cast<size_t>(columns), 1), expected(static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows; i += i % 7 == 3 ? 2 : 1) {
    entries.coords[0].push_back(i);
    entries.coords[1].push_back(i % columns);
    values.push_back(double(i % 1000) + 1);
    expected[size_t(i)] = values.back();
  }
  entries.values.resize(values.size() * sizeof(double));
  std::memcpy(entries.values.data(), values.data(), entries.values.size());
  Tensors in{{"A", store(entries, format::parseFormat("BCSR(4,4)", 2))}, {"x", doubles({columns}, x)}};
  for (unsigned threads : {1u, 2u})
    EXPECT_EQ(elements(evaluate("y(i) = A(i,j) * x(j)", "y", in, {}, {.threads = threads})), expected);
}

/// Rows of a skyline without entries have no addresses: tiles of them would read, and write, those of the
/// next row, or behind the end of memory.
TEST(Vector, rowsWithoutPlaces) {
  std::vector<int64_t> a(30), b(18), expected(18);
  a[6] = 3;
  a[15] = a[16] = -2;
  b[1] = 2;
  b[8] = -2;
  b[10] = 3;
  for (int64_t l = 0; l < 6; ++l)
    for (int64_t i = 0; i < 3; ++i) {
      expected[size_t(3 * l + i)] = b[size_t(6 * i + l)];
      for (int64_t k = 0; k < 5; ++k) // the sum is of what k stands in
        expected[size_t(3 * l + i)] += a[size_t(5 * l + k)];
    }
  Tensors in{{"A", tensor<int64_t>(ElementType::I64, {6, 5}, a, "DCSC")},
             {"B", tensor<int64_t>(ElementType::I64, {3, 6}, b, "ELL")}};
  for (unsigned vl : {0u, 1u, 2u})
    EXPECT_EQ(
        elements<int64_t>(evaluate(
            "y(l,i) = A(l,k) + B(i,l)", "y", in, {{"y", "skyline"}},
            {.vectorLength = vl, .threads = 2, .deterministic = true, .workPerThread = 1, .quick = true})),
        expected)
        << vl;
}

} // namespace
} // namespace tulle::engine
