#include "passes/parallel/PartitionLoops.h"
#include "dialect/Costs.h"
#include "format/Expr.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/parallel/Combiner.h"

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

/// Whether rounds walk rows that coordinates of a loop inside select: how much that is, the entries by which
/// the loop is cut do not tell.
static bool selectsRows(Operation *loop) {
  return loop
      ->walk([&](SpaceOp space) {
        auto row = space.getParent() ? space.getParent().getDefiningOp<LocateOp>() : LocateOp();
        auto by = row ? dyn_cast<BlockArgument>(row.getCoordinate()) : BlockArgument();
        Operation *inner = by ? by.getOwner()->getParentOp() : nullptr;
        auto walked = dyn_cast_or_null<IterateOp>(inner);
        bool selects = inner && loop->isProperAncestor(inner) && by.getArgNumber() == 0 &&
                       (isa<CoiterateOp>(inner) || (walked && isa<SpaceType>(walked.getSpace().getType())));
        return selects ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

Value severalEach(OpBuilder &b, Location loc, Value parts, Value each) {
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value many = arith::MulIOp::create(b, loc, parts, each);
  Value alone = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, parts, one);
  return arith::SelectOp::create(b, loc, alone, one, many);
}

bool shareRounds(Operation *loop, const Settings &settings) {
  if (kindOf(loop) != LoopKind::Parallel || !carriesTensorsOnly(loop) || !canPartition(loop))
    return false;
  OpBuilder b(loop);
  Location loc = loop->getLoc();
  Value parts = ThreadsOp::create(b, loc, work(b, loop), /*fixed=*/false);
  if (selectsRows(loop))
    parts = severalEach(b, loc, parts,
                        arith::ConstantIndexOp::create(b, loc, settings.costs.unevenChunksPerThread));
  Block &block = wrap(b, loop, parts);
  b.setInsertionPoint(loop);
  restrictTo(b, loop, {block.getArgument(0), parts});
  return true;
}

std::optional<Combiners> combinersOf(Operation *loop) {
  Combiners found;
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
        return std::nullopt;
      combiner = own;
    }
    std::optional<TypedAttr> neutral = combiner ? identity(combiner) : std::nullopt;
    if (!neutral)
      return std::nullopt;
    found.operations.push_back(combiner);
    found.identities.push_back(*neutral);
  }
  return found;
}

bool addsToValues(Operation *loop) { return carriesValuesOnly(loop) && combinersOf(loop); }

bool sharePartials(Operation *loop, const Settings &settings) {
  if (!addsToValues(loop) || !canPartition(loop))
    return false;
  OpBuilder b(loop);
  Value parts = ThreadsOp::create(b, loop->getLoc(), work(b, loop), settings.deterministic);
  sharePartials(loop, parts, [&](OpBuilder &b, Value part) { restrictTo(b, loop, {part, parts}); });
  return true;
}

