#include "passes/assemble/algorithms/ChunkedAppend.h"
#include "levels/Control.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/assemble/algorithms/AllocationPlan.h"
#include "passes/assemble/algorithms/FiberBoundaries.h"
#include "passes/assemble/algorithms/RuntimeCalls.h"
#include "passes/assemble/algorithms/StreamingStores.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;
using format::LevelKind;

/// The spaces that a loop goes through, or its range.
static SmallVector<Value> placesOf(Operation *loop) {
  if (auto iterate = dyn_cast<IterateOp>(loop))
    return {iterate.getSpace()};
  return SmallVector<Value>(cast<CoiterateOp>(loop).getSpaces());
}

/// Whether the outermost loop can be cut into chunks: over one space or range, or over a set of spaces.
static bool cutsLoop(AssembleOp op) {
  auto coiterate = dyn_cast_or_null<CoiterateOp>(outermostLoop(op));
  if (!coiterate)
    return canPartition(op);
  return coiterate.getNumResults() == 0 && !coiterate.getRange() && parallel::canPartition(coiterate);
}

bool ChunkedAppend::possible(const Target &target, AssembleOp op, const Order &order) {
  // Chunks follow each other in the order of the first level.
  if (!target.parallel || target.storage.digits.empty() || target.storedLevels() == 0 ||
      order.sortedLevels() == 0)
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
  // Each position of the first level is met in passes of the loop that one chunk has.
  if (!cutsLoop(op) || !alignmentOf(op))
    return false;
  Operation *loop = outermostLoop(op);
  // How much work there is must be known outside of the loop.
  for (Value place : placesOf(loop)) {
    Operation *space = place.getDefiningOp();
    if (!space || llvm::any_of(space->getOperands(), [&](Value operand) {
          return op.getBody().isAncestor(operand.getParentRegion());
        }))
      return false;
  }
  return true;
}

//===--- Tables with an element for each chunk ---===//

Value ChunkedAppend::table(OpBuilder &b, Value size) const {
  return levels::allocate(b, loc, MemRefType::get({ShapedType::kDynamic}, b.getIndexType()), size);
}
Value ChunkedAppend::load(OpBuilder &b, Value table, Value at) const {
  return memref::LoadOp::create(b, loc, table, at);
}
void ChunkedAppend::store(OpBuilder &b, Value value, Value table, Value at) const {
  memref::StoreOp::create(b, loc, value, table, at);
}

