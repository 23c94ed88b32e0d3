// Parallel regions, which keep their form without the tensors, and partitions, whose chunks become bounds.
#include "passes/lower/Lowering.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::lower {

using arith::CmpIPredicate;

void Lowering::lowerParallel(ParallelOp op) {
  Block &source = op.getBody().front();
  parallelTasks(b, op.getLoc(), values.lookup(op.getTasks()), [&](Value task) {
    values.map(source.getArgument(0), task);
    bindCarried(source.getArguments().drop_front(), op.getInits(), {});
    lowerBlock(source);
    yielded(source, op.getInits());
  });
  bindCarried(op.getResults(), op.getInits(), {});
}

void Lowering::lowerThreads(ThreadsOp op) {
  Location loc = op.getLoc();
  StringRef name = op.getFixed() ? "tulle_fixed_tasks" : "tulle_threads";
  auto module = func->getParentOfType<ModuleOp>();
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(module.getBody());
    function = func::FuncOp::create(b, loc, name, b.getFunctionType(b.getI64Type(), b.getI64Type()));
    function.setPrivate();
  }
  Value work = arith::IndexCastOp::create(b, loc, b.getI64Type(), values.lookup(op.getWork()));
  Value tasks = func::CallOp::create(b, loc, function, work).getResult(0);
  values.map(op.getResult(), arith::IndexCastOp::create(b, loc, b.getIndexType(), tasks));
}

namespace {

/// Estimates the work before a position: the position itself, and the entries below the positions before it.
class WorkEstimate {
public:
  WorkEstimate(levels::Emitter emit, unsigned level) : emit(emit), level(level) {}

  Value before(Value position) const {
    Value total = position, at = position;
    bool ascends = true; // further below, positions may not
    for (unsigned l = level + 1; ascends && l < emit.storage.encoding.levels.size(); ++l) {
      switch (emit.storage.encoding.levels[l].format.kind) {
      case format::LevelKind::Compressed:
      case format::LevelKind::Ragged:
      case format::LevelKind::Banded:
      case format::LevelKind::Hashed:
        at = emit.load(*emit.storage.layout.positions[l], at);
        break;
      case format::LevelKind::Dense:
        at = emit.mul(at, emit.levelSize(l));
        break;
      case format::LevelKind::Singleton:
      case format::LevelKind::Offset:
        break;
      default:
        ascends = false;
      }
      total = at;
    }
    // With the position itself, every position is some work: the last chunk ends at the end of the space.
    return total == position ? position : emit.add(total, position);
  }

private:
  levels::Emitter emit;
  unsigned level;
};

/// Moves an operation and those it depends on out of the loop where that is legal; returns whether it is
/// outside.
bool moveOut(Operation *op, scf::ForOp loop) {
  for (Value operand : op->getOperands()) {
    Operation *needed = operand.getDefiningOp();
    if (loop.isDefinedOutsideOfLoop(operand))
      continue;
    if (!needed || needed->getNumRegions() != 0 || !isMemoryEffectFree(needed) || !isSpeculatable(needed) ||
        !moveOut(needed, loop))
      return false;
  }
  op->moveBefore(loop);
  return true;
}

/// total / divisor, which is not zero, hoisted out of the loops that it is invariant in. Loop-invariant code
/// motion does not speculate a division, which could be by zero; and bounds that are computed in a loop are
/// not recognized as invariant.
Value divideOutside(const levels::Emitter &emit, Value total, Value divisor) {
  auto division = arith::DivUIOp::create(emit.builder, emit.loc, total, divisor);
  while (auto loop = dyn_cast<scf::ForOp>(division->getParentOp()))
    if (!moveOut(division, loop))
      break;
  return division;
}

/// total * chunk / chunks: where the chunk begins, and the one before ends. Nothing wraps up to 2^32 chunks.
Value chunkBegin(const levels::Emitter &emit, Value total, Value chunk, Value chunks) {
  OpBuilder &b = emit.builder;
  Value divisor = arith::MaxUIOp::create(b, emit.loc, chunks, emit.constant(1));
  Value each = divideOutside(emit, total, divisor);
  Value rest = arith::RemUIOp::create(b, emit.loc, total, divisor);
  return emit.add(emit.mul(each, chunk), divideOutside(emit, emit.mul(rest, chunk), divisor));
}

/// The first position from `begin` on before which there is at least as much work as `target`: a binary
/// search.
Value boundaryAt(const levels::Emitter &emit, const WorkEstimate &work, Value begin, Value end,
                 Value target) {
  OpBuilder &b = emit.builder;
  Location loc = emit.loc;
  auto open = [&](Values at) { return emit.compare(CmpIPredicate::ult, at[0], at[1]); };
  auto halve = [&](Values at) -> Values {
    Value half = arith::ShRUIOp::create(b, loc, emit.sub(at[1], at[0]), emit.constant(1));
    Value middle = emit.add(at[0], half);
    Value below = emit.compare(CmpIPredicate::ult, work.before(middle), target);
    return {arith::SelectOp::create(b, loc, below, emit.add(middle, emit.constant(1)), at[0]),
            arith::SelectOp::create(b, loc, below, at[1], middle)};
  };
  return whileLoop(b, loc, ValueRange{begin, end}, open, halve)[0];
}

/// Moves a boundary inside the segment of one coordinate to the segment's end.
Value afterSegment(OpBuilder &b, Location loc, const Space &space, Value position) {
  levels::Emitter emit = space.emitter(b, loc);
  Value inside = arith::AndIOp::create(b, loc, emit.compare(CmpIPredicate::ugt, position, space.range.begin),
                                       emit.compare(CmpIPredicate::ult, position, space.range.end));
  return ifElse(
      b, loc, inside, b.getIndexType(),
      [&] {
        Value last = emit.sub(position, emit.constant(1)), coordinate = space.coordinate(b, loc, last);
        if (!space.storage->encoding.levels[space.level].format.ordered)
          return Values{segmentEnd(b, loc, space, last, coordinate)};
        return Values{gallop(b, loc, space, last, space.range.end, emit.add(coordinate, emit.constant(1)))};
      },
      [&] { return Values{position}; })[0];
}

/// The positions of a space, or the coordinates of a range, and an estimate of their work.
struct Positions {
  levels::Emitter emit;
  Value begin, end;
  std::optional<WorkEstimate> work;

