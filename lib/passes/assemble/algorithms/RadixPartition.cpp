// One pass of a radix partition by the upper bits of the parents; a sample of the stream says whether it is
// profitable.
#include "passes/assemble/algorithms/RadixPartition.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/assemble/algorithms/AllocationPlan.h"
#include "passes/assemble/choose/ScatterRules.h"
#include <limits>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;
using format::ExprKind;
using format::LevelKind;
using levels::parallelTasks;

bool RadixPartition::fits(const TargetFacts &target, const Stream &stream) {
  const Order &order = stream.order;
  std::optional<unsigned> bucket = bucketLevel(target.encoding());
  if (!bucket || *bucket == 0 || !sortsSegments(target.encoding(), *bucket) ||
      has(order, ExprKind::Counter) || has(order, ExprKind::Rank) || target.storage.digits.empty() ||
      target.format(*bucket).kind != LevelKind::Compressed || order.sortedLevels() >= *bucket ||
      !canPartition(*stream.loops))
    return false;
  // Positions count entries before their number is known to fit.
  unsigned width = target.storage.layout.fields[*target.storage.layout.positions[*bucket]].width;
  if (width != 0 && width < 32)
    return false;
  return llvm::all_of(llvm::seq(*bucket), [&](unsigned l) {
    return target.format(l).kind == LevelKind::Dense && !target.storage.layout.sizes[l];
  });
}

RadixPartition::RadixPartition(Target &target, const Stream &stream, bool parallel)
    : target(target), stream(stream), parallel(parallel), level(*bucketLevel(target.encoding())),
      inserts(boundInserts(target, stream)), parents(target.constant(1)),
      coordinatesField(target.storage.layout.coordinates[level]->field),
      positionsField(*target.storage.layout.positions[level]) {
  for (unsigned l = 0; l < level; ++l)
    parents = target.product(l, parents, target.levelSize(l));
}

static Value newWords(const Target &target, Value count) {
  return newBuffer(target, target.builder.getI64Type(), count);
}

Value RadixPartition::parent(ValueRange dims) const {
  Values coordinates = target.levelCoordinates(dims);
  Value position = target.constant(0);
  for (unsigned l = 0; l < level; ++l)
    position = target.add(target.mul(position, target.levelSize(l)), coordinates[l]);
  return position;
}

//===--- Profitability ---===//

/// Whether the entries of so many parents stay in the L2 cache until the next ones arrive.
Value RadixPartition::inCache(Value span) const {
  int64_t bytes = (target.storage.layout.fields[coordinatesField].width + 7) / 8;
  Type element = target.storage.element;
  bytes += isa<ComplexType>(element) ? 16 : std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1);
  Value one = target.constant(1);
  Value spans = make<arith::DivUIOp>(target, parents, make<arith::MaxUIOp>(target, span, one));
  spans = make<arith::MaxUIOp>(target, spans, one);
  // Other data needs space as well.
  const int64_t l2 = costModel(target.builder.getInsertionBlock()->getParentOp()).cpu.l2;
  return target.compare(CmpIPredicate::ule, make<arith::DivUIOp>(target, inserts, spans),
                        target.constant(l2 / 4 / bytes));
}

/// A partition is profitable where hardly any sampled entry has its destination close to those of the entries
/// shortly before it: else prefetching the destinations costs less.
RadixPartition::Arrival RadixPartition::sample() const {
  OpBuilder &b = target.builder;
  const iteration::Costs &costs = target.costs;
  Value zero = target.constant(0), one = target.constant(1);
  Value lines = target.zeros(b.getI64Type(), target.constant(costs.localityLines));
  Value none = target.constant(std::numeric_limits<int64_t>::max());
  Register seen(target, zero), missed(target, zero), least(target, none), most(target, zero),
      span(target, zero);
  Value chunks = make<arith::DivUIOp>(target, inserts, target.constant(costs.localityRunEntries));
  Value apart = make<arith::DivUIOp>(target, chunks, target.constant(costs.localityRuns));
  forEach(target, zero, target.constant(costs.localityRuns), LoopKind::Reduction, [&](Value sample) {
    least.set(none);
    most.set(zero);
    const parallel::Chunk chunk{target.mul(sample, apart), chunks};
    cloneCounting(b, stream, &chunk, [&](ValueRange dims) {
      Value parent = this->parent(dims);
      least.set(make<arith::MinUIOp>(target, least.get(), parent));
      most.set(make<arith::MaxUIOp>(target, most.get(), parent));
      // No line has the number 0.
      Value line = make<arith::DivUIOp>(target, parent, target.constant(costs.localityLineParents));
      line = target.add(line, one);
      Value slot = make<arith::RemUIOp>(target, line, target.constant(costs.localityLines));
      Value other = target.compare(CmpIPredicate::ne, target.read(lines, slot), line);
      target.write(lines, slot, line);
      Value step = make<arith::IndexCastUIOp>(target, b.getIndexType(), other);
      missed.set(target.add(missed.get(), step));
      seen.increment();
    });
    Value low = make<arith::MinUIOp>(target, least.get(), most.get());
    span.set(make<arith::MaxUIOp>(target, span.get(), target.sub(most.get(), low)));
  });
  target.freeScratch();
  Value hits = make<arith::DivUIOp>(target, seen.get(), target.constant(costs.localityHits));
  return {target.compare(CmpIPredicate::ugt, missed.get(), target.sub(seen.get(), hits)),
          inCache(span.get())};
}