Value ChunkedAppend::zeros(OpBuilder &b, int64_t words) const {
  levels::Emitter emit = target.emitter(b);
  Value cells = table(b, emit.constant(words));
  for (int64_t at = 0; at < words; ++at)
    store(b, emit.constant(0), cells, emit.constant(at));
  return cells;
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

/// Whether tulle.work of a chunk of the tensor's first level is never less than the chunk has value slots.
static bool weighsAll(const format::Encoding &encoding) {
  return llvm::all_of(encoding.levels, [](const format::Level &level) {
    return level.format.kind == LevelKind::Dense || level.format.kind == LevelKind::Compressed ||
           level.format.kind == LevelKind::Singleton;
  });
}

/// A chunk of the loop's `place`, as tulle.partition cuts the loop.
static Value chunkOfLoop(OpBuilder &b, Operation *loop, Value place, const parallel::Chunk &chunk) {
  Value all = b.clone(*place.getDefiningOp())->getResult(0);
  int64_t alignment = alignmentOf(cast<AssembleOp>(loop->getParentOp())).value_or(1);
  return parallel::chunkOf(b, loop, all, chunk, alignment);
}

/// How many value slots of the tensor a chunk of the loop has; null where that is not known from outside.
static Value slotsOfChunk(OpBuilder &b, Operation *loop, Value tensor, const parallel::Chunk &chunk) {
  const format::Encoding &encoding = getEncoding(cast<RankedTensorType>(tensor.getType())).getValue();
  if (!weighsAll(encoding))
    return {};
  for (Value place : placesOf(loop))
    if (auto space = place.getDefiningOp<SpaceOp>();
        space && space.getTensor() == tensor && space.getLevel() == 0)
      return WorkOp::create(b, loop->getLoc(), chunkOfLoop(b, loop, place, chunk), Value());
  auto iterate = dyn_cast<IterateOp>(loop);
  if (!iterate || !isa<RangeType>(iterate.getSpace().getType()) ||
      encoding.levels[0].format.kind != LevelKind::Dense)
    return {};
  Value coordinate = iterate.getBody().getArgument(0);
  bool located = llvm::any_of(iterate.getBody().getOps<LocateOp>(), [&](LocateOp locate) {
    return locate.getTensor() == tensor && locate.getLevel() == 0 && locate.getCoordinate() == coordinate;
  });
  if (!located)
    return {};
  return WorkOp::create(b, loop->getLoc(), chunkOfLoop(b, loop, iterate.getSpace(), chunk), tensor);
}

/// The bound of all inserts, made of sums and minima of stored counts, for one chunk.
static Value boundOfChunk(OpBuilder &b, Operation *loop, Value bound, const parallel::Chunk &chunk) {
  Operation *op = bound.getDefiningOp();
  if (auto stored = dyn_cast_or_null<StoredCountOp>(op)) {
    Value slots = slotsOfChunk(b, loop, stored.getTensor(), chunk);
    return slots ? slots : bound;
  }
  if (!isa_and_nonnull<arith::AddIOp, arith::MinUIOp>(op))
    return bound;
  Value lhs = boundOfChunk(b, loop, op->getOperand(0), chunk);
  Value rhs = boundOfChunk(b, loop, op->getOperand(1), chunk);
  if (isa<arith::AddIOp>(op))
    return arith::AddIOp::create(b, op->getLoc(), lhs, rhs);
  return arith::MinUIOp::create(b, op->getLoc(), lhs, rhs);
}

ChunkedAppend::ChunkedAppend(OpBuilder &b, Target &target, const Order &order, Value bound, bool counted)
    : target(target), loc(target.loc) {
  levels::Emitter emit = target.emitter(b);
  Operation *loop = outermostLoop(target.op);
  Value work = parallel::work(b, loop);
  threads = ThreadsOp::create(b, loc, work, /*fixed=*/false);
  Value several = emit.compare(CmpIPredicate::ugt, threads, emit.constant(1));
  Value wanted = emit.mul(threads, emit.constant(target.costs.chunksPerThread));
  if (!counted)
    wanted = arith::MaxUIOp::create(
        b, loc, wanted, arith::DivUIOp::create(b, loc, work, emit.constant(workPerChunk(target))));
  chunks = arith::SelectOp::create(b, loc, several, wanted, emit.constant(1));
  most = largest = bound;
  if (counted)
    return;
  if (bound) {
    // Where a chunk ends is searched for, and there are many.
    Value counts = table(b, threads);
    levels::parallelTasks(b, loc, threads, [&](Value part) {
      Value iterations = arith::CeilDivUIOp::create(b, loc, chunks, threads);
      Value longest =
          levels::forLoop(b, loc, emit.constant(0), iterations, LoopKind::Reduction, emit.constant(0),
                          [&](Value iteration, levels::Values so) {
                            Value number = emit.add(emit.mul(iteration, threads), part);
                            number =
                                arith::MinUIOp::create(b, loc, number, emit.sub(chunks, emit.constant(1)));
                            Value own = boundOfChunk(b, loop, bound, parallel::Chunk{number, chunks});
                            return levels::Values{arith::MaxUIOp::create(b, loc, so[0], own)};
                          })[0];
      store(b, longest, counts, part);
    });
    largest = summarize(b, counts, threads).second;
    return;
  }
  Value counts = table(b, chunks);
  levels::parallelTasks(b, loc, chunks, [&](Value number) {
    const parallel::Chunk chunk{number, chunks};
    store(b, countEntries(b, target, target.op, order, &chunk), counts, number);
  });
  std::tie(most, largest) = summarize(b, counts, chunks);
}

std::pair<Value, Value> ChunkedAppend::summarize(OpBuilder &b, Value counts, Value number) const {
  levels::Emitter emit = target.emitter(b);
  levels::Values both = levels::forLoop(
      b, loc, emit.constant(0), number, LoopKind::Reduction, ValueRange{emit.constant(0), emit.constant(0)},
      [&](Value at, levels::Values so) {
        Value own = load(b, counts, at);
        return levels::Values{emit.add(so[0], own), arith::MaxUIOp::create(b, loc, so[1], own)};
      });
  memref::DeallocOp::create(b, loc, counts);
  return {both[0], both[1]};
}

Value ChunkedAppend::profitable(OpBuilder &b) const {
  levels::Emitter emit = target.emitter(b);
  return emit.compare(CmpIPredicate::ugt, threads, emit.constant(1));
}

void ChunkedAppend::plan(OpBuilder &b, Value block, bool staged, Work work) {
  AssemblyPlan plan = target.plan;
  if (plan == AssemblyPlan::Bound)
    return;
  if (plan == AssemblyPlan::Count) {
    std::tie(most, largest) = count(b, work);
    return;
  }
  levels::Emitter emit = target.emitter(b);
  // Saturated: what would wrap does not fit either.
  auto few = [&](Value count) -> Value {
    return arith::MinUIOp::create(b, loc, count, emit.constant(int64_t(1) << 40));
  };
  Value held = few(most);
  if (staged)
    held = emit.add(held, emit.mul(threads, few(largest)));
  Value bytes = emit.mul(held, bytesPerEntry(b, target, block));
  levels::Values chosen = levels::ifElse(
      b, loc, fitsMemory(b, target, bytes), SmallVector<Type>(2, b.getIndexType()),
      [&] { return levels::Values{most, largest}; },
      [&] {
        auto [all, one] = count(b, work);
        return levels::Values{all, one};
      });
  most = chosen[0];
  largest = chosen[1];
}

//===--- Rooms ---===//

std::optional<unsigned> ChunkedAppend::sharedPositions() const {
  unsigned outer = 0;
  while (target.format(outer).kind == LevelKind::Dense)
    ++outer;
  return outer == 0 ? std::nullopt : target.storage.layout.positions[outer];
}

Target ChunkedAppend::allocateStaging(OpBuilder &b, const Order &order) const {
  Target staging = target;
  for (unsigned field = 0; field < staging.storage.fields.size(); ++field)
    if (field != sharedPositions())
      staging.storage.fields[field] = {};
  Appender(b, staging, order, /*counting=*/true).allocate(b, largest);
  return staging;
}

void ChunkedAppend::freeStaging(OpBuilder &b, const Target &staging) const {
  for (unsigned field = 0; field < staging.storage.fields.size(); ++field)
    if (field != sharedPositions())
      memref::DeallocOp::create(b, loc, staging.storage.fields[field]);
}

void ChunkedAppend::move(OpBuilder &b, const Target &staging, unsigned field, Value base, Value count,
                         Value each) const {
  levels::Emitter emit = target.emitter(b);
  copyElements(b, target, staging.storage.fields[field], emit.constant(0), target.storage.fields[field],
               emit.mul(base, each), emit.mul(count, each));
}

/// Modulo the field's width: whether the last position fits is checked in the end.
void ChunkedAppend::shift(OpBuilder &b, Value from, Value to, Value first, Value last, Value distance,
                          Value by) const {
  levels::Emitter emit = target.emitter(b);
  by = arith::IndexCastOp::create(b, loc, cast<MemRefType>(to.getType()).getElementType(), by);
  levels::forLoop(b, loc, first, last, LoopKind::Parallel, {}, [&](Value at, levels::Values) {
    Value old = memref::LoadOp::create(b, loc, from, at);
    Value moved = arith::AddIOp::create(b, loc, old, by);
    memref::StoreOp::create(b, loc, moved, to, emit.add(at, distance));
    return levels::Values{};
  });
}

void ChunkedAppend::moveRun(OpBuilder &b, const Target &staging, Appender &appender, unsigned run,
                            ValueRange bases) const {
  levels::Emitter emit = target.emitter(b);
  const format::Layout &layout = target.storage.layout;
  const Run &levels = appender.run(run);
  for (unsigned l = levels.first; l < levels.end; ++l)
    if (const auto &ref = *layout.coordinates[l]; ref.offset == 0)
      move(b, staging, ref.field, bases[run], appender.count(b, run), emit.constant(ref.stride));
  if (run == 0)
    return;
  unsigned field = *layout.positions[levels.first];
  Value above = appender.parents(b, run, appender.count(b, run - 1));
  shift(b, staging.storage.fields[field], target.storage.fields[field], emit.constant(1),
        emit.add(above, emit.constant(1)), appender.parents(b, run, bases[run - 1]), bases[run]);
}

//===--- Appending ---===//

void ChunkedAppend::begin(OpBuilder &b) {
  levels::Emitter emit = target.emitter(b);
  next = memref::AllocOp::create(b, loc, MemRefType::get({1}, b.getI64Type()));
  memref::StoreOp::create(b, loc, arith::ConstantIntOp::create(b, loc, 0, 64), next,
                          ValueRange{emit.constant(0)});
}

/// Every thread takes the next chunk that nobody has begun: the chunks before it have been begun, too, so
/// that its turn comes.
void ChunkedAppend::eachNumber(OpBuilder &b, Value end, function_ref<void(Value)> body) const {
  levels::Emitter emit = target.emitter(b);
  auto take = [&]() -> Value {
    Value one = arith::ConstantIntOp::create(b, loc, 1, 64);
    Value taken = memref::AtomicRMWOp::create(b, loc, arith::AtomicRMWKind::addi, one, next,
                                              ValueRange{emit.constant(0)});
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), taken);
  };
  levels::whileLoop(
      b, loc, take(), [&](levels::Values number) { return emit.compare(CmpIPredicate::ult, number[0], end); },
      [&](levels::Values number) {
        body(number[0]);
        return levels::Values{take()};
      });
}

