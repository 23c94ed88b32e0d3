// Exponentials, which are computed without the library: at the ends of their range, and in rows of every
// length.
#include "Programs.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace tulle::engine {
namespace {

template <class T> void expectClose(T got, T wanted, T x) {
  if (std::isnan(wanted))
    EXPECT_TRUE(std::isnan(got)) << x;
  else if (std::isinf(wanted) || wanted == 0)
    EXPECT_EQ(got, wanted) << x;
  else // both are within a unit in the last place
    EXPECT_LE(std::fabs(got - wanted),
              2 * (std::nextafter(wanted, std::numeric_limits<T>::infinity()) - wanted))
        << x;
}

template <class T> void expectExp(ElementType type, T first, T last, T step) {
  const T infinity = std::numeric_limits<T>::infinity();
  std::vector<T> x{infinity, -infinity, std::numeric_limits<T>::quiet_NaN(),
                   T(0),     -T(0),     std::numeric_limits<T>::denorm_min()};
  for (T at = first; at < last; at += step)
    x.push_back(at);
  const auto size = int64_t(x.size());
  const std::vector<T> e =
      elements<T>(evaluate("e(i) = exp(x(i))", "e", {{"x", tensor<T>(type, {size}, x, "dense")}}, {}, {}));
  for (size_t k = 0; k < x.size(); ++k)
    expectClose(e[k], std::exp(x[k]), x[k]);
}

TEST(Exp, wholeRange) {
  expectExp<double>(ElementType::F64, -760, 720, 0.37);
  expectExp<float>(ElementType::F32, -110, 95, 0.0173F);
}

/// Rows of 0 to 20 entries: vectors whose lanes behind the end of a row are off. The second statement reads
/// two tensors of one pattern.
TEST(Exp, rowsOfEveryLength) {
  const int64_t rows = 21, columns = 23;
  std::vector<double> a(size_t(rows * columns));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < i; ++k)
      a[size_t(i * columns + (k * 5 + i) % columns)] = double(k) / 3 - 2.1;
  for (const char *form : {"CSR", "DCSR", "(i, j) -> (i : compressed(nonunique), j : singleton)"}) {
    const std::vector<double> c =
        elements(evaluate("e(i,j) = exp(A(i,j)) where A; C(i,j) = e(i,j) / A(i,j) where A", "C",
                          {{"A", doubles({rows, columns}, a, form)}}, {{"e", form}, {"C", form}}, {}));
    for (size_t k = 0; k < a.size(); ++k)
      EXPECT_NEAR(c[k], a[k] == 0 ? 0 : std::exp(a[k]) / a[k], 1e-14 * std::fabs(c[k])) << form << ' ' << k;
  }
}

} // namespace
} // namespace tulle::engine
