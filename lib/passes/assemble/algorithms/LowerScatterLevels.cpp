// tulle-lower-scatter-levels: entries are stored at their positions, when all levels have their sizes.
#include "passes/Passes.h"
#include "passes/assemble/algorithms/HoistPositions.h"
#include "passes/assemble/algorithms/Phase.h"
#include "passes/assemble/algorithms/RadixPartition.h"
#include "passes/assemble/algorithms/Scatter.h"
#include "passes/assemble/algorithms/StreamingStores.h"
#include "passes/assemble/algorithms/WholeSegments.h"
#include <limits>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::Expr;
using format::ExprKind;
using format::LevelKind;
using levels::LevelBuild;
using parallel::Chunk;

//===--- Padding ---===//

/// Whether there can be positions of the result that no entry comes to.
static bool leavesPadding(const Target &target) {
  if (format::hasReserve(target.encoding(), target.levels() - 1))
    return true;
  for (unsigned l = target.levels(); l-- > 0;) {
    LevelKind kind = target.format(l).kind;
    if (kind == LevelKind::Compressed || kind == LevelKind::LooseCompressed)
      return false;
    if (kind != LevelKind::Singleton || target.format(l).padded)
      return true;
  }
  return true;
}

std::optional<unsigned> numberedPadding(const Target &target, const Order &order) {
  if (target.levels() < 3)
    return std::nullopt;
  for (unsigned l = 0; l < target.levels(); ++l) {
    LevelKind kind = target.format(l).kind;
    if (kind != (l < 2 ? LevelKind::Dense : LevelKind::Singleton))
      return std::nullopt;
    if (l >= 2 && target.storage.layout.fields[target.storage.layout.coordinates[l]->field].width == 2)
      return std::nullopt;
  }
  for (unsigned l : {0, 1}) {
    const Expr &number = order.levels[l], &row = order.levels[1 - l];
    if (number->kind == ExprKind::Counter && row->kind == ExprKind::Dim && number->dims.size() == 1 &&
        number->dims[0] == unsigned(row->value))
      return l;
  }
  return std::nullopt;
}

/// Empties the slots of a row from its `first` on; `numbered` is `numberedPadding`. `builds` have their
/// sizes.
static void fillSlots(const Target &target, MutableArrayRef<LevelBuild> builds, unsigned numbered, Value row,
                      Value first) {
  forEach(target, first, builds[numbered].size, LoopKind::Parallel, [&](Value k) {
    Value position = target.constant(0);
    for (unsigned l : {0, 1})
      position = levels::find(target.format(l))->insert(target, builds[l], position, l == numbered ? k : row);
    for (unsigned l = 2; l < target.levels(); ++l)
      if (target.format(l).padded)
        target.storePadding(l, position);
    storeAt(target, target.fillValue(), target.storage.fields.back(), position);
  });
}

//===--- Entries ---===//

void Scatter::run() {
  analyse();
  Phase phase(b, "assembly: coordinates and values");
  store();
  for (LevelBuild &build : builds)
    format(build.level).finish(target, build);
  std::optional<unsigned> bucket = bucketLevel(target.encoding());
  if (bucket && sortsSegments(target.encoding(), *bucket))
    finishSegments(*bucket);
  target.freeScratch();
}

/// Before a copy of the loops: no entry has been seen.
void Scatter::restart() {
  counters->reset();
  unsigned deepest = 0;
  for (unsigned l = 0; l < builds.size(); ++l)
    if (tellsFirst(l))
      deepest = std::max(deepest, target.positionsEnd(l));
  Value none = target.constant(std::numeric_limits<int64_t>::min());
  for (const Register &before : last)
    before.set(none);
  while (last.size() < deepest)
    last.emplace_back(target, none);
}

/// The level coordinates of an entry (without `numbered`, 0 for counters), and which levels have their first
/// entry in it.
Values Scatter::coordinates(ValueRange dims, bool numbered) {
  Phase phase(b, "remapping: " + format::printRemapping(target.encoding()));
  counters->enter(dims);
  Values at = target.levelCoordinates(dims, [&](const format::ExprNode &e) {
    if (e.kind == ExprKind::Counter)
      return numbered ? counters->number(e) : zero();
    return ranked ? ranks.number(dims) : zero();
  });
  Values differ; // from the entry before, in a level or one above
  for (auto [l, before] : llvm::enumerate(last)) {
    Value other = target.isDifferent(before.get(), at[l]);
    before.set(at[l]);
    differ.push_back(l > 0 ? make<arith::OrIOp>(target, differ.back(), other) : other);
  }
  for (unsigned l = 0; l < last.size(); ++l)
    builds[l].firstOccurrence = tellsFirst(l) ? differ[target.positionsEnd(l) - 1] : Value();
  return at;
}

