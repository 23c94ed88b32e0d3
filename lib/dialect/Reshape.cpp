// Digits of dimensions as a map, and the sizes that follow from them.
#include "dialect/Reshape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tulle::dialect {
namespace {

AffineMap mapOf(MLIRContext *context, ArrayRef<format::Digit> digits, unsigned order) {
  SmallVector<AffineExpr> exprs;
  for (const format::Digit &digit : digits) {
    AffineExpr whole = getAffineDimExpr(digit.dim, context).floorDiv(digit.stride);
    exprs.push_back(digit.modulus == 0 ? whole : whole % digit.modulus);
  }
  return AffineMap::get(order, 0, exprs, context);
}

/// The size of a dimension of the view: of a whole, that of its highest digit times the stride; of a highest
/// digit, that of the whole divided by it.
Value sizeOf(OpBuilder &b, Location loc, Value source, ArrayRef<format::Digit> digits, bool expand,
             int64_t dim) {
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
  const format::Digit *digit = digits.begin() + dim;
  if (!expand)
    digit = llvm::find_if(
        digits, [&](const format::Digit &each) { return int64_t(each.dim) == dim && each.modulus == 0; });
  if (digit->modulus != 0)
    return constant(digit->modulus);
  const int64_t own = expand ? int64_t(digit->dim) : digit - digits.begin();
  Value size = tensor::DimOp::create(b, loc, source, own);
  return expand ? b.createOrFold<arith::DivUIOp>(loc, size, constant(digit->stride))
                : b.createOrFold<arith::MulIOp>(loc, size, constant(digit->stride));
}

} // namespace

std::optional<format::Encoding> viewEncoding(const format::Encoding &source, ArrayRef<format::Digit> digits,
                                             bool expand, unsigned order) {
  return expand ? format::expanded(source, digits.vec()) : format::reshaped(source, digits.vec(), order);
}

format::Encoding plainEncoding(const format::Encoding &like, unsigned order) {
  format::Encoding made = like;
  format::Encoding dense = format::denseEncoding(order);
  made.dims = std::move(dense.dims);
  made.levels = std::move(dense.levels);
  for (unsigned l = order == 2 ? 1 : 0; l < order; ++l)
    made.levels[l].format.kind = format::LevelKind::Compressed;
  if (made.crdWidth == 2) // two-bit coordinates are a property of one format
    made.crdWidth = 32;
  return made;
}

static Value makeView(OpBuilder &b, Location loc, Value source, ArrayRef<format::Digit> digits, bool expand,
                      ArrayRef<int64_t> shape, const std::optional<format::Encoding> &encoding,
                      ValueRange sizes) {
  if (!encoding)
    return {};
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<Value> all(sizes);
  for (int64_t d = int64_t(all.size()); d < int64_t(shape.size()); ++d)
    all.push_back(ShapedType::isDynamic(shape[d])
                      ? sizeOf(b, loc, source, digits, expand, d)
                      : arith::ConstantIndexOp::create(b, loc, shape[d]).getResult());
  const auto smaller = unsigned(expand ? type.getRank() : int64_t(shape.size()));
  const auto view = withEncoding(RankedTensorType::get(shape, type.getElementType()), *encoding);
  return ReshapeOp::create(b, loc, view, source, expand, mapOf(b.getContext(), digits, smaller), all);
}

Value viewOf(OpBuilder &b, Location loc, Value source, ArrayRef<format::Digit> digits, bool expand,
             ArrayRef<int64_t> shape, ValueRange sizes) {
  const format::Encoding &own = getEncoding(cast<RankedTensorType>(source.getType())).getValue();
  return makeView(b, loc, source, digits, expand, shape,
                  viewEncoding(own, digits, expand, unsigned(shape.size())), sizes);
}

Value linearViewOf(OpBuilder &b, Location loc, Value source, ArrayRef<format::Digit> digits,
                   ArrayRef<int64_t> shape) {
  const format::Encoding &own = getEncoding(cast<RankedTensorType>(source.getType())).getValue();
  return makeView(b, loc, source, digits, /*expand=*/true, shape, format::linearized(own, digits.vec()), {});
}

} // namespace tulle::dialect
