// What arith leaves undefined, floats that fit no integer, is selected away.
#include "dialect/ScalarConversion.h"
#include "dialect/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include <cmath>

namespace tulle::dialect {
using namespace mlir;

static unsigned bits(ElementType type) { return type == ElementType::Bool ? 1 : byteWidth(type) * 8; }

/// The type of the parts of a complex number.
static ElementType part(ElementType type) {
  return type == ElementType::C64 ? ElementType::F32 : ElementType::F64;
}

Type scalarType(MLIRContext &context, ElementType type) {
  Builder b(&context);
  if (isComplex(type))
    return ComplexType::get(scalarType(context, part(type)));
  if (!isFloat(type))
    return b.getIntegerType(bits(type));
  if (bits(type) == 16)
    return type == ElementType::BF16 ? Type(b.getBF16Type()) : b.getF16Type();
  return bits(type) == 32 ? Type(b.getF32Type()) : b.getF64Type();
}

namespace {

struct Conversion {
  OpBuilder &b;
  Location loc;

  Value run(Value x, ElementType from, ElementType to) {
    if (from == to)
      return x;
    if (isComplex(to))
      return toComplex(x, from, to);
    if (to == ElementType::Bool)
      return isNonzero(x, from);
    if (isComplex(from))
      return run(make<complex::ReOp>(x), part(from), to);
    const Type target = type(to);
    if (isFloat(from) && isFloat(to)) {
      if (bits(from) == bits(to)) // f16 and bf16 hold neither the other
        return run(run(x, from, ElementType::F32), ElementType::F32, to);
      return bits(from) < bits(to) ? make<arith::ExtFOp>(target, x) : make<arith::TruncFOp>(target, x);
    }
    if (isFloat(from))
      return floatToInt(x, from, to);
    if (isFloat(to))
      return from == ElementType::Bool ? make<arith::UIToFPOp>(target, x) : make<arith::SIToFPOp>(target, x);
    if (bits(from) > bits(to))
      return make<arith::TruncIOp>(target, x);
    return from == ElementType::Bool ? make<arith::ExtUIOp>(target, x) : make<arith::ExtSIOp>(target, x);
  }

private:
  template <typename T, typename... Args> Value make(Args... args) { return T::create(b, loc, args...); }
  Type type(ElementType element) { return scalarType(*b.getContext(), element); }
  Value real(Type type, double value) { return make<arith::ConstantOp>(b.getFloatAttr(type, value)); }
  Value integer(Type type, int64_t value) {
    return make<arith::ConstantOp>(
        b.getIntegerAttr(type, APInt(type.getIntOrFloatBitWidth(), value, true, true)));
  }
  Value select(Value condition, Value yes, Value no) { return make<arith::SelectOp>(condition, yes, no); }

  Value toComplex(Value x, ElementType from, ElementType to) {
    const Type target = type(to);
    if (!isComplex(from))
      return make<complex::CreateOp>(target, run(x, from, part(to)), real(type(part(to)), 0));
    Value re = run(make<complex::ReOp>(x), part(from), part(to));
    Value im = run(make<complex::ImOp>(x), part(from), part(to));
    return make<complex::CreateOp>(target, re, im);
  }

  Value isNonzero(Value x, ElementType from) {
    Value zero = materialize(b, loc, zeroAttr(x.getType()), x.getType());
    if (isComplex(from))
      return make<complex::NotEqualOp>(x, zero);
    return isFloat(from) ? make<arith::CmpFOp>(arith::CmpFPredicate::UNE, x, zero)
                         : make<arith::CmpIOp>(arith::CmpIPredicate::ne, x, zero);
  }

  /// Truncates, saturates at the ends, and makes 0 of nan: arith.fptosi leaves all of these undefined.
  Value floatToInt(Value x, ElementType from, ElementType to) {
    if (bits(from) < 32) {
      x = run(x, from, ElementType::F32);
      from = ElementType::F32;
    }
    const Type target = type(to), floatType = x.getType();
    const double end = std::ldexp(1.0, int(bits(to)) - 1); // one more than the largest value
    Value tooHigh = make<arith::CmpFOp>(arith::CmpFPredicate::OGE, x, real(floatType, end));
    Value tooLow = make<arith::CmpFOp>(arith::CmpFPredicate::OLT, x, real(floatType, -end));
    Value ordered = make<arith::CmpFOp>(arith::CmpFPredicate::ORD, x, x);
    Value outside = make<arith::OrIOp>(tooHigh, tooLow);
    Value unsafe = make<arith::OrIOp>(outside, make<arith::XOrIOp>(ordered, integer(b.getI1Type(), 1)));
    Value safe = select(unsafe, real(floatType, 0), x);
    Value converted = make<arith::FPToSIOp>(target, safe);
    Value high = select(tooHigh, integer(target, llvm::maxIntN(bits(to))), converted);
    return select(tooLow, integer(target, llvm::minIntN(bits(to))), high);
  }
};

} // namespace

Value convertScalar(OpBuilder &b, Location loc, Value x, ElementType from, ElementType to) {
  return Conversion{b, loc}.run(x, from, to);
}

} // namespace tulle::dialect
