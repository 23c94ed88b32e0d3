#include "passes/boundary/SparseValues.h"
#include "levels/Storage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/import_sparse_tensor/Encodings.h"

using namespace mlir;

namespace tulle::boundary {

std::optional<format::Encoding> encodingOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.getEncoding())
    return std::nullopt;
  if (auto own = dyn_cast<dialect::EncodingAttr>(tensor.getEncoding()))
    return own.getValue();
  auto upstream = dyn_cast<sparse_tensor::SparseTensorEncodingAttr>(tensor.getEncoding());
  auto own =
      upstream
          ? passes::translateEncoding(upstream, [&] { return emitError(UnknownLoc::get(type.getContext())); })
          : dialect::EncodingAttr();
  return own ? std::optional(own.getValue()) : std::nullopt;
}

bool SparseTypes::isSparse(Type type) { return encodingOf(type).has_value(); }

SparseTypes::SparseTypes() {
  addConversion([](Type type) { return type; });
  addConversion([](RankedTensorType type, SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
    const std::optional<format::Encoding> encoding = encodingOf(type);
    if (!encoding)
      return std::nullopt;
    llvm::append_range(types, levels::fieldTypes(format::layout(*encoding), type.getElementType()));
    types.append(size_t(type.getRank()), IndexType::get(type.getContext()));
    return success();
  });
}

std::optional<SparseValue> SparseValue::of(Type type, ValueRange values, const SparseTypes &types) {
  const std::optional<format::Encoding> encoding = encodingOf(type);
  if (!encoding)
    return std::nullopt;
  const format::Layout layout = format::layout(*encoding);
  const size_t fields = layout.fields.size();
  return SparseValue{*encoding, layout, llvm::to_vector(values.take_front(fields)),
                     llvm::to_vector(values.drop_front(fields))};
}

Value SparseValue::levelSize(OpBuilder &b, Location loc, unsigned level) const {
  const std::optional<std::vector<format::Digit>> digits = format::digits(encoding);
  if (!digits)
    return {};
  const format::Digit digit = (*digits)[level];
  if (digit.modulus)
    return arith::ConstantIndexOp::create(b, loc, digit.modulus);
  if (digit.stride == 1)
    return sizes[digit.dim];
  return arith::CeilDivUIOp::create(b, loc, sizes[digit.dim],
                                    arith::ConstantIndexOp::create(b, loc, digit.stride));
}

Value SparseValue::view(OpBuilder &b, Location loc, Value field, MemRefType type, unsigned offset,
                        unsigned stride) const {
  if (stride != 1) {
    Value all = memref::DimOp::create(b, loc, field, 0);
    Value count = arith::DivUIOp::create(b, loc, all, arith::ConstantIndexOp::create(b, loc, stride));
    auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, ShapedType::kDynamic);
    auto strided =
        MemRefType::get({ShapedType::kDynamic}, cast<MemRefType>(field.getType()).getElementType(), layout);
    Value shift = arith::ConstantIndexOp::create(b, loc, offset),
          step = arith::ConstantIndexOp::create(b, loc, stride);
    field = memref::ReinterpretCastOp::create(b, loc, strided, field, OpFoldResult(shift),
                                              ArrayRef<OpFoldResult>{count}, ArrayRef<OpFoldResult>{step});
  }
  auto own = cast<MemRefType>(field.getType());
  // An index is 64 bits wide in memory, as the integers of our fields are.
  if (own.getElementType() != type.getElementType())
    field = UnrealizedConversionCastOp::create(
                b, loc, MemRefType::get(own.getShape(), type.getElementType(), own.getLayout()), field)
                .getResult(0);
  return field.getType() == type ? field : memref::CastOp::create(b, loc, type, field).getResult();
}

} // namespace tulle::boundary
