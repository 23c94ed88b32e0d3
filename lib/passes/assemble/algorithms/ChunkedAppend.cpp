// Chunks have tickets: a thread takes the next one, so that all before it have been begun, and a chained scan
// of what they hold says where it goes.
#include "passes/assemble/algorithms/ChunkedAppend.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/assemble/algorithms/AllocationPlan.h"
#include "passes/assemble/algorithms/StreamingStores.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::LevelKind;
using levels::parallelTasks;

/// The words of a group's cell in `scanCells` (HACKING.md).
static constexpr int64_t kCellWords = 2;

/// The spaces that a loop iterates over, or its range.
static SmallVector<Value> spacesOf(Operation *loop) {
  if (auto iterate = dyn_cast<IterateOp>(loop))
    return {iterate.getSpace()};
  return SmallVector<Value>(cast<CoiterateOp>(loop).getSpaces());
}

/// Whether the outermost loop can be partitioned: over one space or range, or over a set of spaces.
static bool canPartitionSets(Region &loops) {
  auto coiterate = dyn_cast_or_null<CoiterateOp>(outermostLoop(loops));
  if (!coiterate)
    return canPartition(loops);
  return coiterate.getNumResults() == 0 && !coiterate.getRange() && parallel::canPartition(coiterate);
}

bool ChunkedAppend::possible(const TargetFacts &target, const Stream &stream) {
  // Chunks follow each other in the order of the first level.
  if (target.storage.digits.empty() || target.storedLevels() == 0 || stream.order.sortedLevels() == 0)
    return false;
  for (unsigned l = 0, outer = 0; l < target.storedLevels(); ++l) {
    LevelKind kind = target.format(l).kind;
    outer += l == outer && kind == LevelKind::Dense;
    // The two positions of a loose segment would move by different amounts.
    if (kind == LevelKind::Batch || (kind == LevelKind::LooseCompressed && (outer == 0 || l > outer)))
      return false;
    const auto &ref = target.storage.layout.coordinates[l];
    if (ref && target.storage.layout.fields[ref->field].width == 2)
      return false;
  }
  // Each position of the first level is met in iterations of a loop that one chunk has.
  Region &loops = *stream.loops;
  const SmallVector<Operation *> outermost = outermostLoops(loops);
  if (outermost.size() > 1 ? !followEachOther(loops, target.encoding())
                           : !canPartitionSets(loops) || !alignmentOf(loops, target.encoding()))
    return false;
  // How much work there is must be known outside of the loops.
  auto isKnown = [&](Value space) {
    Operation *op = space.getDefiningOp();
    return op && llvm::none_of(op->getOperands(),
                               [&](Value operand) { return loops.isAncestor(operand.getParentRegion()); });
  };
  return llvm::all_of(outermost, [&](Operation *loop) { return llvm::all_of(spacesOf(loop), isKnown); });
}

//===--- One thread ---===//

Appender Appending::appender(Target &to, bool counting) const {
  Appender appender(to, unique, counting, wholeBlocks);
  if (copied)
    appender.leaveOut(copied->fields());
  return appender;
}

void appendAlone(Target &target, const Appending &how,
                 function_ref<Values(function_ref<Values()> count)> bounds, bool exact) {
  std::unique_ptr<AppendLoops> loops = how.loops(target, {});
  Appender appender = how.appender(target, /*counting=*/false);
  Values positions = bounds([&] {
    Phase phase(target.builder, "analysis: number of positions");
    Appender counter = how.appender(target, /*counting=*/true);
    loops->append(counter, nullptr);
    return counter.positionCounts();
  });
  if (how.copied)
    how.copied->alias(target);
  appender.allocate(positions);
  if (how.copied)
    how.copied->copy(target, target.constant(0), target.constant(1));
  loops->append(appender, nullptr);
  loops->finish();
  // Other threads do not see what went past the caches before.
  if (how.streams)
    fence(target);
  appender.finish(exact);
}

