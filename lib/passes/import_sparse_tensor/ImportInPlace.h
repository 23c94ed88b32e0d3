// Sparse results that are written in place: the tensor that is there says where.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tulle::passes {

/// Of a statement whose sparse result is an argument: the argument becomes one more input, whose pattern a
/// new last argument of the same name has; callers pass one tensor for both. What is stored where the input
/// stores nothing is left out, as upstream does.
mlir::LogicalResult importInPlace(mlir::func::FuncOp func, mlir::linalg::GenericOp generic);

} // namespace tulle::passes
