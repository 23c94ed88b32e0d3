// A loop for each level of the source, and a branch where a coordinate may be padding or outside of a slice.
#include "passes/assemble/algorithms/SourceTraversal.h"
#include "format/LevelKinds.h"
#include "levels/Expression.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/assemble/choose/Order.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::Expr;
using format::ExprKind;
using format::LevelKind;

/// Whether ascending coordinates of the level mean ascending coordinates of the dimensions, sliced ones
/// included.
static bool ascendsInSlices(AffineExpr key, const format::Encoding &encoding) {
  if (isa<AffineDimExpr>(key))
    return true;
  for (unsigned d = 0; d < encoding.order(); ++d)
    if (encoding.dims[d].slice && key.isFunctionOfDim(d))
      return false;
  return true;
}

AffineExpr affine(const Expr &e, MLIRContext *context) {
  if (e->kind == ExprKind::Constant)
    return getAffineConstantExpr(e->value, context);
  if (e->kind == ExprKind::Dim)
    return getAffineDimExpr(unsigned(e->value), context);
  if (!e->lhs || !e->rhs)
    return {};
  AffineExpr lhs = affine(e->lhs, context), rhs = lhs ? affine(e->rhs, context) : AffineExpr();
  if (!rhs)
    return {};
  bool byConstant = isa<AffineConstantExpr>(rhs) && e->rhs->value >= 1;
  switch (e->kind) {
  case ExprKind::Add:
    return lhs + rhs;
  case ExprKind::Sub:
    return lhs - rhs;
  case ExprKind::Mul:
    return isa<AffineConstantExpr>(lhs) || isa<AffineConstantExpr>(rhs) ? lhs * rhs : AffineExpr();
  case ExprKind::FloorDiv:
    return byConstant ? lhs.floorDiv(rhs) : AffineExpr();
  case ExprKind::Mod:
    return byConstant ? lhs % rhs : AffineExpr();
  default:
    return {};
  }
}

AffineMap storageOrder(const format::Encoding &encoding, MLIRContext *context) {
  SmallVector<AffineExpr> keys;
  std::vector<Expr> levels = makeOrder({}, encoding, false).levels;
  for (unsigned l = 0; l < levels.size(); ++l) {
    const format::LevelFormat &format = encoding.levels[l].format;
    AffineExpr key = affine(levels[l], context);
    if (!format.ordered || format.kind == LevelKind::Hashed || !key || !ascendsInSlices(key, encoding))
      break;
    keys.push_back(key);
  }
  return AffineMap::get(encoding.order(), 0, keys, context);
}

bool storesOnce(const format::Encoding &encoding) {
  for (unsigned l = 0; l < encoding.levels.size(); ++l) {
    bool last = l + 1 == encoding.levels.size();
    // The positions of a nonunique level may share a coordinate; a singleton below tells them apart.
    if (!encoding.levels[l].format.unique &&
        (last || encoding.levels[l + 1].format.kind != LevelKind::Singleton))
      return false;
  }
  return true;
}

namespace {

/// Emits the loops, and checks as soon as a coordinate is known whether it is block padding.
class Walk {
public:
  Walk(OpBuilder &b, Location loc, Value tensor, ValueRange sizes, const std::vector<Expr> &inverse,
       const Slices &slices, const Surroundings &surroundings)
      : b(b), loc(loc), tensor(tensor), sizes(sizes), inverse(inverse), slices(slices),
        surroundings(surroundings), encoding(encodingOf(tensor)), dims(sizes.size()) {}

  void run(function_ref<void(ValueRange, Value)> leaf) {
    Value parent = surroundings.iterator;
    bool digits = format::digits(encoding).has_value();
    for (unsigned l = 0; l < encoding.levels.size(); ++l) {
      if (l < surroundings.outer.size())
        levels.push_back(surroundings.outer[l]);
      else
        parent = enter(l, parent);
      if (digits)
        findDims(l);
    }
    if (!digits)
      readDims(parent);
    Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
    leaf(dims, LoadOp::create(b, loc, element, tensor, parent));
  }

private:
  Value enter(unsigned l, Value parent) {
    auto attr = getEncoding(cast<RankedTensorType>(tensor.getType()));
    Value space = ofSlice(l, SpaceOp::create(b, loc, SpaceType::get(b.getContext(), attr, l), tensor, l,
                                             parent, /*condition=*/Value()));
    auto loop = IterateOp::create(b, loc, TypeRange(), space, ValueRange(),
                                  LoopAttr::get(b.getContext(), LoopKind::Reduction), /*each=*/true);
    Block *body = b.createBlock(&loop.getBody(), {},
                                {b.getIndexType(), IteratorType::get(b.getContext(), attr, l)}, {loc, loc});
    YieldOp::create(b, loc);
    b.setInsertionPointToStart(body);
    levels.push_back(body->getArgument(0));
    return body->getArgument(1);
  }

