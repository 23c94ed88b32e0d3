// The scalar types a tensor may hold.
#pragma once
#include <complex>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tulle {

enum class ElementType : uint8_t { Bool, I8, I16, I32, I64, BF16, F16, F32, F64, C64, C128 };

/// Bytes one element takes in memory (Bool: 1).
unsigned byteWidth(ElementType type);
/// The spelling of the notation and the command line: bool i8 i16 i32 i64 bf16 f16 f32 f64 c64 c128.
std::string_view name(ElementType type);
std::optional<ElementType> parseElementType(std::string_view text);
inline bool isComplex(ElementType t) { return t == ElementType::C64 || t == ElementType::C128; }
inline bool isFloat(ElementType t) { return t >= ElementType::BF16 && t <= ElementType::F64; }
inline bool isInteger(ElementType t) { return t >= ElementType::I8 && t <= ElementType::I64; }
/// The smallest type both convert to without surprise: bool < integers by width < floats by width (f16 with
/// bf16: f32) < complex (f64 with c64: c128).
ElementType promote(ElementType a, ElementType b);

/// A scalar of any element type, exact for each: integers (and bool) in `i`, everything else in `f`.
struct Scalar {
  int64_t i = 0;
  std::complex<double> f = 0;
};
/// Reads one element of `type` at `data`; f16 and bf16 widen exactly.
Scalar loadScalar(ElementType type, const void *data);
/// Writes one element, rounding to nearest even for narrow floats and wrapping for narrow integers.
void storeScalar(ElementType type, void *data, const Scalar &value);
/// Reinterprets between the integer and floating members (bool: != 0; float to integer truncates,
/// saturating).
Scalar convertScalar(const Scalar &value, ElementType from, ElementType to);

} // namespace tulle
