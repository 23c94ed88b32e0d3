// Loops over the segments of a compressed level, and what is loaded from memory.
#pragma once
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tulle::passes {

/// The load behind the integer casts of a value; null where there is none.
mlir::memref::LoadOp loadBehindCasts(mlir::Value value);
/// Whether the value is such a load, or a bound of a segment.
bool isLoaded(mlir::Value value);

/// Whether `loop` iterates over the `tulle.segment` of `pos` at q in each iteration q of the loop around it.
bool iteratesSegments(mlir::scf::ForOp around, mlir::scf::ForOp loop);

/// Whether no loop is around this one in the function, or in a parallel region.
bool isOutermost(mlir::Operation *loop);
/// The outermost loop, without results, that `loop` iterates over the segments of; null where there is none.
mlir::scf::ForOp rowLoopOf(mlir::scf::ForOp loop);

} // namespace tulle::passes
