// Canonical forms of gathers, reshapes and concatenations: what is a slice, a collapsed tensor, or the whole.
#include "dialect/Dialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace tulle;
using namespace tulle::dialect;

namespace {

using Bound = ValueBoundsConstraintSet::Variable;

/// The coordinates `begin`, `begin + step`, …; all the same where the step is 0.
struct Progression {
  OpFoldResult begin;
  int64_t step = 0;
};
/// One for each coordinate that the indices give, at as many places.
struct Range {
  SmallVector<Progression> each;
  OpFoldResult count;
};

std::optional<Range> rangeOfConstant(DenseIntElementsAttr values) {
  const int64_t count = values.getType().getDimSize(0), width = values.getType().getDimSize(1);
  if (count == 0)
    return std::nullopt;
  SmallVector<int64_t> all;
  for (const APInt &value : values)
    all.push_back(value.getSExtValue());
  Builder b(values.getContext());
  Range range{{}, b.getIndexAttr(count)};
  for (int64_t c = 0; c < width; ++c) {
    const int64_t begin = all[size_t(c)], step = count > 1 ? all[size_t(width + c)] - begin : 0;
    for (int64_t k = 2; k < count; ++k)
      if (all[size_t(k * width + c)] != begin + k * step)
        return std::nullopt;
    range.each.push_back({b.getIndexAttr(begin), step});
  }
  return range;
}

/// `value` as a progression of the block argument, where it is one.
std::optional<Progression> progressionOf(Value value, BlockArgument place) {
  Builder b(value.getContext());
  if (value == place)
    return Progression{b.getIndexAttr(0), 1};
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return Progression{b.getIndexAttr(constant.getSExtValue()), 0};
  if (value.getParentRegion()->isProperAncestor(place.getParentRegion()))
    return Progression{value, 0};
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  const auto x = progressionOf(op->getOperand(0), place), y = progressionOf(op->getOperand(1), place);
  if (!x || !y)
    return std::nullopt;
  const auto first = getConstantIntValue(x->begin), second = getConstantIntValue(y->begin);
  if (isa<arith::MulIOp>(op)) {
    if (!first || !second || x->step * y->step != 0)
      return std::nullopt;
    return Progression{b.getIndexAttr(*first * *second), x->step * *second + y->step * *first};
  }
  if (first && second)
    return Progression{b.getIndexAttr(*first + *second), x->step + y->step};
  if (first == 0 || second == 0)
    return Progression{first == 0 ? y->begin : x->begin, x->step + y->step};
  return std::nullopt;
}

/// The extent of dimension `d` of an index map.
OpFoldResult extentOf(IndexMapOp op, int64_t d) {
  const RankedTensorType type = op.getResult().getType();
  if (!type.isDynamicDim(unsigned(d)))
    return Builder(op.getContext()).getIndexAttr(type.getDimSize(d));
  return op.getSizes()[type.getDynamicDimIndex(unsigned(d))];
}

std::optional<Range> rangeOf(Value indices) {
  DenseIntElementsAttr values;
  if (matchPattern(indices, m_Constant(&values)))
    return rangeOfConstant(values);
  auto map = indices.getDefiningOp<IndexMapOp>();
  if (!map)
    return std::nullopt;
  Range range{{}, extentOf(map, 0)};
  Block &body = map.getBody().front();
  for (Value value : cast<YieldOp>(body.getTerminator()).getValues()) {
    const std::optional<Progression> each = progressionOf(value, body.getArgument(0));
    if (!each)
      return std::nullopt;
    range.each.push_back(*each);
  }
  return range;
}

/// Whether all coordinates of the progression are known to be those of a dimension.
bool isInside(const Progression &each, OpFoldResult count, Value whole, int64_t dim) {
  MLIRContext *context = whole.getContext();
  AffineExpr begin, places;
  bindDims(context, begin, places);
  const Bound last(AffineMap::get(2, 0, begin + (places - 1) * each.step), {Bound(each.begin), Bound(count)});
  return ValueBoundsConstraintSet::compare(Bound(each.begin), ValueBoundsConstraintSet::GE,
                                           Bound(OpFoldResult(Builder(context).getIndexAttr(0)))) &&
         ValueBoundsConstraintSet::compare(last, ValueBoundsConstraintSet::LT, Bound(whole, dim));
}

/// Where the range stands in the whole: the dimension along which it goes, which is before all that the
/// gather takes as a whole, as its result has it first. Nullopt where it is no slice.
std::optional<int64_t> dimensionOf(const Range &range, ArrayRef<int64_t> given, Value whole) {
  std::optional<int64_t> along;
  for (auto [k, each] : llvm::enumerate(range.each)) {
    if (each.step < 0 || (each.step != 0 && along) || !isInside(each, range.count, whole, given[k]))
      return std::nullopt;
    if (each.step != 0)
      along = given[k];
  }
  if (!along && getConstantIntValue(range.count) == 1)
    along = *llvm::min_element(given);
  for (int64_t d = 0; along && d < *along; ++d)
    if (!llvm::is_contained(given, d))
      return std::nullopt;
  return along;
}

Value sliceOf(PatternRewriter &rewriter, GatherOp op, const Range &range, int64_t along) {
  const SmallVector<int64_t> given = op.getGiven();
  auto type = cast<RankedTensorType>(op.getSource().getType());
  SmallVector<OpFoldResult> offsets, sizes, strides;
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    const int64_t *column = llvm::find(given, d);
    const bool isGiven = column != given.end();
    const Progression each = isGiven ? range.each[size_t(column - given.begin())] : Progression();
    offsets.push_back(isGiven ? each.begin : rewriter.getIndexAttr(0));
    strides.push_back(rewriter.getIndexAttr(std::max<int64_t>(each.step, 1)));
    sizes.push_back(!isGiven     ? tensor::getMixedSize(rewriter, op.getLoc(), op.getSource(), d)
                    : d == along ? range.count
                                 : rewriter.getIndexAttr(1));
    if (!isGiven || d == along)
      kept.push_back(getConstantIntValue(sizes.back()).value_or(ShapedType::kDynamic));
  }
  auto slice = tensor::ExtractSliceOp::create(rewriter, op.getLoc(),
                                              RankedTensorType::get(kept, type.getElementType()),
                                              op.getSource(), offsets, sizes, strides);
  return rewriter.createOrFold<tensor::CastOp>(op.getLoc(), op.getResult().getType(), slice);
}

