// Loops on several threads: the same results, whatever the number of threads, in every repetition. The
// threshold below which one thread works alone is lowered, so that small tensors are partitioned, too.
#include "Programs.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <thread>

namespace tulle::engine {
namespace {

Options threads(unsigned count, bool deterministic = false) {
  return {.threads = count, .deterministic = deterministic, .workPerThread = 1, .diskCache = false};
}

/// Small integers, so that sums are exact in any order; about one in `every` elements is not zero.
std::vector<double> integers(int64_t count, int every, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> elements(size_t(count), 0.0);
  for (double &element : elements)
    if (random() % unsigned(every) == 0)
      element = double(random() % 9) - 4;
  return elements;
}

/// Fractions, whose sums depend on the order.
std::vector<double> fractions(int64_t count, int every, unsigned seed) {
  std::vector<double> elements = integers(count, every, seed);
  std::mt19937 random(seed);
  for (double &element : elements)
    element *= 1.0 + double(random()) / 4e9;
  return elements;
}

constexpr int64_t kRows = 61, kColumns = 67;

/// The matrix above with one full row: most of all entries.
std::vector<double> arrow(int every) {
  std::vector<double> elements = integers(kRows * kColumns, every, 5);
  for (int64_t j = 0; j < kColumns; ++j)
    elements[size_t(17 * kColumns + j)] = double(j % 5) + 1;
  return elements;
}

void expectSame(const std::string &text, const std::string &result, const Tensors &inputs,
                const std::map<std::string, std::string> &formats = {}, int times = 3) {
  std::vector<double> expected = elements(evaluate(text, result, inputs, formats, threads(1)));
  for (unsigned count : {2u, 8u})
    for (int time = 0; time < times; ++time)
      ASSERT_EQ(elements(evaluate(text, result, inputs, formats, threads(count))), expected)
          << text << " with " << count << " threads";
}

class ThreadsFormats : public testing::TestWithParam<const char *> {};

TEST_P(ThreadsFormats, productsAreThoseOfOneThread) {
  Tensors in{{"A", doubles({kRows, kColumns}, integers(kRows * kColumns, 6, 1), GetParam())},
             {"x", doubles({kColumns}, integers(kColumns, 1, 2))},
             {"B", doubles({kColumns, 37}, integers(kColumns * 37, 1, 3))},
             {"w", doubles({kRows}, integers(kRows, 1, 4))}};
  expectSame("y(i) = A(i,j) * x(j)", "y", {{"A", in.at("A")}, {"x", in.at("x")}}, {}, 100);
  expectSame("y(j) = A(i,j) * w(i)", "y", {{"A", in.at("A")}, {"w", in.at("w")}}, {}, 100);
  expectSame("C(i,k) = A(i,j) * B(j,k)", "C", {{"A", in.at("A")}, {"B", in.at("B")}});
  expectSame("s = A(i,j)", "s", {{"A", in.at("A")}}, {}, 10);
}

TEST_P(ThreadsFormats, oneRowMayHoldMostEntries) {
  Tensors in{{"A", doubles({kRows, kColumns}, arrow(40), GetParam())},
             {"x", doubles({kColumns}, integers(kColumns, 1, 2))}};
  expectSame("y(i) = A(i,j) * x(j)", "y", in);
  in.insert({"B", doubles({kColumns, 37}, integers(kColumns * 37, 1, 3))});
  in.erase("x");
  expectSame("C(i,k) = A(i,j) * B(j,k)", "C", in);
}

/// With --deterministic, in every number of threads; the entries that a sparse result stores, in their order.
void expectSameBits(const std::string &text, const Tensors &inputs,
                    const std::map<std::string, std::string> &formats = {}) {
  auto bits = [&](unsigned count) {
    runtime::Entries found = runtime::unpack(evaluate(text, "y", inputs, formats, threads(count, true)));
    return std::pair(found.coords, found.values);
  };
  auto expected = bits(1);
  for (unsigned count : {2u, 3u, 8u})
    EXPECT_TRUE(bits(count) == expected) << text << " with " << count << " threads";
}

TEST_P(ThreadsFormats, deterministicResultsHaveTheSameBits) {
  runtime::Tensor A = doubles({kRows, kColumns}, fractions(kRows * kColumns, 3, 1), GetParam());
  Tensors in{{"A", A}, {"x", doubles({kColumns}, fractions(kColumns, 1, 2))}};
  expectSameBits("y(i) = A(i,j) * x(j)", in);
  expectSameBits("y = A(i,j) * x(j)", in);
  expectSameBits("y(j) = A(i,j) * w(i)", {{"A", A}, {"w", doubles({kRows}, fractions(kRows, 1, 3))}});
  expectSameBits("y(i,k) = A(i,j) * B(j,k)",
                 {{"A", A}, {"B", doubles({kColumns, 9}, fractions(kColumns * 9, 1, 4))}});
}

TEST(Threads, deterministicSparseResultsHaveTheSameBits) {
  for (const char *form : {"CSR", "CSC", "COO"}) {
    Tensors in{{"A", doubles({kRows, kColumns}, fractions(kRows * kColumns, 4, 1), form)},
               {"B", doubles({kColumns, kRows}, fractions(kRows * kColumns, 4, 2), form)}};
    expectSameBits("y(i,k) = A(i,j) * B(j,k)", in, {{"y", form}});
    expectSameBits("y(i,j) = A(i,j) + B(j,i)", in, {{"y", form}});
    expectSameBits("y(j) = A(i,j)", {{"A", in.at("A")}}, {{"y", "(i) -> (i : compressed)"}});
  }
}

INSTANTIATE_TEST_SUITE_P(
    Matrix, ThreadsFormats,
    testing::Values("CSR", "CSC", "COO", "DCSR", "DCSC", "BCSR(4,4)", "DIA", "ELL", "ELLR", "JDS",
                    "SELL(8,64)", "HiCOO(2)", "DOK", "bitmap", "ragged", "jagged", "dense", "denseColMajor",
                    "(i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonordered))"));

TEST(Threads, reductionsOfEveryKind) {
  Tensors in{{"A", doubles({kRows, kColumns}, integers(kRows * kColumns, 4, 1), "CSR")},
             {"x", doubles({kColumns}, integers(kColumns, 1, 2))}};
  for (const char *assign : {"min=", "max="}) {
    std::string op = assign;
    expectSame("y(i) " + op + " A(i,j) * x(j)", "y", in);
    expectSame("y " + op + " A(i,j) * x(j)", "y", in);
  }
}

TEST(Threads, everyIterationBelongsToATaskWhereNothingIsStored) {
  std::string loose = "(i, j, k) -> (i : dense, j : compressed, k : loose_compressed)";
  Tensors in{{"A", doubles({50, 3, 5}, integers(750, 2, 1))},
             {"B", doubles({50, 3, 5}, std::vector<double>(750, 0.0), loose)}};
  expectSame("s = A(i,j,k) + B(i,j,k)", "s", in);
}

TEST(Threads, setsOfCoordinates) {
  std::string sparse = "(i) -> (i : compressed)";
  Tensors in{{"a", doubles({4000}, integers(4000, 3, 1), sparse)},
             {"b", doubles({4000}, integers(4000, 5, 2), sparse)}};
  expectSame("s = a(i) * b(i)", "s", in, {}, 20);
  expectSame("c(i) = a(i) + b(i)", "c", in, {}, 20);
  expectSame("s = a(i) + b(i)", "s", in);
  Tensors two{{"A", doubles({kRows, kColumns}, integers(kRows * kColumns, 4, 1), "DCSR")},
              {"B", doubles({kRows, kColumns}, integers(kRows * kColumns, 5, 2), "DCSR")}};
  expectSame("C(i,j) = A(i,j) + B(i,j)", "C", two);
  expectSame("C(i,j) = A(i,j) * B(i,j)", "C", two);
}

TEST(Threads, tensorsOfHigherOrder) {
  for (const char *form : {"CSF", "COO"}) {
    Tensors in{{"T", doubles({13, 17, 19}, integers(13 * 17 * 19, 5, 1), form)},
               {"B", doubles({17, 33}, integers(17 * 33, 1, 2))},
               {"C", doubles({19, 33}, integers(19 * 33, 1, 3))}};
    expectSame("D(i,r) = T(i,j,k) * B(j,r) * C(k,r)", "D", in, {}, 20);
    in.erase("C");
    expectSame("D(i,r,k) = T(i,j,k) * B(j,r)", "D", in);
    in.erase("B");
    expectSame("D(k,j) = T(i,j,k)", "D", in, {}, 20);
  }
}

/// A task may begin inside of the slice or row that holds most, whatever its inner loops make.
TEST(Threads, oneSliceMayHoldMostEntries) {
  std::vector<double> elements = integers(13 * 17 * 19, 40, 1);
  for (size_t e = 7 * 17 * 19; e < 8 * 17 * 19; ++e)
    elements[e] = double(e % 5) + 1;
  for (const char *form : {"CSF", "COO", "(i, j, k) -> (i : dense, j : compressed, k : compressed)"}) {
    Tensors in{{"T", doubles({13, 17, 19}, elements, form)},
               {"B", doubles({17, 33}, integers(17 * 33, 1, 2))},
               {"C", doubles({19, 33}, integers(19 * 33, 1, 3))}};
    expectSame("D(i,r) = T(i,j,k) * B(j,r) * C(k,r)", "D", in, {}, 20);
    expectSame("D(i,r) max= T(i,j,k) * B(j,r) * C(k,r)", "D", in);
    expectSame("s = T(i,j,k) * B(j,r) * C(k,r)", "s", in);
  }
}

TEST(Threads, iterationsOfASplitRowGoOn) {
  for (const char *form : {"CSR", "DCSR", "COO"}) {
    runtime::Tensor A = doubles({kRows, kColumns}, arrow(40), form);
    Tensors in{{"A", A}, {"x", doubles({kColumns}, integers(kColumns, 1, 2))}};
    // What follows the sum happens once; a sum goes on from what was there, or from another one.
    in.insert({"y", doubles({kRows}, integers(kRows, 1, 3))});
    expectSame("y(i) += A(i,j) * x(j)", "y", in);
    in.erase("y");
    in.insert({"w", doubles({kRows}, integers(kRows, 1, 3))});
    expectSame("y(i) = w(i) + 2 * A(i,j) * x(j)", "y", in);
    expectSame("s = w(i) * A(i,j) * x(j)", "s", in);
    expectSame("s max= w(i) * A(i,j) * x(j)", "s", in);
    in.erase("w");
    in.insert({"B", doubles({kRows, kColumns}, arrow(9), form)});
    expectSame("y(i) = A(i,j) * x(j) + B(i,k) * x(k)", "y", in);
    // Every entry has an address of its own.
    in.erase("B");
    in.erase("x");
    in.insert({"P", doubles({kRows, 9}, integers(kRows * 9, 1, 4))});
    in.insert({"Q", doubles({9, kColumns}, integers(kColumns * 9, 1, 5))});
    expectSame("S(i,j) = A(i,j) * P(i,k) * Q(k,j)", "S", in);
  }
}

TEST(Threads, emptyTensors) {
  Tensors in{{"A", doubles({0, 0}, {}, "CSR")}, {"x", doubles({0}, {})}};
  expectSame("y(i) = A(i,j) * x(j)", "y", in);
  expectSame("s = A(i,j)", "s", {{"A", in.at("A")}});
}

TEST(Threads, kernelsMayBeCalledFromManyThreads) {
  Tensors in{{"A", doubles({kRows, kColumns}, integers(kRows * kColumns, 6, 1), "CSC")},
             {"x", doubles({kColumns}, integers(kColumns, 1, 2))}};
  std::string text = "y(i) = A(i,j) * x(j)";
  std::vector<double> expected = elements(evaluate(text, "y", in, {}, threads(1)));
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int caller = 0; caller < 8; ++caller)
    callers.emplace_back([&, caller] {
      for (int time = 0; time < 20; ++time)
        if (elements(evaluate(text, "y", in, {}, threads(unsigned(caller % 3) + 2))) != expected)
          ++wrong;
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, tooManyAreRefused) {
  Tensors in{{"a", doubles({2}, {1, 2})}};
  EXPECT_THROW(evaluate("s = a(i)", "s", in, {}, threads(100000)), Error);
}

} // namespace
} // namespace tulle::engine
