// Reduction nests: imperfect loop nests that accumulate into a row of a result.
#pragma once
#include "passes/analysis/LoopUtils.h"
#include "passes/analysis/VectorizationLegality.h"

namespace tulle::passes {

/// `for p: (loads) for q: (loads) for k: C[f(k)] = g(C[f(k)], p, q, k)`, where f depends on neither p nor q.
struct ReductionNest {
  llvm::SmallVector<mlir::scf::ForOp> outers; ///< from the outermost
  mlir::scf::ForOp inner;
  VectorizationLegality legality; ///< of the inner loop
  mlir::memref::LoadOp load;
  mlir::memref::StoreOp store;
  bool ivDependentBounds = false; ///< the inner loop's bounds depend on the (only) outer loop
  mlir::scf::IfOp branch; ///< if the nest is a branch around the loops, that; it is not looked for here

  mlir::scf::ForOp top() const { return outers.front(); }
  mlir::scf::ForOp outer() const { return outers.back(); }
  /// The nest as an operation.
  mlir::Operation *root() const {
    return branch ? mlir::scf::IfOp(branch).getOperation() : top().getOperation();
  }
  /// The branch around an outer loop, inside of the one before it, if there is one.
  mlir::scf::IfOp guard(size_t outer) const {
    return outer == 0 ? branch : llvm::dyn_cast<mlir::scf::IfOp>(outers[outer]->getParentOp());
  }
  bool isGuarded() const;
  /// The branch around the inner loop, if there is one.
  mlir::scf::IfOp innerGuard() const {
    return llvm::dyn_cast<mlir::scf::IfOp>(mlir::scf::ForOp(inner)->getParentOp());
  }
  /// Whether the innermost of several outer loops iterates over segments.
  bool iteratesSegments() const {
    return outers.size() >= 2 && passes::iteratesSegments(outers.end()[-2], outer());
  }
  /// The value is the same for every iteration of the outer loops, given the inner loop's index.
  bool isOuterInvariant(mlir::Value value) const;
  bool isOuterInvariant(mlir::Operation *op) const;
};

/// Where a nest may have branches: `for p: if (…) for q: for k: …` has one around an outer loop, and
/// `for p: for q: if (…) for k: …` one around the inner loop, whose bounds do not depend on the outer ones,
/// and whose elements exist where no iteration enters the branch.
enum class Guards { None, OuterLoops, InnerLoop };

/// The nest around the innermost loop at the end of `outer`, with as many loops around it as there can be, or
/// nothing.
std::optional<ReductionNest> matchReductionNest(mlir::scf::ForOp outer, Guards guards = Guards::None);

/// Whether the stored element exists even if no loop around the store iterates. It need not if its address is
/// loaded: a row of a new tensor without entries can be without an element, and the next row stands there.
bool isAlwaysDereferenceable(mlir::memref::StoreOp store);

/// The loop at the end of a body that only loads before it; null where there is none.
mlir::scf::ForOp innerLoop(mlir::scf::ForOp outer);
/// The loop at the end of a branch at the end of a body, which only load before it; null where there is none.
mlir::scf::ForOp guardedLoop(mlir::scf::ForOp outer);
/// The same, of an operation, which may be such a branch.
mlir::scf::ForOp loopInBranch(mlir::Operation *op);

} // namespace tulle::passes
