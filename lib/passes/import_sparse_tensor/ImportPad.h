// tensor.pad of a sparse result as the dialect's ops.
#pragma once
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tulle::passes {

/// Whether the pad makes a sparse tensor; a dense one stays what it is.
bool isSparsePad(mlir::Operation *op);

/// Replaces a pad by a tulle.concat, on a diagonal, of the source and what is empty before it and behind it.
/// Fails, with an error, where what is around the source is not what the tensors do not store.
mlir::LogicalResult importPad(mlir::IRRewriter &rewriter, mlir::tensor::PadOp op);

} // namespace tulle::passes
