#include "runtime/tensor/Elements.h"
#include "support/Errors.h"
#include <cmath>

namespace tulle::runtime {

static double unsignedNan(double value) { return std::isnan(value) ? std::fabs(value) : value; }

std::string scalarText(ElementType type, const Scalar &value) {
  const double real = unsignedNan(value.f.real());
  if (isComplex(type))
    return fmt::format("{}{:+}i", real, unsignedNan(value.f.imag()));
  return isFloat(type) ? fmt::format("{}", real) : fmt::format("{}", value.i);
}

static bool isFinite(const Scalar &value) {
  return std::isfinite(value.f.real()) && std::isfinite(value.f.imag());
}

/// Why `value` cannot become `made`, and what can hold it; empty when it can.
static std::string whyLost(const Scalar &value, ElementType from, const Scalar &made, ElementType to) {
  if (to == ElementType::Bool)
    return "";
  if (isComplex(from) && !isComplex(to) && !(value.f.imag() == 0))
    return "has an imaginary part; use c128 or c64";
  if (!isInteger(to)) // the other member of an integer's Scalar is 0
    return isFinite(value) && !isFinite(made) ? "is beyond the range; use a wider type, such as f64" : "";
  if (from < ElementType::BF16)
    return made.i == value.i ? "" : "is beyond the range; use a wider type, such as i64";
  const double real = value.f.real();
  if (!(std::floor(real) == real) || std::isinf(real))
    return "is no whole number; use f64 or f32";
  // double(made.i) rounds up to 2^63 what saturated there.
  return double(made.i) == real && real < 0x1p63
             ? ""
             : "is beyond the range; use a wider type, such as i64 or f64";
}

void convertElements(ElementType from, const std::byte *source, ElementType to, std::byte *target,
                     int64_t count) {
  for (int64_t k = 0; k < count; ++k) {
    std::byte *made = target + k * byteWidth(to);
    const Scalar value = loadScalar(from, source + k * byteWidth(from));
    storeScalar(to, made, convertScalar(value, from, to));
    if (std::string why = whyLost(value, from, loadScalar(to, made), to); !why.empty())
      throwError("the value {} as {}: it {}", scalarText(from, value), name(to), why);
  }
}

} // namespace tulle::runtime
