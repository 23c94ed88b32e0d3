// sparse_tensor.unary, binary, select and reduce in the body of a linalg.generic, as arithmetic.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tulle::passes {

/// Whether the op says what a body yields where operands store nothing.
bool isSemiringOp(mlir::Operation *op);

/// What a region of such an op yields for these arguments, before the builder's insertion point; null where
/// it yields nothing.
mlir::Value inlined(mlir::ImplicitLocOpBuilder &b, mlir::Region &region, mlir::ValueRange arguments);

/// Rewrites these ops to `tulle.stored` and `arith.select`; a body without them stays. Fails, with an error,
/// where a region of one has control flow, or a reduction is not into the result.
mlir::LogicalResult importSemiring(mlir::linalg::GenericOp generic);

} // namespace tulle::passes
