// Reshapes are views (dialect/Reshape.h), or conversions and views of these; starts are slices.
#include "passes/import/OperandViews.h"
#include "dialect/Dialect.h"
#include "dialect/Reshape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tulle::passes {
using namespace mlir;

Value expandedView(OpBuilder &b, Location loc, Value tensor, const std::vector<format::Digit> &digits) {
  const SmallVector<int64_t> shape(digits.size(), ShapedType::kDynamic);
  auto type = cast<RankedTensorType>(tensor.getType());
  const format::Encoding &own = dialect::getEncoding(type).getValue();
  if (!dialect::viewEncoding(own, digits, /*expand=*/true, unsigned(shape.size()))) {
    const format::Encoding plain = dialect::plainEncoding(own, unsigned(shape.size()));
    type = dialect::withEncoding(type, *format::reshaped(plain, digits, unsigned(type.getRank())));
    tensor = dialect::ConvertOp::create(b, loc, type, tensor);
  }
  return dialect::viewOf(b, loc, tensor, digits, /*expand=*/true, shape);
}

Value startOf(OpBuilder &b, Location loc, Value tensor, ArrayRef<Value> sizes) {
  if (llvm::none_of(sizes, [](Value size) { return bool(size); }))
    return tensor;
  const SmallVector<OpFoldResult> zeros(sizes.size(), b.getIndexAttr(0)),
      ones(sizes.size(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> own;
  SmallVector<int64_t> shape;
  for (auto [d, size] : llvm::enumerate(sizes)) {
    own.push_back(size ? getAsOpFoldResult(size) : tensor::getMixedSize(b, loc, tensor, int64_t(d)));
    shape.push_back(getConstantIntValue(own.back()).value_or(ShapedType::kDynamic));
  }
  auto type = cast<RankedTensorType>(tensor.getType()).clone(shape);
  return tensor::ExtractSliceOp::create(b, loc, type, tensor, zeros, own, ones);
}

} // namespace tulle::passes
