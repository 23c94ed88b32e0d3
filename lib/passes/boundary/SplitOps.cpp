// tulle-split-ops: an op that needs a tensor in between becomes two, because kernels free nothing that they
// make.
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/boundary/BoundaryPasses.h"
#include "passes/boundary/Ownership.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_SPLITOPS
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

bool isSparse(Type type) {
  auto encoding = sparse_tensor::getSparseTensorEncoding(type);
  return encoding && !encoding.isAllDense();
}

void replaceWith(Operation *op, Value value) {
  op->replaceAllUsesWith(ValueRange(value));
  op->erase();
}

//===--- Conversions ---===//

/// Ours keeps the shape of what it converts: casts around it say which sizes are static.
sparse_tensor::ConvertOp castShapes(sparse_tensor::ConvertOp convert) {
  auto from = cast<RankedTensorType>(convert.getSource().getType());
  auto to = cast<RankedTensorType>(convert.getDest().getType());
  if (from.getShape() == to.getShape())
    return convert;
  SmallVector<int64_t> shape;
  for (auto [a, b] : llvm::zip(from.getShape(), to.getShape()))
    shape.push_back(ShapedType::isDynamic(a) ? b : a);
  ImplicitLocOpBuilder b(convert.getLoc(), convert);
  Value source = convert.getSource();
  if (from.getShape() != ArrayRef(shape))
    source = tensor::CastOp::create(b, from.clone(shape), source);
  auto converted = sparse_tensor::ConvertOp::create(b, to.clone(shape), source);
  Value result = converted;
  if (to.getShape() != ArrayRef(shape))
    result = tensor::CastOp::create(b, to, result);
  replaceWith(convert, result);
  return converted;
}

/// The format first, then the elements, where both change; the elements first where the result is dense.
void splitElements(sparse_tensor::ConvertOp convert) {
  auto from = cast<RankedTensorType>(convert.getSource().getType());
  auto to = cast<RankedTensorType>(convert.getDest().getType());
  if (from.getElementType() == to.getElementType() || from.getEncoding() == to.getEncoding())
    return;
  const RankedTensorType between =
      isSparse(to) ? to.clone(from.getElementType()) : from.clone(to.getElementType());
  ImplicitLocOpBuilder b(convert.getLoc(), convert);
  Value first = sparse_tensor::ConvertOp::create(b, between, convert.getSource());
  Value second = sparse_tensor::ConvertOp::create(b, to, first);
  bufferization::DeallocTensorOp::create(b, first);
  replaceWith(convert, second);
}

//===--- Concatenations ---===//

/// Whether entries may be stored only because others are.
bool storesPadding(Value tensor) {
  auto encoding = sparse_tensor::getSparseTensorEncoding(tensor.getType());
  if (!encoding)
    return true;
  const sparse_tensor::LevelType last = encoding.getLvlTypes().back();
  return !sparse_tensor::isCompressedLT(last) && !sparse_tensor::isLooseCompressedLT(last) &&
         !sparse_tensor::isSingletonLT(last);
}

/// The entries that are not zero.
Value withoutZeros(ImplicitLocOpBuilder &b, Value tensor) {
  const auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(unsigned(d)))
      sizes.push_back(tensor::DimOp::create(b, tensor, d));
  Value empty = bufferization::AllocTensorOp::create(b, type, sizes);
  const AffineMap identity = b.getMultiDimIdentityMap(unsigned(type.getRank()));
  const SmallVector<utils::IteratorType> parallel(size_t(type.getRank()), utils::IteratorType::parallel);
  auto copy = linalg::GenericOp::create(b, TypeRange(type), ValueRange(tensor), ValueRange(empty),
                                        ArrayRef<AffineMap>{identity, identity}, parallel,
                                        [](OpBuilder &nested, Location at, ValueRange arguments) {
                                          linalg::YieldOp::create(nested, at, arguments.front());
                                        });
  copy->setAttr(dialect::kDropAttr, b.getUnitAttr());
  return copy.getResult(0);
}

/// Parts are joined sparse, with all that they store; upstream concatenates what is not zero.
void splitConcatenation(sparse_tensor::ConcatenateOp concatenate) {
  auto to = cast<RankedTensorType>(concatenate.getResult().getType());
  const bool dropsZeros = isSparse(to) && llvm::any_of(concatenate.getInputs(), storesPadding);
  auto part = llvm::find_if(concatenate.getInputs(), [](Value input) { return isSparse(input.getType()); });
  const bool isConverted = !isSparse(to) && part != concatenate.getInputs().end();
  if (!dropsZeros && !isConverted)
    return;
  const RankedTensorType between =
      isConverted ? to.cloneWithEncoding(cast<RankedTensorType>((*part).getType()).getEncoding()) : to;
  ImplicitLocOpBuilder b(concatenate.getLoc(), concatenate);
  Value joined =
      tensor::ConcatOp::create(b, between, int64_t(concatenate.getDimension()), concatenate.getInputs());
  Value result =
      isConverted ? sparse_tensor::ConvertOp::create(b, to, joined).getResult() : withoutZeros(b, joined);
  bufferization::DeallocTensorOp::create(b, joined);
  replaceWith(concatenate, result);
}

/// Upstream sorts in place: the tensor before is no more.
void order(sparse_tensor::ReorderCOOOp reorder) {
  ImplicitLocOpBuilder b(reorder.getLoc(), reorder);
  Value ordered = sparse_tensor::ConvertOp::create(b, reorder.getType(), reorder.getInputCoo());
  bufferization::DeallocTensorOp::create(b, reorder.getInputCoo());
  replaceWith(reorder, ordered);
}

struct SplitOps : impl::SplitOpsBase<SplitOps> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<sparse_tensor::ConvertOp, sparse_tensor::ConcatenateOp, sparse_tensor::ReorderCOOOp>(op))
        ops.push_back(op);
      else if (isa<tensor::PadOp>(op) && isSparse(op->getResult(0).getType()))
        boundary::freeInBlock(op->getResult(0));
    });
    for (Operation *op : ops)
      if (auto reorder = dyn_cast<sparse_tensor::ReorderCOOOp>(op))
        order(reorder);
      else if (auto concatenate = dyn_cast<sparse_tensor::ConcatenateOp>(op))
        splitConcatenation(concatenate);
      else
        splitElements(castShapes(cast<sparse_tensor::ConvertOp>(op)));
  }
};

} // namespace
} // namespace tulle::passes