void appendAlone(Target &target, const Appending &how, Value entries) {
  auto bounds = [&](function_ref<Values()> count) {
    return planPositions(target, entries, how.block, count);
  };
  appendAlone(target, how, bounds, /*exact=*/false);
}

//===--- How many chunks, and memory for them ---===//

/// Entries for each chunk: fewer where each may make a block, so that the caches hold a staging buffer.
static int64_t workPerChunk(const Target &target) {
  int64_t work = target.costs.workPerAssembledChunk;
  for (unsigned l = target.storedLevels(); l < target.levels(); ++l)
    work = std::max(work / std::max<int64_t>(target.storage.digits[l].modulus, 1),
                    target.costs.leastAssembledChunk);
  return work;
}

/// How many value slots of the tensor a chunk has of the loop; null where that is not known from outside.
static Value slotsOfChunk(OpBuilder &b, const Stream &stream, Operation *loop, Value tensor,
                          const parallel::Chunk &chunk) {
  const format::Encoding &encoding = encodingOf(tensor);
  // tulle.work of a chunk of the tensor's first level is never less than the chunk has value slots.
  for (const format::Level &level : encoding.levels)
    if (level.format.kind != LevelKind::Dense && level.format.kind != LevelKind::Compressed &&
        level.format.kind != LevelKind::Singleton)
      return {};
  auto workOf = [&](Value space, Value estimate) -> Value {
    Value all = b.clone(*space.getDefiningOp())->getResult(0);
    return WorkOp::create(b, loop->getLoc(), parallel::chunkOf(b, loop, all, chunk, stream.alignment),
                          estimate);
  };
  for (Value value : spacesOf(loop))
    if (auto space = value.getDefiningOp<SpaceOp>();
        space && space.getTensor() == tensor && space.getLevel() == 0)
      return workOf(value, {});
  auto iterate = dyn_cast<IterateOp>(loop);
  if (!iterate || !isa<RangeType>(iterate.getSpace().getType()) ||
      encoding.levels[0].format.kind != LevelKind::Dense)
    return {};
  Value coordinate = iterate.getBody().getArgument(0);
  bool located = llvm::any_of(iterate.getBody().getOps<LocateOp>(), [&](LocateOp locate) {
    return locate.getTensor() == tensor && locate.getLevel() == 0 && locate.getCoordinate() == coordinate;
  });
  return located ? workOf(iterate.getSpace(), tensor) : Value();
}

/// The bound of all inserts, made of sums and minima of stored counts, for one chunk.
static Value boundOfChunk(OpBuilder &b, const Stream &stream, Value bound, const parallel::Chunk &chunk) {
  Operation *op = bound.getDefiningOp();
  if (auto stored = dyn_cast_or_null<StoredCountOp>(op)) {
    const SmallVector<Operation *> loops = outermostLoops(*stream.loops);
    for (auto [loop, own] : llvm::zip_equal(loops, chunksOf(b, loops, chunk)))
      if (Value slots = slotsOfChunk(b, stream, loop, stored.getTensor(), own))
        return slots;
    return bound;
  }
  if (!isa_and_nonnull<arith::AddIOp, arith::MinUIOp>(op))
    return bound;
  Value lhs = boundOfChunk(b, stream, op->getOperand(0), chunk);
  Value rhs = boundOfChunk(b, stream, op->getOperand(1), chunk);
  if (isa<arith::AddIOp>(op))
    return arith::AddIOp::create(b, op->getLoc(), lhs, rhs);
  return arith::MinUIOp::create(b, op->getLoc(), lhs, rhs);
}