/// The entry's position, and what it is stored in.
std::pair<Target *, Value> Scatter::insertEntry(ValueRange dims, ValueRange at) {
  Target *to = &target;
  Value position = zero();
  Block *block = b.getInsertionBlock();
  Operation *before = b.getInsertionPoint() == block->begin() ? nullptr : &*std::prev(b.getInsertionPoint());
  for (unsigned l = 0; l < builds.size(); ++l) {
    if (!tiles || l != tiledLevel->level) {
      position = format(l).insert(*to, builds[l], position, at[l]);
      continue;
    }
    Value coordinate = dims[tiledLevel->dim];
    if (!tileIterations())
      tiles->enter(coordinate);
    position = tiles->position(position, coordinate);
    to = &tiles->staging();
  }
  if (computesPositions())
    hoistPositions(b, block, before, target.storage);
  return {to, position};
}

void Scatter::store() {
  target.allocate(target.storage.layout.valuesField(), parents);
  std::optional<unsigned> bucket = bucketLevel(target.encoding());
  const bool positionsAreEntries = order.unique || (bucket && sortsSegments(target.encoding(), *bucket));
  auto insert = [&](ValueRange dims, Value value) {
    auto [to, position] = insertEntry(dims, coordinates(dims));
    positionsAreEntries ? to->storeValue(position, value) : to->combineValue(position, value);
  };
  if (!tiledLevel)
    return storeDirectly(insert);
  Value fits = TiledColumns(target, *tiledLevel, builds).fitTiles();
  if (!fits)
    return storeInTiles(insert);
  either(target, fits, [&] { storeInTiles(insert); }, [&] { storeDirectly(insert); });
}

/// Each chunk of the stream stores the coordinates from its first one to its last one; those between chunks
/// are emptied behind.
void Scatter::storeInTiles(OnInsert insert) {
  const TiledColumns columns(target, *tiledLevel, builds);
  Value firsts = newBuffer(target, b.getI64Type(), chunkCount());
  Value ends = newBuffer(target, b.getI64Type(), chunkCount());
  forEachChunk([&](const Chunk *chunk) {
    tiles.emplace(columns);
    restart();
    Operation *loop = cloneLoops(b, stream, chunk, insert);
    auto start = [&](Value coordinate) {
      counters->startIteration();
      if (tileIterations())
        tiles->enter(coordinate);
    };
    atIterations(loop, start, [](Value) {});
    auto [first, end] = tiles->finish();
    target.write(firsts, numberOf(chunk), first);
    target.write(ends, numberOf(chunk), end);
    tiles.reset();
  });
  auto join = [&](Value chunk, Values reached) {
    columns.empty(reached[0], target.read(firsts, chunk));
    return Values{target.umax(reached[0], target.read(ends, chunk))};
  };
  Value reached = reduce(target, zero(), chunkCount(), zero(), join)[0];
  freeBuffers(target, {firsts, ends});
  columns.empty(reached, target.storage.dims[tiledLevel->dim]);
  columns.emptyOutside();
}

/// Each entry at its position, where padding is filled first, or with its row.
void Scatter::storeDirectly(OnInsert insert) {
  fillPadding();
  forEachChunk([&](const Chunk *chunk) {
    restart();
    bool copies = false;
    auto store = [&](ValueRange dims, Value value) {
      copies = copyWholeRow();
      insert(dims, value);
    };
    Operation *loop = storeChunk(chunk, store);
    auto start = [&](Value row) {
      counters->startIteration();
      if (fillsRows && !copies)
        fillRow(row);
    };
    auto end = [&](Value row) {
      if (padsIterations)
        fillSlots(target, builds, *numberedPadding(target, order), row, counters->iterationEntries());
    };
    atIterations(loop, start, end);
  });
}