ValueRange sharePartials(Operation *loop, Value parts, function_ref<void(OpBuilder &, Value)> cut) {
  const Combiners combiners = *combinersOf(loop);
  OpBuilder b(loop);
  Location loc = loop->getLoc();
  Value line = arith::ConstantIndexOp::create(b, loc, kApart);
  Value count = arith::MulIOp::create(b, loc, parts, line);
  SmallVector<Value> partials;
  for (Type type : loop->getResultTypes())
    partials.push_back(memref::AllocOp::create(b, loc, MemRefType::get({ShapedType::kDynamic}, type), count));
  SmallVector<Value> inits = initValues(loop), starts;
  for (TypedAttr attr : combiners.identities)
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
  for (auto [combiner, partial, sum] : llvm::zip(combiners.operations, partials, all.getRegionIterArgs()))
    combined.push_back(combine(b, loc, combiner, sum, memref::LoadOp::create(b, loc, partial, at)));
  scf::YieldOp::create(b, loc, combined);

  loop->moveBefore(block->getTerminator());
  initsOf(loop).assign(starts);
  b.setInsertionPoint(loop);
  cut(b, block->getArgument(0));
  b.setInsertionPointAfter(loop);
  at = arith::MulIOp::create(b, loc, block->getArgument(0), line);
  for (auto [result, partial] : llvm::zip(loop->getResults(), partials))
    memref::StoreOp::create(b, loc, result, partial, at);
  return all.getResults();
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

bool shareInside(Operation *loop, const Settings &settings) {
  if (!carriesTensorsOnly(loop))
    return false;
  OpBuilder b(loop);
  Location loc = loop->getLoc();
  Value length;
  IterateOp inner = findInside(b, loop, length);
  if (!inner)
    return false;
  Value parts = ThreadsOp::create(b, loc, work(b, loop), /*fixed=*/false);
  Value fewest = arith::ConstantIndexOp::create(b, loc, settings.costs.innerChunk);
  Value few = arith::DivUIOp::create(b, loc, length, fewest);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  parts = arith::MinUIOp::create(b, loc, parts, arith::MaxUIOp::create(b, loc, few, one));
  Block &block = wrap(b, loop, parts);
  b.setInsertionPoint(inner);
  restrictTo(b, inner, {block.getArgument(0), parts});
  return true;
}

void shareFill(FillOp fill, const Settings &settings) {
  auto type = cast<RankedTensorType>(fill.getTensor().getType());
  Type element = type.getElementType();
  if (element.isInteger(1) || getEncoding(type).getValue().levels.empty())
    return; // little to do
  OpBuilder b(fill);
  Location loc = fill.getLoc();
  Value size = StoredCountOp::create(b, loc, fill.getTensor());
  Value fills = arith::ConstantIndexOp::create(b, loc, settings.costs.fillsPerEntry);
  Value work = arith::DivUIOp::create(b, loc, size, fills);
  Value parts = ThreadsOp::create(b, loc, work, /*fixed=*/false);
  fill.replaceAllUsesWith(region(b, loc, parts, fill.getTensor(), [&](Value part, ValueRange carried) {
    auto buffer = MemRefType::get({ShapedType::kDynamic}, element);
    Value values = ValuesOp::create(b, loc, buffer, carried[0]);
    forEach(b, loc, chunkBounds(b, loc, size, {part, parts}),
            [&](OpBuilder &b, Value at) { memref::StoreOp::create(b, loc, fill.getValue(), values, at); });
    return SmallVector<Value>{WithValuesOp::create(b, loc, type, carried[0], values)};
  })[0]);
  fill.erase();
}

bool share(Operation *loop, const Settings &settings) {
  struct Way {
    bool (*apply)(Operation *, const Settings &);
    const char *what;
  };
  static constexpr Way ways[] = {
      {shareCutRounds, "the outermost loop in parts of equal entries, which may begin inside of a coordinate "
                       "that holds many of them"},
      {shareRounds,
       "the outermost loop in parts of equal entries, whose rounds store to places of their own"},
      {sharePartials, "the outermost loop in parts of equal entries, each with a partial result"},
      {shareInside, "an inner loop over all coordinates in equal parts; rounds of the outer one may store to "
                    "the same place"},
      {shareCopies, "the outermost loop in parts of equal entries, each with a copy of the result, as rounds "
                    "may store to the same place"},
  };
  // A loop that is shared is moved or replaced.
  Operation *function = loop->getParentOp();
  for (const Way &way : ways)
    if (way.apply(loop, settings)) {
      dialect::explainChoice(function, ("threads: " + llvm::Twine(way.what) + "; another thread from " +
                                        llvm::Twine(settings.costs.workPerThread) + " entries on")
                                           .str());
      return true;
    }
  dialect::explainChoice(function, "threads: none; the outermost loop cannot be cut, or its rounds depend on "
                                   "each other");
  return false;
}

} // namespace tulle::parallel
