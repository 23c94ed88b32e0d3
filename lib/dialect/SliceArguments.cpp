// Retypes an argument that is a slice to the tensor it was cut from: the encoding without slices, dynamic
// sizes, and `tulle.whole` with the caller's encoding.
#include "dialect/SliceArguments.h"
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tulle::dialect {
using namespace mlir;

SmallVector<std::optional<format::Slice>> slicesOf(RankedTensorType type) {
  SmallVector<std::optional<format::Slice>> slices;
  for (const format::Dimension &dimension : getEncoding(type).getValue().dims)
    slices.push_back(dimension.slice);
  return slices;
}

bool canBeCut(const format::LevelFormat &level) {
  using enum format::LevelKind;
  return level.ordered && (level.kind == Compressed || level.kind == LooseCompressed);
}

void replaceSliceByWhole(BlockArgument arg) {
  auto function = cast<func::FuncOp>(arg.getOwner()->getParentOp());
  auto type = cast<RankedTensorType>(arg.getType());
  const SmallVector<std::optional<format::Slice>> slices = slicesOf(type);
  SmallVector<int64_t> shape(type.getShape());
  for (auto [d, slice] : llvm::enumerate(slices))
    if (slice)
      shape[d] = ShapedType::kDynamic;
  for (OpOperand &use : llvm::make_early_inc_range(arg.getUses())) {
    auto size = dyn_cast<tensor::DimOp>(use.getOwner());
    std::optional<int64_t> d = size ? size.getConstantIndex() : std::nullopt;
    if (!d || !slices[*d])
      continue;
    OpBuilder b(size);
    size.getResult().replaceAllUsesWith(
        arith::ConstantIndexOp::create(b, size.getLoc(), *slices[*d]->size).getResult());
    size.erase();
  }
  const EncodingAttr encoding = getEncoding(type);
  auto whole = RankedTensorType::get(shape, type.getElementType());
  arg.setType(withEncoding(whole, format::withoutSlices(encoding.getValue())));
  function.setArgAttr(arg.getArgNumber(), kWholeAttr, encoding);
  function.setType(FunctionType::get(function.getContext(), function.getBody().front().getArgumentTypes(),
                                     function.getResultTypes()));
}

} // namespace tulle::dialect
