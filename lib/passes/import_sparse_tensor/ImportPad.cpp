// What is empty is a tensor without entries, in the format of the source: nothing is stored around it.
#include "passes/import_sparse_tensor/ImportPad.h"
#include "dialect/Dialect.h"
#include "dialect/Scalars.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

namespace tulle::passes {
using namespace mlir;

bool isSparsePad(Operation *op) {
  auto pad = dyn_cast<tensor::PadOp>(op);
  return pad && !format::isAllDense(
                    dialect::getEncoding(cast<RankedTensorType>(pad.getResult().getType())).getValue());
}

/// Fails, with an error, for a pad that a concatenation cannot say.
static LogicalResult check(tensor::PadOp op) {
  RankedTensorType source = op.getSourceType(), result = op.getResultType();
  Attribute value;
  Value padding = op.getConstantPaddingValue();
  if (!padding || !matchPattern(padding, m_Constant(&value)))
    return op.emitError("cannot import a pad of a sparse result with values that are no constant");
  if (value != dialect::fillAttr(source) || value != dialect::fillAttr(result))
    return op.emitError("cannot import a pad with ")
           << value
           << ": of a sparse result, values around the source are those that source and result do not "
           << "store, " << dialect::fillAttr(result)
           << "; convert to an encoding with this fill, or make the result dense";
  for (ArrayRef<int64_t> sizes : {op.getStaticLow(), op.getStaticHigh()})
    for (int64_t size : sizes)
      if (size < 0 && !ShapedType::isDynamic(size))
        return op.emitError("cannot import a pad by ")
               << size << ": tensor.extract_slice says what is left out";
  return success();
}

/// A tensor of the source's format, or of the result's where all of the source is stored, that stores
/// nothing: of sizes `amounts` along some dimensions, else of the source's.
static Value emptyPart(OpBuilder &b, tensor::PadOp op, ArrayRef<int64_t> along,
                       ArrayRef<OpFoldResult> amounts) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, op.getLoc(), op.getSource());
  for (int64_t d : along)
    sizes[size_t(d)] = amounts[size_t(d)];
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  const bool isDense = format::isAllDense(dialect::getEncoding(op.getSourceType()).getValue());
  const RankedTensorType type = (isDense ? op.getResultType() : op.getSourceType()).clone(shape);
  Value none = arith::ConstantIndexOp::create(b, op.getLoc(), 0);
  auto made = dialect::AssembleOp::create(
      b, op.getLoc(), type, getValueOrCreateConstantIndexOp(b, op.getLoc(), sizes), /*bound=*/none,
      /*entries=*/Value(),
      AffineMapAttr::get(AffineMap::getMultiDimIdentityMap(unsigned(shape.size()), b.getContext())),
      /*unique=*/b.getUnitAttr(), dialect::CombineAttr(), dialect::AssemblyPlanAttr(),
      dialect::AssemblyStrategyAttr(), /*share=*/UnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&made.getBody());
  return made.getResult();
}

LogicalResult importPad(IRRewriter &rewriter, tensor::PadOp op) {
  if (failed(check(op)))
    return failure();
  const SmallVector<OpFoldResult> low = op.getMixedLowPad(), high = op.getMixedHighPad();
  auto isPadded = [](OpFoldResult size) { return !isConstantIntValue(size, 0); };
  SmallVector<int64_t> along;
  for (int64_t d = 0; d < int64_t(low.size()); ++d)
    if (isPadded(low[size_t(d)]) || isPadded(high[size_t(d)]))
      along.push_back(d);
  if (along.empty()) {
    rewriter.replaceOpWithNewOp<dialect::ConvertOp>(op, op.getResultType(), op.getSource());
    return success();
  }
  SmallVector<Value> parts;
  if (llvm::any_of(low, isPadded))
    parts.push_back(emptyPart(rewriter, op, along, low));
  parts.push_back(op.getSource());
  if (llvm::any_of(high, isPadded))
    parts.push_back(emptyPart(rewriter, op, along, high));
  rewriter.replaceOpWithNewOp<dialect::ConcatOp>(op, op.getResultType(), parts, along);
  return success();
}

} // namespace tulle::passes
