#include "passes/assemble/algorithms/RadixPartition.h"
#include "dialect/Costs.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/assemble/algorithms/AllocationPlan.h"
#include <limits>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;
using format::LevelKind;
using levels::forLoop;
using Carried = levels::Values;

bool RadixPartition::fits(const Target &target, AssembleOp op, const Order &order, unsigned level) {
  unsigned width = target.storage.layout.positions[level]
                       ? target.storage.layout.fields[*target.storage.layout.positions[level]].width
                       : 0;
  // Positions count entries before their number is known to fit.
  if (level == 0 || target.storage.digits.empty() || target.format(level).kind != LevelKind::Compressed ||
      (width != 0 && width < 32) || order.sortedLevels() >= level || !canPartition(op))
    return false;
  for (unsigned l = 0; l < level; ++l)
    if (target.format(l).kind != LevelKind::Dense || target.storage.layout.sizes[l])
      return false;
  return true;
}

RadixPartition::RadixPartition(OpBuilder &b, Target &target, AssembleOp op, const Order &order,
                               unsigned level)
    : target(target), op(op), order(order), loc(target.loc), level(level),
      inserts(boundInserts(b, target, op)) {
  levels::Emitter emit = target.emitter(b);
  parents = emit.constant(1);
  for (unsigned l = 0; l < level; ++l)
    parents = target.checkedSize(b, l, parents, emit.levelSize(l));
}

static Value buffer(OpBuilder &b, Location loc, Value count) {
  return levels::allocate(b, loc, MemRefType::get({ShapedType::kDynamic}, b.getI64Type()), count);
}

Value RadixPartition::parent(OpBuilder &b, ValueRange dims) const {
  levels::Emitter emit = target.emitter(b);
  Values coordinates = target.levelCoordinates(b, dims);
  Value position = emit.constant(0);
  for (unsigned l = 0; l < level; ++l)
    position = emit.add(emit.mul(position, emit.levelSize(l)), coordinates[l]);
  return position;
}

//===--- Profitability ---===//

/// Whether the entries of so many parents stay in the second cache until the next ones arrive.
Value RadixPartition::fitsCache(OpBuilder &b, Value span) const {
  levels::Emitter emit = target.emitter(b);
  const format::Layout &layout = target.storage.layout;
  int64_t bytes = (layout.fields[layout.coordinates[level]->field].width + 7) / 8;
  Type element = target.storage.element;
  bytes += isa<ComplexType>(element) ? 16 : std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1);
  Value one = emit.constant(1);
  Value parts = arith::DivUIOp::create(b, loc, parents, Value(arith::MaxUIOp::create(b, loc, span, one)));
  parts = arith::MaxUIOp::create(b, loc, parts, one);
  // Other data needs space as well.
  return emit.compare(CmpIPredicate::ule, arith::DivUIOp::create(b, loc, inserts, parts),
                      emit.constant(costModel(op).cpu.l2 / 4 / bytes));
}

/// A partition is profitable where hardly any sampled entry has its destination near those of the entries
/// shortly before it: else prefetching the destinations costs less.
RadixPartition::Arrival RadixPartition::sample(OpBuilder &b) const {
  TargetAssembly a(b, target);
  const iteration::Costs &costs = target.costs;
  Value zero = a.constant(0), one = a.constant(1),
        lines = a.zeros(b.getI64Type(), a.constant(costs.localityLines));
  Value none = a.constant(std::numeric_limits<int64_t>::max());
  Register seen(b, loc, zero), missed(b, loc, zero), least(b, loc, none), most(b, loc, zero),
      span(b, loc, zero);
  Value cuts = arith::DivUIOp::create(b, loc, inserts, a.constant(costs.localityRunEntries));
  Value apart = arith::DivUIOp::create(b, loc, cuts, a.constant(costs.localityRuns));
  forLoop(b, loc, zero, a.constant(costs.localityRuns), LoopKind::Reduction, {}, [&](Value sample, Carried) {
    least.set(b, none);
    most.set(b, zero);
    const parallel::Chunk chunk{a.mul(sample, apart), cuts};
    cloneCounting(b, op, &chunk, [&](OpBuilder &b, ValueRange dims) {
      Value parent = this->parent(b, dims);
      least.set(b, arith::MinUIOp::create(b, loc, least.get(b), parent));
      most.set(b, arith::MaxUIOp::create(b, loc, most.get(b), parent));
      // No line has the number 0.
      Value line = a.add(arith::DivUIOp::create(b, loc, parent, a.constant(costs.localityLineParents)), one);
      Value slot = arith::RemUIOp::create(b, loc, line, a.constant(costs.localityLines));
      Value other = a.compare(CmpIPredicate::ne, a.read(lines, slot), line);
      a.write(lines, slot, line);
      Value step = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), other);
      missed.set(b, a.add(missed.get(b), step));
      seen.increment(b);
    });
    Value low = arith::MinUIOp::create(b, loc, least.get(b), most.get(b));
    span.set(b, arith::MaxUIOp::create(b, loc, span.get(b), a.sub(most.get(b), low)));
    return Carried{};
  });
  a.freeScratch();
  Value hits = arith::DivUIOp::create(b, loc, seen.get(b), a.constant(costs.localityHits));
  return {a.compare(CmpIPredicate::ugt, missed.get(b), a.sub(seen.get(b), hits)), fitsCache(b, span.get(b))};
}