RadixPartition::Arrival RadixPartition::arrival() const {
  Value many = target.compare(CmpIPredicate::ugt, inserts, target.constant(target.costs.cachedEntries));
  // The lists take memory of their own.
  Value bytes =
      target.mul(saturated(target, inserts), target.constant(int64_t(8 * target.storage.dims.size() + 16)));
  many = make<arith::AndIOp>(target, many, fitBytes(target, bytes));
  // Coordinates in lists may have 32 bits.
  for (Value size : target.storage.dims) {
    Value narrow = target.compare(CmpIPredicate::ult, size, target.constant(int64_t(1) << 32));
    many = make<arith::AndIOp>(target, many, narrow);
  }
  Type bit = target.builder.getI1Type();
  Value no = target.constantInt(bit, 0);
  Values both = either(
      target, many, {bit, bit},
      [&] {
        Arrival found = sample();
        return Values{found.profitable, found.cacheResident};
      },
      [&] { return Values{no, no}; });
  return {both[0], both[1]};
}

//===--- Lists ---===//

/// The number of bits of a value.
static Value bitLength(const Target &target, Value value) {
  Type word = target.builder.getI64Type();
  Value wide = make<arith::IndexCastOp>(target, word, value);
  Value zeros = make<LLVM::CountLeadingZerosOp>(target, word, wide, /*is_zero_poison=*/false);
  return make<arith::SubIOp>(target, target.constant(64),
                             make<arith::IndexCastUIOp>(target, value.getType(), zeros));
}

void RadixPartition::chooseRanges() {
  Value zero = target.constant(0), one = target.constant(1);
  Value wanted = make<arith::DivUIOp>(target, inserts, target.constant(target.costs.entriesPerBucket));
  wanted = make<arith::MinUIOp>(target, wanted, target.constant(target.costs.mostBuckets - 1));
  Value last = target.sub(make<arith::MaxUIOp>(target, parents, one), one);
  Value more = make<arith::SubIOp>(target, bitLength(target, last), bitLength(target, wanted));
  shift = make<arith::MaxSIOp>(target, more, zero);
  ranges = target.add(make<arith::ShRUIOp>(target, last, shift), one);
}

Value RadixPartition::rangeOf(ValueRange dims) const {
  return make<arith::ShRUIOp>(target, parent(dims), shift);
}

/// The row of a chunk in a table with an element for each range.
static Value rowOf(const Target &target, const parallel::Chunk *chunk, Value ranges) {
  return chunk ? target.mul(chunk->index, ranges) : target.constant(0);
}

/// Counts each chunk's entries of each range.
void RadixPartition::countRanges(Value ends) const {
  forChunks(target, parallel ? chunks : Value(), [&](const parallel::Chunk *chunk) {
    Value row = rowOf(target, chunk, ranges);
    cloneCounting(target.builder, stream, chunk,
                  [&](ValueRange dims) { target.increment(ends, target.add(row, rangeOf(dims))); });
  });
}

