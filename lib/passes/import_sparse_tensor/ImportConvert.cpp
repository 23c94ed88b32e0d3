#include "passes/import_sparse_tensor/ImportConvert.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tulle::passes {
using namespace mlir;

static bool isSparse(RankedTensorType type) {
  return !format::isAllDense(dialect::getEncoding(type).getValue());
}

linalg::GenericOp mapEntries(OpBuilder &b, Location loc, Value tensor, RankedTensorType type,
                             function_ref<Value(OpBuilder &, Location, Value)> change) {
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(unsigned(d)))
      sizes.push_back(tensor::DimOp::create(b, loc, tensor, d));
  Value empty = tensor::EmptyOp::create(b, loc, type, sizes);
  const AffineMap identity = b.getMultiDimIdentityMap(unsigned(type.getRank()));
  const SmallVector<utils::IteratorType> parallel(size_t(type.getRank()), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, type, tensor, empty, {identity, identity}, parallel,
                                   [&](OpBuilder &nested, Location at, ValueRange arguments) {
                                     linalg::YieldOp::create(nested, at,
                                                             change(nested, at, arguments.front()));
                                   });
}

LogicalResult importConvert(RewriterBase &rewriter, sparse_tensor::ConvertOp op) {
  auto from = cast<RankedTensorType>(op.getSource().getType());
  auto to = cast<RankedTensorType>(op.getDest().getType());
  const Type element = to.getElementType();
  if (from.getElementType() == element) {
    rewriter.replaceOpWithNewOp<dialect::ConvertOp>(op, to, op.getSource());
    return success();
  }
  if (!from.getElementType().isIntOrFloat() || !element.isIntOrFloat() || (!isSparse(from) && !isSparse(to)))
    return op.emitError("cannot import a conversion of elements from ")
           << from.getElementType() << " to " << element;
  auto changed = [&](Value tensor, RankedTensorType type) -> Value {
    return mapEntries(rewriter, op.getLoc(), tensor, type,
                      [&](OpBuilder &b, Location loc, Value value) {
                        return convertScalarToDtype(b, loc, value, element, /*isUnsignedCast=*/false);
                      })
        .getResult(0);
  };
  Value source = op.getSource();
  if (isSparse(to)) {
    const RankedTensorType same = to.clone(from.getElementType());
    if (same != from)
      source = dialect::ConvertOp::create(rewriter, op.getLoc(), same, source);
    rewriter.replaceOp(op, changed(source, to));
  } else {
    rewriter.replaceOpWithNewOp<dialect::ConvertOp>(op, to, changed(source, from.clone(element)));
  }
  return success();
}

} // namespace tulle::passes
