// Positions of outer levels, computed where their coordinates become known.
#pragma once
#include "levels/Storage.h"

namespace tulle::assemble {

/// Moves what computes a position, the operations between `before` (null: from the block's first one on) and
/// the builder, out of the loops in which it does not change. A load may then run although no entry needs it:
/// it stays within its buffer, which holds the positions of parents, or their coordinates, and so has an
/// element where there is a parent.
void hoistPositions(const mlir::OpBuilder &b, mlir::Block *block, mlir::Operation *before,
                    const levels::Storage &storage);

} // namespace tulle::assemble
