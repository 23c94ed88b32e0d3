// Invariants of whole buffers, tested at the speed of memory: whether they hold. Where one does not, whoever
// asks looks for the element.
#pragma once
#include "runtime/tensor/LevelShapes.h"
#include <span>

namespace tulle::runtime {

/// Whether positions 0 to `slots` - 1 begin at 0, do not decrease, and end within `limit`.
bool positionsHold(const LevelFields &level, int64_t slots, int64_t limit);

/// Whether coordinates 0 to `count` - 1 are among low, …, low + size - 1.
bool coordinatesHold(const LevelFields &level, int64_t count, int64_t low, int64_t size);

/// Whether the coordinates of the levels of a run ascend, level by level from the outermost, within each of
/// the segments that `bounds` says: segment i is position i to position i + 1 of them, `slots` - 1 segments
/// in order. Strictly, where `unique`.
bool segmentsAscend(std::span<const LevelFields> run, const LevelFields &bounds, int64_t slots, bool unique);

} // namespace tulle::runtime
