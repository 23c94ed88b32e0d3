// Iterations that update rows of a dense result which integers select: each task has a contiguous range of
// the rows, and runs the iterations that select one of these. Rows are updated in the order of one thread.
#include "dialect/Costs.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/analysis/LoopUtils.h"
#include "passes/parallel/SetLoops.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::parallel {

/// Whether the value is known from the loop's coordinate alone, without what other iterations stored.
static bool isKnownBefore(IterateOp loop, Value value) {
  return passes::acceptsSlice(value, [&](Value each) -> std::optional<bool> {
    if (isOutside(loop, each) || each == loop.getBody().getArgument(0))
      return true;
    Operation *op = each.getDefiningOp();
    if (!op || op->getParentOp() != loop || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
      return false;
    return std::nullopt;
  });
}

/// The coordinate of the result's first level at which an iteration has all of its accesses to it; null
/// without one.
static Value selectedRow(IterateOp loop) {
  if (!isa_and_nonnull<RangeOp>(loop.getSpace().getDefiningOp()) || !denseResult(loop))
    return {};
  const Aliases aliases(loop);
  Value row;
  WalkResult result = loop->walk([&](Operation *op) {
    if (isLoop(op) || llvm::none_of(op->getOperands(), [&](Value v) { return aliases.contains(v); }))
      return WalkResult::advance();
    if (auto locate = dyn_cast<LocateOp>(op)) {
      Value parent = locate.getParent(), own = parent ? row : locate.getCoordinate();
      if ((parent && isOutside(loop, parent)) || (row && own != row))
        return WalkResult::interrupt();
      row = own;
      return WalkResult::advance();
    }
    auto load = dyn_cast<LoadOp>(op);
    auto store = dyn_cast<StoreOp>(op);
    Value iterator = load ? load.getIterator() : store ? store.getIterator() : Value();
    const bool isKnown = iterator ? !isOutside(loop, iterator) : isa<YieldOp, scf::IfOp, scf::YieldOp>(op);
    return isKnown ? WalkResult::advance() : WalkResult::interrupt();
  });
  const bool isSelected = !result.wasInterrupted() && row && row != loop.getBody().getArgument(0);
  return isSelected && isKnownBefore(loop, row) ? row : Value();
}

namespace {

/// Makes the version of a loop that tasks run for their own rows.
class ByDestination {
public:
  ByDestination(Emitter &emit, IterateOp loop, Value row, const iteration::Costs &costs)
      : emit(emit), loop(loop), row(row), costs(costs), range(loop.getSpace().getDefiningOp<RangeOp>()),
        iterations(emit.sub(range.getHi(), range.getLo())),
        rows(LevelSizeOp::create(emit.b, emit.loc, loop.getInits()[0], 0)) {}

  /// As many tasks as the work makes profitable: each goes over all integers, which takes as long as updating
  /// short rows. A schedule that says `exact`ly this is not asked.
  Value tasks(bool exact) {
    Value entries = work(emit.b, loop),
          length = emit.divide(entries, emit.larger(iterations, emit.constant(1)));
    const Type type = getElementTypeOrSelf(loop.getInits()[0].getType());
    const int64_t bits = type.isIntOrFloat() ? int64_t(type.getIntOrFloatBitWidth()) : 64;
    Value fewest = emit.constant(exact ? 0 : costs.rowChunkBits / bits);
    Value isProfitable = emit.is(arith::CmpIPredicate::uge, length, fewest);
    Value tasks = ThreadsOp::create(emit.b, emit.loc, entries, /*fixed=*/false);
    return emit.select(isProfitable, emit.smaller(tasks, rows), emit.constant(1));
  }

  Value run(Value tasks) {
    return region(emit.b, emit.loc, tasks, loop.getInits(), [&](Value task, ValueRange carried) {
      const auto [begin, end] = ownRows(task, tasks);
      Value list = emit.allocate(emit.b.getIndexType(), emit.constant(costs.destinationBlock));
      Value selected = emit.allocate(emit.b.getIndexType(), emit.constant(costs.destinationBlock));
      Value result = blocks(carried[0], [&](Value from, Value to, Value tensor) {
        return runListed(tensor, list, selected, listOwn(from, to, begin, end, list, selected));
      });
      for (Value each : {list, selected})
        memref::DeallocOp::create(emit.b, emit.loc, each);
      return SmallVector<Value>{result};
    })[0];
  }

private:
  Emitter &emit;
  IterateOp loop;
  Value row;
  const iteration::Costs &costs;
  RangeOp range;
  Value iterations, rows;

  Value rowAt(Value iteration) {
    IRMapping map;
    map.map(loop.getBody().getArgument(0), iteration);
    return passes::cloneSlice(emit.b, row, &loop.getBody().front(), map);
  }

  /// The bounds of the rows that the task updates, so that tasks have about as many iterations, as a sample
  /// shows.
  std::pair<Value, Value> ownRows(Value task, Value tasks) {
    Value zero = emit.constant(0), one = emit.constant(1), buckets = emit.constant(costs.destinationBuckets);
    Value samples = emit.larger(emit.smaller(iterations, emit.constant(costs.destinationSamples)), one);
    Value apart = emit.divide(iterations, samples);
    Value width = arith::CeilDivUIOp::create(emit.b, emit.loc, emit.larger(rows, one), buckets);
    Value counts = emit.allocate(emit.b.getIndexType(), buckets);
    emit.forEach(zero, buckets, [&](Value bucket) { emit.store(zero, counts, bucket); });
    levels::forEach(emit.b, emit.loc, zero, samples, LoopKind::Reduction, [&](Value sample) {
      Value own = rowAt(emit.add(range.getLo(), emit.times(sample, apart)));
      // A row that is none, since nothing is stored there, is in no range.
      Value bucket = emit.smaller(emit.divide(own, width), emit.sub(buckets, one));
      emit.store(emit.add(emit.load(counts, bucket), one), counts, bucket);
    });
    // A bound is behind the buckets that together have no more than the share of the tasks before it.
    Value before = emit.times(samples, task), behind = emit.times(samples, emit.add(task, one));
    levels::Values found =
        levels::forLoop(emit.b, emit.loc, zero, buckets, LoopKind::Reduction, {zero, zero, zero},
                        [&](Value bucket, const levels::Values &known) {
                          Value sum = emit.add(known[0], emit.load(counts, bucket)),
                                all = emit.times(sum, tasks);
                          auto next = [&](Value share, Value bound) {
                            Value isBefore = emit.is(arith::CmpIPredicate::ule, all, share);
                            return emit.select(isBefore, emit.times(emit.add(bucket, one), width), bound);
                          };
                          return levels::Values{sum, next(before, known[1]), next(behind, known[2])};
                        });
    memref::DeallocOp::create(emit.b, emit.loc, counts);
    Value isFirst = emit.is(arith::CmpIPredicate::eq, task, zero);
    return {emit.select(isFirst, zero, found[1]), found[2]};
  }

  /// A loop over blocks of iterations, so that the lists of a block stay in the L1 cache.
  Value blocks(Value tensor, llvm::function_ref<Value(Value from, Value to, Value tensor)> body) {
    OpBuilder &b = emit.b;
    Value size = emit.constant(costs.destinationBlock);
    Value count = arith::CeilDivUIOp::create(b, emit.loc, iterations, size);
    Value all = RangeOp::create(b, emit.loc, emit.constant(0), count);
    auto made = IterateOp::create(b, emit.loc, tensor.getType(), all, tensor,
                                  LoopAttr::get(b.getContext(), LoopKind::Reduction), /*each=*/false);
    OpBuilder::InsertionGuard guard(b);
    Block *block =
        b.createBlock(&made.getBody(), {}, {b.getIndexType(), tensor.getType()}, {emit.loc, emit.loc});
    Value from = emit.add(range.getLo(), emit.times(block->getArgument(0), size));
    Value to = emit.smaller(emit.add(from, size), range.getHi());
    YieldOp::create(b, emit.loc, body(from, to, block->getArgument(1)));
    return made.getResult(0);
  }

  /// Lists the iterations that select a row of the task's, and these rows; without a branch, which would be
  /// mispredicted. Returns how many they are.
  Value listOwn(Value from, Value to, Value begin, Value end, Value list, Value selected) {
    Value count = emit.sub(end, begin);
    return levels::forLoop(emit.b, emit.loc, from, to, LoopKind::Reduction, emit.constant(0),
                           [&](Value iteration, const levels::Values &next) {
                             Value own = rowAt(iteration);
                             emit.store(iteration, list, next[0]);
                             emit.store(own, selected, next[0]);
                             Value isOwn = emit.is(arith::CmpIPredicate::ult, emit.sub(own, begin), count);
                             Value one =
                                 arith::IndexCastUIOp::create(emit.b, emit.loc, emit.b.getIndexType(), isOwn);
                             return levels::Values{emit.add(next[0], one)};
                           })[0];
  }

  /// The loop over the lists. What these held before is behind their ends, and may be prefetched.
  Value runListed(Value tensor, Value list, Value selected, Value count) {
    OpBuilder &b = emit.b;
    Value listed = RangeOp::create(b, emit.loc, emit.constant(0), count);
    IRMapping map;
    auto own = cast<IterateOp>(b.clone(*loop, map));
    own.getSpaceMutable().assign(listed);
    own.getInitsMutable().assign(tensor);
    OpBuilder inside = OpBuilder::atBlockBegin(&own.getBody().front());
    Value at = own.getBody().getArgument(0);
    auto load = [&](Value buffer, Value old) {
      auto loaded = memref::LoadOp::create(inside, emit.loc, buffer, at);
      old.replaceAllUsesExcept(loaded, loaded);
      return loaded;
    };
    memref::LoadOp iteration = load(list, at);
    load(selected, map.lookup(row)).getIndicesMutable().assign(at);
    iteration.getIndicesMutable().assign(at);
    return own.getResult(0);
  }
};

} // namespace

bool partitionDestinations(Operation *op, const Settings &settings) {
  auto loop = dyn_cast<IterateOp>(op);
  Value row = loop && carriesTensorsOnly(loop) ? selectedRow(loop) : Value();
  // Elements of their own are updated as fast as integers are compared.
  const bool hasRows =
      loop && passes::anyIn(loop, [&](Operation *inner) { return inner != loop && isLoop(inner); });
  if (!row || (!hasRows && !settings.exact))
    return false;
  OpBuilder b(loop);
  Emitter emit(b, loop.getLoc());
  // Of a small result, a copy for each task costs less than that each goes over all integers.
  if (Operation *combiner = settings.exact || settings.deterministic ? nullptr : combinerOfCopies(loop))
    addCopies(loop, combiner, settings, settings.costs.workPerCopiedElement);
  record(loop, Threads::Destination);
  b.setInsertionPoint(loop);
  ByDestination own(emit, loop, row, settings.costs);
  Value tasks = own.tasks(settings.exact);
  passes::addVersion(b, loop, emit.is(arith::CmpIPredicate::ugt, tasks, emit.constant(1)),
                     [&] { return levels::Values{own.run(tasks)}; });
  return true;
}

} // namespace tulle::parallel
