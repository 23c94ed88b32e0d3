// sparse_tensor.convert, and new tensors that have the elements of another, each changed.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/IR/PatternMatch.h"

namespace tulle::passes {

/// A new sparse tensor of what `change` makes of each entry.
mlir::linalg::GenericOp
mapEntries(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor, mlir::RankedTensorType type,
           mlir::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::Value)> change);

/// `tulle.convert`; where elements are converted, too, by a statement of its own on the sparse side.
mlir::LogicalResult importConvert(mlir::RewriterBase &rewriter, mlir::sparse_tensor::ConvertOp op);

} // namespace tulle::passes
