// Every type widens into one Scalar exactly, and narrows from it with one rounding.
#include "support/ElementType.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tulle {

namespace {

/// An IEEE-754 style 16-bit float with that many stored mantissa bits; its exponent has the other 15 -
/// mantissa.
struct Narrow {
  int mantissa;
  int bias() const { return (1 << (14 - mantissa)) - 1; }
};
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

/// How elements of a type are read and written: integers by their member of Scalar, others by theirs.
template <class T> struct Whole {
  static Scalar read(const void *data) { return {load<T>(data), 0}; }
  static void write(void *data, const Scalar &value) { store(data, T(value.i)); }
};
struct Truth {
  static Scalar read(const void *data) { return {load<uint8_t>(data) != 0, 0}; }
  static void write(void *data, const Scalar &value) { store<uint8_t>(data, value.i != 0); }
};
template <class T> struct Real {
  static Scalar read(const void *data) { return {0, load<T>(data)}; }
  static void write(void *data, const Scalar &value) { store(data, T(value.f.real())); }
};
template <int mantissa> struct Half {
  static Scalar read(const void *data) { return {0, widen({mantissa}, load<uint16_t>(data))}; }
  static void write(void *data, const Scalar &value) { store(data, narrow({mantissa}, value.f.real())); }
};
template <class T> struct Complex {
  static Scalar read(const void *data) { return {0, std::complex<double>(load<std::complex<T>>(data))}; }
  static void write(void *data, const Scalar &value) { store(data, std::complex<T>(value.f)); }
};

struct Row {
  std::string_view name;
  unsigned bytes;
  Scalar (*read)(const void *data);
  void (*write)(void *data, const Scalar &value);
};
template <class Access> constexpr Row row(std::string_view name, unsigned bytes) {
  return {name, bytes, Access::read, Access::write};
}
constexpr Row kTypes[] = {
    row<Truth>("bool", 1),         row<Whole<int8_t>>("i8", 1),     row<Whole<int16_t>>("i16", 2),
    row<Whole<int32_t>>("i32", 4), row<Whole<int64_t>>("i64", 8),   row<Half<7>>("bf16", 2),
    row<Half<10>>("f16", 2),       row<Real<float>>("f32", 4),      row<Real<double>>("f64", 8),
    row<Complex<float>>("c64", 8), row<Complex<double>>("c128", 16)};

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

unsigned byteWidth(ElementType type) { return kTypes[unsigned(type)].bytes; }

std::string_view name(ElementType type) { return kTypes[unsigned(type)].name; }

std::optional<ElementType> parseElementType(std::string_view text) {
  const auto *found = std::ranges::find(kTypes, text, &Row::name);
  return found == std::end(kTypes) ? std::nullopt : std::optional(ElementType(found - kTypes));
}

Scalar loadScalar(ElementType type, const void *data) { return kTypes[unsigned(type)].read(data); }

void storeScalar(ElementType type, void *data, const Scalar &value) {
  kTypes[unsigned(type)].write(data, value);
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
