// Numbers as attributes: fills, and values that an encoding names.
#pragma once
#include "format/Encoding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "support/ElementType.h"

namespace tulle::dialect {

/// The constant as an operation: arith.constant, or complex.constant for pairs.
mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc, mlir::Attribute value, mlir::Type type);
/// A number as an attribute of the type: integers from `i`, floats and complex pairs from `f`.
mlir::Attribute scalarAttr(mlir::Type type, const Scalar &value);
/// What tensors of the encoding do not store, of that element type.
mlir::Attribute fillAttr(const format::Encoding &encoding, mlir::Type type);
/// What a tensor does not store.
mlir::Attribute fillAttr(mlir::RankedTensorType type);
/// The value of everything stored, of that element type, where the encoding names one (`explicitVal`); else
/// null.
mlir::Attribute explicitAttr(const format::Encoding &encoding, mlir::Type type);
/// x + y, or x - y if `negative`, of any scalar type; of truth values, or.
mlir::Value add(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x, mlir::Value y,
                bool negative = false, mlir::arith::FastMathFlags flags = mlir::arith::FastMathFlags::none);
/// An element as it stands in memory: a truth value is a byte.
mlir::Type memoryType(mlir::Type element);
/// 0 of a scalar type (complex: a pair of zeros).
mlir::Attribute zeroAttr(mlir::Type type);

} // namespace tulle::dialect
