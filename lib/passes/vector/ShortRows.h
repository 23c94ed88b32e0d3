// Loops over rows that one vector holds have a copy of their own.
#pragma once
#include "iteration/CostModel.h"
#include "mlir/IR/Operation.h"

namespace tulle::passes {

/// A row of C that stays in registers is cut into tiles, and each row asks again how many tiles of which
/// width fit. Where it has few columns (SpMM with 4) that takes a fifth of the time. How many there are is
/// the same for all rows, so that it is asked once: `for i: for p: for k < n: C[f(i, k)] = …`, where n does
/// not depend on i, has a copy, with `min(n, elements of a vector)` for n, that runs where n is not more.
/// `vl`: what an option says, or 0.
void copyForShortRows(mlir::Operation *function, const iteration::CostModel &model, unsigned vl);

} // namespace tulle::passes
