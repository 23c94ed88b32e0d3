// Vector accumulators of reductions.
#pragma once
#include "passes/vectorize/BodyEmitter.h"

namespace tulle::passes {

/// x with x (op) v == v for every v, where there is one.
std::optional<mlir::TypedAttr> identity(mlir::vector::CombiningKind kind, mlir::Type type);

/// The initial vector of a reduction: its identity, or the initial value where combining that several times
/// changes nothing (minima, maxima).
mlir::Value initialLanes(mlir::OpBuilder &b, mlir::Location loc, const Reduction &reduction,
                         const Lanes &lanes, mlir::Value init);

/// a (op) c
mlir::Value combine(mlir::OpBuilder &b, mlir::Location loc, const Reduction &reduction, mlir::Value a,
                    mlir::Value c);

/// The horizontal reduction of the lanes, combined with `init`.
mlir::Value reduceLanes(mlir::OpBuilder &b, mlir::Location loc, const Reduction &reduction, mlir::Value lanes,
                        mlir::Value init);

/// One vector whose lane r is the horizontal reduction of `vectors[r]`; as many vectors as lanes, a power of
/// two.
mlir::Value reduceEach(mlir::OpBuilder &b, mlir::Location loc, const Reduction &reduction,
                       llvm::SmallVector<mlir::Value> vectors);

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

private:
  const VectorizationLegality &legality;
  llvm::SmallVector<mlir::scf::ForOp> loops; ///< from the outermost
  llvm::SmallVector<unsigned> numbers;       ///< of each reduction's iter_arg of the outermost loop

  void find();
};

} // namespace tulle::passes
