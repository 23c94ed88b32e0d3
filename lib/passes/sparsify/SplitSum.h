// Sums whose terms need not meet: one statement after the other adds its terms to a dense result.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tulle::passes {

/// Puts `y = t1; y = y + t2; …` before `y = t1 + t2 + …`, one linalg.generic for all terms that read the same
/// sparse operands: the last one's result is the sum. Empty, and nothing is put there, where that is not the
/// same: the result is not dense, the order of its additions is kept, or it is narrower than its sums.
llvm::SmallVector<mlir::linalg::GenericOp> splitSum(mlir::linalg::GenericOp generic);

} // namespace tulle::passes
