// Every element type through the whole pipeline, with expectations worked out by hand.
#include "Programs.h"
#include <bit>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tulle::engine {
namespace {

using testing::ElementsAre;

template <class T> ElementType typeOf();
template <> ElementType typeOf<int8_t>() { return ElementType::I8; }
template <> ElementType typeOf<int16_t>() { return ElementType::I16; }
template <> ElementType typeOf<int32_t>() { return ElementType::I32; }
template <> ElementType typeOf<int64_t>() { return ElementType::I64; }
template <> ElementType typeOf<float>() { return ElementType::F32; }
template <> ElementType typeOf<double>() { return ElementType::F64; }

template <class T> class Numbers : public testing::Test {};
using NumberTypes = testing::Types<int8_t, int16_t, int32_t, int64_t, float, double>;
TYPED_TEST_SUITE(Numbers, NumberTypes);

TYPED_TEST(Numbers, matrixTimesVector) {
  using T = TypeParam;
  std::vector<T> a(3 * 40), x(40);
  T expected[3] = {0, 0, 0};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 40; ++j) {
      a[size_t(i * 40 + j)] = T((i + j) % 3 == 0 ? 0 : i - 1);
      x[size_t(j)] = T(j % 5 - 2);
      expected[i] = T(expected[i] + a[size_t(i * 40 + j)] * x[size_t(j)]);
    }
  for (const char *form : {"CSR", "COO", "DCSC", "BCSR(2,3)", "dense"}) {
    Tensors in{{"A", tensor<T>(typeOf<T>(), {3, 40}, a, form)},
               {"x", tensor<T>(typeOf<T>(), {40}, x, "dense")}};
    EXPECT_THAT(elements<T>(evaluate("y(i) = A(i,j) * x(j)", "y", in)),
                ElementsAre(expected[0], expected[1], expected[2]))
        << form;
  }
}

TYPED_TEST(Numbers, largestAndSmallest) {
  using T = TypeParam;
  std::vector<T> a(30);
  for (int j = 0; j < 30; ++j)
    a[size_t(j)] = T((j * 7) % 30 - 20); // -20 … 9, each once
  Tensors in{{"a", tensor<T>(typeOf<T>(), {30}, a, "dense")}};
  EXPECT_THAT(elements<T>(evaluate("m max= a(i)", "m", in)), ElementsAre(T(9)));
  EXPECT_THAT(elements<T>(evaluate("m min= a(i)", "m", in)), ElementsAre(T(-20)));
}

using Complex = std::complex<double>;

TEST(Types, complexProduct) {
  Tensors in{{"A", tensor<Complex>(ElementType::C128, {2, 2}, {{1, 2}, 0, {0, 1}, {3, 0}}, "CSR")},
             {"x", tensor<Complex>(ElementType::C128, {2}, {{1, 1}, {0, 2}}, "dense")}};
  EXPECT_THAT(elements<Complex>(evaluate("y(i) = A(i,j) * x(j)", "y", in)),
              ElementsAre(Complex(-1, 3), Complex(-1, 7)));
}

TEST(Types, halfPrecisionSums) {
  // 1.5 and 2.25 are exact in both formats.
  const uint16_t f16OneAndAHalf = 0x3E00, f16TwoAndAQuarter = 0x4080;
  Tensors half{
      {"a", tensor<uint16_t>(ElementType::F16, {4}, {f16OneAndAHalf, 0, f16TwoAndAQuarter, f16OneAndAHalf},
                             "(i) -> (i : compressed)")}};
  EXPECT_THAT(elements<uint16_t>(evaluate("s = a(i)", "s", half)), ElementsAre(0x4540)); // 5.25
  const uint16_t bfOneAndAHalf = 0x3FC0, bfTwoAndAQuarter = 0x4010;
  Tensors brain{
      {"a", tensor<uint16_t>(ElementType::BF16, {4}, {bfOneAndAHalf, 0, bfTwoAndAQuarter, bfOneAndAHalf},
                             "(i) -> (i : compressed)")}};
  EXPECT_THAT(elements<uint16_t>(evaluate("s = a(i)", "s", brain)), ElementsAre(0x40A8)); // 5.25
}

/// Every value of a float's last 16 bits that rounding depends on, behind exponents of all kinds: the same as
/// by support/ElementType, one at a time.
TEST(Types, bfloatRoundsToTheNearest) {
  std::vector<float> x;
  for (uint32_t high :
       {0x0000u, 0x0001u, 0x0080u, 0x3f80u, 0x3f81u, 0x7f7fu, 0x7f80u, 0x7fc1u, 0x8001u, 0xff7fu})
    for (uint32_t low : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      x.push_back(std::bit_cast<float>(high << 16 | low));
  const auto size = int64_t(x.size());
  Tensors in{{"x", tensor<float>(ElementType::F32, {size}, x, "dense")},
             {"y", tensor<uint16_t>(ElementType::BF16, {size}, std::vector<uint16_t>(x.size()), "dense")}};
  const std::vector<uint16_t> y = elements<uint16_t>(evaluate("y(i) = x(i)", "y", in));
  for (size_t k = 0; k < x.size(); ++k) {
    uint16_t wanted = 0;
    storeScalar(ElementType::BF16, &wanted, {0, x[k]});
    if (std::isnan(x[k]))
      EXPECT_GT(y[k] & 0x7fff, 0x7f80) << k;
    else
      EXPECT_EQ(y[k], wanted) << x[k];
  }
}

TEST(Types, booleanReachability) {
  Tensors in{{"A", tensor<uint8_t>(ElementType::Bool, {3, 3}, {0, 1, 0, 0, 0, 1, 0, 0, 0}, "CSR")},
             {"x", tensor<uint8_t>(ElementType::Bool, {3}, {0, 1, 0}, "dense")}};
  EXPECT_THAT(elements<uint8_t>(evaluate("y(i) |= A(i,j) & x(j)", "y", in)), ElementsAre(1, 0, 0));
}

TEST(Types, functionsOfTheMathLibrary) {
  Tensors in{{"x", doubles({2}, {0, 1})}};
  EXPECT_THAT(elements(evaluate("y(i) = exp(x(i)) + sqrt(x(i)) + tanh(x(i))", "y", in)),
              ElementsAre(1.0, testing::DoubleNear(std::exp(1.0) + 1 + std::tanh(1.0), 1e-15)));
}

} // namespace
} // namespace tulle::engine
