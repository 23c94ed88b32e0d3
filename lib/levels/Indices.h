// Index arithmetic for classes that emit loops.
#pragma once
#include "levels/Control.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace tulle::levels {

/// Short names for the arithmetic of indices, to derive from or to use in a function. (Upstream's
/// ArithBuilder has neither constants nor min, max and predicates.)
template <typename Builder> class IndicesOf {
public:
  using Value = mlir::Value; // for classes that derive from it

  IndicesOf(Builder builder, Location loc) : b(builder), loc(loc) {}
  explicit IndicesOf(mlir::Operation *before) : b(before), loc(before->getLoc()) {}

  Builder b;
  Location loc;

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value boolean(bool value) { return arith::ConstantOp::create(b, loc, b.getBoolAttr(value)); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value times(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  /// x * y, or where that is more than fits, more elements than any allocator gives.
  Value elements(Value x, Value y) {
    Value most = constant(int64_t(1) << 58);
    Value fits = is(arith::CmpIPredicate::ule, x, divide(most, max(y, constant(1))));
    return select(fits, times(x, y), most);
  }
  Value divide(Value x, Value y) { return arith::DivUIOp::create(b, loc, x, y); }
  Value min(Value x, Value y) { return arith::MinSIOp::create(b, loc, x, y); }
  Value max(Value x, Value y) { return arith::MaxSIOp::create(b, loc, x, y); }
  Value is(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }
  Value isLess(Value x, Value y) { return is(arith::CmpIPredicate::slt, x, y); }
  Value select(Value which, Value x, Value y) { return arith::SelectOp::create(b, loc, which, x, y); }
  /// The number of elements of a buffer of one dimension.
  Value sizeOf(Value buffer) { return mlir::memref::DimOp::create(b, loc, buffer, constant(0)); }

  /// Conjunction and disjunction, evaluated in full; a null `x` is their identity.
  Value both(Value x, Value y) { return x ? arith::AndIOp::create(b, loc, x, y).getResult() : y; }
  Value either(Value x, Value y) { return x ? arith::OrIOp::create(b, loc, x, y).getResult() : y; }
  Value all(llvm::ArrayRef<Value> conditions) {
    Value result;
    for (Value condition : conditions)
      result = both(result, condition);
    return result;
  }
  /// `condition ? then() : otherwise`, a bit.
  template <typename Then> Value ifThen(Value condition, Then then, bool otherwise = false) {
    return ifElse(
        b, loc, condition, b.getI1Type(), [&] { return Values{then()}; },
        [&] { return Values{boolean(otherwise)}; })[0];
  }
};

/// With a builder of its own.
struct Indices : IndicesOf<OpBuilder> {
  using IndicesOf::IndicesOf;
};
/// With a builder that others use as well.
struct IndicesAt : IndicesOf<OpBuilder &> {
  using IndicesOf::IndicesOf;
};

} // namespace tulle::levels