RadixPartition::Arrival RadixPartition::arrival(OpBuilder &b) const {
  levels::Emitter emit = target.emitter(b);
  Value many = emit.compare(CmpIPredicate::ugt, inserts, emit.constant(target.costs.cachedEntries));
  // The lists take memory of their own; saturated, what would wrap does not fit.
  Value few = arith::MinUIOp::create(b, loc, inserts, emit.constant(int64_t(1) << 40));
  Value bytes = emit.mul(few, emit.constant(int64_t(8 * target.storage.dims.size() + 16)));
  many = arith::AndIOp::create(b, loc, many, fitsMemory(b, target, bytes));
  // Coordinates in lists may have 32 bits.
  for (Value size : target.storage.dims) {
    Value narrow = emit.compare(CmpIPredicate::ult, size, emit.constant(int64_t(1) << 32));
    many = arith::AndIOp::create(b, loc, many, narrow);
  }
  Value no = arith::ConstantIntOp::create(b, loc, 0, 1);
  Carried both = levels::ifElse(
      b, loc, many, {b.getI1Type(), b.getI1Type()},
      [&] {
        Arrival found = sample(b);
        return Carried{found.profitable, found.near};
      },
      [&] { return Carried{no, no}; });
  return {both[0], both[1]};
}

//===--- Lists ---===//

/// The number of bits of a value.
static Value bitLength(OpBuilder &b, Location loc, Value value) {
  Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
  Value zeros = LLVM::CountLeadingZerosOp::create(b, loc, b.getI64Type(), wide, /*is_zero_poison=*/false);
  Value all = arith::ConstantIndexOp::create(b, loc, 64);
  return arith::SubIOp::create(b, loc, all, arith::IndexCastUIOp::create(b, loc, b.getIndexType(), zeros));
}

void RadixPartition::chooseRanges(OpBuilder &b) {
  levels::Emitter emit = target.emitter(b);
  Value zero = emit.constant(0), one = emit.constant(1);
  Value wanted = arith::DivUIOp::create(b, loc, inserts, emit.constant(target.costs.entriesPerBucket));
  wanted = arith::MinUIOp::create(b, loc, wanted, emit.constant(target.costs.mostBuckets - 1));
  Value some = arith::MaxUIOp::create(b, loc, parents, one), last = emit.sub(some, one);
  Value more = arith::SubIOp::create(b, loc, bitLength(b, loc, last), bitLength(b, loc, wanted));
  shift = arith::MaxSIOp::create(b, loc, more, zero);
  ranges = emit.add(arith::ShRUIOp::create(b, loc, last, shift), one);
}

Value RadixPartition::rangeOf(OpBuilder &b, ValueRange dims) const {
  return arith::ShRUIOp::create(b, loc, parent(b, dims), shift);
}

/// Runs the body for each chunk of the stream; without threads, for all of it.
void RadixPartition::forChunks(OpBuilder &b,
                               function_ref<void(OpBuilder &, const parallel::Chunk *, Value)> body) const {
  if (!target.parallel)
    return body(b, nullptr, target.emitter(b).constant(0));
  levels::parallelTasks(b, loc, chunks, [&](Value number) {
    const parallel::Chunk chunk{number, chunks};
    body(b, &chunk, target.emitter(b).mul(number, ranges));
  });
}

