#include "passes/import/Body.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "notation/Arithmetic.h"

namespace tulle::passes {
using namespace mlir;
using notation::Op;
using notation::Reduce;

namespace {

unsigned bits(ElementType type) { return type == ElementType::Bool ? 1 : byteWidth(type) * 8; }

} // namespace

Type scalarType(MLIRContext &context, ElementType type) {
  Builder b(&context);
  switch (type) {
  case ElementType::BF16:
    return b.getBF16Type();
  case ElementType::F16:
    return b.getF16Type();
  case ElementType::F32:
    return b.getF32Type();
  case ElementType::F64:
    return b.getF64Type();
  case ElementType::C64:
    return ComplexType::get(b.getF32Type());
  case ElementType::C128:
    return ComplexType::get(b.getF64Type());
  default:
    return b.getIntegerType(bits(type));
  }
}

/// A floating-point operation with the flags that let reductions reassociate, unless the user forbids it.
template <typename T, typename... Args> Value BodyBuilder::fp(Args... args) {
  auto flags =
      strictFp ? arith::FastMathFlags::none : arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;
  auto op = T::create(b, loc, args...);
  op.setFastmathAttr(arith::FastMathFlagsAttr::get(b.getContext(), flags));
  return op;
}

/// An operation without such flags.
template <typename T, typename... Args> Value BodyBuilder::plain(Args... args) {
  return T::create(b, loc, args...);
}

Value BodyBuilder::integer(Type type, int64_t value) {
  return arith::ConstantOp::create(
      b, loc, b.getIntegerAttr(type, APInt(type.getIntOrFloatBitWidth(), value, true, true)));
}
Value BodyBuilder::real(Type type, double value) {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
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
  case Op::Convert:
    return convert(expr(e->args[0]), e->args[0]->type, e->type);
  case Op::Select: {
    Value condition = expr(e->args[0]), yes = expr(e->args[1]), no = expr(e->args[2]);
    return arith::SelectOp::create(b, loc, condition, yes, no);
  }
  default:
    break;
  }
  Value x = expr(e->args[0]);
  if (e->args.size() == 1)
    return unary(e->op, e->type, e->args[0]->type, x);
  return binary(e->op, e->args[0]->type, x, expr(e->args[1]));
}

Value BodyBuilder::mask(const notation::Mask &m) {
  if (m->op == Op::Access)
    return dialect::StoredOp::create(b, loc, b.getI1Type(), valueOf(m->access));
  Value x = mask(m->args[0]);
  Value yes = integer(b.getI1Type(), 1);
  if (m->op == Op::Not)
    return arith::XOrIOp::create(b, loc, x, yes);
  Value y = mask(m->args[1]);
  if (m->op == Op::And)
    return arith::AndIOp::create(b, loc, x, y);
  if (m->op == Op::Or)
    return arith::OrIOp::create(b, loc, x, y);
  return arith::AndIOp::create(b, loc, x, arith::XOrIOp::create(b, loc, y, yes));
}

Value BodyBuilder::reduce(Reduce reduce, ElementType type, Value accumulator, Value value) {
  return binary(notation::monoid(reduce).op, type, accumulator, value);
}

Value BodyBuilder::unary(Op op, ElementType type, ElementType argType, Value x) {
  if (isComplex(argType))
    return complexUnary(op, x);
  if (isFloat(argType))
    return floatUnary(op, x);
  Type t = x.getType();
  const bool isBool = argType == ElementType::Bool;
  if (isBool && (op == Op::Neg || op == Op::Abs || op == Op::Relu))
    return x;
  switch (op) {
  case Op::Neg:
    return arith::SubIOp::create(b, loc, integer(t, 0), x);
  case Op::Not:
    return arith::XOrIOp::create(b, loc, x, integer(t, isBool ? 1 : -1));
  case Op::Abs:
    return math::AbsIOp::create(b, loc, x);
  case Op::Relu:
    return arith::MaxSIOp::create(b, loc, x, integer(t, 0));
  case Op::Imag:
    return integer(t, 0);
  default: // real and conj of a real number; the checker makes every other function's argument a float
    return x;
  }
}

/// The operation of the table's row for `op`; null where there is none.
template <size_t n, typename... Args>
Value BodyBuilder::fromTable(const std::pair<Op, Value (BodyBuilder::*)(Args...)> (&table)[n], Op op,
                             Args... args) {
  for (auto [known, build] : table)
    if (known == op)
      return (this->*build)(args...);
  return {};
}