/// How many positions the last run needs, in all and for one chunk: those above have no more.
std::pair<Value, Value> ChunkedAppend::count(OpBuilder &b, Work work) {
  begin(b);
  Value counts = table(b, chunks);
  levels::parallelTasks(b, loc, threads, [&](Value) {
    Target none = target;
    work(b, none, [&](AppendChunk append) {
      eachNumber(b, chunks, [&](Value number) {
        append(
            parallel::Chunk{number, chunks}, /*counting=*/true, [&](Appender &) {},
            [&](Appender &appender, MoveValues) {
              store(b, appender.count(b, appender.runCount() - 1), counts, number);
            });
      });
    });
  });
  memref::DeallocOp::create(b, loc, next);
  return summarize(b, counts, chunks);
}

void ChunkedAppend::appendToStaging(OpBuilder &b, const Order &order, Work work) const {
  Value zero = target.emitter(b).constant(0);
  Target staging = allocateStaging(b, order);
  work(b, staging, [&](AppendChunk append) {
    eachNumber(b, chunks, [&](Value number) {
      append(
          parallel::Chunk{number, chunks}, /*counting=*/false,
          [&](Appender &appender) { appender.beginChunk(b, Values(appender.runCount(), zero)); },
          [&](Appender &appender, MoveValues moveValues) {
            appender.finishChunk(b);
            Values starts = scanInOrder(b, appender, number);
            moveChunk(b, staging, appender, starts, moveValues);
            notePositions(b, appender, number, starts[0], starts[0]);
          });
    });
  });
  freeStaging(b, staging);
}

