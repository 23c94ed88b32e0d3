// From the levels' coordinates back to those of the dimensions.
#include "format/Encoding.h"
#include "levels/Expression.h"
#include "passes/lower/Lowering.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::lower {

using format::ExprKind;

namespace {

/// The inverse of a map at the coordinates of one place.
class Inverse {
public:
  Inverse(OpBuilder &b, Location loc, const levels::Storage &storage, const levels::Iterator &at)
      : b(b), loc(loc), storage(storage), emit(b, loc, storage), at(at) {}

  Value coordinate(unsigned d, const format::Expr &expr) {
    if (expr->kind != ExprKind::Unrank)
      return check(d, expr, (*this)(expr));
    // A rank that no coordinate has is not looked up.
    Value rank = check(d, expr->lhs, (*this)(expr->lhs));
    if (!lastCheck)
      return emit.permuted(rank);
    return ifElse(
        b, loc, lastCheck, b.getIndexType(), [&] { return Values{emit.permuted(rank)}; },
        [&] { return Values{emit.constant(0)}; })[0];
  }

  Value inside() {
    Value all;
    for (Value bit : checks)
      all = all ? Value(arith::AndIOp::create(b, loc, all, bit)) : bit;
    return all ? all : Value(arith::ConstantIntOp::create(b, loc, 1, 1));
  }

private:
  Value operator()(const format::Expr &expr) {
    return levels::ExpressionEmitter(emit, {{}, at.coordinates})(expr);
  }

  /// Compares with the dimension's size where slots without entries may lie beyond it.
  Value check(unsigned d, const format::Expr &expr, Value coordinate) {
    lastCheck = {};
    if (!format::mayLieOutside(storage.encoding, d, expr))
      return coordinate;
    lastCheck = emit.compare(arith::CmpIPredicate::ult, coordinate, storage.dims[d]);
    checks.push_back(lastCheck);
    return coordinate;
  }

  OpBuilder &b;
  Location loc;
  const levels::Storage &storage;
  levels::Emitter emit;
  const levels::Iterator &at;
  Value lastCheck;
  Values checks;
};

} // namespace

void Lowering::lowerCoordinates(CoordinatesOp op) {
  const levels::Storage &storage = *tensors.lookup(op.getTensor());
  const levels::Iterator at = iterators.lookup(op.getIterator());
  std::vector<format::Expr> inverse = *format::inverseMap(storage.encoding);
  Inverse evaluate(b, op.getLoc(), storage, at);
  for (auto [d, result] : llvm::enumerate(op.getCoordinates()))
    values.map(result, evaluate.coordinate(unsigned(d), inverse[d]));
  values.map(op.getInside(), evaluate.inside());
}

} // namespace tulle::lower
