// Dimensions that are collapsed are digits of the one that they become.
#include "passes/import_sparse_tensor/ImportReshape.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// All levels compressed, in the order of the dimensions: a tensor of any format can be converted to it.
format::Encoding plainEncoding(const format::Encoding &like, unsigned order) {
  format::Encoding made = like;
  const format::Encoding dense = format::denseEncoding(order);
  made.dims = dense.dims;
  made.levels = dense.levels;
  for (format::Level &level : made.levels)
    level.format.kind = format::LevelKind::Compressed;
  if (made.crdWidth == 2) // two-bit coordinates are a property of one format
    made.crdWidth = 32;
  return made;
}

class Reshaper {
public:
  Reshaper(IRRewriter &b, Operation *op, Shapes shapes, std::vector<format::Digit> digits)
      : b(b), loc(op->getLoc()), shapes(std::move(shapes)), digits(std::move(digits)) {}

  Value view() {
    Value source = shapes.source;
    auto type = cast<RankedTensorType>(source.getType());
    const format::Encoding &own = dialect::getEncoding(type).getValue();
    std::optional<format::Encoding> encoding = reshaped(own);
    if (!encoding) {
      const format::Encoding other = viewable(own, unsigned(type.getRank()));
      source = dialect::ConvertOp::create(b, loc, dialect::withEncoding(type, other), source);
      encoding = reshaped(other);
    }
    return dialect::ReshapeOp::create(b, loc, dialect::withEncoding(shapes.result, *encoding), source,
                                      shapes.expand, map(), sizes());
  }

private:
  IRRewriter &b;
  Location loc;
  Shapes shapes;
  std::vector<format::Digit> digits;

  std::optional<format::Encoding> reshaped(const format::Encoding &encoding) const {
    return shapes.expand ? format::expanded(encoding, digits)
                         : format::reshaped(encoding, digits, unsigned(shapes.result.getRank()));
  }

  /// An encoding of the source that has a view: in the levels of the result where those are digits.
  format::Encoding viewable(const format::Encoding &own, unsigned order) const {
    const format::Encoding plain = plainEncoding(own, unsigned(shapes.larger().getRank()));
    if (!shapes.expand)
      return plain;
    const std::optional<format::Encoding> wanted =
        format::reshaped(dialect::getEncoding(shapes.result).getValue(), digits, order);
    return wanted && reshaped(*wanted) ? *wanted : *format::reshaped(plain, digits, order);
  }

  AffineMap map() const {
    SmallVector<AffineExpr> exprs;
    for (const format::Digit &digit : digits) {
      AffineExpr whole = b.getAffineDimExpr(digit.dim).floorDiv(digit.stride);
      exprs.push_back(digit.modulus == 0 ? whole : whole % digit.modulus);
    }
    return AffineMap::get(unsigned(shapes.groups.size()), 0, exprs, b.getContext());
  }

  SmallVector<Value> sizes() const {
    SmallVector<Value> made;
    for (int64_t d = 0; d < shapes.result.getRank(); ++d)
      made.push_back(shapes.result.isDynamicDim(d)
                         ? sizeOf(d)
                         : arith::ConstantIndexOp::create(b, loc, shapes.result.getDimSize(d)).getResult());
    return made;
  }
  /// Of a whole, that of its first digit times the others; of a first digit, that of the whole divided by
  /// them.
  Value sizeOf(int64_t d) const {
    const int64_t dim = shapes.expand ? int64_t(digits[d].dim) : shapes.groups[d].front();
    Value size = tensor::DimOp::create(b, loc, shapes.source, dim);
    Value stride =
        arith::ConstantIndexOp::create(b, loc, digits[shapes.expand ? d : shapes.groups[d].front()].stride);
    return shapes.expand ? b.createOrFold<arith::DivUIOp>(loc, size, stride)
                         : b.createOrFold<arith::MulIOp>(loc, size, stride);
  }
};

} // namespace

bool isReshape(Operation *op) { return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op); }

LogicalResult importReshape(IRRewriter &rewriter, Operation *op) {
  const Shapes shapes = shapesOf(op);
  FailureOr<std::vector<format::Digit>> digits = digitsOf(op, shapes);
  if (failed(digits))
    return failure();
  Value view = Reshaper(rewriter, op, shapes, std::move(*digits)).view(), copy;
  for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
    const bool reads =
        isa<linalg::LinalgOp>(use.getOwner()) && cast<linalg::LinalgOp>(use.getOwner()).isDpsInput(&use);
    if (!reads && !copy)
      copy = dialect::ConvertOp::create(rewriter, op->getLoc(), shapes.result, view);
    use.set(reads ? view : copy);
  }
  rewriter.eraseOp(op);
  return success();
}

} // namespace tulle::passes
