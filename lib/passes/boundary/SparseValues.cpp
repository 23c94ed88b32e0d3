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
  if (!upstream)
    return std::nullopt;
  return passes::readEncoding(upstream, [&] { return emitError(UnknownLoc::get(type.getContext())); });
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

Value withElements(ImplicitLocOpBuilder &b, Value buffer, Type element) {
  auto type = cast<MemRefType>(buffer.getType());
  if (type.getElementType() == element)
    return buffer;
  return UnrealizedConversionCastOp::create(b, MemRefType::get(type.getShape(), element, type.getLayout()),
                                            buffer)
      .getResult(0);
}

Value SparseValue::view(OpBuilder &builder, Location loc, Value field, MemRefType type, unsigned offset,
                        unsigned stride) const {
  ImplicitLocOpBuilder b(loc, builder);
  auto size = [&] { return memref::DimOp::create(b, field, 0).getResult(); };
  auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value).getResult(); };
  const Type element = cast<MemRefType>(field.getType()).getElementType();
  if (stride != 1) {
    Value count = arith::DivUIOp::create(b, size(), index(stride));
    auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, ShapedType::kDynamic);
    field = memref::ReinterpretCastOp::create(
        b, MemRefType::get({ShapedType::kDynamic}, element, layout), field, OpFoldResult(index(offset)),
        ArrayRef<OpFoldResult>{count}, ArrayRef<OpFoldResult>{index(stride)});
  } else if (type.getRank() > 1) {
    int64_t batches = 1;
    SmallVector<OpFoldResult> sizes, strides;
    for (int64_t batch : type.getShape().drop_back()) {
      batches *= batch;
      sizes.push_back(b.getIndexAttr(batch));
    }
    Value each = arith::DivUIOp::create(b, size(), index(batches));
    sizes.push_back(each);
    OpFoldResult step = b.getIndexAttr(1);
    for (OpFoldResult extent : llvm::reverse(sizes)) {
      strides.insert(strides.begin(), step);
      step = arith::MulIOp::create(b, getValueOrCreateConstantIndexOp(b, loc, step),
                                   getValueOrCreateConstantIndexOp(b, loc, extent))
                 .getResult();
    }
    field = memref::ReinterpretCastOp::create(b, MemRefType::get(type.getShape(), element), field,
                                              b.getIndexAttr(0), sizes, strides);
  }
  field = withElements(b, field, type.getElementType());
  return field.getType() == type ? field : memref::CastOp::create(b, type, field).getResult();
}

} // namespace tulle::boundary
