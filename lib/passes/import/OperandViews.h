// Operands of a statement that are read as tensors of other sizes or dimensions.
#pragma once
#include "format/Encoding.h"
#include "mlir/IR/Builders.h"

namespace tulle::passes {

/// The tensor with a dimension for each digit: in its own buffers where its levels allow it, else copied
/// first into levels that do.
mlir::Value expandedView(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor,
                         const std::vector<format::Digit> &digits);

/// The first coordinates of the dimensions that have a size here; of the others, for which it is null, all.
mlir::Value startOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value tensor,
                    llvm::ArrayRef<mlir::Value> sizes);

} // namespace tulle::passes