Value BodyBuilder::floatUnary(Op op, Value x) {
  constexpr std::pair<Op, Value (BodyBuilder::*)(Value)> table[] = {
      {Op::Neg, &BodyBuilder::fp<arith::NegFOp, Value>}, {Op::Abs, &BodyBuilder::fp<math::AbsFOp, Value>},
      {Op::Sqrt, &BodyBuilder::fp<math::SqrtOp, Value>}, {Op::Exp, &BodyBuilder::fp<math::ExpOp, Value>},
      {Op::Log, &BodyBuilder::fp<math::LogOp, Value>},   {Op::Sin, &BodyBuilder::fp<math::SinOp, Value>},
      {Op::Cos, &BodyBuilder::fp<math::CosOp, Value>},   {Op::Tanh, &BodyBuilder::fp<math::TanhOp, Value>}};
  if (Value result = fromTable(table, op, x))
    return result;
  Value zero = real(x.getType(), 0);
  if (op == Op::Not)
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, zero);
  if (op == Op::Relu)
    return fp<arith::MaximumFOp>(x, zero);
  return op == Op::Imag ? zero : x; // real and conj of a real number are itself
}

Value BodyBuilder::complexUnary(Op op, Value x) {
  constexpr std::pair<Op, Value (BodyBuilder::*)(Value)> table[] = {
      {Op::Neg, &BodyBuilder::plain<complex::NegOp, Value>},
      {Op::Abs, &BodyBuilder::plain<complex::AbsOp, Value>},
      {Op::Sqrt, &BodyBuilder::plain<complex::SqrtOp, Value>},
      {Op::Exp, &BodyBuilder::plain<complex::ExpOp, Value>},
      {Op::Log, &BodyBuilder::plain<complex::LogOp, Value>},
      {Op::Sin, &BodyBuilder::plain<complex::SinOp, Value>},
      {Op::Cos, &BodyBuilder::plain<complex::CosOp, Value>},
      {Op::Tanh, &BodyBuilder::plain<complex::TanhOp, Value>},
      {Op::Conj, &BodyBuilder::plain<complex::ConjOp, Value>},
      {Op::Real, &BodyBuilder::plain<complex::ReOp, Value>},
      {Op::Imag, &BodyBuilder::plain<complex::ImOp, Value>}};
  Value result = fromTable(table, op, x);
  assert(result && "the checker refuses other functions of complex numbers");
  return result;
}

Value BodyBuilder::binary(Op op, ElementType argType, Value x, Value y) {
  if (op >= Op::Eq && op <= Op::Ge)
    return compare(op, argType, x, y);
  if (isComplex(argType))
    return complexBinary(op, x, y);
  if (isFloat(argType))
    return floatBinary(op, x, y);
  return argType == ElementType::Bool ? boolBinary(op, x, y) : intBinary(op, x, y);
}

Value BodyBuilder::boolBinary(Op op, Value x, Value y) {
  switch (op) {
  case Op::Mul:
  case Op::And:
  case Op::Min:
    return arith::AndIOp::create(b, loc, x, y);
  case Op::Sub:
  case Op::Xor:
    return arith::XOrIOp::create(b, loc, x, y);
  default:
    return arith::OrIOp::create(b, loc, x, y);
  }
}

/// Division by zero gives 0, and the one quotient that does not fit wraps: no input may stop the machine.
template <typename Division> Value BodyBuilder::divide(Value x, Value y) {
  constexpr bool remainder = std::is_same_v<Division, arith::RemSIOp>;
  Value zero = integer(x.getType(), 0), one = integer(x.getType(), 1), minus = integer(x.getType(), -1);
  Value isZero = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, zero);
  Value isMinus = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, minus);
  Value unsafe = arith::OrIOp::create(b, loc, isZero, isMinus);
  Value divisor = arith::SelectOp::create(b, loc, unsafe, one, y);
  Value negated = remainder ? zero : Value(arith::SubIOp::create(b, loc, zero, x));
  Value result = Division::create(b, loc, x, divisor);
  Value signedResult = arith::SelectOp::create(b, loc, isMinus, negated, result);
  return arith::SelectOp::create(b, loc, isZero, zero, signedResult);
}