ChunkedAppend::ChunkedAppend(Target &target, const Stream &stream, Value bound, Mode mode)
    : target(target), stream(stream), mode(mode) {
  OpBuilder &b = target.builder;
  Value work;
  for (Operation *loop : outermostLoops(*stream.loops)) {
    Value own = parallel::work(b, loop);
    work = work ? target.add(work, own) : own;
  }
  threads = make<ThreadsOp>(target, work, /*fixed=*/false);
  Value several = profitable(), wanted = target.mul(threads, target.costs.chunksPerThread);
  if (mode != Mode::Counted)
    wanted = target.umax(wanted, target.divide(work, workPerChunk(target)));
  chunks = target.select(several, wanted, target.constant(1));
  most = largest = bound;
  if (mode == Mode::Counted)
    return;
  if (!bound) {
    Value counts = newTable(target, chunks);
    parallelTasks(b, target.loc, chunks, [&](Value number) {
      const parallel::Chunk chunk = this->chunk(number);
      storeAt(target, countEntries(target, stream, &chunk), counts, number);
    });
    Values both = summarize(counts, chunks);
    most = both[0];
    largest = both[1];
    return;
  }
  // Where a chunk ends is searched for, and there are many.
  Value counts = newTable(target, threads);
  parallelTasks(b, target.loc, threads, [&](Value task) {
    Value iterations = make<arith::CeilDivUIOp>(target, chunks, threads), zero = target.constant(0);
    Value longest = reduce(target, iterations, zero, [&](Value iteration, Values so) {
      Value number = target.add(target.mul(iteration, threads), task);
      number = target.umin(number, target.sub(chunks, 1));
      Value own = boundOfChunk(b, stream, bound, chunk(number));
      return Values{target.umax(so[0], own)};
    })[0];
    storeAt(target, longest, counts, task);
  });
  largest = summarize(counts, threads)[1];
}

/// The sum and the maximum of a table of `number` elements, which is freed.
Values ChunkedAppend::summarize(Value counts, Value number) const {
  Value zero = target.constant(0);
  Values both = reduce(target, number, ValueRange{zero, zero}, [&](Value at, Values so) {
    Value own = loadAt(target, counts, at);
    return Values{target.add(so[0], own), target.umax(so[1], own)};
  });
  freeBuffers(target, counts);
  return both;
}

Value ChunkedAppend::profitable() const { return target.isAbove(threads, 1); }

/// Chooses `most` and `largest`: the bounds they are, or counts them exactly.
void ChunkedAppend::plan(const Appending &how) {
  if (target.plan == AssemblyPlan::Bound)
    return;
  Values chosen;
  if (target.plan == AssemblyPlan::Count) {
    chosen = count(how);
  } else {
    Value held = saturated(target, most);
    if (staged())
      held = target.add(held, target.mul(threads, saturated(target, largest)));
    chosen = either(
        target, fitEntries(target, held, how.block), SmallVector<Type>(2, target.builder.getIndexType()),
        [&] { return Values{most, largest}; }, [&] { return count(how); });
  }
  most = chosen[0];
  largest = chosen[1];
}

/// How many positions the last group needs, in all and for one chunk: those above have no more.
Values ChunkedAppend::count(const Appending &how) {
  begin();
  Value counts = newTable(target, chunks);
  parallelTasks(target.builder, target.loc, threads, [&](Value) {
    Target none = target;
    std::unique_ptr<AppendLoops> loops = how.loops(none, staged() ? largest : Value());
    eachNumber(chunks, [&](Value number) {
      Appender counter = how.appender(none, /*counting=*/true);
      const parallel::Chunk own = chunk(number);
      loops->append(counter, &own);
      storeAt(target, counter.lastCount(), counts, number);
    });
    loops->finish();
  });
  freeBuffers(target, next);
  return summarize(counts, chunks);
}

//===--- Tickets ---===//

void ChunkedAppend::begin() {
  OpBuilder &b = target.builder;
  next = make<memref::AllocOp>(target, MemRefType::get({1}, b.getI64Type()));
  storeAt(target, target.constantInt(b.getI64Type(), 0), next, target.constant(0));
}

