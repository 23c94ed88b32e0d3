// Emits the operations of an expression from its leaves up, folded where operands are known.
#include "levels/Expression.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tulle::levels {

using arith::CmpIPredicate;
using format::ExprKind;

Value ExpressionEmitter::operator()(const format::Expr &e) {
  switch (e->kind) {
  case ExprKind::Constant:
    return emit.constant(e->value);
  case ExprKind::Dim:
    return variables.dims[e->value];
  case ExprKind::Level:
    return variables.levels[e->value];
  case ExprKind::Variable:
    return bound.at(e->name);
  case ExprKind::Let:
    bound[e->name] = (*this)(e->lhs);
    return (*this)(e->rhs);
  case ExprKind::Unrank:
    return emit.permuted((*this)(e->lhs));
  case ExprKind::Counter:
  case ExprKind::Rank:
    return variables.special ? variables.special(*e) : emit.constant(0);
  case ExprKind::Symbol:
    llvm_unreachable("an encoding with symbols cannot hold data; format::whyNotExecutable says so first");
  default: {
    Value a = (*this)(e->lhs), b = (*this)(e->rhs);
    return binary(*e, a, b);
  }
  }
}

/// Dimensions' coordinates and sizes are not negative, nor are their digits.
static bool isUnsigned(const format::Expr &e) {
  switch (e->kind) {
  case ExprKind::Constant:
    return e->value >= 0;
  case ExprKind::Dim:
  case ExprKind::Mod:
    return true;
  case ExprKind::FloorDiv:
    return isUnsigned(e->lhs);
  case ExprKind::Add:
  case ExprKind::Mul:
    return isUnsigned(e->lhs) && isUnsigned(e->rhs);
  default:
    return false;
  }
}

Value floorDivision(const Emitter &emit, ExprKind kind, Value a, Value b) {
  OpBuilder &builder = emit.builder;
  Location loc = emit.loc;
  const bool wantRemainder = kind == ExprKind::Mod;
  if (APInt divisor; matchPattern(b, m_ConstantInt(&divisor)) && divisor.isPowerOf2()) {
    if (wantRemainder)
      return builder.createOrFold<arith::AndIOp>(loc, a, emit.constant(divisor.getSExtValue() - 1));
    return builder.createOrFold<arith::ShRSIOp>(loc, a, emit.constant(divisor.logBase2()));
  }
  Value remainder = builder.createOrFold<arith::RemSIOp>(loc, a, b);
  Value isNegative =
      builder.createOrFold<arith::CmpIOp>(loc, CmpIPredicate::slt, remainder, emit.constant(0));
  if (wantRemainder) {
    Value raised = builder.createOrFold<arith::AddIOp>(loc, remainder, b);
    return builder.createOrFold<arith::SelectOp>(loc, isNegative, raised, remainder);
  }
  Value quotient = builder.createOrFold<arith::DivSIOp>(loc, a, b);
  Value lowered = builder.createOrFold<arith::SubIOp>(loc, quotient, emit.constant(1));
  return builder.createOrFold<arith::SelectOp>(loc, isNegative, lowered, quotient);
}

Value ExpressionEmitter::binary(const format::ExprNode &e, Value a, Value b) {
  OpBuilder &builder = emit.builder;
  Location loc = emit.loc;
  constexpr auto nsw = arith::IntegerOverflowFlags::nsw;
  switch (e.kind) {
  case ExprKind::Add:
    return builder.createOrFold<arith::AddIOp>(loc, a, b, nsw);
  case ExprKind::Sub:
    return builder.createOrFold<arith::SubIOp>(loc, a, b, nsw);
  case ExprKind::Mul:
    return builder.createOrFold<arith::MulIOp>(loc, a, b, nsw);
  case ExprKind::FloorDiv:
    return isUnsigned(e.lhs) ? builder.createOrFold<arith::DivUIOp>(loc, a, b)
                             : floorDivision(emit, e.kind, a, b);
  case ExprKind::Mod:
    return isUnsigned(e.lhs) ? builder.createOrFold<arith::RemUIOp>(loc, a, b)
                             : floorDivision(emit, e.kind, a, b);
  case ExprKind::And:
    return builder.createOrFold<arith::AndIOp>(loc, a, b);
  case ExprKind::Or:
    return builder.createOrFold<arith::OrIOp>(loc, a, b);
  case ExprKind::Xor:
    return builder.createOrFold<arith::XOrIOp>(loc, a, b);
  case ExprKind::Shl:
    return builder.createOrFold<arith::ShLIOp>(loc, a, b);
  case ExprKind::Shr:
    return builder.createOrFold<arith::ShRSIOp>(loc, a, b);
  default:
    llvm_unreachable("handled above");
  }
}

} // namespace tulle::levels
