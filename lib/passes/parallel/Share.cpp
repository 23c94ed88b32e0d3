#include "passes/parallel/Share.h"
#include "format/Expr.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/parallel/Monoid.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::parallel {

/// Puts the loop into a parallel region; returns the region's block.
static Block &wrap(OpBuilder &b, Operation *loop, Value parts) {
  SmallVector<Value> inits = initValues(loop);
  auto op = ParallelOp::create(b, loop->getLoc(), loop->getResultTypes(), parts, inits);
  loop->replaceAllUsesWith(op);
  SmallVector<Type> types{b.getIndexType()};
  llvm::append_range(types, loop->getResultTypes());
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&op.getBody(), {}, types, SmallVector<Location>(types.size(), loop->getLoc()));
  auto yield = YieldOp::create(b, loop->getLoc(), loop->getResults());
  loop->moveBefore(yield);
  initsOf(loop).assign(block->getArguments().drop_front());
  return *block;
}

bool shareRounds(Operation *loop, const Settings &) {
  if (kindOf(loop) != LoopKind::Parallel || !carriesTensorsOnly(loop) || !canCut(loop))
    return false;
  OpBuilder b(loop);
  Location loc = loop->getLoc();
  Value parts = ThreadsOp::create(b, loc, work(b, loop), /*fixed=*/false);
  Block &block = wrap(b, loop, parts);
  b.setInsertionPoint(loop);
  cutToPart(b, loop, block.getArgument(0), parts);
  return true;
}

bool sharePartials(Operation *loop, const Settings &settings) {
  if (!carriesValuesOnly(loop) || !canCut(loop))
    return false;
  SmallVector<Operation *> combiners;
  SmallVector<TypedAttr> identities;
  for (OpResult result : loop->getResults()) {
    // The loop is all that must use its init in this way, so any value may stand for it.
    Operation *combiner = nullptr;
    for (Region &region : loop->getRegions()) {
      Block &block = region.front();
      Value carried =
          block.getArgument(block.getNumArguments() - loop->getNumResults() + result.getResultNumber());
      Operation *own = combinerOf(block.getTerminator()->getOperand(result.getResultNumber()), carried);
      if (block.getTerminator()->getOperand(result.getResultNumber()) == carried)
        continue;
      if (!own || (combiner && combiner->getName() != own->getName()))
        return false;
      combiner = own;
    }
    std::optional<TypedAttr> neutral = combiner ? identity(combiner) : std::nullopt;
    if (!neutral)
      return false;
    combiners.push_back(combiner);
    identities.push_back(*neutral);
  }

  OpBuilder b(loop);
  Location loc = loop->getLoc();
  Value parts = ThreadsOp::create(b, loc, work(b, loop), settings.deterministic);
  // Results stand a cache line apart: threads that write next to each other wait for each other.
  Value line = arith::ConstantIndexOp::create(b, loc, 64);
  Value count = arith::MulIOp::create(b, loc, parts, line);
  SmallVector<Value> partials;
  for (Type type : loop->getResultTypes())
    partials.push_back(memref::AllocOp::create(b, loc, MemRefType::get({ShapedType::kDynamic}, type), count));
  SmallVector<Value> inits = initValues(loop), starts;
  for (TypedAttr attr : identities)
    starts.push_back(constant(b, loc, attr));

  auto op = ParallelOp::create(b, loc, TypeRange(), parts, ValueRange());
  Block *block = b.createBlock(&op.getBody(), {}, b.getIndexType(), loc);
  YieldOp::create(b, loc);
  b.setInsertionPointAfter(op);

  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  auto all = scf::ForOp::create(b, loc, zero, parts, one, inits);
  loop->replaceAllUsesWith(all.getResults());
  for (Value partial : partials)
    memref::DeallocOp::create(b, loc, partial);
  b.setInsertionPointToEnd(all.getBody());
  SmallVector<Value> combined;
  Value at = arith::MulIOp::create(b, loc, all.getInductionVar(), line);
  for (auto [combiner, partial, sum] : llvm::zip(combiners, partials, all.getRegionIterArgs()))
    combined.push_back(combine(b, loc, combiner, sum, memref::LoadOp::create(b, loc, partial, at)));
  scf::YieldOp::create(b, loc, combined);

  b.setInsertionPoint(block->getTerminator());
  cutToPart(b, loop, block->getArgument(0), parts);
  loop->moveBefore(block->getTerminator());
  initsOf(loop).assign(starts);
  b.setInsertionPointAfter(loop);
  at = arith::MulIOp::create(b, loc, block->getArgument(0), line);
  for (auto [result, partial] : llvm::zip(loop->getResults(), partials))
    memref::StoreOp::create(b, loc, result, partial, at);
  return true;
}

//===--- Inner loops ---===//