/// The second time, a chunk of the operands is in the caches. What is copied is copied chunk by chunk as
/// well: while one thread waits for memory, another one has something else to do.
void ChunkedAppend::appendInPlace(OpBuilder &b, Work work, const BufferReuse *copied) const {
  Target result = target;
  work(b, result, [&](AppendChunk append) {
    eachNumber(b, chunks, [&](Value number) {
      const parallel::Chunk chunk{number, chunks};
      if (copied)
        copied->copy(b, target, number, chunks);
      Values starts;
      append(
          chunk, /*counting=*/true, [&](Appender &) {},
          [&](Appender &counter, MoveValues) { starts = scanInOrder(b, counter, number); });
      append(
          chunk, /*counting=*/false, [&](Appender &appender) { appender.beginChunk(b, starts); },
          [&](Appender &appender, MoveValues) {
            appender.finishChunk(b);
            notePositions(b, appender, number, starts[0], {});
          });
    });
  });
}

void ChunkedAppend::assemble(OpBuilder &b, const Order &order, Value block, Work work) {
  share(b, order, block, /*staged=*/true, work, nullptr, [&] { appendToStaging(b, order, work); });
}

void ChunkedAppend::assembleInPlace(OpBuilder &b, const Order &order, Value block, Work work,
                                    const BufferReuse *copied) {
  share(b, order, block, /*staged=*/false, work, copied, [&] { appendInPlace(b, work, copied); });
}

