// One pass of a radix partition by the upper bits of the parents; a sample of the stream says whether it is
// profitable.
#include "passes/assemble/algorithms/RadixPartition.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/assemble/algorithms/AllocationPlan.h"
#include "passes/assemble/algorithms/CoordinateList.h"
#include "passes/assemble/choose/Strategies.h"
#include <limits>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;
using format::ExprKind;
using format::LevelKind;
using levels::parallelTasks;

bool fitsRadixPartition(const TargetFacts &target, const Stream &stream) {
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

namespace {

Value newWords(const Target &target, Value count) {
  return newBuffer(target, target.builder.getI64Type(), count);
}

/// The row of a chunk in a table with an element for each range.
Value rowOf(const Target &target, const parallel::Chunk *chunk, Value ranges) {
  return chunk ? target.mul(chunk->index, ranges) : target.constant(0);
}

/// Assembles a target whose last level is compressed, below dense ones. A first pass distributes the entries
/// to lists, one for each of some hundred ranges of parents; then each range is counted, stored, sorted
/// and rid of repeats while it is in the cache. Every order of arrival below one parent stays what it is.
class RadixPartition {
public:
  RadixPartition(Target &target, const Stream &stream, bool parallel)
      : target(target), stream(stream), parallel(parallel), level(*bucketLevel(target.encoding())),
        inserts(boundInserts(target, stream)), parents(target.sizesOf(0, level)),
        coordinatesField(target.storage.layout.coordinates[level]->field),
        positionsField(*target.storage.layout.positions[level]) {}

  /// How entries arrive, from a sample (i1 each). A partition is profitable: there are more than a cache
  /// holds, and those that arrive after each other go to positions far from each other. Or all these
  /// positions are in the cache.
  struct Arrival {
    Value profitable, cacheResident;
  };
  Arrival arrival() const {
    Value many = target.isAbove(inserts, target.costs.cachedEntries);
    // The lists take memory of their own.
    Value bytes = target.mul(saturated(target, inserts), int64_t(8 * target.storage.dims.size() + 16));
    many = target.both(many, fitBytes(target, bytes));
    // Coordinates in lists may have 32 bits.
    for (Value size : target.storage.dims)
      many = target.both(many, target.isBelow(size, int64_t(1) << 32));
    Type bit = target.builder.getI1Type();
    Value no = target.constantInt(bit, 0);
    Values both = either(target, many, {bit, bit}, [&] { return sample(); }, [&] { return Values{no, no}; });
    return {both[0], both[1]};
  }

  /// Makes the target's buffers.
  void assemble() {
    OpBuilder &b = target.builder;
    chooseRanges();
    Value zero = target.constant(0);
    chunks = parallel ? make<ThreadsOp>(target, inserts, /*fixed=*/false) : target.constant(1);
    Value counts = target.mul(chunks, ranges);
    Value ends = newWords(target, counts), starts = newWords(target, target.add(ranges, 1));
    target.fill(ends, zero, counts, zero);
    countRanges(ends);
    // Each chunk's entries of each range begin: range by range, in a range chunk by chunk.
    Value total = make<ScanOp>(target, ends, zero, ranges, chunks, zero);
    forEach(target, ranges, LoopKind::Parallel,
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
      buildRange(list, target.read(starts, range), target.read(starts, target.add(range, 1)), range);
    });
    freeBuffers(target, {ends, starts, list.buffer()});
  }

  /// Whether several threads are profitable (i1). Null in code without threads.
  Value isConcurrent() {
    if (!parallel)
      return {};
    chunks = make<ThreadsOp>(target, inserts, /*fixed=*/false);
    return target.isAbove(chunks, 1);
  }

  /// Makes the target's buffers without lists: threads count, and then store, a chunk of the stream each.
  /// Every parent is a range: what a chunk's entries of it begin at is where they belong. Then the segments
  /// are finished in many ranges: few parents may have most of the entries.
  void assembleShared() {
    Value zero = target.constant(0);
    shift = zero;
    ranges = parents;
    // As wide as positions, which are as many as entries.
    Value cells = target.product(level, chunks, parents);
    Value ends = newBuffer(target, target.elementType(positionsField), cells),
          sums = newWords(target, chunks);
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
    forEach(target, ranges, LoopKind::Reduction, [&](Value range) {
      target.write(starts, range, target.read(positions, parentsOf(range).first));
    });
    finishRanges(starts, [](Value) {});
    freeBuffers(target, starts);
  }

private:
  Value parent(ValueRange dims) const {
    return target.positionBelow(target.constant(0), 0, level, target.levelCoordinates(dims));
  }

  /// Whether the entries of so many parents stay in the L2 cache until the next ones arrive.
  Value inCache(Value span) const {
    int64_t bytes = (target.storage.layout.fields[coordinatesField].width + 7) / 8;
    bytes += target.valueBytes();
    Value spans = target.umax(target.divide(parents, target.umax(span, 1)), 1);
    // Other data needs space as well.
    const int64_t l2 = costModel(target.builder.getInsertionBlock()->getParentOp()).cpu.l2;
    return target.compare(CmpIPredicate::ule, target.divide(inserts, spans), l2 / 4 / bytes);
  }

  /// A partition is profitable where hardly any sampled entry has its destination close to those of the
  /// entries shortly before it: else prefetching the destinations costs less.
  Values sample() const {
    OpBuilder &b = target.builder;
    const iteration::Costs &costs = target.costs;
    Value zero = target.constant(0);
    Value lines = target.zeros(b.getI64Type(), target.constant(costs.localityLines));
    Value none = target.constant(std::numeric_limits<int64_t>::max());
    Register seen(target, zero), missed(target, zero), least(target, none), most(target, zero),
        span(target, zero);
    Value chunks = target.divide(inserts, costs.localityRunEntries);
    Value apart = target.divide(chunks, costs.localityRuns);
    forEach(target, target.constant(costs.localityRuns), LoopKind::Reduction, [&](Value sample) {
      least.set(none);
      most.set(zero);
      const parallel::Chunk chunk{target.mul(sample, apart), chunks};
      cloneCounting(b, stream, &chunk, [&](ValueRange dims) {
        Value parent = this->parent(dims);
        least.set(target.umin(least.get(), parent));
        most.set(target.umax(most.get(), parent));
        // No line has the number 0.
        Value line = target.add(target.divide(parent, costs.localityLineParents), 1);
        Value slot = make<arith::RemUIOp>(target, line, target.constant(costs.localityLines));
        Value other = target.isDifferent(target.read(lines, slot), line);
        target.write(lines, slot, line);
        missed.set(target.add(missed.get(), target.toIndex(other)));
        seen.increment();
      });
      Value low = target.umin(least.get(), most.get());
      span.set(target.umax(span.get(), target.sub(most.get(), low)));
    });
    target.freeScratch();
    Value hits = target.divide(seen.get(), costs.localityHits);
    return {target.isAbove(missed.get(), target.sub(seen.get(), hits)), inCache(span.get())};
  }

  void chooseRanges() {
    Value wanted = target.divide(inserts, target.costs.entriesPerBucket);
    wanted = target.umin(wanted, target.costs.mostBuckets - 1);
    Value last = target.sub(target.umax(parents, 1), 1);
    Value more = make<arith::SubIOp>(target, bitLength(target, last), bitLength(target, wanted));
    shift = make<arith::MaxSIOp>(target, more, target.constant(0));
    ranges = target.add(target.shiftRight(last, shift), 1);
  }

  Value rangeOf(ValueRange dims) const { return target.shiftRight(parent(dims), shift); }

  /// Counts each chunk's entries of each range.
  void countRanges(Value ends) const {
    forChunks(target, parallel ? chunks : Value(), [&](const parallel::Chunk *chunk) {
      Value row = rowOf(target, chunk, ranges);
      cloneCounting(target.builder, stream, chunk,
                    [&](ValueRange dims) { target.increment(ends, target.add(row, rangeOf(dims))); });
    });
  }

  /// The buffers for so many entries; the first position is in place.
  void allocate(Value total) const {
    target.allocate(positionsField, target.add(parents, 1));
    target.checkWidth(positionsField, total);
    target.allocateCoordinates(level, total);
    target.allocate(target.storage.layout.valuesField(), total);
    target.store(positionsField, target.constant(0), target.constant(0));
  }

  /// The first parent of a range, and the one behind its last.
  std::pair<Value, Value> parentsOf(Value range) const {
    Value first = target.shiftLeft(range, shift);
    Value next = target.shiftLeft(target.add(range, 1), shift);
    return {first, target.umin(next, parents)};
  }

  void storeCoordinates(Value position, ValueRange dims, Value value) const {
    target.storeCoordinate(level, position, target.levelCoordinates(dims)[level]);
    target.storeValue(position, value);
  }

  /// Element p + 1 of the positions counts the entries of parent p, is where they begin then, and where they
  /// end when all are stored.
  void buildRange(const CoordinateList &list, Value begin, Value end, Value range) const {
    Value positions = target.storage.fields[positionsField];
    auto [first, last] = parentsOf(range);
    Value low = target.add(first, 1), high = target.add(last, 1);
    target.fill(positions, low, high, target.constant(0));
    auto take = [&](ValueRange dims) { return target.increment(positions, target.add(parent(dims), 1)); };
    forEach(target, begin, end, LoopKind::Reduction, [&](Value k) { take(list.dims(k)); });
    ScanOp::create(target.builder, target.loc, positions, low, high, Value(), begin);
    forEach(target, begin, end, LoopKind::Reduction, [&](Value k) {
      Values dims = list.dims(k);
      Value value = list.value(k);
      storeCoordinates(take(dims), dims, value);
    });
  }

  /// Whether entries of one parent arrive in order.
  bool arrivesSorted() const { return arrivesInOrder(stream.order, level); }

  /// Builds each range, sorts what its parents have, and combines repeats, on several threads where there are
  /// any. Ranges that have lost entries move together then.
  void finishRanges(Value starts, function_ref<void(Value range)> build) const {
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
      forEach(target, ranges, LoopKind::Reduction, finish);
    if (!kept)
      return;
    joinRanges(starts, kept);
    freeBuffers(target, kept);
  }

  /// Ranges that have lost entries leave gaps: those behind move up.
  void joinRanges(Value starts, Value kept) const {
    Value positions = target.storage.fields[positionsField];
    const unsigned values = target.storage.layout.valuesField();
    auto moveRange = [&](Value range, Value begin, Value to) {
      Value distance = target.sub(begin, to), count = target.read(kept, range);
      for (unsigned field : {coordinatesField, values}) {
        Value buffer = target.storage.fields[field];
        forEach(target, count, LoopKind::Reduction, [&](Value k) {
          storeAt(target, loadAt(target, buffer, target.add(begin, k)), buffer, target.add(to, k));
        });
      }
      auto [first, last] = parentsOf(range);
      forEach(target, target.add(first, 1), target.add(last, 1), LoopKind::Parallel, [&](Value at) {
        target.write(positions, at, target.sub(target.read(positions, at), distance));
      });
    };
    Value total = reduce(target, ranges, target.constant(0), [&](Value range, Values to) {
      Value begin = target.read(starts, range);
      when(target, target.isDifferent(begin, to[0]), [&] { moveRange(range, begin, to[0]); });
      return Values{target.add(to[0], target.read(kept, range))};
    })[0];
    target.shrink(coordinatesField, total);
    target.shrink(values, total);
  }

  /// How many entries the parents have that a thread scans: where each thread's begin. Returns the number of
  /// all.
  Value countChunks(Value ends, Value sums) const {
    Value zero = target.constant(0);
    forRanges(target, chunks, parents, [&](Value number, Value first, Value last) {
      Values all = reduce(target, chunks, zero, [&](Value chunk, Values sum) {
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
  void scanChunks(Value ends, Value sums) const {
    Value positions = target.storage.fields[positionsField];
    forRanges(target, chunks, parents, [&](Value number, Value first, Value last) {
      reduce(target, first, last, target.read(sums, number), [&](Value at, Values before) {
        Values sum = reduce(target, chunks, before, [&](Value chunk, Values sum) {
          Value cell = target.add(target.mul(chunk, parents), at), count = target.read(ends, cell);
          target.write(ends, cell, sum[0]);
          return Values{target.add(sum[0], count)};
        });
        target.write(positions, target.add(at, 1), sum[0]);
        return sum;
      });
    });
  }

  Target &target;
  const Stream &stream;
  const bool parallel;
  const unsigned level;   ///< the compressed one
  Value inserts, parents; ///< an upper bound of the inserts; positions above the level
  Value shift, ranges;    ///< the range of a parent is its upper bits; how many there are
  Value chunks;           ///< of the stream, one for each thread
  unsigned coordinatesField;
  unsigned positionsField;
};

} // namespace

void partitionOrElse(Target &target, const Stream &stream, bool parallel,
                     function_ref<void(Value cacheResident)> direct) {
  RadixPartition partition(target, stream, parallel);
  RadixPartition::Arrival arrival = partition.arrival();
  auto alone = [&] { direct(arrival.cacheResident); };
  auto together = [&] {
    Value concurrent = partition.isConcurrent();
    if (!concurrent)
      return alone();
    target.either(concurrent, [&] { partition.assembleShared(); }, alone);
  };
  target.either(arrival.profitable, [&] { partition.assemble(); }, together);
}

} // namespace tulle::assemble