/// Tensors without levels of their own: slices and reshapes of the tensor dialect have no encoding.
bool isPlainGather(GatherOp op) {
  return op.getResult() && !cast<RankedTensorType>(op.getSource().getType()).getEncoding() &&
         !op.getResult().getType().getEncoding();
}

/// A gather by a range is a slice; by the range of all coordinates it is the source.
struct GatherOfRange : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    const std::optional<Range> range =
        op.getResult() && op.getBatchRank() == 1 ? rangeOf(op.getIndices()) : std::nullopt;
    const std::optional<int64_t> along =
        range ? dimensionOf(*range, op.getGiven(), op.getSource()) : std::nullopt;
    if (!along)
      return failure();
    const bool whole = range->each.size() == 1 && range->each[0].step == 1 &&
                       isConstantIntValue(range->each[0].begin, 0) &&
                       op.getSource().getType() == op.getResult().getType() &&
                       ValueBoundsConstraintSet::compare(Bound(range->count), ValueBoundsConstraintSet::EQ,
                                                         Bound(op.getSource(), 0));
    if (!whole && !isPlainGather(op))
      return failure();
    rewriter.replaceOp(op, whole ? op.getSource() : sliceOf(rewriter, op, *range, *along));
    return success();
  }
};

/// Whether the block yields the results of its first op, of this kind, which has its arguments.
template <typename Op> Op onlyOp(IndexMapOp map) {
  Block &body = map.getBody().front();
  auto op = dyn_cast<Op>(body.front());
  return op && llvm::equal(cast<YieldOp>(body.getTerminator()).getValues(), op->getResults()) ? op : Op();
}

/// Whether the sizes of the dimensions from the first one on are static, and the basis.
template <typename Index> bool isBasis(Index op, ShapedType type, int64_t count) {
  const ArrayRef<int64_t> basis = op.getStaticBasis(), sizes = type.getShape().take_front(size_t(count));
  return ShapedType::isStaticShape(sizes) && basis == sizes.take_back(basis.size()) &&
         int64_t(basis.size()) >= count - 1;
}

/// The first dimensions as one, the others as they are.
SmallVector<ReassociationIndices> firstAsOne(int64_t first, int64_t rank) {
  SmallVector<ReassociationIndices> groups{llvm::to_vector<2>(llvm::seq<int64_t>(0, first))};
  for (int64_t d = first; d < rank; ++d)
    groups.push_back({d});
  return groups;
}

/// A gather by delinearized coordinates is a collapsed tensor, one by linearized ones an expanded tensor.
struct GatherOfLinear : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    auto map = op.getIndices().getDefiningOp<IndexMapOp>();
    const SmallVector<int64_t> given = op.getGiven();
    if (!map || !isPlainGather(op) || !llvm::equal(given, llvm::seq<int64_t>(0, int64_t(given.size()))))
      return failure();
    auto source = cast<RankedTensorType>(op.getSource().getType());
    const ArrayRef<int64_t> batch = map.getResult().getType().getShape().drop_back();
    const int64_t count = int64_t(given.size());
    Block &body = map.getBody().front();
    const auto fits = [&](int64_t whole, ArrayRef<int64_t> digits) {
      return ShapedType::isStaticShape(digits) && ShapedType::getNumElements(digits) == whole;
    };
    if (auto delinearize = onlyOp<affine::AffineDelinearizeIndexOp>(map);
        delinearize && batch.size() == 1 && delinearize.getLinearIndex() == body.getArgument(0) &&
        isBasis(delinearize, source, count) && fits(batch[0], source.getShape().take_front(size_t(count)))) {
      rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, op.getResult().getType(), op.getSource(),
                                                           firstAsOne(count, source.getRank()));
      return success();
    }
    if (auto linearize = onlyOp<affine::AffineLinearizeIndexOp>(map);
        linearize && count == 1 && llvm::equal(linearize.getMultiIndex(), body.getArguments()) &&
        isBasis(linearize, map.getResult().getType(), int64_t(batch.size())) &&
        fits(source.getDimSize(0), batch)) {
      RankedTensorType result = op.getResult().getType();
      rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, result, op.getSource(),
                                                         firstAsOne(int64_t(batch.size()), result.getRank()));
      return success();
    }
    return failure();
  }
};