/// Runs the body for as many parts of 0 … count-1 as there are chunks.
void RadixPartition::forParts(OpBuilder &b, Value count,
                              function_ref<void(Value number, Value first, Value last)> body) const {
  levels::parallelTasks(b, loc, chunks, [&](Value number) {
    auto [first, last] = parallel::chunkBounds(b, loc, count, {number, chunks});
    body(number, first, last);
  });
}

/// Counts each chunk's entries of each range.
void RadixPartition::countRanges(OpBuilder &b, Value ends) const {
  forChunks(b, [&](OpBuilder &b, const parallel::Chunk *chunk, Value first) {
    auto count = [&](OpBuilder &b, ValueRange dims) {
      TargetAssembly a(b, target);
      a.increment(ends, a.add(first, rangeOf(b, dims)));
    };
    cloneCounting(b, op, chunk, count);
  });
}

/// Where each chunk's entries of each range begin: range by range, in a range chunk by chunk. Returns the
/// number of all entries.
Value RadixPartition::startRanges(OpBuilder &b, Value ends, Value starts) const {
  TargetAssembly a(b, target);
  Value zero = a.constant(0);
  Value total = forLoop(b, loc, zero, ranges, LoopKind::Reduction, zero, [&](Value range, Carried before) {
    a.write(starts, range, before[0]);
    return forLoop(b, loc, zero, chunks, LoopKind::Reduction, before[0], [&](Value chunk, Carried sum) {
      Value at = a.add(a.mul(chunk, ranges), range), count = a.read(ends, at);
      a.write(ends, at, sum[0]);
      return Carried{a.add(sum[0], count)};
    });
  })[0];
  a.write(starts, ranges, total);
  return total;
}

void RadixPartition::distribute(OpBuilder &b, Value ends, const CoordinateList &lists) const {
  forChunks(b, [&](OpBuilder &b, const parallel::Chunk *chunk, Value first) {
    auto put = [&](OpBuilder &b, ValueRange dims, Value value) {
      TargetAssembly a(b, target);
      lists.put(b, a.increment(ends, a.add(first, rangeOf(b, dims))), dims, value);
    };
    cloneLoops(b, op, chunk, put);
  });
}

//===--- The tensor ---===//

/// The first parent of a range, and the one behind its last.
std::pair<Value, Value> RadixPartition::parentsOf(const TargetAssembly &a, Value range) const {
  OpBuilder &b = a.builder;
  Value first = arith::ShLIOp::create(b, loc, range, shift);
  Value next = arith::ShLIOp::create(b, loc, a.add(range, a.constant(1)), shift);
  return {first, arith::MinUIOp::create(b, loc, next, parents)};
}

/// Element p + 1 of the positions counts the entries of parent p, is where they begin then, and where they
/// end when all are stored.
void RadixPartition::buildRange(const TargetAssembly &a, const CoordinateList &lists, Value starts,
                                Value kept, Value range) const {
  OpBuilder &b = a.builder;
  Value one = a.constant(1), positions = a.made.fields[*a.made.layout.positions[level]];
  auto [first, last] = parentsOf(a, range);
  Value begin = a.read(starts, range), end = a.read(starts, a.add(range, one));
  a.fill(positions, a.add(first, one), a.add(last, one), a.constant(0));
  forLoop(b, loc, begin, end, LoopKind::Reduction, {}, [&](Value k, Carried) {
    a.increment(positions, a.add(parent(b, lists.at(b, k).first), one));
    return Carried{};
  });
  ScanOp::create(b, loc, positions, a.add(first, one), a.add(last, one), Value(), begin);
  forLoop(b, loc, begin, end, LoopKind::Reduction, {}, [&](Value k, Carried) {
    auto [dims, value] = lists.at(b, k);
    Value position = a.increment(positions, a.add(parent(b, dims), one));
    a.storeCoordinate(level, position, target.levelCoordinates(b, dims)[level]);
    target.storeValue(b, position, value);
    return Carried{};
  });
  finishRange(a, starts, kept, range);
}

/// Whether entries of one parent arrive in order.
bool RadixPartition::arrivesSorted() const {
  return order.sortedLevels(level) == order.levels.size() - level;
}