void RadixPartition::assemble() {
  OpBuilder &b = target.builder;
  chooseRanges();
  Value zero = target.constant(0), one = target.constant(1);
  chunks = parallel ? make<ThreadsOp>(target, inserts, /*fixed=*/false) : one;
  Value counts = target.mul(chunks, ranges);
  Value ends = newWords(target, counts), starts = newWords(target, target.add(ranges, one));
  target.fill(ends, zero, counts, zero);
  countRanges(ends);
  // Each chunk's entries of each range begin: range by range, in a range chunk by chunk.
  Value total = make<ScanOp>(target, ends, zero, ranges, chunks, zero);
  forEach(target, zero, ranges, LoopKind::Parallel,
          [&](Value range) { target.write(starts, range, target.read(ends, range)); });
  target.write(starts, ranges, total);
  CoordinateList list(target, CoordinateList(target, {}).allocate(total));
  list.checkSizes();
  forChunks(target, parallel ? chunks : Value(), [&](const parallel::Chunk *chunk) {
    Value row = rowOf(target, chunk, ranges);
    cloneLoops(b, stream, chunk, [&](ValueRange dims, Value value) {
      list.put(target.increment(ends, target.add(row, rangeOf(dims))), dims, value);
    });
  });
  allocate(total);
  finishRanges(starts, [&](Value range) {
    buildRange(list, target.read(starts, range), target.read(starts, target.add(range, one)), range);
  });
  freeBuffers(target, {ends, starts, list.buffer()});
}

//===--- The tensor ---===//

/// The buffers for so many entries; the first position is in place.
void RadixPartition::allocate(Value total) const {
  target.allocate(positionsField, target.add(parents, target.constant(1)));
  target.checkWidth(positionsField, total);
  target.allocateCoordinates(level, total);
  target.allocate(target.storage.layout.valuesField(), total);
  target.store(positionsField, target.constant(0), target.constant(0));
}

/// The first parent of a range, and the one behind its last.
RadixPartition::Bounds RadixPartition::parentsOf(Value range) const {
  Value first = make<arith::ShLIOp>(target, range, shift);
  Value next = make<arith::ShLIOp>(target, target.add(range, target.constant(1)), shift);
  return {first, make<arith::MinUIOp>(target, next, parents)};
}

void RadixPartition::storeCoordinates(Value position, ValueRange dims, Value value) const {
  target.storeCoordinate(level, position, target.levelCoordinates(dims)[level]);
  target.storeValue(position, value);
}

/// Element p + 1 of the positions counts the entries of parent p, is where they begin then, and where they
/// end when all are stored.
void RadixPartition::buildRange(const CoordinateList &list, Value begin, Value end, Value range) const {
  Value one = target.constant(1), positions = target.storage.fields[positionsField];
  auto [first, last] = parentsOf(range);
  Value low = target.add(first, one), high = target.add(last, one);
  target.fill(positions, low, high, target.constant(0));
  auto take = [&](ValueRange dims) { return target.increment(positions, target.add(parent(dims), one)); };
  forEach(target, begin, end, LoopKind::Reduction, [&](Value k) { take(list.dims(k)); });
  ScanOp::create(target.builder, target.loc, positions, low, high, Value(), begin);
  forEach(target, begin, end, LoopKind::Reduction, [&](Value k) {
    Values dims = list.dims(k);
    Value value = list.value(k);
    storeCoordinates(take(dims), dims, value);
  });
}

/// Whether entries of one parent arrive in order.
bool RadixPartition::arrivesSorted() const { return arrivesInOrder(stream.order, level); }

/// Builds each range, sorts what its parents have, and combines repeats, on several threads where there are
/// any. Ranges that have lost entries move together then.
void RadixPartition::finishRanges(Value starts, function_ref<void(Value range)> build) const {
  Value kept = stream.order.unique ? Value() : newWords(target, ranges);
  auto finish = [&](Value range) {
    build(range);
    auto [first, last] = parentsOf(range);
    Value begin = target.read(starts, range);
    if (!arrivesSorted())
      target.sortSegments(first, last, begin);
    if (kept)
      target.write(kept, range, target.sub(target.combineRepeats(first, last, begin), begin));
  };
  if (parallel)
    parallelTasks(target.builder, target.loc, ranges, finish);
  else
    forEach(target, target.constant(0), ranges, LoopKind::Reduction, finish);
  if (!kept)
    return;
  joinRanges(starts, kept);
  freeBuffers(target, kept);
}

