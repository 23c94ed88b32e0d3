#include "dialect/Scalars.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"

namespace tulle::dialect {
using namespace mlir;

Attribute zeroAttr(Type type) {
  Builder b(type.getContext());
  if (auto pair = dyn_cast<ComplexType>(type)) {
    Attribute part = b.getZeroAttr(pair.getElementType());
    return b.getArrayAttr({part, part});
  }
  return b.getZeroAttr(type);
}

/// The widest type of the kind: scalarAttr rounds.
static ElementType widest(Type type) {
  return isa<ComplexType>(type) ? ElementType::C128
         : isa<FloatType>(type) ? ElementType::F64
         : type.isInteger(1)    ? ElementType::Bool
                                : ElementType::I64;
}

Attribute fillAttr(const format::Encoding &encoding, Type type) {
  return scalarAttr(type, format::fillValue(encoding, widest(type)));
}

Attribute fillAttr(RankedTensorType tensor) {
  return fillAttr(getEncoding(tensor).getValue(), tensor.getElementType());
}

Attribute explicitAttr(const format::Encoding &encoding, Type type) {
  std::optional<Scalar> value = format::explicitValue(encoding, widest(type));
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