/// The number of the next chunk that nobody has begun, until there is none below `end`.
void ChunkedAppend::eachNumber(Value end, function_ref<void(Value)> body) const {
  OpBuilder &b = target.builder;
  auto take = [&] {
    Value taken =
        make<memref::AtomicRMWOp>(target, arith::AtomicRMWKind::addi, target.constantInt(b.getI64Type(), 1),
                                  next, ValueRange{target.constant(0)});
    return make<arith::IndexCastOp>(target, b.getIndexType(), taken);
  };
  levels::whileLoop(
      target, take(), [&](Values number) { return target.isBelow(number[0], end); },
      [&](Values number) {
        body(number[0]);
        return Values{take()};
      });
}

/// Where a chunk begins in each group: waits until the chunks before it have said what they hold.
Values ChunkedAppend::scanInOrder(const Appender &appender, Value number) const {
  Values starts;
  for (auto [r, group] : llvm::enumerate(appender.levelGroups()))
    starts.push_back(make<ChainedScanOp>(target, group.count.get(), number, scanCells,
                                         target.constant(kCellWords * int64_t(r))));
  return starts;
}

void ChunkedAppend::appendOrElse(Target &target, const Stream &stream, Value bound, bool parallel, Mode mode,
                                 const Appending &how, function_ref<void()> alone) {
  if (!parallel || !bound || !possible(target, stream))
    return alone();
  ChunkedAppend chunked(target, stream, bound, mode);
  target.either(chunked.profitable(), [&] { chunked.append(how); }, alone);
}

void ChunkedAppend::append(const Appending &how) {
  plan(how);
  if (how.copied)
    how.copied->alias(target);
  Appender whole(target, how.unique, /*counting=*/false);
  whole.allocate(most);
  for (Value *table : {&bases, &firsts, &lasts})
    *table = newTable(target, chunks);
  if (mode == Mode::Counted)
    appendCounted(how, whole);
  else
    appendInOrder(how, whole);
}

void ChunkedAppend::appendInOrder(const Appending &how, Appender &whole) {
  const int64_t words = kCellWords * int64_t(whole.levelGroups().size());
  begin();
  scanCells = newTable(target, target.constant(words));
  for (int64_t at = 0; at < words; ++at)
    storeAt(target, target.constant(0), scanCells, target.constant(at));
  parallelTasks(target.builder, target.loc, threads, [&](Value) {
    staged() ? appendToStaging(how) : appendInPlace(how);
    fence(target);
  });
  Values counts;
  for (int64_t at = 1; at < words; at += kCellWords)
    counts.push_back(loadAt(target, scanCells, target.constant(at)));
  finish(whole, counts);
  freeBuffers(target, {next, scanCells});
}

//===--- Staging ---===//

void ChunkedAppend::move(const Target &staging, unsigned field, Value base, Value count, Value each) const {
  copyElements(target, staging.storage.fields[field], target.constant(0), target.storage.fields[field],
               target.mul(base, each), target.mul(count, each));
}

/// Elements first … last - 1 of a field become `by` more, and go `distance` further on. Modulo the field's
/// width: whether the last position fits is checked in the end.
void ChunkedAppend::shift(Value from, Value to, Value first, Value last, Value distance, Value by) const {
  by = make<arith::IndexCastOp>(target, cast<MemRefType>(to.getType()).getElementType(), by);
  forEach(target, first, last, LoopKind::Parallel, [&](Value at) {
    Value moved = make<arith::AddIOp>(target, loadAt(target, from, at), by);
    storeAt(target, moved, to, target.add(at, distance));
  });
}

/// What a chunk has of a group goes to the result, where it begins at `starts[r]` in group r.
void ChunkedAppend::moveGroup(const Target &staging, const Appender &appender, size_t r,
                              ValueRange starts) const {
  const LevelGroup &group = appender.levelGroups()[r];
  for (unsigned l = group.first; l < group.end; ++l)
    if (const auto &ref = *target.storage.layout.coordinates[l]; ref.offset == 0)
      move(staging, ref.field, starts[r], group.count.get(), target.constant(ref.stride));
  if (r == 0)
    return;
  const unsigned field = *target.storage.layout.positions[group.first];
  Value above = appender.parents(r, appender.levelGroups()[r - 1].count.get());
  shift(staging.storage.fields[field], target.storage.fields[field], target.constant(1), target.add(above, 1),
        appender.parents(r, starts[r - 1]), starts[r]);
}

