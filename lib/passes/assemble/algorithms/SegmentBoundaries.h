// Where the segments of a compressed level end, read off the sorted coordinates of the level above.
#pragma once
#include "passes/assemble/algorithms/Target.h"

namespace tulle::assemble {

/// The positions field of a compressed level below a dense one, where coordinates of the latter stand in a
/// buffer, one for each entry, in ascending order (COO->CSR). What a coordinate's segment ends at is written
/// by its last entry, over what the entries before wrote: no branch depends on where a segment ends but one
/// for four entries at a time, which are mostly of one segment (docs/experiments/019).
class SegmentBoundaries {
public:
  /// Whether the target's levels are those (Appender supports it).
  static bool fits(const Target &target);

  /// `coordinates` is the buffer, of which `count` elements are entries; the positions are allocated.
  SegmentBoundaries(const Target &target, mlir::Value coordinates, mlir::Value count)
      : target(target), coordinates(coordinates), count(count) {}

  /// The first segment begins at 0: before any chunk is written.
  void open() const;
  /// Writes what belongs to a chunk of the entries, which begins and ends between segments: no other chunk
  /// touches its elements.
  void write(mlir::Value chunk, mlir::Value chunks) const;

private:
  mlir::Value load(mlir::Value entry) const;
  /// The first entry of a chunk, and the coordinate that its segments begin at.
  std::pair<mlir::Value, mlir::Value> begin(mlir::Value chunk, mlir::Value chunks) const;
  void note(mlir::Value coordinate, mlir::Value end) const;
  void noteFour(mlir::Value first) const;

  const Target &target;
  mlir::Value coordinates, count;
};

} // namespace tulle::assemble
