// One operation of the notation is one or several of MLIR's by the type of its arguments; what those leave
// undefined (division by zero, wide shifts, floats that fit no integer) is selected away.
#include "passes/import/Body.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "notation/Arithmetic.h"

namespace tulle::passes {
using namespace mlir;
using notation::Op;
using notation::Reduce;
using P = arith::CmpIPredicate;

template <typename T, typename... Args> Value BodyBuilder::fp(Args... args) {
  auto flags =
      strictFp ? arith::FastMathFlags::none : arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;
  // Processors have no instruction that tells zeros of either sign apart: it takes four more.
  if (!strictFp && (std::is_same_v<T, arith::MaximumFOp> || std::is_same_v<T, arith::MinimumFOp>))
    flags = flags | arith::FastMathFlags::nsz;
  auto op = T::create(b, loc, args...);
  op.setFastmathAttr(arith::FastMathFlagsAttr::get(b.getContext(), flags));
  return op;
}

template <typename T, typename... Args> Value BodyBuilder::plain(Args... args) {
  return T::create(b, loc, args...);
}

Value BodyBuilder::integer(Type type, int64_t value) {
  return arith::ConstantOp::create(
      b, loc, b.getIntegerAttr(type, APInt(type.getIntOrFloatBitWidth(), value, true, true)));
}
Value BodyBuilder::real(Type type, double value) {
  return plain<arith::ConstantOp>(b.getFloatAttr(type, value));
}

Value BodyBuilder::constant(ElementType type, const Scalar &value) {
  Type t = scalarType(*b.getContext(), type);
  if (isComplex(type)) {
    Type part = cast<ComplexType>(t).getElementType();
    return complex::ConstantOp::create(
        b, loc, t,
        b.getArrayAttr({b.getFloatAttr(part, value.f.real()), b.getFloatAttr(part, value.f.imag())}));
  }
  return isFloat(type) ? real(t, value.f.real()) : integer(t, value.i);
}

Value BodyBuilder::expr(const notation::Expr &e) {
  switch (e->op) {
  case Op::Literal:
    return constant(e->type, e->literal);
  case Op::Access:
    return valueOf(e->access);
  case Op::Index:
    return indexValue(e->access.subscripts[0]);
  case Op::Convert:
    return convert(expr(e->args[0]), e->args[0]->type, e->type);
  case Op::Select: {
    Value condition = expr(e->args[0]), yes = expr(e->args[1]), no = expr(e->args[2]);
    return select(condition, yes, no);
  }
  default:
    break;
  }
  Value x = expr(e->args[0]);
  if (e->args.size() == 1)
    return unary(e->op, e->args[0]->type, x);
  return binary(e->op, e->args[0]->type, x, expr(e->args[1]));
}

Value BodyBuilder::indexValue(const notation::Affine &value) {
  Type type = b.getI64Type();
  Value sum;
  for (auto [index, coefficient] : value.terms) {
    Value term =
        plain<arith::IndexCastUIOp>(type, linalg::IndexOp::create(b, loc, loopOf(index)).getResult());
    term = b.createOrFold<arith::MulIOp>(loc, term, integer(type, coefficient));
    sum = sum ? plain<arith::AddIOp>(sum, term) : term;
  }
  Value shift = integer(type, value.constant);
  sum = sum ? b.createOrFold<arith::AddIOp>(loc, sum, shift) : shift;
  if (value.divisor != 1)
    sum = plain<arith::DivUIOp>(sum, integer(type, value.divisor));
  return value.modulus == 0 ? sum : plain<arith::RemUIOp>(sum, integer(type, value.modulus));
}

Value BodyBuilder::mask(const notation::Mask &m) {
  if (m->op == Op::Access)
    return dialect::StoredOp::create(b, loc, b.getI1Type(), valueOf(m->access));
  if (notation::isCondition(m))
    return expr(m);
  Value x = mask(m->args[0]);
  Value yes = integer(b.getI1Type(), 1);
  if (m->op == Op::Not)
    return plain<arith::XOrIOp>(x, yes);
  Value y = mask(m->args[1]);
  if (m->op == Op::And)
    return plain<arith::AndIOp>(x, y);
  if (m->op == Op::Or)
    return plain<arith::OrIOp>(x, y);
  return plain<arith::AndIOp>(x, plain<arith::XOrIOp>(y, yes));
}

Value BodyBuilder::reduce(Reduce reduce, ElementType type, Value accumulator, Value value) {
  return binary(notation::monoid(reduce).op, type, accumulator, value);
}

/// How an operation is built of arguments of each type; null where the checker refuses it.
template <typename Build> struct BodyBuilder::Row {
  Op op;
  Build integer, real, complex;
};

template <typename Build, size_t rows>
Build BodyBuilder::find(const Row<Build> (&table)[rows], Op op, ElementType argType) {
  const auto *row = llvm::find_if(table, [&](const Row<Build> &row) { return row.op == op; });
  assert(row != std::end(table) && "the checker refuses other operations on numbers");
  return isComplex(argType) ? row->complex : isFloat(argType) ? row->real : row->integer;
}

Value BodyBuilder::unary(Op op, ElementType argType, Value x) {
  if (argType == ElementType::Bool && (op == Op::Neg || op == Op::Abs || op == Op::Relu))
    return x;
  if (!isComplex(argType)) {
    if (op == Op::Real || op == Op::Conj)
      return x;
    auto zero = [&] { return isFloat(argType) ? real(x.getType(), 0) : integer(x.getType(), 0); };
    if (op == Op::Imag)
      return zero();
    if (op == Op::Relu)
      return binary(Op::Max, argType, x, zero());
    if (op == Op::Not)
      return isFloat(argType) ? compare(Op::Eq, argType, x, zero())
                              : plain<arith::XOrIOp>(x, integer(x.getType(), -1));
    if (op == Op::Neg && !isFloat(argType))
      return plain<arith::SubIOp>(zero(), x);
  }
  using B = BodyBuilder;
  static constexpr Row<Unary> table[] = {
      {Op::Neg, nullptr, &B::fp<arith::NegFOp>, &B::plain<complex::NegOp>},
      {Op::Abs, &B::plain<math::AbsIOp>, &B::fp<math::AbsFOp>, &B::plain<complex::AbsOp>},
      {Op::Sqrt, nullptr, &B::fp<math::SqrtOp>, &B::plain<complex::SqrtOp>},
      {Op::Exp, nullptr, &B::fp<math::ExpOp>, &B::plain<complex::ExpOp>},
      {Op::Log, nullptr, &B::fp<math::LogOp>, &B::plain<complex::LogOp>},
      {Op::Sin, nullptr, &B::fp<math::SinOp>, &B::plain<complex::SinOp>},
      {Op::Cos, nullptr, &B::fp<math::CosOp>, &B::plain<complex::CosOp>},
      {Op::Tanh, nullptr, &B::fp<math::TanhOp>, &B::plain<complex::TanhOp>},
      {Op::Conj, nullptr, nullptr, &B::plain<complex::ConjOp>},
      {Op::Real, nullptr, nullptr, &B::plain<complex::ReOp>},
      {Op::Imag, nullptr, nullptr, &B::plain<complex::ImOp>}};
  return (this->*find(table, op, argType))(x);
}

Value BodyBuilder::binary(Op op, ElementType argType, Value x, Value y) {
  if (op >= Op::Eq && op <= Op::Ge)
    return compare(op, argType, x, y);
  if (argType == ElementType::Bool)
    return boolBinary(op, x, y);
  using B = BodyBuilder;
  static constexpr Row<Binary> table[] = {
      {Op::Add, &B::plain<arith::AddIOp>, &B::fp<arith::AddFOp>, &B::fp<complex::AddOp>},
      {Op::Sub, &B::plain<arith::SubIOp>, &B::fp<arith::SubFOp>, &B::fp<complex::SubOp>},
      {Op::Mul, &B::plain<arith::MulIOp>, &B::fp<arith::MulFOp>, &B::fp<complex::MulOp>},
      {Op::Div, &B::divide<arith::DivSIOp>, &B::fp<arith::DivFOp>, &B::fp<complex::DivOp>},
      {Op::Pow, &B::power, &B::fp<math::PowFOp>, &B::fp<complex::PowOp>},
      {Op::Mod, &B::divide<arith::RemSIOp>, &B::fp<arith::RemFOp>, nullptr},
      {Op::Min, &B::plain<arith::MinSIOp>, &B::fp<arith::MinimumFOp>, nullptr},
      {Op::Max, &B::plain<arith::MaxSIOp>, &B::fp<arith::MaximumFOp>, nullptr},
      {Op::And, &B::plain<arith::AndIOp>, nullptr, nullptr},
      {Op::Or, &B::plain<arith::OrIOp>, nullptr, nullptr},
      {Op::Xor, &B::plain<arith::XOrIOp>, nullptr, nullptr},
      {Op::Shl, &B::shift<arith::ShLIOp>, nullptr, nullptr},
      {Op::Shr, &B::shift<arith::ShRSIOp>, nullptr, nullptr}};
  return (this->*find(table, op, argType))(x, y);
}

Value BodyBuilder::boolBinary(Op op, Value x, Value y) {
  if (op == Op::Mul || op == Op::And || op == Op::Min)
    return plain<arith::AndIOp>(x, y);
  return op == Op::Sub || op == Op::Xor ? plain<arith::XOrIOp>(x, y) : plain<arith::OrIOp>(x, y);
}

/// Division by zero gives 0, and the one quotient that does not fit wraps: no input may stop the machine.
template <typename Division> Value BodyBuilder::divide(Value x, Value y) {
  constexpr bool remainder = std::is_same_v<Division, arith::RemSIOp>;
  Value zero = integer(x.getType(), 0), one = integer(x.getType(), 1), minus = integer(x.getType(), -1);
  Value isZero = compareInts(P::eq, y, zero);
  Value isMinus = compareInts(P::eq, y, minus);
  Value unsafe = plain<arith::OrIOp>(isZero, isMinus);
  Value divisor = select(unsafe, one, y);
  Value negated = remainder ? zero : Value(plain<arith::SubIOp>(zero, x));
  Value result = Division::create(b, loc, x, divisor);
  Value signedResult = select(isMinus, negated, result);
  return select(isZero, zero, signedResult);
}

/// Repeated squaring, where the exponent is known; the inverse of 0 is 0.
Value BodyBuilder::power(Value x, Value y) {
  Type type = x.getType();
  Value zero = integer(type, 0);
  APInt exponent;
  if (matchPattern(y, m_ConstantInt(&exponent)) && exponent.isNonNegative()) {
    Value result = integer(type, 1), square = x;
    for (unsigned k = 0, bits = exponent.getActiveBits(); k < bits; ++k) {
      result = exponent[k] ? Value(plain<arith::MulIOp>(result, square)) : result;
      square = k + 1 < bits ? Value(plain<arith::MulIOp>(square, square)) : square;
    }
    return result;
  }
  // math.ipowi is not defined for 0 and a negative exponent; what it gives for 2 is 0.
  Value isInverse = plain<arith::AndIOp>(compareInts(P::slt, y, zero), compareInts(P::eq, x, zero));
  return plain<math::IPowIOp>(select(isInverse, integer(type, 2), x), y);
}

/// Shifting by the width or more moves every bit out.
template <typename Shift> Value BodyBuilder::shift(Value x, Value y) {
  unsigned width = x.getType().getIntOrFloatBitWidth();
  Value last = integer(x.getType(), width - 1);
  Value inside = compareInts(P::ule, y, last);
  Value amount = plain<arith::MinUIOp>(y, last);
  Value shifted = Shift::create(b, loc, x, amount);
  if (std::is_same_v<Shift, arith::ShRSIOp>)
    return shifted;
  return select(inside, shifted, integer(x.getType(), 0));
}

Value BodyBuilder::compare(Op op, ElementType argType, Value x, Value y) {
  unsigned which = unsigned(op) - unsigned(Op::Eq); // Eq Ne Lt Le Gt Ge
  if (isComplex(argType))
    return op == Op::Eq ? plain<complex::EqualOp>(x, y) : plain<complex::NotEqualOp>(x, y);
  if (isFloat(argType)) {
    using F = arith::CmpFPredicate;
    constexpr F predicates[] = {F::OEQ, F::UNE, F::OLT, F::OLE, F::OGT, F::OGE};
    return plain<arith::CmpFOp>(predicates[which], x, y);
  }
  constexpr P predicates[] = {P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge};
  constexpr P unsignedPredicates[] = {P::eq, P::ne, P::ult, P::ule, P::ugt, P::uge};
  return arith::CmpIOp::create(b, loc,
                               (argType == ElementType::Bool ? unsignedPredicates : predicates)[which], x, y);
}

Value BodyBuilder::convert(Value x, ElementType from, ElementType to) {
  return dialect::convertScalar(b, loc, x, from, to);
}

} // namespace tulle::passes
