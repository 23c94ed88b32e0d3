// tulle-parallelize: partitions each outermost loop into parallel tasks by the first strategy that applies.
// Partitions whole iterations: of the outermost loop where their stores are disjoint or they reduce into
// values, else of an inner loop.
#include "dialect/Costs.h"
#include "dialect/Scalars.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopUtils.h"
#include "passes/parallel/SetLoops.h"
#include "passes/program/DisjointLoops.h"
#include "passes/program/LoopBlocks.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::passes {
#define GEN_PASS_DEF_PARALLELIZE
#include "passes/Passes.h.inc"
} // namespace tulle::passes

namespace tulle::parallel {

/// Whether all that is stored below a coordinate of the loop is a few slots: no chunk need begin inside.
static bool hasShortFibers(Operation *loop, const Settings &settings) {
  auto iterate = dyn_cast<IterateOp>(loop);
  auto space = iterate ? dyn_cast<SpaceType>(iterate.getSpace().getType()) : SpaceType();
  if (!space)
    return false;
  const auto &levels = space.getEncoding().getValue().levels;
  if (levels.size() != space.getLevel() + 2)
    return false;
  const format::LevelFormat &below = levels.back().format;
  return below.kind == format::LevelKind::Fixed && below.n > 0 && below.n < settings.costs.workPerChunk;
}

/// Whether iterations traverse rows that coordinates of an inner loop select: the entries by which the loop
/// is partitioned do not tell how long these are.
static bool selectsRows(Operation *loop) {
  return passes::anyIn(loop, [&](Operation *op) {
    auto space = dyn_cast<SpaceOp>(op);
    auto row = space && space.getParent() ? space.getParent().getDefiningOp<LocateOp>() : LocateOp();
    auto by = row ? dyn_cast<BlockArgument>(row.getCoordinate()) : BlockArgument();
    Operation *inner = by ? by.getOwner()->getParentOp() : nullptr;
    auto iterate = dyn_cast_or_null<IterateOp>(inner);
    return inner && loop->isProperAncestor(inner) && by.getArgNumber() == 0 &&
           (isa<CoiterateOp>(inner) || (iterate && isa<SpaceType>(iterate.getSpace().getType())));
  });
}

Value chunksPerTask(Emitter &emit, Value tasks, Value each) {
  Value one = emit.constant(1), many = emit.times(tasks, each);
  return emit.select(emit.is(arith::CmpIPredicate::ule, tasks, one), one, many);
}

Value chunksFor(Emitter &emit, Value tasks, Value work, const iteration::Costs &costs) {
  Value each = emit.divide(work, emit.times(tasks, emit.constant(costs.workPerChunk)));
  each = emit.smaller(each, emit.constant(costs.chunksPerThread));
  return chunksPerTask(emit, tasks, emit.larger(each, emit.constant(1)));
}

/// Whether the loop is partitioned by the entries that something stores, all of which are as much work.
static bool isOverEntries(Operation *loop) {
  auto iterate = dyn_cast<IterateOp>(loop);
  return !iterate || !isa<RangeType>(iterate.getSpace().getType()) || iterate.getWorkEstimate();
}

/// Chunks of the loop's iterations, each a task: of much work several for each thread where chunks differ in
/// work, as rows of functions and reductions do, of which blocks are made, and what no entries are counted
/// of. Others gain nothing by more chunks, or lose (experiment 110).
static Value chunksOf(Emitter &emit, Operation *loop, const iteration::Costs &costs) {
  Value entries = work(emit.b, loop), tasks = ThreadsOp::create(emit.b, emit.loc, entries, /*fixed=*/false);
  if (selectsRows(loop))
    return chunksPerTask(emit, tasks, emit.constant(costs.unevenChunksPerThread));
  return isOverEntries(loop) && !loopOverSets(loop).getBlocks() ? tasks
                                                                : chunksFor(emit, tasks, entries, costs);
}

bool partitionIterations(Operation *loop, const Settings &settings) {
  if (kindOf(loop) != LoopKind::Parallel || !carriesTensorsOnly(loop) || !canPartition(loop))
    return false;
  record(loop, Threads::Disjoint);
  OpBuilder b(loop);
  Emitter emit(b, loop->getLoc());
  Value tasks = settings.shared ? settings.shared->chunks : chunksOf(emit, loop, settings.costs);
  moveIntoRegion(b, loop, tasks, [&](Value task) { restrictTo(b, loop, {task, tasks}); });
  return true;
}

//===--- Reductions ---===//

Value combine(OpBuilder &b, Operation *combiner, Value x, Value y) {
  Operation *copy = b.clone(*combiner);
  copy->setOperands({x, y});
  return copy->getResult(0);
}

bool reducesValues(Operation *loop) { return carriesValuesOnly(loop) && combinersOf(loop); }

/// Whether iterations share a value to reduce into, and no element of a tensor.
static bool sharesValuesOnly(Operation *op) {
  if (reducesValues(op))
    return true;
  auto loop = dyn_cast<IterateOp>(op);
  return loop && !loop.getEach() && !carriesTensorsOnly(loop) && combinersOf(loop) &&
         llvm::all_of(llvm::seq<unsigned>(0, loop.getNumResults()), [&](unsigned k) {
           return !program::isTensor(loop.getResult(k)) ||
                  program::OwnAccesses(loop).add(program::carriedArgument(loop, k));
         });
}

bool reducePartials(Operation *loop, const Settings &settings) {
  if (!sharesValuesOnly(loop) || !canPartition(loop))
    return false;
  record(loop, Threads::Reduce);
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
  SmallVector<Value> results = initValues(loop), starts(results), tensors, partials;
  SmallVector<unsigned> values; // numbers of results that are values
  for (auto [k, init] : llvm::enumerate(results)) {
    if (!combiners.operations[k]) {
      tensors.push_back(init);
      continue;
    }
    values.push_back(unsigned(k));
    partials.push_back(emit.allocate(init.getType(), count));
    starts[k] = materialize(b, emit.loc, combiners.identities[k], init.getType());
  }

  b.setInsertionPointAfter(loop);
  ValueRange stored = region(b, emit.loc, tasks, tensors, [&](Value task, ValueRange carried) {
    loop->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    SmallVector<Value> yielded;
    for (auto [k, result] : llvm::enumerate(loop->getResults()))
      if (!combiners.operations[k]) {
        starts[k] = carried[yielded.size()];
        yielded.push_back(result);
      }
    initsOf(loop).assign(starts);
    b.setInsertionPoint(loop);
    restrict(b, task);
    b.setInsertionPointAfter(loop);
    Value at = emit.times(task, stride);
    for (auto [k, partial] : llvm::zip(values, partials))
      emit.store(loop->getResult(k), partial, at);
    return yielded;
  });

  SmallVector<Value> inits;
  for (unsigned k : values)
    inits.push_back(results[k]);
  levels::Values sums = levels::forLoop(
      b, emit.loc, emit.constant(0), tasks, LoopKind::Reduction, inits, [&](Value task, levels::Values sums) {
        Value at = emit.times(task, stride);
        for (auto [k, partial, sum] : llvm::zip(values, partials, sums))
          sum = combine(b, combiners.operations[k], sum, emit.load(partial, at));
        return sums;
      });
  for (Value partial : partials)
    memref::DeallocOp::create(b, emit.loc, partial);
  unsigned nextTensor = 0, nextValue = 0;
  for (auto [k, result] : llvm::enumerate(results))
    result = combiners.operations[k] ? sums[nextValue++] : Value(stored[nextTensor++]);
  replaceUsesOutside(loop, results);
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

/// The outermost inner loop that can be partitioned, or, with `index`, the one over that, and how many
/// coordinates it has.
static IterateOp findInnerLoop(OpBuilder &b, Operation *loop, StringAttr index, Value &length) {
  IterateOp found;
  loop->walk<WalkOrder::PreOrder>([&](IterateOp inner) {
    if (inner == loop || (index && inner.getLoop().getIndex() != index) ||
        inner.getKind() != LoopKind::Parallel || !carriesTensorsOnly(inner) ||
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

/// The fewest coordinates of a chunk of an inner loop, so that chunks of a row have cache lines of their own.
static int64_t leastInnerChunk(IterateOp inner, const iteration::Costs &costs) {
  int64_t least = costs.innerChunk;
  inner->walk([&](StoreOp store) {
    Type type = getElementTypeOrSelf(store.getResult().getType());
    if (type.isIntOrFloat())
      least = std::max(least, costs.rowChunkBits / int64_t(type.getIntOrFloatBitWidth()));
  });
  return least;
}

bool partitionInnerLoop(Operation *loop, const Settings &settings) {
  if (!carriesTensorsOnly(loop))
    return false;
  OpBuilder b(loop);
  Emitter emit(b, loop->getLoc());
  Value length;
  IterateOp inner = findInnerLoop(b, loop, settings.inner, length);
  if (!inner)
    return false;
  // Of a small result, a copy for each task costs less than that each goes over all iterations.
  // Chunks of rows have the same bits for any number of tasks.
  if (Operation *combiner = settings.inner || settings.deterministic ? nullptr : combinerOfCopies(loop))
    addCopies(loop, combiner, settings, settings.costs.workPerCopiedElement);
  record(inner, Threads::Disjoint);
  b.setInsertionPoint(loop);
  Value tasks = ThreadsOp::create(b, emit.loc, work(b, loop), /*fixed=*/false);
  Value most = emit.divide(length, emit.constant(leastInnerChunk(inner, settings.costs)));
  tasks = emit.smaller(tasks, emit.larger(most, emit.constant(1)));
  moveIntoRegion(b, loop, tasks, [&](Value task) {
    b.setInsertionPoint(inner);
    restrictTo(b, inner, {task, tasks});
  });
  return true;
}

//===--- Fills ---===//

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

//===--- The pass ---===//

namespace {

struct PartitionStrategy {
  Threads threads;
  bool ofInner; ///< the loop that is partitioned stands in the outermost one
  bool (*apply)(Operation *, const Settings &);
  const char *what;
  const char *needs;
};
constexpr PartitionStrategy strategies[] = {
    {Threads::Entries, false, splitFibers,
     "the outermost loop in chunks of equal entries, which may begin inside of a long fiber",
     "a sum over the entries of each row, of an operation that may be regrouped"},
    {Threads::Disjoint, false, partitionIterations,
     "the outermost loop in chunks of equal entries; its iterations have disjoint stores",
     "the outermost loop, with stores at its own coordinate"},
    {Threads::Reduce, false, reducePartials,
     "the outermost loop in chunks of equal entries, each with a partial result",
     "the outermost loop, and values reduced by an operation that may be regrouped"},
    {Threads::Destination, false, partitionDestinations,
     "ranges of the rows that integers select, each a task that runs the iterations that select its rows, as "
     "two iterations may select the same; where a result is small, chunks of the outermost loop, each with a "
     "private copy",
     "the outermost loop, over all coordinates, and a dense result whose rows an integer of each iteration "
     "selects"},
    {Threads::Disjoint, true, partitionInnerLoop,
     "an inner loop over all coordinates in equal chunks, as iterations of the outer one may store to the "
     "same address; where a result is small, the outer one, each task with a private copy",
     "a loop over all coordinates of a dimension of the result"},
    {Threads::Private, false, privatize,
     "the outermost loop in chunks of equal entries, each with a private copy of the "
     "result, as iterations may store to the same address",
     "the outermost loop, a dense result, and an operation that may be regrouped"},
};

struct Parallelize : passes::impl::ParallelizeBase<Parallelize> {
  using ParallelizeBase::ParallelizeBase;

  void runOnOperation() override {
    SmallVector<Operation *> outermost;
    for (Operation &op : getOperation().getOps())
      if (isLoop(&op) && op.getNumResults() > 0)
        outermost.push_back(&op);
    SmallVector<FillOp> fills(getOperation().getOps<FillOp>());
    const Settings settings{deterministic, costModel(getOperation()).costs};
    llvm::DenseSet<Operation *> done;
    if (!getOperation().isExternal())
      for (const program::DisjointLoops &loops : program::disjointLoops(getOperation().front()))
        if (llvm::all_of(loops, [](Operation *loop) { return maySharePartition(loop); })) {
          if (failed(partitionSideBySide(loops, settings)))
            return signalPassFailure();
          done.insert(loops.begin(), loops.end());
        }
    for (Operation *loop : outermost)
      if (!done.contains(loop) && failed(partition(loop, settings)))
        return signalPassFailure();
    for (FillOp fill : fills)
      partitionFill(fill, settings);
  }

  LogicalResult partition(Operation *loop, Settings settings) {
    Operation *named = scheduledLoop(loop);
    const Threads wanted = wantedFor(named);
    settings.exact = wanted != Threads::Auto;
    if (named && named != loop)
      settings.inner = loopOverSets(named).getIndex();
    if (named) // what it cannot do, it refuses below
      noteDone(getOperation(), loopOverSets(named),
               {.parallelize = loopOverSets(named).getDirectives().getParallelize()});
    if (wanted == Threads::None)
      return explainChoice(getOperation(), "threads: none, as the schedule says"), success();
    std::string needs;
    for (const PartitionStrategy &strategy : strategies) {
      if (named &&
          (strategy.ofInner != (named != loop) || (wanted != Threads::Auto && wanted != strategy.threads)))
        continue;
      if (strategy.threads == Threads::Entries && wanted != Threads::Entries &&
          hasShortFibers(loop, settings))
        continue;
      if (strategy.apply(loop, settings)) // the loop is moved or replaced
        return explainChoice(getOperation(),
                             ("threads: " + llvm::Twine(strategy.what) + "; another thread from " +
                              llvm::Twine(settings.costs.workPerThread) + " entries on")
                                 .str()),
               success();
      needs += (needs.empty() ? "" : "; or ") + std::string(strategy.needs);
    }
    if (named)
      return refuse(named, needs.empty() ? "the outermost loop" : needs);
    explainChoice(getOperation(),
                  "threads: none; the outermost loop cannot be partitioned, or its iterations "
                  "depend on each other");
    return success();
  }

  static Threads wantedFor(Operation *named) {
    return named ? loopOverSets(named).getDirectives().getParallelize().getValue() : Threads::Auto;
  }

  /// Whether the schedule leaves it open, or says, that chunks of the loop's iterations are tasks.
  static bool maySharePartition(Operation *loop) {
    Operation *named = scheduledLoop(loop);
    return (!named || named == loop) &&
           llvm::is_contained({Threads::Auto, Threads::Entries, Threads::Disjoint}, wantedFor(named));
  }

  LogicalResult partitionSideBySide(ArrayRef<IterateOp> loops, Settings settings) {
    SharedTasks shared;
    const bool shares = shareTasks(loops, settings, shared);
    settings.shared = shares ? &shared : nullptr;
    for (IterateOp loop : loops)
      if (failed(partition(loop, settings)))
        return failure();
    if (!shares)
      return success();
    mergeRegions(loops);
    explainChoice(getOperation(), "threads: loops over parts with disjoint coordinates run side by side, a "
                                  "chunk of each in a task");
    return success();
  }

  /// The loop, or one inside, of which the schedule says how it is divided; null without one.
  static Operation *scheduledLoop(Operation *loop) {
    Operation *found = nullptr;
    loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
      const DirectivesAttr said = isLoop(op) ? loopOverSets(op).getDirectives() : DirectivesAttr();
      if (!said || !said.getParallelize())
        return WalkResult::advance();
      found = op;
      return WalkResult::interrupt();
    });
    return found;
  }

  static LogicalResult refuse(Operation *loop, const std::string &needs) {
    const StringRef name = loopOverSets(loop).visitedIndex();
    return mlir::emitError(locationOf(loop, ("parallelize " + name).str()))
           << "the loop over " << name << " cannot be divided so: it takes " << needs << "; parallelize("
           << name << ", none) leaves it to one thread";
  }
};

} // namespace
} // namespace tulle::parallel
