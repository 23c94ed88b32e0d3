// Sums of values with the same coordinates.
#pragma once
#include "runtime/tensor/LevelShapes.h"

namespace tulle::runtime {

/// *slot += *value: integers wrap, bool is or.
inline void addScalar(ElementType type, void *slot, const void *value) {
  Scalar a = loadScalar(type, slot), b = loadScalar(type, value);
  a.i = type == ElementType::Bool ? a.i | b.i : int64_t(uint64_t(a.i) + uint64_t(b.i));
  a.f += b.f; // in double: rounded once more for f32, which changes no sum
  storeScalar(type, slot, a);
}

} // namespace tulle::runtime
