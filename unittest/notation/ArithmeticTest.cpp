// What operations give on single values.
#include "notation/Arithmetic.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace tulle::notation {
namespace {

using enum ElementType;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

int64_t integer(Op op, ElementType type, int64_t a, int64_t b) { return apply(op, type, {{a, 0}, {b, 0}}).i; }

TEST(Arithmetic, IntegersWrap) {
  EXPECT_EQ(integer(Op::Add, I8, 127, 1), -128);
  EXPECT_EQ(integer(Op::Mul, I64, INT64_MAX, 2), -2);
  EXPECT_EQ(integer(Op::Sub, I32, INT32_MIN, 1), INT32_MAX);
  EXPECT_EQ(apply(Op::Abs, I8, {{-128, 0}}).i, -128);
}

TEST(Arithmetic, DivisionIsTotal) {
  EXPECT_EQ(integer(Op::Div, I32, 7, 0), 0);
  EXPECT_EQ(integer(Op::Mod, I32, 7, 0), 0);
  EXPECT_EQ(integer(Op::Div, I64, INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(integer(Op::Mod, I64, INT64_MIN, -1), 0);
  EXPECT_EQ(integer(Op::Div, I8, -128, -1), -128);
  EXPECT_EQ(integer(Op::Div, I32, -7, 2), -3);
  EXPECT_EQ(integer(Op::Mod, I32, -7, 2), -1);
}

TEST(Arithmetic, ShiftsAreTotal) {
  EXPECT_EQ(integer(Op::Shl, I8, 1, 7), -128);
  EXPECT_EQ(integer(Op::Shl, I8, 1, 8), 0);
  EXPECT_EQ(integer(Op::Shl, I8, 1, -1), 0);
  EXPECT_EQ(integer(Op::Shr, I64, -8, 64), -1);
  EXPECT_EQ(integer(Op::Shr, I64, -8, 1), -4);
  EXPECT_EQ(integer(Op::Shr, I64, 8, -5), 0);
}

TEST(Arithmetic, IntegerPowers) {
  EXPECT_EQ(integer(Op::Pow, I32, 3, 4), 81);
  EXPECT_EQ(integer(Op::Pow, I32, -1, -3), -1);
  EXPECT_EQ(integer(Op::Pow, I32, 2, -1), 0);
  EXPECT_EQ(integer(Op::Pow, I32, 0, -1), 0);
  EXPECT_EQ(integer(Op::Pow, I8, 2, 8), 0);
  EXPECT_EQ(integer(Op::Pow, I64, 0, 0), 1);
}

TEST(Arithmetic, ConversionsAreTotal) {
  EXPECT_EQ(convert({0, nan}, F64, I32).i, 0);
  EXPECT_EQ(convert({0, 1e30}, F64, I64).i, INT64_MAX);
  EXPECT_EQ(convert({0, -inf}, F64, I16).i, -32768);
  EXPECT_EQ(convert({0, -1.9}, F32, I8).i, -1);
  EXPECT_EQ(convert({300, 0}, I32, I8).i, 44);
  EXPECT_EQ(convert({0, nan}, F64, Bool).i, 1);
  EXPECT_EQ(convert({0, {0, 2}}, C128, Bool).i, 1);
  // 2^24 + 1 is halfway between two f32; 2^53 + 1 rounds to even as f64.
  EXPECT_EQ(convert({16777217, 0}, I32, F32).f, 16777216.0);
  EXPECT_EQ(convert({9007199254740993, 0}, I64, F64).f, 9007199254740992.0);
}

TEST(Arithmetic, MinMaxPropagateNan) {
  EXPECT_TRUE(std::isnan(apply(Op::Min, F64, {{0, nan}, {0, 1}}).f.real()));
  EXPECT_TRUE(std::isnan(apply(Op::Max, F32, {{0, 1}, {0, nan}}).f.real()));
  EXPECT_TRUE(std::signbit(apply(Op::Min, F64, {{0, 0.0}, {0, -0.0}}).f.real()));
  EXPECT_FALSE(std::signbit(apply(Op::Max, F64, {{0, -0.0}, {0, 0.0}}).f.real()));
}

TEST(Arithmetic, ComplexProductIsTheTextbookOne) {
  Scalar r = apply(Op::Mul, C128, {{0, {1, 2}}, {0, {3, -4}}});
  EXPECT_EQ(r.f, std::complex<double>(11, 2));
}

} // namespace
} // namespace tulle::notation
