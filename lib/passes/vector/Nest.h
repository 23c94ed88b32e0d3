// A loop that updates the same elements of a result again and again.
#pragma once
#include "passes/vector/LoopPlan.h"

namespace tulle::passes {

/// `for p: (reads) for k: C[f(k)] = g(C[f(k)], p, k)`, where f does not depend on p.
struct Nest {
  mlir::scf::ForOp outer, inner;
  LoopPlan plan; ///< of the inner loop
  mlir::memref::LoadOp load;
  mlir::memref::StoreOp store;
  bool movingBounds = false; ///< the inner loop's bounds depend on p

  /// The value is the same for every iteration of the outer loop, given the inner loop's index.
  bool isFixed(mlir::Value value) const;
  bool isFixed(mlir::Operation *op) const;
};

/// The nest around the innermost loop at the end of `outer`, or nothing.
std::optional<Nest> matchNest(mlir::scf::ForOp outer);

} // namespace tulle::passes