/// Whether the coordinate is that of a dimension: rounds of the loop at other coordinates are elsewhere in
/// it, whatever the loops outside are at.
static bool locatesResult(IterateOp inner, Value coordinate) {
  if (coordinate == inner.getBody().getArgument(0))
    return isa<RangeType>(inner.getSpace().getType());
  auto op = coordinate.getDefiningOp<CoordinatesOp>();
  auto space = dyn_cast<SpaceType>(inner.getSpace().getType());
  if (!op || !space || getEncoding(op.getTensor().getType()) != space.getEncoding())
    return false;
  unsigned dim = cast<OpResult>(coordinate).getResultNumber();
  const format::Encoding &encoding = space.getEncoding().getValue();
  const format::Level &level = encoding.levels[space.getLevel()];
  return level.format.kind == format::LevelKind::Dense && level.expr &&
         level.expr->kind == format::ExprKind::Dim && level.expr->value == int64_t(dim);
}

/// Whether every store below goes to a place that the inner loop's coordinate is part of.
static bool storesApart(Operation *loop, IterateOp inner) {
  WalkResult result = loop->walk([&](StoreOp store) {
    if (!inner->isAncestor(store))
      return WalkResult::interrupt();
    for (Value at = store.getIterator(); at;) {
      auto locate = at.getDefiningOp<LocateOp>();
      if (!locate)
        return WalkResult::interrupt();
      if (locatesResult(inner, locate.getCoordinate()))
        return WalkResult::advance();
      at = locate.getParent();
    }
    return WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

/// The outermost loop inside that can be shared, and how many coordinates it has.
static IterateOp findInside(OpBuilder &b, Operation *loop, Value &length) {
  auto outside = [&](Value value) { return !loop->isAncestor(value.getParentBlock()->getParentOp()); };
  IterateOp found;
  loop->walk<WalkOrder::PreOrder>([&](IterateOp inner) {
    if (inner == loop || inner.getKind() != LoopKind::Parallel || !carriesTensorsOnly(inner) ||
        !storesApart(loop, inner))
      return WalkResult::advance();
    if (auto range = inner.getSpace().getDefiningOp<RangeOp>();
        range && outside(range.getLo()) && outside(range.getHi())) {
      length = arith::SubIOp::create(b, loop->getLoc(), range.getHi(), range.getLo());
      found = inner;
      return WalkResult::interrupt();
    }
    if (auto space = inner.getSpace().getDefiningOp<SpaceOp>(); space && outside(space.getTensor())) {
      length = LevelSizeOp::create(b, loop->getLoc(), space.getTensor(), space.getLevel());
      found = inner;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return found;
}

bool shareInside(Operation *loop, const Settings &) {
  if (!carriesTensorsOnly(loop))
    return false;
  OpBuilder b(loop);
  Location loc = loop->getLoc();
  Value length;
  IterateOp inner = findInside(b, loop, length);
  if (!inner)
    return false;
  Value parts = ThreadsOp::create(b, loc, work(b, loop), /*fixed=*/false);
  // Every part walks the loops outside: pieces of a few coordinates would not pay.
  Value few = arith::DivUIOp::create(b, loc, length, arith::ConstantIndexOp::create(b, loc, 8));
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  parts = arith::MinUIOp::create(b, loc, parts, arith::MaxUIOp::create(b, loc, few, one));
  Block &block = wrap(b, loop, parts);
  b.setInsertionPoint(inner);
  cutToPart(b, inner, block.getArgument(0), parts);
  return true;
}

void shareFill(FillOp fill) {
  auto type = cast<RankedTensorType>(fill.getTensor().getType());
  Type element = type.getElementType();
  if (element.isInteger(1) || getEncoding(type).getValue().levels.empty())
    return; // little to do
  OpBuilder b(fill);
  Location loc = fill.getLoc();
  Value size = StoredCountOp::create(b, loc, fill.getTensor());
  // Four are written as fast as an entry is computed with.
  Value work = arith::DivUIOp::create(b, loc, size, arith::ConstantIndexOp::create(b, loc, 4));
  Value parts = ThreadsOp::create(b, loc, work, /*fixed=*/false);
  fill.replaceAllUsesWith(region(b, loc, parts, fill.getTensor(), [&](Value part, ValueRange carried) {
    auto buffer = MemRefType::get({ShapedType::kDynamic}, element);
    Value values = ValuesOp::create(b, loc, buffer, carried[0]);
    forEach(b, loc, pieceOf(b, loc, size, part, parts),
            [&](OpBuilder &b, Value at) { memref::StoreOp::create(b, loc, fill.getValue(), values, at); });
    return SmallVector<Value>{carried[0]};
  })[0]);
  fill.erase();
}

bool share(Operation *loop, const Settings &settings) {
  return shareHeavyRounds(loop, settings) || shareRounds(loop, settings) || sharePartials(loop, settings) ||
         shareInside(loop, settings) || shareCopies(loop, settings);
}

} // namespace tulle::parallel
