// Loops over rows whose rows may be done in tiles: each ends with a reduction nest.
#pragma once
#include "passes/register_tile/FusedUse.h"

namespace tulle::passes {

/// `for i: (loads) [for k: C[f(i) + k] = constant] for p: … for k: C[f(i) + k] = g(C[f(i) + k], i, p, k)`,
/// where the bounds of the loops over p and k do not depend on i. Behind these there may be a loop over k
/// that uses the elements. There may be branches around loops over p: `for i: … if (…) for p: …`, `for i: …
/// for p: if (…) for q: …`.
struct RowNest {
  mlir::scf::ForOp rows;
  ReductionNest nest;           ///< from the loops over p on
  std::optional<InitLoop> init; ///< what initializes the elements of a row
  std::optional<FusedUse> use;  ///< what takes them from registers
};

/// The rows and what they do, where several may be tiled for registers.
std::optional<RowNest> matchRowNest(mlir::scf::ForOp rows);

/// Whether the bounds of the loops over p and k are known before the rows. Of one loop over p, they may be
/// known at run time only: that they are equal for all rows, and for all p, is tested there.
bool knowsBounds(const ReductionNest &nest, mlir::scf::ForOp rows);

/// What the loop over p, if there is but one and no branch, loads from in order, in a row's own part of a
/// buffer that was there before the function.
llvm::SmallVector<mlir::memref::LoadOp> streamsOf(RowNest &found);

/// Values of an iteration over p, if that is one loop and no branch, that the inner loop uses and that take
/// as long as several of its vectors: each range of columns would compute them again.
llvm::SmallVector<mlir::Value> costlyValues(RowNest &found);

} // namespace tulle::passes
