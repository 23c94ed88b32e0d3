// Loops that update the same elements of a result again and again.
#pragma once
#include "mlir/IR/IRMapping.h"
#include "passes/analysis/VectorizationLegality.h"

namespace tulle::passes {

/// `for p: (reads) for q: (reads) for k: C[f(k)] = g(C[f(k)], p, q, k)`, where f depends on neither p nor q.
struct ReductionNest {
  llvm::SmallVector<mlir::scf::ForOp> outers; ///< from the outermost
  mlir::scf::ForOp inner;
  VectorizationLegality plan; ///< of the inner loop
  mlir::memref::LoadOp load;
  mlir::memref::StoreOp store;
  bool movingBounds = false; ///< the inner loop's bounds depend on the (only) outer loop

  mlir::scf::ForOp top() const { return outers.front(); }
  mlir::scf::ForOp outer() const { return outers.back(); }
  /// The value is the same for every iteration of the outer loops, given the inner loop's index.
  bool isFixed(mlir::Value value) const;
  bool isFixed(mlir::Operation *op) const;
};

/// The nest around the innermost loop at the end of `outer`, with as many loops around it as there can be, or
/// nothing.
std::optional<ReductionNest> matchReductionNest(mlir::scf::ForOp outer);

/// Whether the element may not be there where the loops around the store have no step: memory is read to know
/// its place, and rows of a new tensor without entries can be without one. Those of the next row stand there.
bool mayBeNowhere(mlir::memref::StoreOp store);

/// The loop at the end of a body where everything before it only reads; null where there is none.
mlir::scf::ForOp innerLoop(mlir::scf::ForOp outer);

/// The read that the value is, as it is in memory; null where it is none.
mlir::memref::LoadOp asRead(mlir::Value value);
bool isRead(mlir::Value value);

/// Whether the innermost of several outer loops walks the segments of a compressed level: from `pos[q]` to
/// `pos[q + 1]` in each step q of the loop around it.
bool walksSegments(const ReductionNest &nest);
bool walksSegments(mlir::scf::ForOp around, mlir::scf::ForOp walk);

/// Whether no loop is around this one in the function, or in the part of a loop that a thread has.
bool isOutermost(mlir::Operation *loop);
/// The loop around a walk over segments, one in each step; null where there is none, where it has results, or
/// is not an outermost one.
mlir::scf::ForOp rowsAround(mlir::scf::ForOp walk);

/// The body of a loop of a nest without the loop at its end; `map` is extended.
void cloneReads(mlir::OpBuilder &b, mlir::scf::ForOp loop, mlir::IRMapping &map);

/// Clones what `value` needs of the block it is in.
mlir::Value clonePlace(mlir::OpBuilder &b, mlir::Value value, mlir::Block *block, mlir::IRMapping &map);

} // namespace tulle::passes
