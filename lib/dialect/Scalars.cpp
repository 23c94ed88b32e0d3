// A complex number is an array of two attributes, as complex.constant has it; all others are typed
// attributes.
#include "dialect/Scalars.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

namespace tulle::dialect {
using namespace mlir;

Type memoryType(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : element;
}

Attribute zeroAttr(Type type) {
  Builder b(type.getContext());
  if (auto pair = dyn_cast<ComplexType>(type)) {
    Attribute part = b.getZeroAttr(pair.getElementType());
    return b.getArrayAttr({part, part});
  }
  return b.getZeroAttr(type);
}

Value add(OpBuilder &b, Location loc, Value x, Value y, bool negative, arith::FastMathFlags flags) {
  auto fast = arith::FastMathFlagsAttr::get(b.getContext(), flags);
  Type type = x.getType();
  if (type.isInteger(1))
    return arith::OrIOp::create(b, loc, x, y);
  if (isa<IntegerType>(type))
    return negative ? Value(arith::SubIOp::create(b, loc, x, y)) : arith::AddIOp::create(b, loc, x, y);
  if (isa<ComplexType>(type))
    return negative ? Value(complex::SubOp::create(b, loc, x, y, fast))
                    : complex::AddOp::create(b, loc, x, y, fast);
  return negative ? Value(arith::SubFOp::create(b, loc, x, y, fast))
                  : arith::AddFOp::create(b, loc, x, y, fast);
}

/// The type that a number of an encoding is read as: integers end at those of their own width (an infinite
/// fill of i8 is 127), and scalarAttr rounds the others.
static ElementType readAs(Type type) {
  if (type.isInteger())
    return elementType(type).value_or(ElementType::I64);
  return isa<ComplexType>(type) ? ElementType::C128 : ElementType::F64;
}

Attribute fillAttr(const format::Encoding &encoding, Type type) {
  return scalarAttr(type, format::fillValue(encoding, readAs(type)));
}

Attribute fillAttr(RankedTensorType tensor) {
  return fillAttr(getEncoding(tensor).getValue(), tensor.getElementType());
}

Attribute explicitAttr(const format::Encoding &encoding, Type type) {
  std::optional<Scalar> value = format::explicitValue(encoding, readAs(type));
  return value ? scalarAttr(type, *value) : Attribute();
}

Attribute scalarAttr(Type type, const Scalar &value) {
  if (auto pair = dyn_cast<ComplexType>(type)) {
    Type part = pair.getElementType();
    return ArrayAttr::get(type.getContext(),
                          {FloatAttr::get(part, value.f.real()), FloatAttr::get(part, value.f.imag())});
  }
  if (isa<FloatType>(type))
    return FloatAttr::get(type, value.f.real());
  return IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), uint64_t(value.i), true, true));
}

Value materialize(OpBuilder &b, Location loc, Attribute value, Type type) {
  if (auto pair = dyn_cast<ArrayAttr>(value))
    return complex::ConstantOp::create(b, loc, type, pair);
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(value));
}

} // namespace tulle::dialect
