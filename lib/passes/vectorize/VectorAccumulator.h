// Reductions whose lanes stay in vector registers across the loops around them.
#pragma once
#include "passes/vectorize/Reductions.h"

namespace tulle::passes {

/// The loops around a planned one that do nothing with its reductions but hand them on. They are made to
/// carry the lanes too, next to the scalars, so that lanes are combined once, after the outermost of these
/// loops, and not in each of its rounds.
class VectorAccumulator {
public:
  /// Changes the loops; there may be none.
  VectorAccumulator(const VectorizationLegality &plan, const Lanes &lanes);

  explicit operator bool() const { return !loops.empty(); }
  /// The lanes where the planned loop begins.
  llvm::SmallVector<mlir::Value> lanesBefore() const;
  /// Those where it has ended; its scalars must be final. Combines the lanes after the outermost loop.
  void finish(llvm::ArrayRef<mlir::Value> lanesAfter);
  /// What each loop was, and what it is now.
  llvm::ArrayRef<std::pair<mlir::Operation *, mlir::Operation *>> replaced() const { return replacements; }

private:
  const VectorizationLegality &plan;
  llvm::SmallVector<mlir::scf::ForOp> loops;             ///< the closest first
  llvm::SmallVector<llvm::SmallVector<unsigned>> places; ///< per loop: which of its values each reduction is
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::Operation *>> replacements;

  void find();
};

} // namespace tulle::passes
