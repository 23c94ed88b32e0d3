// Chunks of loops and spaces, and estimates of their work from the tensors that they traverse.
#include "passes/parallel/SetLoops.h"
#include "dialect/Costs.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::parallel {

LoopKind kindOf(Operation *loop) { return loopOverSets(loop).getKind(); }

void record(Operation *loop, Threads threads) {
  const LoopAttr attr = loopOverSets(loop);
  const DirectivesAttr said =
      attr.getDirectives() ? attr.getDirectives() : DirectivesAttr::get(loop->getContext(), Directives());
  setLoopOverSets(loop, attr.withDirectives(said.withThreads(threads)));
}

SmallVector<Value> initValues(Operation *loop) {
  return SmallVector<Value>(loop->getOperands().take_back(loop->getNumResults()));
}

bool isOutside(Operation *op, Value value) { return !op->isAncestor(value.getParentBlock()->getParentOp()); }

bool carriesTensorsOnly(Operation *loop) {
  return loop->getNumResults() > 0 && llvm::all_of(loop->getResults(), program::isTensor);
}

bool carriesValuesOnly(Operation *loop) {
  return loop->getNumResults() > 0 && llvm::none_of(loop->getResults(), program::isTensor);
}

static const format::Level &levelOf(SpaceType type) {
  return type.getEncoding().getValue().levels[type.getLevel()];
}

/// Whether every parent has exactly one position there, so that there is nothing to partition.
static bool isSingle(SpaceOp space) {
  format::LevelKind kind = levelOf(space.getType()).format.kind;
  if (kind == format::LevelKind::Offset)
    return true;
  if (kind != format::LevelKind::Singleton)
    return false;
  auto parent = dyn_cast_if_present<BlockArgument>(space.getParent()); // the first level has none
  auto loop = parent ? dyn_cast<IterateOp>(parent.getOwner()->getParentOp()) : IterateOp();
  auto above = loop ? dyn_cast<SpaceType>(loop.getSpace().getType()) : SpaceType();
  return !above || loop.getEach() || levelOf(above).format.unique;
}

bool canPartition(Operation *loop) {
  if (auto iterate = dyn_cast<IterateOp>(loop)) {
    if (isa<RangeType>(iterate.getSpace().getType()))
      return true;
    auto space = iterate.getSpace().getDefiningOp<SpaceOp>();
    return space && !isSingle(space);
  }
  auto coiterate = cast<CoiterateOp>(loop);
  return llvm::all_of(coiterate.getSpaces(), [](Value value) {
    auto space = value.getDefiningOp<SpaceOp>();
    if (!space || isSingle(space))
      return false;
    // Digits are at least 0 and below the level's size.
    const format::Level &level = levelOf(space.getType());
    return level.format.kind != format::LevelKind::Dense && level.format.kind != format::LevelKind::Batch &&
           format::digits(space.getType().getEncoding().getValue());
  });
}

/// A chunk of the coordinates that the loop may visit: those of its range, or of the space's level.
static Value chunkOfRange(OpBuilder &b, CoiterateOp loop, Value space, const Chunk &chunk) {
  Location loc = loop.getLoc();
  Value range = loop.getRange();
  if (!range) {
    auto first = space.getDefiningOp<SpaceOp>();
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value size = LevelSizeOp::create(b, loc, first.getTensor(), first.getLevel());
    range = RangeOp::create(b, loc, zero, size);
  }
  return PartitionOp::create(b, loc, range, chunk.index, chunk.to, chunk.count, /*estimate=*/Value());
}

void restrictTo(OpBuilder &b, Operation *loop, const Chunk &chunk, int64_t alignment) {
  Location loc = loop->getLoc();
  if (auto iterate = dyn_cast<IterateOp>(loop))
    return iterate.getSpaceMutable().assign(chunkOf(b, loop, iterate.getSpace(), chunk, alignment));
  auto coiterate = cast<CoiterateOp>(loop);
  Value range = chunkOfRange(b, coiterate, coiterate.getSpaces().front(), chunk);
  for (OpOperand &space : coiterate.getSpacesMutable())
    space.set(RestrictOp::create(b, loc, space.get().getType(), space.get(), range));
  if (coiterate.getRange())
    coiterate.getRangeMutable().assign(range);
}

Value chunkOf(OpBuilder &b, Operation *loop, Value space, const Chunk &chunk, int64_t alignment) {
  Location loc = loop->getLoc();
  if (auto iterate = dyn_cast<IterateOp>(loop))
    return PartitionOp::create(b, loc, space, chunk.index, chunk.to, chunk.count, iterate.getWorkEstimate(),
                               alignment);
  Value range = chunkOfRange(b, cast<CoiterateOp>(loop), space, chunk);
  return RestrictOp::create(b, loc, space.getType(), space, range);
}

/// Whether the loop visits the coordinates that all operands have: the longer ones need not be traversed.
static bool isIntersection(CoiterateOp loop) {
  if (loop.getFlags())
    return false;
  const int64_t all = (int64_t(1) << loop.getSpaces().size()) - 1;
  return !loop.getRange() && loop.getCases() == ArrayRef<int64_t>{all};
}

