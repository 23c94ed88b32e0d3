// Elements one by one: their text, their sums, and the same numbers in another type.
#pragma once
#include "support/ElementType.h"
#include <string>

namespace tulle::runtime {

/// `2.5`, `1+2i`, `nan` (never with a sign: it means nothing to a reader, and processors differ in it).
std::string scalarText(ElementType type, const Scalar &value);

/// *slot += *value: integers wrap, bool is or.
inline void addScalar(ElementType type, void *slot, const void *value) {
  Scalar a = loadScalar(type, slot), b = loadScalar(type, value);
  a.i = type == ElementType::Bool ? a.i | b.i : int64_t(uint64_t(a.i) + uint64_t(b.i));
  a.f += b.f; // in double: rounded once more for f32, which changes no sum
  storeScalar(type, slot, a);
}

/// Writes `count` elements of another type. Throws Error for a value that would be a different
/// number there: a complex one as real, a fraction as an integer, one beyond the range. Floats
/// round, and bool says whether a value is other than 0.
void convertElements(ElementType from, const std::byte *source, ElementType to, std::byte *target,
                     int64_t count);

} // namespace tulle::runtime