/// Sorts what the parents of a range have, and combines repeats; `kept` has the number that is left.
void RadixPartition::finishRange(const TargetAssembly &a, Value starts, Value kept, Value range) const {
  auto [first, last] = parentsOf(a, range);
  Value begin = a.read(starts, range);
  if (!arrivesSorted())
    target.sortSegments(a.builder, first, last, begin);
  if (kept)
    a.write(kept, range, a.sub(target.combineRepeats(a.builder, first, last, begin), begin));
}

/// Runs the body for each range, on several threads where there are any; it is told where it leaves the
/// numbers of entries that are left, if there may be fewer: ranges move together then.
void RadixPartition::forRanges(const TargetAssembly &a, Value starts,
                               function_ref<void(Value range, Value kept)> body) const {
  OpBuilder &b = a.builder;
  Value kept = order.unique ? Value() : buffer(b, loc, ranges);
  if (target.parallel)
    levels::parallelTasks(b, loc, ranges, [&](Value range) { body(range, kept); });
  else
    forLoop(b, loc, a.constant(0), ranges, LoopKind::Reduction, {}, [&](Value range, Carried) {
      body(range, kept);
      return Carried{};
    });
  if (!kept)
    return;
  joinRanges(a, starts, kept);
  memref::DeallocOp::create(b, loc, kept);
}

/// Ranges that have lost entries leave gaps: those behind move up.
void RadixPartition::joinRanges(const TargetAssembly &a, Value starts, Value kept) const {
  OpBuilder &b = a.builder;
  Value one = a.constant(1), positions = a.made.fields[*a.made.layout.positions[level]];
  unsigned coordinates = a.made.layout.coordinates[level]->field, values = a.made.layout.valuesField();
  auto moveRange = [&](Value range, Value begin, Value to) {
    Value distance = a.sub(begin, to), count = a.read(kept, range);
    for (Value buffer : {a.made.fields[coordinates], a.made.fields[values]})
      forLoop(b, loc, a.constant(0), count, LoopKind::Reduction, {}, [&](Value k, Carried) {
        Value moved = memref::LoadOp::create(b, loc, buffer, a.add(begin, k));
        memref::StoreOp::create(b, loc, moved, buffer, a.add(to, k));
        return Carried{};
      });
    auto [first, last] = parentsOf(a, range);
    forLoop(b, loc, a.add(first, one), a.add(last, one), LoopKind::Parallel, {}, [&](Value at, Carried) {
      a.write(positions, at, a.sub(a.read(positions, at), distance));
      return Carried{};
    });
  };
  Value total = forLoop(
      b, loc, a.constant(0), ranges, LoopKind::Reduction, a.constant(0), [&](Value range, Carried to) {
        Value begin = a.read(starts, range);
        a.when(a.compare(CmpIPredicate::ne, begin, to[0]), [&] { moveRange(range, begin, to[0]); });
        return Carried{a.add(to[0], a.read(kept, range))};
      })[0];
  a.shrink(coordinates, total);
  a.shrink(values, total);
}

/// The buffers for so many entries; the first position is in place.
void RadixPartition::allocate(const TargetAssembly &a, Value total) const {
  unsigned positions = *a.made.layout.positions[level];
  a.allocate(positions, a.add(parents, a.constant(1)));
  a.checkWidth(positions, total);
  a.allocateCoordinates(level, total);
  a.allocate(a.made.layout.valuesField(), total);
  a.store(positions, a.constant(0), a.constant(0));
}

void RadixPartition::assemble(OpBuilder &b) {
  chooseRanges(b);
  TargetAssembly a(b, target);
  Value zero = a.constant(0), one = a.constant(1);
  chunks = target.parallel ? Value(ThreadsOp::create(b, loc, inserts, /*fixed=*/false)) : one;
  Value ends = buffer(b, loc, a.mul(chunks, ranges)), starts = buffer(b, loc, a.add(ranges, one));
  a.fill(ends, zero, a.mul(chunks, ranges), zero);
  countRanges(b, ends);
  Value total = startRanges(b, ends, starts);
  CoordinateList lists(b, target, total);
  distribute(b, ends, lists);

  allocate(a, total);
  forRanges(a, starts, [&](Value range, Value kept) { buildRange(a, lists, starts, kept, range); });
  memref::DeallocOp::create(b, loc, ends);
  memref::DeallocOp::create(b, loc, starts);
  lists.free(b);
}

//===--- Threads without lists ---===//