  /// The work before a chunk.
  Value target(Value chunk, Value chunks) const {
    Value first = before(begin);
    return emit.add(first, chunkBegin(emit, emit.sub(before(end), first), chunk, chunks));
  }
  Value boundaryAt(Value target) const {
    return work ? lower::boundaryAt(emit, *work, begin, end, target) : target;
  }
  Value boundary(Value chunk, Value chunks, int64_t alignment) const {
    Value at = boundaryAt(target(chunk, chunks));
    if (alignment == 1)
      return at;
    // Up to the next multiple: the same one where this chunk begins and the one before ends.
    OpBuilder &b = emit.builder;
    Value each = emit.constant(alignment), rest = arith::RemUIOp::create(b, emit.loc, at, each);
    Value more = arith::RemUIOp::create(b, emit.loc, emit.sub(each, rest), each);
    return arith::MinUIOp::create(b, emit.loc, emit.add(at, more), end);
  }
  Value before(Value position) const { return work ? work->before(position) : position; }
};

/// The range's coordinates, by the entries of `estimate`, if any.
Positions positionsOf(OpBuilder &b, Location loc, std::pair<Value, Value> range,
                      const levels::Storage *estimate) {
  static const levels::Storage none{};
  levels::Emitter emit(b, loc, estimate ? *estimate : none);
  // An empty range may have its end before its beginning.
  Value end = arith::MaxSIOp::create(b, loc, range.first, range.second);
  return {emit, range.first, end, estimate ? std::optional(WorkEstimate(emit, 0)) : std::nullopt};
}

/// Of a full level the coordinates: a chunk has the same ones below every parent.
Positions positionsOf(OpBuilder &b, Location loc, const Space &space) {
  levels::Emitter emit = space.emitter(b, loc);
  if (!space.format->full())
    return {emit, space.range.begin, space.range.end, WorkEstimate(emit, space.level)};
  levels::PositionRange all =
      space.slice.value_or(levels::PositionRange{emit.constant(0), emit.levelSize(space.level)});
  return {emit, all.begin, all.end, space.level == 0 ? std::optional(WorkEstimate(emit, 0)) : std::nullopt};
}

void limit(Space &space, levels::PositionRange chunk) {
  if (space.format->full())
    space.slice = chunk;
  else
    space.range = chunk;
}

} // namespace

bool Lowering::checkPartition(Operation *op, const Space &space) {
  if (!space.format->single(space.parent))
    return true;
  op->emitError("expected a space that can hold several coordinates: this one cannot be partitioned");
  return ok = false;
}

void Lowering::lowerPartition(PartitionOp op) {
  Location loc = op.getLoc();
  const auto alignment = int64_t(op.getAlignment());
  Value chunk = values.lookup(op.getChunk()), chunks = values.lookup(op.getChunks());
  Value next = op.getTo() ? values.lookup(op.getTo())
                          : arith::AddIOp::create(b, loc, chunk, arith::ConstantIndexOp::create(b, loc, 1));
  if (auto range = ranges.find(op.getSpace()); range != ranges.end()) {
    const levels::Storage *estimate = op.getEstimate() ? tensors.lookup(op.getEstimate()) : nullptr;
    Positions positions = positionsOf(b, loc, range->second, estimate);
    std::pair<Value, Value> bounds{positions.boundary(chunk, chunks, alignment),
                                   positions.boundary(next, chunks, alignment)};
    ranges[op.getResult()] = bounds;
    return;
  }
  Space space = spaces.lookup(op.getSpace());
  if (!checkPartition(op, space)) {
    spaces[op.getResult()] = space; // what follows is lowered, too, for its errors
    return;
  }
  Positions positions = positionsOf(b, loc, space);
  levels::PositionRange bounds{positions.boundary(chunk, chunks, alignment),
                               positions.boundary(next, chunks, alignment)};
  if (!space.format->full() && !space.unique())
    bounds = {afterSegment(b, loc, space, bounds.begin), afterSegment(b, loc, space, bounds.end)};
  limit(space, bounds);
  spaces[op.getResult()] = space;
}