/// One thread's chunks, by way of its staging buffer.
void ChunkedAppend::appendToStaging(const Appending &how) const {
  const std::optional<unsigned> shared = sharedPositions();
  Target staging = target;
  for (auto [field, buffer] : llvm::enumerate(staging.storage.fields))
    if (field != shared)
      buffer = {};
  Appender(staging, how.unique, /*counting=*/true).allocate(largest);
  std::unique_ptr<AppendLoops> loops = how.loops(staging, largest);
  eachNumber(chunks, [&](Value number) {
    Appender appender = how.appender(staging, /*counting=*/false);
    const parallel::Chunk own = chunk(number);
    appender.beginChunk(Values(appender.levelGroups().size(), target.constant(0)));
    loops->append(appender, &own);
    appender.finishChunk();
    Values starts = scanInOrder(appender, number);
    for (size_t r = 0; r < starts.size(); ++r)
      moveGroup(staging, appender, r, starts);
    Value count = appender.lastCount();
    if (!loops->moveValues(target, starts.back(), count))
      move(staging, target.storage.layout.valuesField(), starts.back(), count, target.blockValues());
    auto [first, last] = notePositions(appender, number, starts[0]);
    if (!first)
      return;
    Value positions = target.storage.fields[*shared];
    shift(positions, positions, first, last, target.constant(0), starts[0]);
  });
  loops->finish();
  for (auto [field, buffer] : llvm::enumerate(staging.storage.fields))
    if (field != shared)
      freeBuffers(target, buffer);
}

/// The second time, a chunk of the operands is in the caches. What is copied is copied chunk by chunk as
/// well: while one thread waits for memory, another one has something else to do.
void ChunkedAppend::appendInPlace(const Appending &how) const {
  std::unique_ptr<AppendLoops> loops = how.loops(target, {});
  eachNumber(chunks, [&](Value number) {
    const parallel::Chunk own = chunk(number);
    if (how.copied)
      how.copied->copy(target, number, chunks);
    Values starts;
    {
      Phase phase(target.builder, "analysis: number of positions");
      Appender counter = how.appender(target, /*counting=*/true);
      loops->append(counter, &own);
      starts = scanInOrder(counter, number);
    }
    Appender appender = how.appender(target, /*counting=*/false);
    appender.beginChunk(starts);
    loops->append(appender, &own);
    appender.finishChunk();
    notePositions(appender, number, starts[0]);
  });
  loops->finish();
}

//===--- Counted chunks ---===//

void ChunkedAppend::appendCounted(const Appending &how, Appender &whole) {
  Value starts = countBefore(), ends = newTable(target, threads);
  parallelTasks(target.builder, target.loc, threads, [&](Value task) {
    Register reached(target, loadAt(target, starts, task));
    std::unique_ptr<AppendLoops> loops = how.loops(target, {});
    Value each = target.constant(target.costs.chunksPerThread), first = target.mul(task, each);
    forEach(target, first, target.add(first, each), LoopKind::Reduction, [&](Value number) {
      Value start = reached.get();
      Appender appender = how.appender(target, /*counting=*/false);
      const parallel::Chunk own = chunk(number);
      appender.beginChunk(start);
      loops->append(appender, &own);
      appender.finishChunk();
      notePositions(appender, number, start);
      reached.set(appender.lastCount());
    });
    loops->finish();
    storeAt(target, reached.get(), ends, task);
    fence(target);
  });
  finish(whole, loadAt(target, ends, target.sub(threads, 1)));
  freeBuffers(target, {starts, ends});
}

