// Scalars as those of another element type.
#pragma once
#include "mlir/IR/Builders.h"
#include "support/ElementType.h"

namespace tulle::dialect {

mlir::Type scalarType(mlir::MLIRContext &context, ElementType type);

/// x as a number of type `to`: of a complex number the real part, of a float the integer before its point,
/// where what is too large is the last one, and nan is 0. A truth value says whether x is not 0.
mlir::Value convertScalar(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, ElementType from,
                          ElementType to);

} // namespace tulle::dialect