/// The smaller of the costs of traversing all of these tensors and of searching for the entries of the
/// shortest.
static Value intersectionWork(levels::IndicesAt &emit, Operation *loop, ArrayRef<Value> tensors) {
  Value sum, least;
  for (Value tensor : tensors) {
    Value count = StoredCountOp::create(emit.b, emit.loc, tensor);
    sum = sum ? emit.add(sum, count) : count;
    least = least ? arith::MinUIOp::create(emit.b, emit.loc, least, count).getResult() : count;
  }
  Value searched = emit.times(least, emit.constant(costModel(loop).costs.gallopWork));
  return arith::MinUIOp::create(emit.b, emit.loc, sum, searched);
}

Value work(OpBuilder &b, Operation *loop) {
  levels::IndicesAt emit(b, loop->getLoc());
  llvm::SetVector<Value> traversed;
  SmallVector<SmallVector<Value>> intersections;
  Value total, factor;
  auto plus = [&](Value more) { total = total ? emit.add(total, more) : more; };
  // The tensors of spaces that are known outside.
  auto tensorsOf = [&](ValueRange spaces) {
    SmallVector<Value> tensors;
    for (Value space : spaces)
      if (auto op = space.getDefiningOp<SpaceOp>(); op && isOutside(loop, op.getTensor()))
        tensors.push_back(op.getTensor());
    return tensors;
  };
  loop->walk([&](Operation *op) {
    if (auto inner = dyn_cast<CoiterateOp>(op)) {
      SmallVector<Value> tensors = tensorsOf(inner.getSpaces());
      if (!isIntersection(inner) || tensors.size() != inner.getSpaces().size())
        traversed.insert_range(tensors);
      else if (!llvm::is_contained(intersections, tensors)) // of the level above
        intersections.push_back(tensors);
    }
    auto inner = dyn_cast<IterateOp>(op);
    if (!inner)
      return;
    traversed.insert_range(tensorsOf(inner.getSpace()));
    auto range = inner.getSpace().getDefiningOp<RangeOp>();
    if (!range || !isOutside(loop, range.getLo()) || !isOutside(loop, range.getHi()))
      return;
    Value length = emit.sub(range.getHi(), range.getLo());
    if (op == loop)
      plus(length);
    else
      factor = factor ? emit.times(factor, length) : length;
  });
  for (ArrayRef<Value> tensors : intersections)
    if (llvm::any_of(tensors, [&](Value tensor) { return traversed.contains(tensor); }))
      traversed.insert_range(tensors);
    else
      plus(intersectionWork(emit, loop, tensors));
  for (Value tensor : traversed)
    plus(StoredCountOp::create(b, emit.loc, tensor));
  if (!total)
    total = emit.constant(1);
  return factor ? emit.times(total, factor) : total;
}

std::pair<Value, Value> chunkBounds(OpBuilder &b, Location loc, Value size, const Chunk &chunk,
                                    int64_t alignment) {
  levels::IndicesAt emit(b, loc);
  Value unit = emit.constant(alignment);
  Value units = alignment == 1 ? size : arith::CeilDivUIOp::create(b, loc, size, unit).getResult();
  Value each = arith::CeilDivUIOp::create(b, loc, units, chunk.count);
  if (alignment != 1)
    each = emit.times(each, unit);
  Value begin = arith::MinUIOp::create(b, loc, size, emit.times(each, chunk.index));
  return {begin, arith::MinUIOp::create(b, loc, size, emit.add(begin, each))};
}

ValueRange region(OpBuilder &b, Location loc, Value tasks, ValueRange inits,
                  function_ref<SmallVector<Value>(Value, ValueRange)> fill) {
  auto op = ParallelOp::create(b, loc, inits.getTypes(), tasks, inits);
  SmallVector<Type> types{b.getIndexType()};
  llvm::append_range(types, inits.getTypes());
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&op.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
  SmallVector<Value> yielded = fill(block->getArgument(0), block->getArguments().drop_front());
  YieldOp::create(b, loc, yielded);
  return op.getResults();
}

void replaceUsesOutside(Operation *loop, ValueRange results) {
  loop->replaceUsesWithIf(results,
                          [&](OpOperand &use) { return use.getOwner()->getBlock() != loop->getBlock(); });
}

void moveIntoRegion(OpBuilder &b, Operation *loop, Value tasks, function_ref<void(Value)> restrict) {
  b.setInsertionPointAfter(loop);
  replaceUsesOutside(loop,
                     region(b, loop->getLoc(), tasks, initValues(loop), [&](Value task, ValueRange carried) {
                       loop->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
                       initsOf(loop).assign(carried);
                       b.setInsertionPoint(loop);
                       restrict(task);
                       b.setInsertionPointAfter(loop);
                       return SmallVector<Value>(loop->getResults());
                     }));
}

} // namespace tulle::parallel