/// Repeated squaring without a branch. (math.ipowi divides by zero for 0 ** -1.)
Value BodyBuilder::power(Value x, Value y) {
  Type type = x.getType();
  unsigned steps = type.getIntOrFloatBitWidth() - 1;
  APInt exponent;
  bool isConstant = matchPattern(y, m_ConstantInt(&exponent));
  if (isConstant && exponent.isNonNegative())
    steps = exponent.getActiveBits();
  Value zero = integer(type, 0), one = integer(type, 1);
  Value result = one, square = x;
  for (unsigned k = 0; k < steps; ++k) {
    Value bit = arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, y, integer(type, k)), one);
    Value isSet = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, zero);
    result = arith::SelectOp::create(b, loc, isSet, arith::MulIOp::create(b, loc, result, square), result);
    if (k + 1 < steps)
      square = arith::MulIOp::create(b, loc, square, square);
  }
  if (isConstant && exponent.isNonNegative())
    return result;
  // 1 / x ** n, truncated, is 0 unless x is 1 or -1.
  Value minus = integer(type, -1);
  Value odd =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, arith::AndIOp::create(b, loc, y, one), zero);
  auto equals = [&](Value to) { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, to); };
  Value sign = arith::SelectOp::create(b, loc, odd, minus, one);
  Value inverse = arith::SelectOp::create(b, loc, equals(minus), sign, zero);
  inverse = arith::SelectOp::create(b, loc, equals(one), one, inverse);
  Value isNegative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, y, zero);
  return arith::SelectOp::create(b, loc, isNegative, inverse, result);
}

/// Shifting by the width or more moves every bit out.
template <typename Shift> Value BodyBuilder::shift(Value x, Value y) {
  unsigned width = x.getType().getIntOrFloatBitWidth();
  Value last = integer(x.getType(), width - 1);
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, y, last);
  Value amount = arith::MinUIOp::create(b, loc, y, last);
  Value shifted = Shift::create(b, loc, x, amount);
  if (std::is_same_v<Shift, arith::ShRSIOp>)
    return shifted;
  return arith::SelectOp::create(b, loc, inside, shifted, integer(x.getType(), 0));
}

Value BodyBuilder::intBinary(Op op, Value x, Value y) {
  constexpr std::pair<Op, Value (BodyBuilder::*)(Value, Value)> table[] = {
      {Op::Add, &BodyBuilder::plain<arith::AddIOp, Value, Value>},
      {Op::Sub, &BodyBuilder::plain<arith::SubIOp, Value, Value>},
      {Op::Mul, &BodyBuilder::plain<arith::MulIOp, Value, Value>},
      {Op::Div, &BodyBuilder::divide<arith::DivSIOp>},
      {Op::Mod, &BodyBuilder::divide<arith::RemSIOp>},
      {Op::Pow, &BodyBuilder::power},
      {Op::Min, &BodyBuilder::plain<arith::MinSIOp, Value, Value>},
      {Op::Max, &BodyBuilder::plain<arith::MaxSIOp, Value, Value>},
      {Op::And, &BodyBuilder::plain<arith::AndIOp, Value, Value>},
      {Op::Or, &BodyBuilder::plain<arith::OrIOp, Value, Value>},
      {Op::Xor, &BodyBuilder::plain<arith::XOrIOp, Value, Value>},
      {Op::Shl, &BodyBuilder::shift<arith::ShLIOp>},
      {Op::Shr, &BodyBuilder::shift<arith::ShRSIOp>}};
  Value result = fromTable(table, op, x, y);
  assert(result && "the checker refuses other operations on integers");
  return result;
}

Value BodyBuilder::floatBinary(Op op, Value x, Value y) {
  constexpr std::pair<Op, Value (BodyBuilder::*)(Value, Value)> table[] = {
      {Op::Add, &BodyBuilder::fp<arith::AddFOp, Value, Value>},
      {Op::Sub, &BodyBuilder::fp<arith::SubFOp, Value, Value>},
      {Op::Mul, &BodyBuilder::fp<arith::MulFOp, Value, Value>},
      {Op::Div, &BodyBuilder::fp<arith::DivFOp, Value, Value>},
      {Op::Mod, &BodyBuilder::fp<arith::RemFOp, Value, Value>},
      {Op::Pow, &BodyBuilder::fp<math::PowFOp, Value, Value>},
      {Op::Min, &BodyBuilder::fp<arith::MinimumFOp, Value, Value>},
      {Op::Max, &BodyBuilder::fp<arith::MaximumFOp, Value, Value>}};
  Value result = fromTable(table, op, x, y);
  assert(result && "the checker refuses bit operations on floats");
  return result;
}

Value BodyBuilder::complexBinary(Op op, Value x, Value y) {
  constexpr std::pair<Op, Value (BodyBuilder::*)(Value, Value)> table[] = {
      {Op::Add, &BodyBuilder::fp<complex::AddOp, Value, Value>},
      {Op::Sub, &BodyBuilder::fp<complex::SubOp, Value, Value>},
      {Op::Mul, &BodyBuilder::fp<complex::MulOp, Value, Value>},
      {Op::Div, &BodyBuilder::fp<complex::DivOp, Value, Value>},
      {Op::Pow, &BodyBuilder::fp<complex::PowOp, Value, Value>}};
  Value result = fromTable(table, op, x, y);
  assert(result && "the checker refuses orders and bits of complex numbers");
  return result;
}