Value RadixPartition::isConcurrent(OpBuilder &b) {
  if (!target.parallel)
    return {};
  chunks = ThreadsOp::create(b, loc, inserts, /*fixed=*/false);
  levels::Emitter emit = target.emitter(b);
  return emit.compare(CmpIPredicate::ugt, chunks, emit.constant(1));
}

/// What each chunk has of each part of the parents becomes where it goes; `sums` has where the parts begin.
void RadixPartition::scanParts(const TargetAssembly &a, Value ends, Value sums) const {
  OpBuilder &b = a.builder;
  Value positions = a.made.fields[*a.made.layout.positions[level]];
  forParts(b, parents, [&](Value number, Value first, Value last) {
    forLoop(b, loc, first, last, LoopKind::Reduction, a.read(sums, number), [&](Value at, Carried before) {
      Carried sum =
          forLoop(b, loc, a.constant(0), chunks, LoopKind::Reduction, before, [&](Value chunk, Carried sum) {
            Value cell = a.add(a.mul(chunk, parents), at), count = a.read(ends, cell);
            a.write(ends, cell, sum[0]);
            return Carried{a.add(sum[0], count)};
          });
      a.write(positions, a.add(at, a.constant(1)), sum[0]);
      return sum;
    });
  });
}

/// How many entries the parts of the parents have: where each begins. Returns the number of all.
Value RadixPartition::countParts(const TargetAssembly &a, Value ends, Value sums) const {
  OpBuilder &b = a.builder;
  Value zero = a.constant(0);
  forParts(b, parents, [&](Value number, Value first, Value last) {
    Carried all = forLoop(b, loc, zero, chunks, LoopKind::Reduction, zero, [&](Value chunk, Carried sum) {
      return forLoop(b, loc, first, last, LoopKind::Reduction, sum, [&](Value at, Carried sum) {
        return Carried{a.add(sum[0], a.read(ends, a.add(a.mul(chunk, parents), at)))};
      });
    });
    a.write(sums, number, all[0]);
  });
  return forLoop(b, loc, zero, chunks, LoopKind::Reduction, zero, [&](Value share, Carried sum) {
    Value count = a.read(sums, share);
    a.write(sums, share, sum[0]);
    return Carried{a.add(sum[0], count)};
  })[0];
}

/// Every parent is a range: what a chunk's entries of it begin at is where they belong.
void RadixPartition::assembleShared(OpBuilder &b) {
  TargetAssembly a(b, target);
  Value zero = a.constant(0);
  shift = zero;
  ranges = parents;
  unsigned field = *a.made.layout.positions[level];
  // As wide as positions, which are as many as entries.
  auto type = cast<MemRefType>(levels::fieldTypes(a.made.layout, a.made.element)[field]);
  Value cells = target.checkedSize(b, level, chunks, parents);
  Value ends = levels::allocate(b, loc, type, cells), sums = buffer(b, loc, chunks);
  forParts(b, cells, [&](Value, Value first, Value last) { a.fill(ends, first, last, zero); });
  countRanges(b, ends);
  allocate(a, countParts(a, ends, sums));
  scanParts(a, ends, sums);
  forChunks(b, [&](OpBuilder &b, const parallel::Chunk *chunk, Value first) {
    cloneLoops(b, op, chunk, [&](OpBuilder &b, ValueRange dims, Value value) {
      Value position = a.increment(ends, a.add(first, rangeOf(b, dims)));
      a.storeCoordinate(level, position, target.levelCoordinates(b, dims)[level]);
      target.storeValue(b, position, value);
    });
  });
  memref::DeallocOp::create(b, loc, ends);
  memref::DeallocOp::create(b, loc, sums);
  if (!order.unique || !arrivesSorted())
    finishRanges(a);
}

/// In many ranges: few parents may have most of the entries.
void RadixPartition::finishRanges(const TargetAssembly &a) {
  OpBuilder &b = a.builder;
  chooseRanges(b);
  Value zero = a.constant(0), positions = a.made.fields[*a.made.layout.positions[level]];
  Value starts = buffer(b, loc, ranges);
  // A range that loses entries moves where the next one begins.
  forLoop(b, loc, zero, ranges, LoopKind::Reduction, {}, [&](Value range, Carried) {
    a.write(starts, range, a.read(positions, parentsOf(a, range).first));
    return Carried{};
  });
  forRanges(a, starts, [&](Value range, Value kept) { finishRange(a, starts, kept, range); });
  memref::DeallocOp::create(b, loc, starts);
}

} // namespace tulle::assemble
