// Follows the tree of an expression; a quotient or remainder of digits is unsigned, of differences it is not.
#include "passes/assemble/algorithms/LevelCoordinates.h"

using namespace mlir;

namespace tulle::assemble {

using K = format::ExprKind;

/// Dimensions' coordinates are not negative, nor are their digits.
static bool isUnsigned(const format::Expr &e) {
  switch (e->kind) {
  case K::Constant:
    return e->value >= 0;
  case K::Dim:
  case K::Mod:
    return true;
  case K::FloorDiv:
    return isUnsigned(e->lhs);
  case K::Add:
  case K::Mul:
    return isUnsigned(e->lhs) && isUnsigned(e->rhs);
  default:
    return false;
  }
}

Value Coordinates::operator()(const format::Expr &e) {
  switch (e->kind) {
  case K::Constant:
    return arith::ConstantIndexOp::create(b, loc, e->value);
  case K::Dim:
    return dims[e->value];
  case K::Level:
    return levels[e->value];
  case K::Variable:
    return variables.at(e->name);
  case K::Let:
    variables[e->name] = (*this)(e->lhs);
    return (*this)(e->rhs);
  case K::Counter:
  case K::Rank:
    return special ? special(*e) : Value(arith::ConstantIndexOp::create(b, loc, 0));
  default:
    break;
  }
  Value x = (*this)(e->lhs);
  return binary(*e, x, (*this)(e->rhs));
}

Value Coordinates::binary(const format::ExprNode &e, Value x, Value y) {
  switch (e.kind) {
  case K::Add:
    return b.createOrFold<arith::AddIOp>(loc, x, y);
  case K::Sub:
    return b.createOrFold<arith::SubIOp>(loc, x, y);
  case K::Mul:
    return b.createOrFold<arith::MulIOp>(loc, x, y);
  case K::FloorDiv:
    if (isUnsigned(e.lhs))
      return b.createOrFold<arith::DivUIOp>(loc, x, y);
    return b.createOrFold<arith::FloorDivSIOp>(loc, x, y);
  case K::Mod:
    return modulo(e, x, y);
  case K::And:
    return b.createOrFold<arith::AndIOp>(loc, x, y);
  case K::Or:
    return b.createOrFold<arith::OrIOp>(loc, x, y);
  case K::Xor:
    return b.createOrFold<arith::XOrIOp>(loc, x, y);
  case K::Shl:
    return b.createOrFold<arith::ShLIOp>(loc, x, y);
  case K::Shr:
    return b.createOrFold<arith::ShRSIOp>(loc, x, y);
  default:
    llvm_unreachable("a map's expressions are over dimensions and levels");
  }
}

Value Coordinates::modulo(const format::ExprNode &e, Value x, Value y) {
  if (isUnsigned(e.lhs))
    return b.createOrFold<arith::RemUIOp>(loc, x, y);
  // The remainder of floor division.
  Value quotient = b.createOrFold<arith::FloorDivSIOp>(loc, x, y);
  return b.createOrFold<arith::SubIOp>(loc, x, b.createOrFold<arith::MulIOp>(loc, quotient, y));
}

} // namespace tulle::assemble