Value BodyBuilder::compare(Op op, ElementType argType, Value x, Value y) {
  unsigned which = unsigned(op) - unsigned(Op::Eq); // Eq Ne Lt Le Gt Ge
  if (isComplex(argType)) {
    if (op == Op::Eq)
      return complex::EqualOp::create(b, loc, x, y);
    return complex::NotEqualOp::create(b, loc, x, y);
  }
  if (isFloat(argType)) {
    using P = arith::CmpFPredicate;
    constexpr P predicates[] = {P::OEQ, P::UNE, P::OLT, P::OLE, P::OGT, P::OGE};
    return arith::CmpFOp::create(b, loc, predicates[which], x, y);
  }
  using P = arith::CmpIPredicate;
  constexpr P predicates[] = {P::eq, P::ne, P::slt, P::sle, P::sgt, P::sge};
  constexpr P unsignedPredicates[] = {P::eq, P::ne, P::ult, P::ule, P::ugt, P::uge};
  return arith::CmpIOp::create(b, loc,
                               (argType == ElementType::Bool ? unsignedPredicates : predicates)[which], x, y);
}

Value BodyBuilder::convert(Value x, ElementType from, ElementType to) {
  Type target = scalarType(*b.getContext(), to);
  if (from == to)
    return x;
  auto part = [](ElementType type) { return type == ElementType::C64 ? ElementType::F32 : ElementType::F64; };
  if (isComplex(to)) {
    if (!isComplex(from))
      return complex::CreateOp::create(b, loc, target, convert(x, from, part(to)),
                                       real(cast<ComplexType>(target).getElementType(), 0));
    Value re = convert(complex::ReOp::create(b, loc, x), part(from), part(to));
    Value im = convert(complex::ImOp::create(b, loc, x), part(from), part(to));
    return complex::CreateOp::create(b, loc, target, re, im);
  }
  if (to == ElementType::Bool)
    return compare(Op::Ne, from, x, constant(from, {}));
  if (isComplex(from))
    return convert(complex::ReOp::create(b, loc, x), part(from), to);
  if (isFloat(from) && isFloat(to)) {
    if (bits(from) == bits(to)) // f16 and bf16 hold neither the other
      return convert(convert(x, from, ElementType::F32), ElementType::F32, to);
    if (bits(from) < bits(to))
      return arith::ExtFOp::create(b, loc, target, x);
    return arith::TruncFOp::create(b, loc, target, x);
  }
  if (isFloat(from))
    return floatToInt(x, from, to);
  if (isFloat(to)) {
    if (from == ElementType::Bool)
      return arith::UIToFPOp::create(b, loc, target, x);
    return arith::SIToFPOp::create(b, loc, target, x);
  }
  if (bits(from) > bits(to))
    return arith::TruncIOp::create(b, loc, target, x);
  if (from == ElementType::Bool)
    return arith::ExtUIOp::create(b, loc, target, x);
  return arith::ExtSIOp::create(b, loc, target, x);
}

/// Truncates, saturates at the ends, and makes 0 of nan: arith.fptosi leaves all of these undefined.
Value BodyBuilder::floatToInt(Value x, ElementType from, ElementType to) {
  if (bits(from) < 32) {
    x = convert(x, from, ElementType::F32);
    from = ElementType::F32;
  }
  Type type = scalarType(*b.getContext(), to), floatType = x.getType();
  double end = std::ldexp(1.0, int(bits(to)) - 1); // one more than the largest value
  Value tooHigh = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, x, real(floatType, end));
  Value tooLow = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, real(floatType, -end));
  Value ordered = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, x, x);
  Value outside = arith::OrIOp::create(b, loc, tooHigh, tooLow);
  Value unsafe = arith::OrIOp::create(b, loc, outside,
                                      arith::XOrIOp::create(b, loc, ordered, integer(b.getI1Type(), 1)));
  Value safe = arith::SelectOp::create(b, loc, unsafe, real(floatType, 0), x);
  Value converted = arith::FPToSIOp::create(b, loc, type, safe);
  Value high = arith::SelectOp::create(b, loc, tooHigh, integer(type, llvm::maxIntN(bits(to))), converted);
  return arith::SelectOp::create(b, loc, tooLow, integer(type, llvm::minIntN(bits(to))), high);
}

} // namespace tulle::passes