bool keepsDims(tensor::ExtractSliceOp slice) {
  return slice.getSourceType().getRank() == slice.getType().getRank();
}

/// Whether `next` begins where `first` ends along a dimension, both of one tensor, and is as large otherwise.
bool isAdjacent(tensor::ExtractSliceOp first, tensor::ExtractSliceOp next, int64_t along) {
  if (!first || !next || first.getSource() != next.getSource() || !keepsDims(first) || !keepsDims(next) ||
      !first.hasUnitStride() || !next.hasUnitStride())
    return false;
  const SmallVector<OpFoldResult> begins = first.getMixedOffsets(), sizes = first.getMixedSizes(),
                                  nextBegins = next.getMixedOffsets(), nextSizes = next.getMixedSizes();
  for (int64_t d = 0; d < int64_t(begins.size()); ++d) {
    const size_t k = size_t(d);
    if (d != along && (begins[k] != nextBegins[k] || sizes[k] != nextSizes[k]))
      return false;
  }
  const auto begin = getConstantIntValue(begins[size_t(along)]),
             size = getConstantIntValue(sizes[size_t(along)]),
             nextBegin = getConstantIntValue(nextBegins[size_t(along)]);
  return begin && size && nextBegin && *begin + *size == *nextBegin &&
         getConstantIntValue(nextSizes[size_t(along)]);
}

/// Two adjacent slices of a tensor, one behind the other, are a slice; of all of it, they are the tensor.
struct ConcatOfSlices : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    if (op.getAlong().size() != 1)
      return failure();
    const int64_t along = op.getAlong()[0];
    SmallVector<Value> parts(op.getParts());
    for (size_t k = 0; k + 1 < parts.size(); ++k) {
      auto first = parts[k].getDefiningOp<tensor::ExtractSliceOp>(),
           next = parts[k + 1].getDefiningOp<tensor::ExtractSliceOp>();
      if (!isAdjacent(first, next, along) || first.getType().getRank() != op.getResult().getType().getRank())
        continue;
      SmallVector<OpFoldResult> sizes = first.getMixedSizes();
      const size_t d = size_t(along);
      sizes[d] = rewriter.getIndexAttr(*getConstantIntValue(sizes[d]) +
                                       *getConstantIntValue(next.getMixedSizes()[d]));
      parts[k] = rewriter.createOrFold<tensor::ExtractSliceOp>(
          op.getLoc(), first.getSource(), first.getMixedOffsets(), sizes, first.getMixedStrides());
      parts.erase(parts.begin() + ptrdiff_t(k) + 1);
      rewriter.modifyOpInPlace(op, [&] { op.getPartsMutable().assign(parts); });
      return success();
    }
    return failure();
  }
};

/// One part in another format is converted; of a dense one, a conversion would leave zeros out.
struct ConcatOfOne : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    if (op.getParts().size() != 1)
      return failure();
    auto part = cast<RankedTensorType>(op.getParts()[0].getType());
    if (part.getShape() != op.getResult().getType().getShape() ||
        part.getElementType() != op.getResult().getType().getElementType() ||
        format::isAllDense(getEncoding(part).getValue()))
      return failure();
    rewriter.replaceOpWithNewOp<ConvertOp>(op, op.getResult().getType(), op.getParts()[0]);
    return success();
  }
};

} // namespace

void GatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<GatherOfRange, GatherOfLinear>(context);
}

void ConcatOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ConcatOfSlices, ConcatOfOne>(context);
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getParts().size() == 1 && getParts()[0].getType() == getType() ? OpFoldResult(getParts()[0])
                                                                        : OpFoldResult();
}

/// A reshape of the reshape back, or one that changes nothing.
OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getMap().isIdentity() && getSource().getType() == getType())
    return getSource();
  auto other = getSource().getDefiningOp<ReshapeOp>();
  const bool isInverse = other && other.getExpand() != getExpand() && other.getMap() == getMap() &&
                         other.getSource().getType() == getType();
  return isInverse ? OpFoldResult(other.getSource()) : OpFoldResult();
}
