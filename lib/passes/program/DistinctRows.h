// The coordinates that integers of a tensor select in a tile, each once, in order of first occurrence.
#pragma once
#include "passes/program/TileReads.h"

namespace tulle::program {

struct DistinctRows {
  mlir::Value rows;    ///< a buffer: the coordinate of each number
  mlir::Value numbers; ///< a buffer: the number that each integer of the tile selects
  mlir::Value count;   ///< how many numbers there are

  /// Fills the two buffers at a builder's place, for integers from `begin` to `end`, coordinates below
  /// `size`.
  void find(mlir::OpBuilder &b, const TileReads &reads, const TileAxis &axis, mlir::Value begin,
            mlir::Value end, mlir::Value size);
  /// The number that the integer of the loop's iteration selects.
  mlir::Value numberAt(const TileAxis &axis, mlir::Value begin) const;
};

} // namespace tulle::program
