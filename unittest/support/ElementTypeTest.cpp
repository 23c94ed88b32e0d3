#include "support/ElementType.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace tulle {
namespace {

uint16_t stored(ElementType type, double value) {
  uint16_t bits;
  Scalar s;
  s.f = value;
  storeScalar(type, &bits, s);
  return bits;
}
double loaded(ElementType type, uint16_t bits) { return loadScalar(type, &bits).f.real(); }

TEST(ElementType, NamesRoundTrip) {
  for (int t = 0; t <= int(ElementType::C128); ++t)
    EXPECT_EQ(parseElementType(name(ElementType(t))), ElementType(t));
  EXPECT_EQ(parseElementType("float"), std::nullopt);
  EXPECT_EQ(byteWidth(ElementType::C128), 16u);
  EXPECT_EQ(byteWidth(ElementType::Bool), 1u);
}

TEST(ElementType, Promotion) {
  EXPECT_EQ(promote(ElementType::F16, ElementType::BF16), ElementType::F32);
  EXPECT_EQ(promote(ElementType::F64, ElementType::C64), ElementType::C128);
  EXPECT_EQ(promote(ElementType::F32, ElementType::C64), ElementType::C64);
  EXPECT_EQ(promote(ElementType::I64, ElementType::F16), ElementType::F16);
  EXPECT_EQ(promote(ElementType::Bool, ElementType::I8), ElementType::I8);
}

/// Encodings from the definitions of binary16 (5 exponent, 10 mantissa bits) and bfloat16 (8, 7).
TEST(ElementType, NarrowFloats) {
  EXPECT_EQ(stored(ElementType::F16, 1.0), 0x3c00);
  EXPECT_EQ(stored(ElementType::F16, -2.0), 0xc000);
  EXPECT_EQ(stored(ElementType::F16, 65504), 0x7bff);
  EXPECT_EQ(stored(ElementType::F16, 65519.99), 0x7bff);
  EXPECT_EQ(stored(ElementType::F16, 65520), 0x7c00); // halfway rounds up to infinity
  EXPECT_EQ(stored(ElementType::F16, 0x1p-24), 0x0001);
  EXPECT_EQ(stored(ElementType::F16, 0x1p-25), 0x0000); // halfway, to even
  EXPECT_EQ(stored(ElementType::F16, 0x1.8p-25), 0x0001);
  EXPECT_EQ(stored(ElementType::F16, 0x1.ff8p-15), 0x03ff);           // largest subnormal: 1023 * 2^-24
  EXPECT_EQ(stored(ElementType::F16, 1 + 0x1p-11), 0x3c00);           // halfway, to even
  EXPECT_EQ(stored(ElementType::F16, 1 + 0x1p-11 + 0x1p-40), 0x3c01); // would round down by way of f32
  EXPECT_EQ(stored(ElementType::F16, -0.0), 0x8000);
  EXPECT_EQ(stored(ElementType::BF16, 1.0), 0x3f80);
  EXPECT_EQ(stored(ElementType::BF16, 1 + 0x1.8p-7), 0x3f82);
  EXPECT_EQ(stored(ElementType::BF16, std::numeric_limits<double>::infinity()), 0x7f80);
  EXPECT_TRUE(std::isnan(loaded(ElementType::BF16, stored(ElementType::BF16, NAN))));
  EXPECT_EQ(loaded(ElementType::F16, 0x0001), 0x1p-24);
  EXPECT_EQ(loaded(ElementType::BF16, 0xc049), -3.140625);
}

TEST(ElementType, EveryNarrowFloatLoadsAndStoresUnchanged) {
  for (ElementType type : {ElementType::F16, ElementType::BF16})
    for (unsigned bits = 0; bits < 0x10000; ++bits)
      if (double v = loaded(type, uint16_t(bits)); !std::isnan(v))
        ASSERT_EQ(stored(type, v), bits);
}

TEST(ElementType, Conversion) {
  auto toInteger = [](double v, ElementType to) {
    Scalar s;
    s.f = v;
    return convertScalar(s, ElementType::F64, to).i;
  };
  EXPECT_EQ(toInteger(-3.9, ElementType::I32), -3);
  EXPECT_EQ(toInteger(300, ElementType::I8), 127);
  EXPECT_EQ(toInteger(-1e300, ElementType::I64), INT64_MIN);
  EXPECT_EQ(toInteger(1e300, ElementType::I64), INT64_MAX);
  EXPECT_EQ(toInteger(NAN, ElementType::I16), 0);
  EXPECT_EQ(toInteger(0.25, ElementType::Bool), 1);
  EXPECT_EQ(convertScalar(Scalar{300, 0}, ElementType::I32, ElementType::I8).i, 44);
  EXPECT_EQ(convertScalar(Scalar{0, {2, 3}}, ElementType::C128, ElementType::F64).f,
            std::complex<double>(2, 0));
  EXPECT_EQ(convertScalar(Scalar{-7, 0}, ElementType::I64, ElementType::F64).f.real(), -7);
}

} // namespace
} // namespace tulle
