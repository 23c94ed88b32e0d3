// Exponentials as arithmetic, which runs in lanes where the call of a function would not.
#pragma once
#include "mlir/IR/Operation.h"

namespace tulle::passes {

/// Every `math.exp` of f32 and f64 below `root` with `fastmath<contract>` becomes a polynomial, less than one
/// unit in the last place from the exact value for all inputs: infinities, nan, and where the result is
/// subnormal, too.
void expandExponentials(mlir::Operation *root);

} // namespace tulle::passes
