// Index arithmetic for what writes loops.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tulle::levels {

/// What such a class derives from: a builder, and short names for what it builds most. (Upstream's
/// ArithBuilder has neither constants nor min, max and predicates.)
class Indices {
protected:
  using Value = mlir::Value;

  explicit Indices(mlir::Operation *before) : b(before), loc(before->getLoc()) {}

  mlir::OpBuilder b;
  mlir::Location loc;

  Value constant(int64_t value) { return mlir::arith::ConstantIndexOp::create(b, loc, value); }
  Value add(Value x, Value y) { return mlir::arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return mlir::arith::SubIOp::create(b, loc, x, y); }
  Value times(Value x, Value y) { return mlir::arith::MulIOp::create(b, loc, x, y); }
  Value min(Value x, Value y) { return mlir::arith::MinSIOp::create(b, loc, x, y); }
  Value max(Value x, Value y) { return mlir::arith::MaxSIOp::create(b, loc, x, y); }
  Value is(mlir::arith::CmpIPredicate predicate, Value x, Value y) {
    return mlir::arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  Value select(Value which, Value x, Value y) { return mlir::arith::SelectOp::create(b, loc, which, x, y); }
  /// The conjunction, evaluated in full.
  Value all(llvm::ArrayRef<Value> conditions) {
    Value result = conditions.front();
    for (Value condition : conditions.drop_front())
      result = mlir::arith::AndIOp::create(b, loc, result, condition);
    return result;
  }
};

} // namespace tulle::levels