  /// The part of a level with all coordinates of a dimension that a slice can show; others are visited and
  /// tested.
  Value ofSlice(unsigned l, Value space) {
    const format::Level &level = encoding.levels[l];
    if (level.format.kind != LevelKind::Dense || level.expr->kind != ExprKind::Dim ||
        !isSliced(unsigned(level.expr->value)))
      return space;
    const SliceNumbers &slice = *slices[unsigned(level.expr->value)];
    Value offset = number(slice.offset), size = LevelSizeOp::create(b, loc, tensor, l);
    Value reach = b.createOrFold<arith::MulIOp>(loc, number(slice.size), number(slice.stride));
    Value end = arith::MinUIOp::create(b, loc, b.createOrFold<arith::AddIOp>(loc, offset, reach), size);
    Value range = RangeOp::create(b, loc, offset, end);
    return RestrictOp::create(b, loc, space.getType(), space, range);
  }

  Value number(OpFoldResult given) { return getValueOrCreateConstantIndexOp(b, loc, given); }

  /// The greatest level variable of an expression, plus one.
  static unsigned depth(const Expr &e) {
    if (!e)
      return 0;
    if (e->kind == ExprKind::Level)
      return unsigned(e->value) + 1;
    return std::max(depth(e->lhs), depth(e->rhs));
  }

  /// The coordinates that level `l` completes.
  void findDims(unsigned l) {
    for (unsigned d = 0; d < inverse.size(); ++d) {
      if (dims[d] || depth(inverse[d]) > l + 1)
        continue;
      const levels::Storage none;
      dims[d] = levels::ExpressionEmitter({b, loc, none}, {{}, levels})(inverse[d]);
      if (isSliced(d))
        restrict(d);
      else if (mayBePadding(inverse[d]))
        goOnIf(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, dims[d], sizes[d]));
      addOrigin(d);
    }
  }

  void addOrigin(unsigned d) {
    if (!surroundings.origin.empty())
      dims[d] = b.createOrFold<arith::AddIOp>(loc, surroundings.origin[d], dims[d]);
  }

  /// The coordinates at a place, where they follow from all levels together.
  void readDims(Value place) {
    auto read = CoordinatesOp::create(b, loc, tensor, place);
    dims.assign(read.getCoordinates().begin(), read.getCoordinates().end());
    goOnIf(read.getInside());
    for (unsigned d = 0; d < dims.size(); ++d)
      if (isSliced(d))
        restrict(d);
    for (unsigned d = 0; d < dims.size(); ++d)
      addOrigin(d);
  }

  bool isSliced(unsigned d) const { return !slices.empty() && slices[d]; }

  /// Goes on where the coordinate is one of the slice, with its coordinate there.
  void restrict(unsigned d) {
    Value distance = b.createOrFold<arith::SubIOp>(loc, dims[d], number(slices[d]->offset));
    Value own = distance, inside;
    if (!isOneInteger(slices[d]->stride)) {
      own = arith::DivUIOp::create(b, loc, distance, number(slices[d]->stride));
      Value between = arith::RemUIOp::create(b, loc, distance, number(slices[d]->stride));
      inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, between, number(b.getIndexAttr(0)));
    }
    // A coordinate before the slice is a huge unsigned one.
    Value below = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, own, number(slices[d]->size));
    inside = inside ? arith::AndIOp::create(b, loc, inside, below) : below;
    goOnIf(inside);
    dims[d] = own;
  }

  /// A block at the edge of the tensor has coordinates beyond it where the last of the dimension's digits is
  /// not stored entry by entry.
  bool mayBePadding(const Expr &e) const {
    const format::Level &last = encoding.levels[depth(e) - 1];
    if (last.expr->kind == ExprKind::Dim)
      return false;
    switch (last.format.kind) {
    case LevelKind::Dense:
    case LevelKind::Batch:
    case LevelKind::Structured:
    case LevelKind::Ragged:
    case LevelKind::Jagged:
    case LevelKind::Banded:
    case LevelKind::Squeezed:
      return true;
    case LevelKind::Declared:
      return format::hasUnmarkedPadding(last.format);
    default:
      return false;
    }
  }

  void goOnIf(Value inside) {
    b.setInsertionPointToStart(scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false).thenBlock());
  }

  OpBuilder &b;
  Location loc;
  Value tensor;
  ValueRange sizes;
  const std::vector<Expr> &inverse; ///< looked at where the map is made of digits
  const Slices &slices;
  const Surroundings &surroundings;
  const format::Encoding &encoding;
  SmallVector<Value> levels, dims;
};

} // namespace

void traverseStored(OpBuilder &b, Location loc, Value tensor, ValueRange sizes,
                    const std::vector<Expr> &inverse, const Slices &slices,
                    function_ref<void(ValueRange, Value)> leaf, const Surroundings &surroundings) {
  OpBuilder::InsertionGuard guard(b);
  Walk(b, loc, tensor, sizes, inverse, slices, surroundings).run(leaf);
}

} // namespace tulle::assemble
