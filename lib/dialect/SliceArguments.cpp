// Retypes an argument that is a slice to the tensor it was cut from: the encoding without slices, dynamic
// sizes, and `tulle.whole` with the caller's encoding.
#include "dialect/SliceArguments.h"
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tulle::dialect {
using namespace mlir;

namespace {

/// Adds the arguments of one tensor, behind it.
class NumbersOf {
public:
  explicit NumbersOf(BlockArgument tensor)
      : tensor(tensor), function(cast<func::FuncOp>(tensor.getOwner()->getParentOp())),
        b(function.getContext()), next(tensor.getArgNumber() + 1) {}

  OpFoldResult number(std::optional<int64_t> known, unsigned dim, SlicePart part) {
    if (known)
      return b.getIndexAttr(*known);
    const StringAttr name = tensorName();
    const std::string own = (name.getValue() + "." + stringifySlicePart(part) + Twine(dim)).str();
    const NamedAttribute attrs[] = {
        b.getNamedAttr(kNameAttr, b.getStringAttr(own)),
        b.getNamedAttr(kSliceAttr, SliceNumberAttr::get(b.getContext(), name, dim, part))};
    (void)function.insertArgument(next, b.getIndexType(), b.getDictionaryAttr(attrs), tensor.getLoc());
    return Value(function.getArgument(next++));
  }

private:
  BlockArgument tensor;
  func::FuncOp function;
  Builder b;
  unsigned next;

  /// By which the numbers refer to the tensor; it gets one where it has none.
  StringAttr tensorName() {
    const unsigned own = tensor.getArgNumber();
    if (!function.getArgAttr(own, kNameAttr))
      function.setArgAttr(own, kNameAttr, b.getStringAttr("arg" + Twine(own)));
    return function.getArgAttrOfType<StringAttr>(own, kNameAttr);
  }
};

} // namespace

Slices replaceSliceByWhole(BlockArgument arg) {
  auto function = cast<func::FuncOp>(arg.getOwner()->getParentOp());
  auto type = cast<RankedTensorType>(arg.getType());
  const EncodingAttr encoding = getEncoding(type);
  SmallVector<int64_t> shape(type.getShape());
  Slices slices;
  NumbersOf numbers(arg);
  for (auto [d, dimension] : llvm::enumerate(encoding.getValue().dims)) {
    slices.emplace_back();
    if (const std::optional<format::Slice> &slice = dimension.slice) {
      const bool isStatic = !slice->size && !ShapedType::isDynamic(shape[d]);
      const std::optional<int64_t> size = isStatic ? shape[d] : slice->size;
      slices.back() = {numbers.number(slice->offset, unsigned(d), SlicePart::Offset),
                       numbers.number(size, unsigned(d), SlicePart::Size),
                       numbers.number(slice->stride, unsigned(d), SlicePart::Stride)};
      shape[d] = ShapedType::kDynamic;
    }
  }
  for (OpOperand &use : llvm::make_early_inc_range(arg.getUses())) {
    auto size = dyn_cast<tensor::DimOp>(use.getOwner());
    std::optional<int64_t> d = size ? size.getConstantIndex() : std::nullopt;
    if (!d || !slices[size_t(*d)])
      continue;
    OpBuilder b(size);
    size.getResult().replaceAllUsesWith(
        getValueOrCreateConstantIndexOp(b, size.getLoc(), slices[size_t(*d)]->size));
    size.erase();
  }
  auto whole = RankedTensorType::get(shape, type.getElementType());
  arg.setType(withEncoding(whole, format::withoutSlices(encoding.getValue())));
  function.setArgAttr(arg.getArgNumber(), kWholeAttr, encoding);
  function.setType(FunctionType::get(function.getContext(), function.getBody().front().getArgumentTypes(),
                                     function.getResultTypes()));
  return slices;
}

void eraseUnusedSliceNumbers(Operation *op) {
  auto function = cast<func::FuncOp>(op);
  for (unsigned k = function.getNumArguments(); k-- > 0;)
    if (function.getArgAttr(k, kSliceAttr) && function.getArgument(k).use_empty())
      (void)function.eraseArgument(k);
}

} // namespace tulle::dialect
