// Products that are summed by several loops: each factor where it is decided.
#pragma once
#include "passes/analysis/ReductionNest.h"

namespace tulle::passes {

/// `for i: for j: for p: for k: C[k] += v[p] * B[i, k] * D[j, k] * E[p, k]` (MTTKRP). By the distributive law
/// B and D are taken out of the sums of the loops inside theirs: C[k] += B[i, k] * Σ_j D[j, k] * Σ_p ….
struct HoistFactors {
  /// For each of the nest's outer loops, the factors that follow its sum, a row of them among these; none
  /// where there is no row. Of the innermost one, those that are summed.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> of;
  mlir::arith::FastMathFlagsAttr flags;
};

/// The loops from `tree` on each walk the segments of the one before: only there it is known which steps have
/// entries. Nothing where no loop has such factors, or where the order of operations must be kept.
std::optional<HoistFactors> findFactors(const ReductionNest &nest, size_t tree);

} // namespace tulle::passes
