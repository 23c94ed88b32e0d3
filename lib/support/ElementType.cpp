// Every type widens into one Scalar exactly, and narrows from it with one rounding.
#include "support/ElementType.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tulle {

namespace {

constexpr std::string_view kNames[] = {"bool", "i8",  "i16", "i32", "i64", "bf16",
                                       "f16",  "f32", "f64", "c64", "c128"};
constexpr unsigned kBytes[] = {1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};

/// An IEEE-754 style 16-bit float with that many stored mantissa bits; its exponent has the other 15 -
/// mantissa.
struct Narrow {
  int mantissa;
  int bias() const { return (1 << (14 - mantissa)) - 1; }
};
constexpr Narrow kBF16{7}, kF16{10};

double widen(Narrow format, uint16_t bits) {
  int exponent = (bits & 0x7fff) >> format.mantissa, mantissa = bits & ((1 << format.mantissa) - 1);
  double magnitude;
  if (exponent == (1 << (15 - format.mantissa)) - 1)
    magnitude = mantissa ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(mantissa, 1 - format.bias() - format.mantissa);
  else
    magnitude = std::ldexp(mantissa + (1 << format.mantissa), exponent - format.bias() - format.mantissa);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// Rounds once, to nearest even, straight from double.
uint16_t narrow(Narrow format, double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const int infinity = ((1 << (15 - format.mantissa)) - 1) << format.mantissa;
  if (std::isnan(value))
    return uint16_t(sign | infinity | 1 << (format.mantissa - 1));
  value = std::fabs(value);
  if (value == 0)
    return sign;
  if (std::isinf(value))
    return uint16_t(sign | infinity);
  int unit = std::max(std::ilogb(value), 1 - format.bias()) - format.mantissa; // of the mantissa's last bit
  // The sum of the exponent and a mantissa that rounded up carries into the next exponent by itself.
  auto mantissa = int64_t(std::nearbyint(std::ldexp(value, -unit)));
  int64_t bits = mantissa + (int64_t(unit + format.mantissa + format.bias() - 1) << format.mantissa);
  return uint16_t(sign | std::min<int64_t>(bits, infinity));
}

template <class T> T load(const void *data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}
template <class T> void store(void *data, T value) { std::memcpy(data, &value, sizeof value); }

int64_t wrap(int64_t value, ElementType type) {
  const unsigned unused = 64 - 8 * byteWidth(type);
  return type == ElementType::Bool ? value != 0 : int64_t(uint64_t(value) << unused) >> unused;
}

int64_t truncate(double value, ElementType type) {
  if (std::isnan(value))
    return 0;
  int bits = int(byteWidth(type)) * 8 - 1;
  double limit = std::ldexp(1.0, bits); // 2^bits - 1 is the largest
  if (value >= limit)
    return std::numeric_limits<int64_t>::max() >> (63 - bits);
  if (value <= -limit)
    return std::numeric_limits<int64_t>::min() >> (63 - bits);
  return int64_t(value);
}

} // namespace

unsigned byteWidth(ElementType type) { return kBytes[unsigned(type)]; }

std::string_view name(ElementType type) { return kNames[unsigned(type)]; }

std::optional<ElementType> parseElementType(std::string_view text) {
  const auto *found = std::ranges::find(kNames, text);
  return found == std::end(kNames) ? std::nullopt : std::optional(ElementType(found - kNames));
}

ElementType promote(ElementType a, ElementType b) {
  if (a > b)
    std::swap(a, b);
  if (a == ElementType::BF16 && b == ElementType::F16)
    return ElementType::F32;
  if (a == ElementType::F64 && b == ElementType::C64)
    return ElementType::C128;
  return b;
}

Scalar loadScalar(ElementType type, const void *data) {
  switch (type) {
  case ElementType::Bool:
    return {load<uint8_t>(data) != 0, 0};
  case ElementType::I8:
    return {load<int8_t>(data), 0};
  case ElementType::I16:
    return {load<int16_t>(data), 0};
  case ElementType::I32:
    return {load<int32_t>(data), 0};
  case ElementType::I64:
    return {load<int64_t>(data), 0};
  case ElementType::BF16:
    return {0, widen(kBF16, load<uint16_t>(data))};
  case ElementType::F16:
    return {0, widen(kF16, load<uint16_t>(data))};
  case ElementType::F32:
    return {0, load<float>(data)};
  case ElementType::F64:
    return {0, load<double>(data)};
  case ElementType::C64:
    return {0, load<std::complex<float>>(data)};
  case ElementType::C128:
    return {0, load<std::complex<double>>(data)};
  }
  return {};
}

void storeScalar(ElementType type, void *data, const Scalar &value) {
  switch (type) {
  case ElementType::Bool:
    return store<uint8_t>(data, value.i != 0);
  case ElementType::I8:
    return store(data, int8_t(value.i));
  case ElementType::I16:
    return store(data, int16_t(value.i));
  case ElementType::I32:
    return store(data, int32_t(value.i));
  case ElementType::I64:
    return store(data, value.i);
  case ElementType::BF16:
    return store(data, narrow(kBF16, value.f.real()));
  case ElementType::F16:
    return store(data, narrow(kF16, value.f.real()));
  case ElementType::F32:
    return store(data, float(value.f.real()));
  case ElementType::F64:
    return store(data, value.f.real());
  case ElementType::C64:
    return store(data, std::complex<float>(value.f));
  case ElementType::C128:
    return store(data, value.f);
  }
}

Scalar convertScalar(const Scalar &value, ElementType from, ElementType to) {
  const bool fromWhole = from <= ElementType::I64, toWhole = to <= ElementType::I64;
  if (toWhole && fromWhole)
    return {wrap(value.i, to), 0};
  if (to == ElementType::Bool)
    return {value.f != std::complex<double>(0), 0};
  if (toWhole)
    return {truncate(value.f.real(), to), 0};
  if (fromWhole)
    return {0, double(value.i)};
  return {0, isComplex(to) ? value.f : std::complex<double>(value.f.real())};
}

} // namespace tulle
