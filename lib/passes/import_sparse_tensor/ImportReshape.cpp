// Dimensions that are collapsed are digits of the one that they become.
#include "passes/import_sparse_tensor/ImportReshape.h"
#include "dialect/Reshape.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tulle::passes {
namespace {

/// What an op reshapes; the type with more dimensions is the one that is expanded.
struct Shapes {
  Value source;
  RankedTensorType result;
  SmallVector<ReassociationIndices> groups; ///< of the dimensions of the larger type
  bool expand;
  RankedTensorType larger() const { return expand ? result : cast<RankedTensorType>(source.getType()); }
};

Shapes shapesOf(Operation *op) {
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return {collapse.getSrc(), collapse.getResultType(), collapse.getReassociationIndices(), false};
  auto expand = cast<tensor::ExpandShapeOp>(op);
  return {expand.getSrc(), expand.getResultType(), expand.getReassociationIndices(), true};
}

/// Where an op alone reads a copy of a view, it reads the view.
void readView(IRRewriter &rewriter, Operation *op) {
  auto copy = op->getOperand(0).getDefiningOp<dialect::ConvertOp>();
  if (!copy || !copy->hasOneUse() || !copy.getSource().getDefiningOp<dialect::ReshapeOp>())
    return;
  op->setOperand(0, copy.getSource());
  rewriter.eraseOp(copy);
}

/// What each dimension of the larger type is of those of the other.
FailureOr<std::vector<format::Digit>> digitsOf(Operation *op, const Shapes &shapes) {
  const RankedTensorType type = shapes.larger();
  std::vector<format::Digit> digits(type.getRank());
  for (auto [dim, group] : llvm::enumerate(shapes.groups)) {
    int64_t stride = 1;
    for (const int64_t d : llvm::reverse(group)) {
      const int64_t size = type.getDimSize(d);
      const bool isFirst = d == group.front();
      if (!isFirst && (ShapedType::isDynamic(size) || size < 2))
        return op->emitError(
                   "cannot import a group of dimensions unless all but the first have a static size above "
                   "1; dimension ")
               << d << " of " << type << " has not";
      digits[d] = {unsigned(dim), stride, isFirst ? 0 : size};
      stride *= isFirst ? 1 : size;
    }
  }
  if (shapes.groups.empty())
    return op->emitError("cannot import a reshape to, or from, a single value");
  return digits;
}

/// An encoding of the source that has a view: in the levels of the result where those are digits.
format::Encoding viewable(const Shapes &shapes, ArrayRef<format::Digit> digits) {
  auto type = cast<RankedTensorType>(shapes.source.getType());
  const format::Encoding plain =
      dialect::plainEncoding(dialect::getEncoding(type).getValue(), unsigned(shapes.larger().getRank()));
  if (!shapes.expand)
    return plain;
  auto unexpanded = [&](const format::Encoding &encoding) {
    return format::reshaped(encoding, digits.vec(), unsigned(type.getRank()));
  };
  const std::optional<format::Encoding> wanted = unexpanded(dialect::getEncoding(shapes.result).getValue());
  return wanted && format::expanded(*wanted, digits.vec()) ? *wanted : *unexpanded(plain);
}

/// `isCopied`: the view is only read once, in the order in which it is stored.
Value makeView(OpBuilder &b, Location loc, const Shapes &shapes, ArrayRef<format::Digit> digits,
               bool isCopied) {
  const ArrayRef<int64_t> shape = shapes.result.getShape();
  if (Value view = dialect::viewOf(b, loc, shapes.source, digits, shapes.expand, shape))
    return view;
  if (Value view =
          isCopied && shapes.expand ? dialect::linearViewOf(b, loc, shapes.source, digits, shape) : Value())
    return view;
  const auto type =
      dialect::withEncoding(cast<RankedTensorType>(shapes.source.getType()), viewable(shapes, digits));
  Value converted = dialect::ConvertOp::create(b, loc, type, shapes.source);
  return dialect::viewOf(b, loc, converted, digits, shapes.expand, shape);
}

} // namespace

bool isReshape(Operation *op) { return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op); }

LogicalResult importReshape(IRRewriter &rewriter, Operation *op) {
  readView(rewriter, op);
  const Shapes shapes = shapesOf(op);
  FailureOr<std::vector<format::Digit>> digits = digitsOf(op, shapes);
  if (failed(digits))
    return failure();
  auto reads = [](OpOperand &use) {
    auto by = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return by && by.isDpsInput(&use);
  };
  Value view = makeView(rewriter, op->getLoc(), shapes, *digits, llvm::none_of(op->getUses(), reads)), copy;
  for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
    if (!reads(use) && !copy)
      copy = dialect::ConvertOp::create(rewriter, op->getLoc(), shapes.result, view);
    use.set(reads(use) ? view : copy);
  }
  rewriter.eraseOp(op);
  return success();
}

} // namespace tulle::passes
