// Partitions whole iterations: of the outermost loop where their stores are disjoint or they reduce into
// values, else of an inner loop.
#include "passes/parallel/PartitionLoops.h"
#include "dialect/Scalars.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::parallel {

/// Whether iterations traverse rows that coordinates of an inner loop select: the entries by which the loop
/// is partitioned do not tell how long these are.
static bool selectsRows(Operation *loop) {
  return loop
      ->walk([&](SpaceOp space) {
        auto row = space.getParent() ? space.getParent().getDefiningOp<LocateOp>() : LocateOp();
        auto by = row ? dyn_cast<BlockArgument>(row.getCoordinate()) : BlockArgument();
        Operation *inner = by ? by.getOwner()->getParentOp() : nullptr;
        auto iterate = dyn_cast_or_null<IterateOp>(inner);
        bool selects = inner && loop->isProperAncestor(inner) && by.getArgNumber() == 0 &&
                       (isa<CoiterateOp>(inner) || (iterate && isa<SpaceType>(iterate.getSpace().getType())));
        return selects ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

Value chunksPerTask(Emitter &emit, Value tasks, Value each) {
  Value one = emit.constant(1), many = emit.times(tasks, each);
  return emit.select(emit.is(arith::CmpIPredicate::ule, tasks, one), one, many);
}

bool partitionIterations(Operation *loop, const Settings &settings) {
  if (kindOf(loop) != LoopKind::Parallel || !carriesTensorsOnly(loop) || !canPartition(loop))
    return false;
  OpBuilder b(loop);
  Emitter emit(b, loop->getLoc());
  Value tasks = ThreadsOp::create(b, emit.loc, work(b, loop), /*fixed=*/false);
  if (selectsRows(loop))
    tasks = chunksPerTask(emit, tasks, emit.constant(settings.costs.unevenChunksPerThread));
  moveIntoRegion(b, loop, tasks, [&](Value task) { restrictTo(b, loop, {task, tasks}); });
  return true;
}

std::optional<Combiners> combinersOf(Operation *loop) {
  Combiners found;
  for (OpResult result : loop->getResults()) {
    // The loop is all that must use its init in this way, so any value may stand for it.
    Operation *combiner = nullptr;
    for (Region &region : loop->getRegions()) {
      Value carried = carriedArgument(region, loop, result.getResultNumber());
      Value yielded = region.front().getTerminator()->getOperand(result.getResultNumber());
      if (yielded == carried)
        continue;
      Operation *own = combinerOf(yielded, carried);
      if (!own || (combiner && combiner->getName() != own->getName()))
        return std::nullopt;
      combiner = own;
    }
    Attribute neutral = combiner ? identity(combiner) : Attribute();
    if (!neutral)
      return std::nullopt;
    found.operations.push_back(combiner);
    found.identities.push_back(neutral);
  }
  return found;
}

bool reducesValues(Operation *loop) { return carriesValuesOnly(loop) && combinersOf(loop); }

bool reducePartials(Operation *loop, const Settings &settings) {
  if (!reducesValues(loop) || !canPartition(loop))
    return false;
  OpBuilder b(loop);
  Value tasks = ThreadsOp::create(b, loop->getLoc(), work(b, loop), settings.deterministic);
  reducePartials(loop, tasks, [&](OpBuilder &b, Value task) { restrictTo(b, loop, {task, tasks}); });
  return true;
}

levels::Values reducePartials(Operation *loop, Value tasks, function_ref<void(OpBuilder &, Value)> restrict) {
  const Combiners combiners = *combinersOf(loop);
  OpBuilder b(loop);
  Emitter emit(b, loop->getLoc());
  Value stride = emit.constant(kPartialStride), count = emit.times(tasks, stride);
  SmallVector<Value> inits = initValues(loop), partials, starts;
  for (Type type : loop->getResultTypes())
    partials.push_back(emit.allocate(type, count));
  for (auto [type, neutral] : llvm::zip(loop->getResultTypes(), combiners.identities))
    starts.push_back(materialize(b, emit.loc, neutral, type));

  b.setInsertionPointAfter(loop);
  levels::parallelTasks(b, emit.loc, tasks, [&](Value task) {
    loop->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    initsOf(loop).assign(starts);
    b.setInsertionPoint(loop);
    restrict(b, task);
    b.setInsertionPointAfter(loop);
    Value at = emit.times(task, stride);
    for (auto [result, partial] : llvm::zip(loop->getResults(), partials))
      emit.store(result, partial, at);
  });

  levels::Values results = levels::forLoop(
      b, emit.loc, emit.constant(0), tasks, LoopKind::Reduction, inits, [&](Value task, levels::Values sums) {
        Value at = emit.times(task, stride);
        for (auto [combiner, partial, sum] : llvm::zip(combiners.operations, partials, sums))
          sum = combine(b, combiner, sum, emit.load(partial, at));
        return sums;
      });
  replaceUsesOutside(loop, results);
  for (Value partial : partials)
    memref::DeallocOp::create(b, emit.loc, partial);
  return results;
}

//===--- Inner loops ---===//

/// Whether the coordinate is that of a dimension: iterations at other coordinates are elsewhere in it,
/// whatever the outer loops are at.
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

/// Whether the inner loop's coordinate is part of the address of every store below.
static bool hasDisjointStores(Operation *loop, IterateOp inner) {
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

/// The outermost inner loop that can be partitioned, and how many coordinates it has.
static IterateOp findInnerLoop(OpBuilder &b, Operation *loop, Value &length) {
  IterateOp found;
  loop->walk<WalkOrder::PreOrder>([&](IterateOp inner) {
    if (inner == loop || inner.getKind() != LoopKind::Parallel || !carriesTensorsOnly(inner) ||
        !hasDisjointStores(loop, inner))
      return WalkResult::advance();
    auto range = inner.getSpace().getDefiningOp<RangeOp>();
    auto space = inner.getSpace().getDefiningOp<SpaceOp>();
    if (range && isOutside(loop, range.getLo()) && isOutside(loop, range.getHi()))
      length = arith::SubIOp::create(b, loop->getLoc(), range.getHi(), range.getLo());
    else if (space && isOutside(loop, space.getTensor()))
      length = LevelSizeOp::create(b, loop->getLoc(), space.getTensor(), space.getLevel());
    else
      return WalkResult::advance();
    found = inner;
    return WalkResult::interrupt();
  });
  return found;
}

bool partitionInnerLoop(Operation *loop, const Settings &settings) {
  if (!carriesTensorsOnly(loop))
    return false;
  OpBuilder b(loop);
  Emitter emit(b, loop->getLoc());
  Value length;
  IterateOp inner = findInnerLoop(b, loop, length);
  if (!inner)
    return false;
  Value tasks = ThreadsOp::create(b, emit.loc, work(b, loop), /*fixed=*/false);
  Value most = emit.divide(length, emit.constant(settings.costs.innerChunk));
  tasks = emit.smaller(tasks, emit.larger(most, emit.constant(1)));
  moveIntoRegion(b, loop, tasks, [&](Value task) {
    b.setInsertionPoint(inner);
    restrictTo(b, inner, {task, tasks});
  });
  return true;
}

void partitionFill(FillOp fill, const Settings &settings) {
  auto type = cast<RankedTensorType>(fill.getTensor().getType());
  if (type.getElementType().isInteger(1) || getEncoding(type).getValue().levels.empty())
    return; // little to do
  OpBuilder b(fill);
  Emitter emit(b, fill.getLoc());
  Value size = StoredCountOp::create(b, emit.loc, fill.getTensor());
  Value work = emit.divide(size, emit.constant(settings.costs.fillsPerEntry));
  Value tasks = ThreadsOp::create(b, emit.loc, work, /*fixed=*/false);
  fill.replaceAllUsesWith(region(b, emit.loc, tasks, fill.getTensor(), [&](Value task, ValueRange carried) {
    Value values = emit.valuesOf(carried[0]);
    auto [begin, end] = chunkBounds(b, emit.loc, size, {task, tasks});
    emit.forEach(begin, end, [&](Value at) { emit.store(fill.getValue(), values, at); });
    return SmallVector<Value>{emit.withValues(carried[0], values)};
  })[0]);
  fill.erase();
}

} // namespace tulle::parallel