/// All of it, ahead of the entries. Where rows have entries at half of their positions or more, it is less
/// work to fill each with its entries, while it is in the cache.
void Scatter::fillPadding() {
  if (entryCounts)
    return fillRowPadding();
  if (!leavesPadding(target) || padsIterations)
    return;
  auto fillAll = [&] {
    forRanges(target, chunks, parents, [&](Value, Value first, Value last) {
      fillElements(target, target.storage.fields.back(), first, last, target.fillValue());
      fence(target);
    });
  };
  if (!canFillRows())
    return fillAll();
  Value entries = parallel::work(b, outermostLoop(*stream.loops));
  fillsRows = target.isBelow(target.divide(parents, 2), entries);
  either(target, fillsRows, [] {}, fillAll);
}

/// Whether an iteration stores what is below one parent of the last level, and stores each once: nothing
/// else is there.
bool Scatter::canFillRows() const {
  const Expr &row = order.levels[0];
  return iterations && target.levels() == 2 && order.unique && row->kind == ExprKind::Dim &&
         unsigned(row->value) == *iterations && target.format(0).kind == LevelKind::Dense &&
         format(1).consecutive();
}

void Scatter::fillRow(Value row) {
  when(target, fillsRows, [&] {
    auto [first, end] = format(1).positions({target, 1}, {row});
    forEach(target, first, end, LoopKind::Parallel,
            [&](Value at) { storeAt(target, target.fillValue(), target.storage.fields.back(), at); });
  });
}

/// A row that has an entry at each of its positions has them in the order of a sorted segment: they are
/// copied, without their coordinates. Else the row is filled ahead of the loop around the insert where the
/// builder stands. Returns whether the loop is one over a segment, the only one of its row.
bool Scatter::copyWholeRow() {
  auto loop = dyn_cast<IterateOp>(b.getInsertionBlock()->getParentOp());
  auto rows = loop ? dyn_cast<IterateOp>(loop->getParentOp()) : IterateOp();
  if (!fillsRows || !rows || !insertsSegment(loop) || !arrivesInOrder(order, 1) ||
      insertsOf(*stream.loops).size() != 1)
    return false;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop);
  Value row = rows.getBody().getArgument(0);
  auto [first, end] = format(1).positions({target, 1}, {row});
  auto segment = BoundsOp::create(b, target.loc, loop.getSpace());
  Value begin = segment.getBegin(), entries = target.sub(segment.getEnd(), begin);
  auto branch = scf::IfOp::create(b, target.loc, target.isEqual(target.sub(end, first), entries),
                                  /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  forEach(target, target.constant(0), entries, LoopKind::Parallel, [&](Value k) {
    InsertOp entry = cloneInsert(b, loop, target.add(begin, k));
    target.storeValue(target.add(first, k), entry.getValue());
    entry.erase();
  });
  b.setInsertionPointToStart(branch.elseBlock());
  fillRow(row);
  loop->moveBefore(branch.elseBlock()->getTerminator());
  return true;
}

/// Positions in the cache are not prefetched: that would be work for nothing.
Operation *Scatter::storeChunk(const Chunk *chunk, OnInsert insert) {
  if (computesPositions()) {
    Operation *loop = cloneLoops(b, stream, chunk, insert);
    if (loop)
      keepKinds(loop, *stream.loops);
    return loop;
  }
  if (!cacheResident || iterations)
    return cloneLoops(b, stream, chunk, insert);
  auto all = [&] { cloneLoops(b, stream, chunk, insert); };
  auto withoutPrefetch = [&] {
    all();
    b.getBlock()->walk([&](IterateOp loop) { loop.setLoopAttr(loop.getLoop().withCacheResident()); });
  };
  either(target, cacheResident, withoutPrefetch, all);
  return nullptr;
}

/// Most rows have hardly such a slot, so that this is less work than to empty all.
void Scatter::fillRowPadding() {
  const unsigned numbered = *numberedPadding(target, order);
  Value rows = target.storage.dims[order.levels[numbered]->dims[0]];
  forRanges(target, chunks, rows, [&](Value, Value first, Value last) {
    forEach(target, first, last, LoopKind::Parallel,
            [&](Value row) { fillSlots(target, builds, numbered, row, target.read(entryCounts, row)); });
  });
}

/// What is below one parent is sorted after it is stored, and repeats are combined.
void Scatter::finishSegments(unsigned bucket) {
  Value last = builds[bucket].parents;
  if (!arrivesInOrder(order, bucket))
    target.sortSegments(zero(), last, zero());
  if (order.unique)
    return;
  Value end = target.combineRepeats(zero(), last, zero());
  target.shrink(target.storage.layout.coordinates[bucket]->field, end);
  target.shrink(target.storage.layout.valuesField(), end);
}

