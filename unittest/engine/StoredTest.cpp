// Kernels on tensors in every format, whose buffers come from outside.
#include "../runtime/Stored.h"
#include "Programs.h"
#include <gtest/gtest.h>

namespace tulle::engine {
namespace {

using runtime::testing::storedExample;
using runtime::testing::storedExamples;

const std::vector<double> x = {1, 10, 100, 1000, 10000};

TEST(Stored, matrixTimesVector) {
  // Row by row: 1 + 20, 30, 0, 4 + 5000 + 60000, 700.
  for (const auto &[format, tensor] : storedExamples())
    EXPECT_EQ(elements(evaluate("y(i) = A(i,j) * x(j)", "y", {{"A", tensor}, {"x", doubles({5}, x)}})),
              (std::vector<double>{21, 30, 0, 65004, 700}))
        << format;
}

TEST(Stored, transposedMatrixTimesVector) {
  // Column by column: 1 + 4 * 1000, 2 + 30, 700 * 100, 5 * 1000, 6 * 1000.
  for (const auto &[format, tensor] : storedExamples())
    EXPECT_EQ(elements(evaluate("y(j) = A(i,j) * x(i)", "y", {{"A", tensor}, {"x", doubles({5}, x)}})),
              (std::vector<double>{4001, 32, 70000, 5000, 6000}))
        << format;
}

/// Row-major n x k times the example, summed by a plain loop.
std::vector<double> product(const std::vector<double> &b, size_t columns) {
  std::vector<double> a = storedExample(), c(5 * columns);
  for (size_t i = 0; i < 5; ++i)
    for (size_t j = 0; j < 5; ++j)
      for (size_t k = 0; k < columns; ++k)
        c[i * columns + k] += a[i * 5 + j] * b[j * columns + k];
  return c;
}

TEST(Stored, matrixTimesMatrix) {
  std::vector<double> b;
  for (int k = 0; k < 15; ++k)
    b.push_back(k % 7 + 1);
  for (const auto &[format, tensor] : storedExamples())
    EXPECT_EQ(elements(evaluate("C(i,k) = A(i,j) * B(j,k)", "C", {{"A", tensor}, {"B", doubles({5, 3}, b)}})),
              product(b, 3))
        << format;
}

/// Statements that change something where nothing is stored, meet a second sparse operand, or read a
/// diagonal.
TEST(Stored, anyStatement) {
  std::vector<double> a = storedExample(), d(25), sum(25), both(25);
  for (size_t k = 0; k < 25; ++k) {
    d[k] = k % 3 == 0 ? double(k) : 0;
    sum[k] = a[k] + d[k];
    both[k] = a[k] * d[k];
  }
  for (const auto &[format, tensor] : storedExamples()) {
    Tensors dense = {{"A", tensor}, {"D", doubles({5, 5}, d)}};
    Tensors sparse = {{"A", tensor}, {"D", doubles({5, 5}, d, "CSR")}};
    EXPECT_EQ(elements(evaluate("C(i,j) = A(i,j) + D(i,j)", "C", dense)), sum) << format;
    EXPECT_EQ(elements(evaluate("C(i,j) = A(i,j) + D(i,j)", "C", sparse)), sum) << format;
    EXPECT_EQ(elements(evaluate("C(i,j) = A(i,j) * D(i,j)", "C", sparse)), both) << format;
    EXPECT_EQ(elements(evaluate("t() = A(i,i) * x(i)", "t", {{"A", tensor}, {"x", doubles({5}, x)}})),
              (std::vector<double>{1 + 30 + 5000}))
        << format;
  }
}

TEST(Stored, resultWithThePatternOfAnOperand) {
  std::vector<double> d(25), scaled(25);
  for (size_t k = 0; k < 25; ++k) {
    d[k] = double(k + 1);
    scaled[k] = storedExample()[k] * d[k];
  }
  for (const auto &[format, tensor] : storedExamples())
    EXPECT_EQ(elements(evaluate("C(i,j) = A(i,j) * D(i,j)", "C", {{"A", tensor}, {"D", doubles({5, 5}, d)}},
                                {{"C", format}})),
              scaled)
        << format;
}

} // namespace
} // namespace tulle::engine