void Lowering::lowerWork(WorkOp op) {
  Location loc = op.getLoc();
  auto range = ranges.find(op.getSpace());
  const levels::Storage *estimate = op.getEstimate() ? tensors.lookup(op.getEstimate()) : nullptr;
  Positions positions = range == ranges.end() ? positionsOf(b, loc, spaces.lookup(op.getSpace()))
                                              : positionsOf(b, loc, range->second, estimate);
  values.map(op.getResult(),
             positions.emit.sub(positions.before(positions.end), positions.before(positions.begin)));
}

void Lowering::lowerPartitionBoundary(PartitionBoundaryOp op) {
  Location loc = op.getLoc();
  auto range = ranges.find(op.getSpace());
  std::optional<Space> space;
  if (range == ranges.end())
    space = spaces.lookup(op.getSpace());
  if (space && !checkPartition(op, *space)) {
    for (Value result : op.getResults())
      values.map(result, arith::ConstantIndexOp::create(b, loc, 0));
    return;
  }
  const levels::Storage *estimate = op.getEstimate() ? tensors.lookup(op.getEstimate()) : nullptr;
  Positions positions = space ? positionsOf(b, loc, *space) : positionsOf(b, loc, range->second, estimate);
  const levels::Emitter &emit = positions.emit;
  Value target = positions.target(values.lookup(op.getChunk()), values.lookup(op.getChunks()));
  Value at = positions.boundaryAt(target), least = values.lookup(op.getLeast()), zero = emit.constant(0);
  Values result = ifElse(
      b, loc, emit.compare(CmpIPredicate::ugt, at, positions.begin), SmallVector<Type>(4, b.getIndexType()),
      [&] {
        Value first = emit.sub(at, emit.constant(1)), last = at;
        if (space && !space->format->full() && !space->unique()) {
          Value coordinate = space->coordinate(b, loc, first);
          first = lowerBound(b, loc, *space, positions.begin, first, coordinate);
          last = afterSegment(b, loc, *space, last);
        }
        Value start = positions.before(first), stop = positions.before(last), whole = emit.sub(stop, start);
        Value inside = arith::AndIOp::create(b, loc, emit.compare(CmpIPredicate::ult, target, stop),
                                             emit.compare(CmpIPredicate::ugt, whole, least));
        // As a ratio of numbers that can be multiplied with each other.
        Value unit = emit.add(arith::ShRUIOp::create(b, loc, whole, emit.constant(31)), emit.constant(1));
        return Values{arith::SelectOp::create(b, loc, inside, first, last), last,
                      arith::DivUIOp::create(b, loc, emit.sub(target, start), unit),
                      arith::DivUIOp::create(b, loc, whole, unit)};
      },
      [&] { return Values{at, at, zero, zero}; });
  for (auto [value, found] : llvm::zip(op.getResults(), result))
    values.map(value, found);
}

void Lowering::lowerSlice(SliceOp op) {
  Value begin = values.lookup(op.getBegin()), end = values.lookup(op.getEnd());
  auto clamp = [&](Value low, Value high) {
    levels::PositionRange bounds{arith::MaxSIOp::create(b, op.getLoc(), begin, low),
                                 arith::MinSIOp::create(b, op.getLoc(), end, high)};
    return bounds;
  };
  if (auto range = ranges.find(op.getSpace()); range != ranges.end()) {
    levels::PositionRange bounds = clamp(range->second.first, range->second.second);
    ranges[op.getResult()] = {bounds.begin, bounds.end};
    return;
  }
  Space space = spaces.lookup(op.getSpace());
  Positions positions = positionsOf(b, op.getLoc(), space);
  limit(space, clamp(positions.begin, positions.end));
  space.one = op.getOne();
  spaces[op.getResult()] = space;
}

void Lowering::lowerRestrict(RestrictOp op) {
  Location loc = op.getLoc();
  Space space = spaces.lookup(op.getSpace());
  auto [lo, hi] = ranges.lookup(op.getRange());
  if (space.format->full()) {
    limit(space, {lo, hi});
  } else {
    // One chunk has all coordinates: a search, which misses the cache at every step, would cost more than a
    // short loop.
    levels::Emitter emit = space.emitter(b, loc);
    auto [first, last] = space.range;
    auto unless = [&](Value whole, Value bound, llvm::function_ref<Value()> search) {
      return ifElse(
          b, loc, whole, b.getIndexType(), [&] { return Values{bound}; },
          [&] { return Values{search()}; })[0];
    };
    Value begin = unless(emit.compare(CmpIPredicate::eq, lo, emit.constant(0)), first,
                         [&] { return lowerBound(b, loc, space, first, last, lo); });
    Value end = unless(emit.compare(CmpIPredicate::uge, hi, emit.levelSize(space.level)), last,
                       [&] { return lowerBound(b, loc, space, begin, last, hi); });
    limit(space, {begin, end});
  }
  spaces[op.getResult()] = space;
}

} // namespace tulle::lower