void ChunkedAppend::share(OpBuilder &b, const Order &order, Value block, bool staged, Work work,
                          const BufferReuse *copied, function_ref<void()> chunks) {
  levels::Emitter emit = target.emitter(b);
  plan(b, block, staged, work);
  if (copied)
    copied->share(b, target);
  Appender whole(b, target, order, /*counting=*/false);
  whole.allocate(b, most);
  begin(b);
  scanCells = zeros(b, kCellWords * whole.runCount());
  for (Value *table : {&bases, &firsts, &lasts})
    *table = this->table(b, this->chunks);

  levels::parallelTasks(b, loc, threads, [&](Value) {
    chunks();
    fence(b, loc);
  });

  Values counts;
  for (unsigned r = 0; r < whole.runCount(); ++r)
    counts.push_back(load(b, scanCells, emit.constant(kCellWords * r + 1)));
  finish(b, whole, counts);
  for (Value table : {next, scanCells})
    memref::DeallocOp::create(b, loc, table);
}

void ChunkedAppend::finish(OpBuilder &b, Appender &whole, ValueRange counts) const {
  auto shared = sharedPositions();
  whole.finishJoined(b, counts, shared ? joinPositions(b, *shared) : target.emitter(b).constant(0));
  for (Value table : {bases, firsts, lasts})
    memref::DeallocOp::create(b, loc, table);
}

//===--- Counted chunks ---===//

void ChunkedAppend::assembleCounted(OpBuilder &b, const Order &order, Value block, CountWork count,
                                    Work work) {
  levels::Emitter emit = target.emitter(b);
  plan(b, block, /*staged=*/false, work);
  Appender whole(b, target, order, /*counting=*/false);
  whole.allocate(b, most);
  for (Value *table : {&bases, &firsts, &lasts})
    *table = this->table(b, chunks);
  Value starts = countBefore(b, count), ends = table(b, threads);
  levels::parallelTasks(b, loc, threads, [&](Value part) {
    store(b, appendOwn(b, work, part, starts), ends, part);
    fence(b, loc);
  });
  finish(b, whole, load(b, ends, emit.sub(threads, emit.constant(1))));
  for (Value table : {starts, ends})
    memref::DeallocOp::create(b, loc, table);
}

