// tensor.gather and tensor.scatter as the dialect's ops.
#pragma once
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tulle::passes {

/// Replaces a gather by tulle.gather into a tensor.empty, which it returns. Fails, with an error, where the
/// result keeps dimensions of size 1, or indices have a width other than 8, 16, 32, 64 or that of index.
mlir::FailureOr<mlir::Operation *> importGather(mlir::IRRewriter &rewriter, mlir::tensor::GatherOp op);

/// Replaces a scatter by tulle.scatter; fails likewise.
mlir::LogicalResult importScatter(mlir::IRRewriter &rewriter, mlir::tensor::ScatterOp op);

} // namespace tulle::passes