/// The different coordinates of the last stored level in each fiber of a chunk, whose levels are full: the
/// entry that marks a coordinate for its fiber first is counted. `marks` has, by coordinate, 1 + the number
/// of the last fiber that has it: unlike a set, it need not be emptied between fibers.
Value ChunkedAppend::countChunk(Value marks, Value number) const {
  Phase phase(target.builder, "analysis: number of entries");
  OpBuilder &b = target.builder;
  const parallel::Chunk own = chunk(number);
  Register count(target, target.constant(0));
  cloneCounting(b, stream, &own, [&](ValueRange dims) {
    const Values coordinates = target.levelCoordinates(dims);
    const unsigned level = target.storedLevels() - 1;
    Value fiber = target.positionBelow(target.constant(0), 0, level, coordinates);
    Value mark = make<arith::IndexCastOp>(target, b.getI32Type(), target.add(fiber, 1));
    // Marked without a test: a branch that is guessed wrong costs more.
    Value before = loadAt(target, marks, coordinates[level]);
    storeAt(target, mark, marks, coordinates[level]);
    Value isFirst = target.isDifferent(before, mark);
    count.set(target.add(count.get(), target.toIndex(isFirst)));
  });
  return count.get();
}

/// A table with the positions before the first chunk of each thread.
Value ChunkedAppend::countBefore() {
  Value zero = target.constant(0), each = target.constant(target.costs.chunksPerThread);
  Value counted = target.mul(target.sub(threads, 1), each), counts = newTable(target, chunks);
  begin();
  parallelTasks(target.builder, target.loc, threads, [&](Value) {
    Type i32 = target.builder.getI32Type();
    Value size = target.levelSize(target.storedLevels() - 1), marks = newBuffer(target, i32, size);
    fillBuffer(target, marks, target.constant(0), size, target.constantInt(i32, 0));
    eachNumber(counted, [&](Value number) { storeAt(target, countChunk(marks, number), counts, number); });
    freeBuffers(target, marks);
  });
  Value starts = newTable(target, threads);
  reduce(target, threads, zero, [&](Value task, Values so) {
    storeAt(target, so[0], starts, task);
    Value last = target.umin(target.mul(target.add(task, 1), each), counted);
    return reduce(target, target.mul(task, each), last, so[0], [&](Value number, Values sum) {
      return Values{target.add(sum[0], loadAt(target, counts, number))};
    });
  });
  freeBuffers(target, {next, counts});
  return starts;
}

//===--- Shared positions ---===//

/// The field of the first group's positions, where it stands below full levels: its elements belong to
/// parents that are known before, and the chunks write them in place.
std::optional<unsigned> ChunkedAppend::sharedPositions() const {
  unsigned outer = 0;
  while (target.format(outer).kind == LevelKind::Dense)
    ++outer;
  return outer == 0 ? std::nullopt : target.storage.layout.positions[outer];
}

/// Notes and returns what a chunk that begins at `start` has written of the shared positions; nulls without.
std::pair<Value, Value> ChunkedAppend::notePositions(const Appender &appender, Value number,
                                                     Value start) const {
  if (!sharedPositions())
    return {};
  auto [first, last] = appender.chunkPositions();
  for (auto [value, table] : {std::pair(start, bases), std::pair(first, firsts), std::pair(last, lasts)})
    storeAt(target, value, table, number);
  return {first, last};
}

/// Parents between those of one chunk and those of the next have no entries. Returns where the last chunk's
/// end.
Value ChunkedAppend::joinPositions(unsigned field) const {
  Value zero = target.constant(0);
  return reduce(target, chunks, zero, [&](Value number, Values reached) {
    Value base = loadAt(target, bases, number);
    forEach(target, reached[0], loadAt(target, firsts, number), LoopKind::Parallel,
            [&](Value at) { target.store(field, at, base); });
    return Values{target.umax(reached[0], loadAt(target, lasts, number))};
  })[0];
}

/// What the buffers hold as soon as the chunks are done, with so many positions of each group.
void ChunkedAppend::finish(Appender &whole, ValueRange counts) const {
  auto shared = sharedPositions();
  whole.finishJoined(counts, shared ? joinPositions(*shared) : target.constant(0));
  freeBuffers(target, {bases, firsts, lasts});
}

} // namespace tulle::assemble