/// Ranges that have lost entries leave gaps: those behind move up.
void RadixPartition::joinRanges(Value starts, Value kept) const {
  Value zero = target.constant(0), one = target.constant(1),
        positions = target.storage.fields[positionsField];
  const unsigned values = target.storage.layout.valuesField();
  auto moveRange = [&](Value range, Value begin, Value to) {
    Value distance = target.sub(begin, to), count = target.read(kept, range);
    for (unsigned field : {coordinatesField, values}) {
      Value buffer = target.storage.fields[field];
      forEach(target, zero, count, LoopKind::Reduction, [&](Value k) {
        storeAt(target, loadAt(target, buffer, target.add(begin, k)), buffer, target.add(to, k));
      });
    }
    auto [first, last] = parentsOf(range);
    forEach(target, target.add(first, one), target.add(last, one), LoopKind::Parallel,
            [&](Value at) { target.write(positions, at, target.sub(target.read(positions, at), distance)); });
  };
  Value total = reduce(target, zero, ranges, zero, [&](Value range, Values to) {
    Value begin = target.read(starts, range);
    when(target, target.compare(CmpIPredicate::ne, begin, to[0]), [&] { moveRange(range, begin, to[0]); });
    return Values{target.add(to[0], target.read(kept, range))};
  })[0];
  target.shrink(coordinatesField, total);
  target.shrink(values, total);
}

//===--- Threads without lists ---===//

Value RadixPartition::isConcurrent() {
  if (!parallel)
    return {};
  chunks = make<ThreadsOp>(target, inserts, /*fixed=*/false);
  return target.compare(CmpIPredicate::ugt, chunks, target.constant(1));
}

/// How many entries the parents have that a thread scans: where each thread's begin. Returns the number of
/// all.
Value RadixPartition::countChunks(Value ends, Value sums) const {
  Value zero = target.constant(0);
  forRanges(target, chunks, parents, [&](Value number, Value first, Value last) {
    Values all = reduce(target, zero, chunks, zero, [&](Value chunk, Values sum) {
      return reduce(target, first, last, sum, [&](Value at, Values sum) {
        Value cell = target.add(target.mul(chunk, parents), at);
        return Values{target.add(sum[0], target.read(ends, cell))};
      });
    });
    target.write(sums, number, all[0]);
  });
  return make<ScanOp>(target, sums, zero, chunks, Value(), zero);
}

/// What each chunk has of each parent becomes where it goes; `sums` has where each thread's parents begin.
void RadixPartition::scanChunks(Value ends, Value sums) const {
  Value positions = target.storage.fields[positionsField];
  forRanges(target, chunks, parents, [&](Value number, Value first, Value last) {
    reduce(target, first, last, target.read(sums, number), [&](Value at, Values before) {
      Values sum = reduce(target, target.constant(0), chunks, before, [&](Value chunk, Values sum) {
        Value cell = target.add(target.mul(chunk, parents), at), count = target.read(ends, cell);
        target.write(ends, cell, sum[0]);
        return Values{target.add(sum[0], count)};
      });
      target.write(positions, target.add(at, target.constant(1)), sum[0]);
      return sum;
    });
  });
}

/// Every parent is a range: what a chunk's entries of it begin at is where they belong. Then the segments are
/// finished in many ranges: few parents may have most of the entries.
void RadixPartition::assembleShared() {
  Value zero = target.constant(0);
  shift = zero;
  ranges = parents;
  // As wide as positions, which are as many as entries.
  Value cells = target.product(level, chunks, parents);
  Value ends = newBuffer(target, target.elementType(positionsField), cells), sums = newWords(target, chunks);
  forRanges(target, chunks, cells,
            [&](Value, Value first, Value last) { target.fill(ends, first, last, zero); });
  countRanges(ends);
  allocate(countChunks(ends, sums));
  scanChunks(ends, sums);
  forChunks(target, chunks, [&](const parallel::Chunk *chunk) {
    Value row = rowOf(target, chunk, ranges);
    cloneLoops(target.builder, stream, chunk, [&](ValueRange dims, Value value) {
      storeCoordinates(target.increment(ends, target.add(row, rangeOf(dims))), dims, value);
    });
  });
  freeBuffers(target, {ends, sums});
  if (stream.order.unique && arrivesSorted())
    return;
  chooseRanges();
  Value starts = newWords(target, ranges), positions = target.storage.fields[positionsField];
  // A range that loses entries moves where the next one begins.
  forEach(target, zero, ranges, LoopKind::Reduction,
          [&](Value range) { target.write(starts, range, target.read(positions, parentsOf(range).first)); });
  finishRanges(starts, [](Value) {});
  freeBuffers(target, starts);
}

} // namespace tulle::assemble