Value ChunkedAppend::countBefore(OpBuilder &b, CountWork count) {
  levels::Emitter emit = target.emitter(b);
  Value zero = emit.constant(0), one = emit.constant(1), each = emit.constant(target.costs.chunksPerThread);
  Value counted = emit.mul(emit.sub(threads, one), each), counts = table(b, chunks);
  begin(b);
  levels::parallelTasks(b, loc, threads, [&](Value) {
    count(b, [&](CountChunk countChunk) {
      eachNumber(b, counted, [&](Value number) {
        store(b, countChunk(parallel::Chunk{number, chunks}), counts, number);
      });
    });
  });
  Value starts = table(b, threads);
  levels::forLoop(b, loc, zero, threads, LoopKind::Reduction, zero, [&](Value part, levels::Values so) {
    store(b, so[0], starts, part);
    Value last = arith::MinUIOp::create(b, loc, emit.mul(emit.add(part, one), each), counted);
    return levels::forLoop(b, loc, emit.mul(part, each), last, LoopKind::Reduction, so[0],
                           [&](Value number, levels::Values sum) {
                             return levels::Values{emit.add(sum[0], load(b, counts, number))};
                           });
  });
  for (Value table : {next, counts})
    memref::DeallocOp::create(b, loc, table);
  return starts;
}

Value ChunkedAppend::appendOwn(OpBuilder &b, Work work, Value part, Value starts) const {
  levels::Emitter emit = target.emitter(b);
  Target result = target;
  Register reached(b, loc, load(b, starts, part));
  work(b, result, [&](AppendChunk append) {
    Value each = emit.constant(target.costs.chunksPerThread), first = emit.mul(part, each);
    levels::forLoop(b, loc, first, emit.add(first, each), LoopKind::Reduction, {},
                    [&](Value number, levels::Values) {
                      Value start = reached.get(b);
                      append(
                          parallel::Chunk{number, chunks}, /*counting=*/false,
                          [&](Appender &appender) { appender.beginChunk(b, start); },
                          [&](Appender &appender, MoveValues) {
                            appender.finishChunk(b);
                            notePositions(b, appender, number, start, {});
                            reached.set(b, appender.count(b, 0));
                          });
                      return levels::Values{};
                    });
  });
  return reached.get(b);
}

Values ChunkedAppend::scanInOrder(OpBuilder &b, Appender &appender, Value number) const {
  levels::Emitter emit = target.emitter(b);
  Values starts;
  for (unsigned r = 0; r < appender.runCount(); ++r)
    starts.push_back(ChainedScanOp::create(b, loc, appender.count(b, r), number, scanCells,
                                           emit.constant(kCellWords * r)));
  return starts;
}

void ChunkedAppend::moveChunk(OpBuilder &b, const Target &staging, Appender &appender, ValueRange starts,
                              MoveValues moveValues) const {
  for (unsigned r = 0; r < appender.runCount(); ++r)
    moveRun(b, staging, appender, r, starts);
  Value count = appender.count(b, appender.runCount() - 1);
  if (moveValues)
    moveValues(starts.back(), count);
  else
    move(b, staging, target.storage.layout.valuesField(), starts.back(), count, appender.blockSize(b));
}

void ChunkedAppend::notePositions(OpBuilder &b, Appender &appender, Value number, Value start,
                                  Value by) const {
  auto shared = sharedPositions();
  if (!shared)
    return;
  auto [first, last] = appender.chunkPositions(b);
  store(b, start, bases, number);
  store(b, first, firsts, number);
  store(b, last, lasts, number);
  Value positions = target.storage.fields[*shared];
  if (by)
    shift(b, positions, positions, first, last, target.emitter(b).constant(0), by);
}

Value ChunkedAppend::joinPositions(OpBuilder &b, unsigned field) const {
  levels::Emitter emit = target.emitter(b);
  return levels::forLoop(b, loc, emit.constant(0), chunks, LoopKind::Reduction, ValueRange{emit.constant(0)},
                         [&](Value number, levels::Values reached) {
                           Value base = load(b, bases, number);
                           levels::forLoop(b, loc, reached[0], load(b, firsts, number), LoopKind::Parallel,
                                           {}, [&](Value at, levels::Values) {
                                             target.emitter(b).store(field, at, base);
                                             return levels::Values{};
                                           });
                           return levels::Values{
                               arith::MaxUIOp::create(b, loc, reached[0], load(b, lasts, number))};
                         })[0];
}

} // namespace tulle::assemble
