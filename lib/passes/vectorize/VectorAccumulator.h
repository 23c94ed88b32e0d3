// Vector accumulators that are carried through outer loops.
#pragma once
#include "passes/vectorize/Reductions.h"

namespace tulle::passes {

/// The loops around a vectorized one that only pass its reductions through (`iter_args`). They are made to
/// carry the vectors too, next to the scalars: the horizontal reduction is deferred from each of their
/// iterations to the end of the outermost one.
class VectorAccumulator {
public:
  /// Extends the loops; there may be none.
  VectorAccumulator(const VectorizationLegality &legality, const Lanes &lanes);

  explicit operator bool() const { return !loops.empty(); }
  /// The vectors where the vectorized loop begins.
  llvm::SmallVector<mlir::Value> before() const;
  /// `after`: those where it has ended; its scalars must be final. Emits the horizontal reductions after the
  /// outermost loop.
  void finish(llvm::ArrayRef<mlir::Value> after);
  /// What each loop was, and what it is now.
  llvm::ArrayRef<std::pair<mlir::Operation *, mlir::Operation *>> replaced() const { return replacements; }

private:
  const VectorizationLegality &legality;
  llvm::SmallVector<mlir::scf::ForOp> loops;              ///< the closest first
  llvm::SmallVector<llvm::SmallVector<unsigned>> numbers; ///< per loop: of each reduction's iter_arg
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::Operation *>> replacements;

  void find();
};

} // namespace tulle::passes
