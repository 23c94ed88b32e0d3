// Elements one by one: their text, and the same numbers in another type.
#pragma once
#include "support/ElementType.h"
#include <string>

namespace tulle::runtime {

/// `2.5`, `1+2i`, `nan` (never with a sign: it means nothing to a reader, and processors differ in it).
std::string scalarText(ElementType type, const Scalar &value);

/// Writes `count` elements of another type. Throws Error for a value that would be a different
/// number there: a complex one as real, a fraction as an integer, one beyond the range. Floats
/// round, and bool says whether a value is other than 0.
void convertElements(ElementType from, const std::byte *source, ElementType to, std::byte *target,
                     int64_t count);

} // namespace tulle::runtime
