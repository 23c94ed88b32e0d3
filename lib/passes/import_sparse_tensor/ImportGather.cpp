// Upstream's gather makes its result, ours is given one.
#include "passes/import_sparse_tensor/ImportGather.h"
#include "dialect/Dialect.h"

using namespace mlir;

namespace tulle::passes {
namespace {

/// Of the result's dimensions that are not static.
SmallVector<OpFoldResult> sizesOf(OpBuilder &b, tensor::GatherOp op) {
  const RankedTensorType result = op.getResultType();
  const int64_t batches = op.getIndices().getType().getRank() - 1;
  SmallVector<int64_t> rest;
  for (int64_t d = 0; d < op.getSource().getType().getRank(); ++d)
    if (!llvm::is_contained(op.getGatherDims(), d))
      rest.push_back(d);
  SmallVector<OpFoldResult> all;
  for (int64_t d = 0; d < result.getRank(); ++d) {
    if (!result.isDynamicDim(unsigned(d)))
      all.push_back(b.getIndexAttr(result.getDimSize(unsigned(d))));
    else if (d < batches)
      all.push_back(tensor::DimOp::create(b, op.getLoc(), op.getIndices(), d).getResult());
    else
      all.push_back(
          tensor::DimOp::create(b, op.getLoc(), op.getSource(), rest[size_t(d - batches)]).getResult());
  }
  return all;
}

/// Fails where the slices keep the dimensions that integers give, with size 1, or the integers have a width
/// that Tulle does not know.
LogicalResult check(Operation *op, StringRef name, RankedTensorType whole, RankedTensorType part,
                    RankedTensorType indices, ArrayRef<int64_t> given) {
  if (part.getRank() != indices.getRank() - 1 + whole.getRank() - int64_t(given.size()))
    return op->emitError("cannot import a ")
           << name << " that keeps " << name << "ed dimensions, with size 1; leave them out";
  const Type element = indices.getElementType();
  if (!element.isIndex() && !llvm::is_contained({8u, 16u, 32u, 64u}, element.getIntOrFloatBitWidth()))
    return op->emitError("cannot import indices of type ") << element << "; cast them to i8, i16, i32 or i64";
  return success();
}

} // namespace

FailureOr<Operation *> importGather(IRRewriter &rewriter, tensor::GatherOp op) {
  if (failed(check(op, "gather", op.getSource().getType(), op.getResultType(), op.getIndices().getType(),
                   op.getGatherDims())))
    return failure();
  const RankedTensorType type = op.getResultType();
  Operation *empty = tensor::EmptyOp::create(rewriter, op.getLoc(), sizesOf(rewriter, op),
                                             type.getElementType(), type.getEncoding());
  rewriter.replaceOpWithNewOp<dialect::GatherOp>(op, type, op.getSource(), op.getIndices(),
                                                 empty->getResult(0), op.getGatherDimsAttr());
  return empty;
}

LogicalResult importScatter(IRRewriter &rewriter, tensor::ScatterOp op) {
  if (failed(check(op, "scatter", op.getDestType(), op.getSourceType(), op.getIndicesType(),
                   op.getScatterDims())))
    return failure();
  rewriter.replaceOpWithNewOp<dialect::ScatterOp>(op, op.getResultType(), op.getSource(), op.getDest(),
                                                  op.getIndices(), op.getScatterDimsAttr(),
                                                  dialect::Outside::Error, op.getUnique());
  return success();
}

} // namespace tulle::passes
