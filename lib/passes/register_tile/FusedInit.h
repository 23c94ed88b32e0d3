// Fusion of the initialization of a result into a reduction nest.
#pragma once
#include "passes/analysis/InitLoop.h"
#include "passes/analysis/ReductionNest.h"

namespace tulle::passes {

/// The initialization of a nest's elements, fused into it.
struct FusedInit {
  mlir::TypedAttr value;
  mlir::Value size; ///< elements that the loop initialized
  mlir::Value
      fused; ///< at run time: whether the nest stores the same elements, so that the loop does not run
  mlir::Value large; ///< at run time: that, and the buffer is larger than caches; null where unknown
};

/// Finds the loop before the nest that initializes what the nest updates, and makes it run only where the
/// nest does not store all of that. Where the nest's bounds depend on an outer loop, its first iterations are
/// to initialize what they do not update.
std::optional<FusedInit> fuseInitLoop(const ReductionNest &nest);

} // namespace tulle::passes