//===--- Iterations and chunks ---===//

/// What is done where each iteration of a copy's outermost loop begins and ends, at its coordinate.
void Scatter::atIterations(Operation *loop, llvm::function_ref<void(Value)> start,
                           llvm::function_ref<void(Value)> end) {
  if (!iterations)
    return;
  OpBuilder::InsertionGuard guard(b);
  Block &iteration = cast<IterateOp>(loop).getBody().front();
  b.setInsertionPointToStart(&iteration);
  start(iteration.getArgument(0));
  b.setInsertionPoint(iteration.getTerminator());
  end(iteration.getArgument(0));
}

/// Whether chunks of the stream may be queried, and stored, at the same time: each entry has a position of
/// its own that its coordinates give, or entries at the same coordinates come in one chunk, as those do that
/// are counted together.
bool Scatter::canRunInParallel() const {
  if (ranks.any() || !canPartition(*stream.loops))
    return false;
  const std::optional<unsigned> apart = dimensionOfChunks(*stream.loops);
  if (!order.unique && !(apart && computesPositions()))
    return false;
  const bool ascends = !order.keys.empty() && order.keys[0]->kind == ExprKind::Dim;
  bool parentsApart = false; // no two chunks have entries below the same parent
  return llvm::all_of(llvm::seq(target.levels()), [&](unsigned l) {
    const Expr &e = order.levels[l];
    const LevelKind kind = target.format(l).kind;
    if ((kind == LevelKind::Ragged || kind == LevelKind::Jagged || kind == LevelKind::Banded) && parentsApart)
      return true;
    parentsApart |= apart && e->kind == ExprKind::Dim && unsigned(e->value) == *apart;
    if (kind != LevelKind::Dense && kind != LevelKind::Squeezed && kind != LevelKind::Singleton &&
        kind != LevelKind::Offset)
      return false;
    const auto &coordinates = target.storage.layout.coordinates[l];
    if (coordinates && target.storage.layout.fields[coordinates->field].width == 2)
      return false;
    return !format::contains(e, ExprKind::Counter) ||
           (ascends && countedDimension(e, format(l)) == order.keys[0]->value);
  });
}

/// Without a bound, iterations differ in work: several chunks for each thread.
Value Scatter::threads() const {
  if (stream.bound)
    return make<ThreadsOp>(target, stream.bound, /*fixed=*/false);
  parallel::Emitter emit(b, target.loc);
  Value tasks = make<ThreadsOp>(target, parallel::work(b, outermostLoop(*stream.loops)), /*fixed=*/false);
  return parallel::chunksPerTask(emit, tasks, emit.constant(target.costs.unevenChunksPerThread));
}

/// Runs the body for each chunk of the stream, which has counters of its own.
void Scatter::forEachChunk(llvm::function_ref<void(const Chunk *)> body) {
  forChunks(target, chunks, [&](const Chunk *chunk) {
    if (!chunk)
      return body(nullptr);
    Counters own(target, order, iterations);
    counters = &own;
    body(chunk);
    counters = &ownCounters;
  });
}

} // namespace tulle::assemble

//===--- The pass ---===//

namespace tulle::passes {
using namespace assemble;
#define GEN_PASS_DEF_LOWERSCATTERLEVELS
#include "passes/Passes.h.inc"

namespace {

void lower(Target &target, const Stream &stream, ScatterLevelsOp op) {
  auto directly = [&](Value cacheResident) {
    Scatter(target, stream, op.getPairs(), op.getParallel(), cacheResident).run();
  };
  fitsRadixPartition(target, stream) ? partitionOrElse(target, stream, op.getParallel(), directly)
                                     : directly({});
}

bool isReadyToScatter(const TargetFacts &target, const Stream &stream) {
  return isBuildable(target.encoding(), stream.order) && isReady(target, stream.order);
}

struct LowerScatterLevels : impl::LowerScatterLevelsBase<LowerScatterLevels> {
  void runOnOperation() override {
    const FailureOr<bool> lowered = lowerBuild<ScatterLevelsOp>(getOperation(), isReadyToScatter, lower);
    if (failed(lowered))
      return signalPassFailure();
    if (!*lowered)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
