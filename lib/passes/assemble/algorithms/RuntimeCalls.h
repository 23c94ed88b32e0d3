// Calls of functions that the engine binds.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tulle::assemble {

/// Calls `name` with the arguments (index or i64), all as i64.
void call(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name, mlir::ValueRange arguments);
/// The same of a function that returns an i64, as index.
mlir::Value callForIndex(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name,
                         mlir::ValueRange arguments);

} // namespace tulle::assemble
