// Factoring of sums of products by distributivity: each factor is hoisted to the loop that it varies in.
#pragma once
#include "passes/analysis/ReductionNest.h"

namespace tulle::passes {

/// `for i: for j: for p: for k: C[k] += v[p] * B[i, k] * D[j, k] * E[p, k]` (MTTKRP). By distributivity B
/// and D are factored out of the sums of the loops inside theirs: C[k] += B[i, k] * Σ_j D[j, k] * Σ_p ….
struct HoistFactors {
  /// For each of the nest's outer loops, the factors that follow its sum, a row of them among these; none
  /// where there is no row. Of the innermost one, those that are summed.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> of;
  mlir::arith::FastMathFlagsAttr flags;
};

/// The loops from `tree` on each iterate over the segments of the one before: only there it is known which
/// iterations have entries. Nothing where no loop has such factors, or where sums must not be reassociated.
std::optional<HoistFactors> hoistableFactors(const ReductionNest &nest, size_t tree);

} // namespace tulle::passes
