// How many positions a level will have, from the coordinates alone.
#pragma once
#include "passes/assemble/algorithms/CloneLoops.h"
#include "passes/assemble/algorithms/Target.h"

namespace tulle::assemble {

/// Counts the different coordinates of the last stored level in each group of entries that agree on the
/// levels above, which are full: the entry that marks a coordinate for its group first is counted. No group
/// has to be emptied of its marks before the next one comes, as a set would.
class MarkerArray {
public:
  /// Memory of the call: four bytes for each coordinate of the level.
  MarkerArray(mlir::OpBuilder &b, const Target &target);
  /// FiberBoundaries must have numbers below this.
  static constexpr int64_t kMostGroups = int64_t(1) << 31;

  /// By a copy of a chunk of the loops: entries of a group follow each other there, and belong to no other
  /// chunk.
  mlir::Value count(mlir::OpBuilder &b, const parallel::Chunk &chunk) const;
  void free(mlir::OpBuilder &b) const;

private:
  const Target &target;
  mlir::Value marks; ///< by coordinate: 1 + the number of the last group that has it
};

} // namespace tulle::assemble
