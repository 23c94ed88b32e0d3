// Parallel regions, which keep their form without the tensors, and partitions, whose chunks become bounds.
#include "passes/lower/Lowering.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::lower {

using arith::CmpIPredicate;

void Lowering::lower(ParallelOp op) {
  Block &source = op.getBody().front();
  levels::parallelTasks(b, op.getLoc(), values.lookup(op.getTasks()), [&](Value task) {
    values.map(source.getArgument(0), task);
    bindCarried(source.getArguments().drop_front(), op.getInits(), {});
    lowerBlock(source);
    yielded(source, op.getInits());
  });
  bindCarried(op.getResults(), op.getInits(), {});
}

void Lowering::lower(ThreadsOp op) {
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
Value divideOutside(const Emitter &emit, Value total, Value divisor) {
  Value division = emit.divide(total, divisor);
  while (auto loop = dyn_cast<scf::ForOp>(division.getDefiningOp()->getParentOp()))
    if (!moveOut(division.getDefiningOp(), loop))
      break;
  return division;
}

/// total * chunk / chunks: where the chunk begins, and the one before ends. Nothing wraps up to 2^32 chunks.
Value chunkBegin(const Emitter &emit, Value total, Value chunk, Value chunks) {
  Value divisor = emit.greatest(chunks, emit.constant(1));
  Value each = divideOutside(emit, total, divisor), rest = emit.remainder(total, divisor);
  return emit.add(emit.mul(each, chunk), divideOutside(emit, emit.mul(rest, chunk), divisor));
}

/// Moves a boundary inside the segment of one coordinate to the segment's end.
Value afterSegment(const Space &space, Value position) {
  const Emitter &emit = space.emit;
  Value inside = emit.both(emit.compare(CmpIPredicate::ugt, position, space.range.begin),
                           emit.isLess(position, space.range.end));
  return emit.choose(
      inside,
      [&] {
        Value last = emit.sub(position, emit.constant(1)), coordinate = space.coordinate(last);
        return space.levelFormat().ordered ? space.gallop(last, emit.next(coordinate))
                                           : space.segmentEnd(last, coordinate);
      },
      [&] { return position; });
}

/// The positions of a space, or the coordinates of a full one or of a range: a chunk of a full level has the
/// same coordinates below every parent.
std::pair<Value, Value> boundsOf(const Space &space) {
  if (!space.full())
    return {space.range.begin, space.range.end};
  if (space.slice)
    return {space.slice->begin, space.slice->end};
  return {space.emit.constant(0), space.levelSize()};
}

/// What is partitioned, and by which work: the entries below the positions of level `worked`, if any.
struct Positions {
  Emitter emit;
  Value begin, end;
  std::optional<unsigned> worked = {};

  /// `estimate`: the tensor by whose entries a range is partitioned, or null.
  Positions(const Space &space, const levels::Storage *estimate)
      : emit(space.emit.builder, space.emit.loc, estimate && !space.format ? *estimate : space.storage()) {
    std::tie(begin, end) = boundsOf(space);
    // An empty range may have its end before its beginning.
    if (!space.format)
      end = arith::MaxSIOp::create(emit.builder, emit.loc, begin, end);
    if (space.format ? !space.full() || space.level == 0 : estimate != nullptr)
      worked = space.level;
  }

  /// An estimate of the work before a position: the position itself, and the entries below the positions
  /// before it.
  Value workBefore(Value position) const {
    if (!worked)
      return position;
    Value at = position;
    // Of the levels further below, positions may not ascend.
    for (unsigned l = *worked + 1; l < emit.storage.encoding.levels.size(); ++l) {
      using enum format::LevelKind;
      const format::LevelKind kind = emit.storage.encoding.levels[l].format.kind;
      if (llvm::is_contained({Compressed, Ragged, Banded, Hashed}, kind))
        at = emit.load(*emit.storage.layout.positions[l], at);
      else if (kind == Dense)
        at = emit.mul(at, emit.levelSize(l));
      else if (kind != Singleton && kind != Offset)
        break;
    }
    // With the position itself, every position is some work: the last chunk ends at the end of the space.
    return at == position ? position : emit.add(at, position);
  }
  Value work() const { return emit.sub(workBefore(end), workBefore(begin)); }

  /// The work before a chunk.
  Value target(Value chunk, Value chunks) const {
    Value first = workBefore(begin);
    return emit.add(first, chunkBegin(emit, emit.sub(workBefore(end), first), chunk, chunks));
  }
  /// The first position before which there is at least as much work.
  Value boundaryAt(Value target) const {
    if (!worked)
      return target;
    return emit.binarySearch(begin, end, [&](Value at) { return emit.isLess(workBefore(at), target); });
  }
  Value boundary(Value chunk, Value chunks, int64_t alignment) const {
    Value at = boundaryAt(target(chunk, chunks));
    if (alignment == 1)
      return at;
    // Up to the next multiple: the same one where this chunk begins and the one before ends.
    Value each = emit.constant(alignment), rest = emit.remainder(at, each);
    return emit.least(emit.add(at, emit.remainder(emit.sub(each, rest), each)), end);
  }
};

void limit(Space &space, PositionRange chunk) {
  if (space.full())
    space.slice = chunk;
  else
    space.range = chunk;
}

/// Whether positions of a space may begin inside of a segment of one coordinate.
bool hasSegments(const Space &space) { return space.format && !space.full() && !space.unique(); }

} // namespace

bool Lowering::checkPartition(Operation *op, const Space &space) {
  if (!space.format || !space.format->single(space.parent))
    return true;
  op->emitError("expected a space that can hold several coordinates: this one cannot be partitioned");
  return ok = false;
}

void Lowering::lower(PartitionOp op) {
  Location loc = op.getLoc();
  Space space = spaces.at(op.getSpace());
  if (!checkPartition(op, space))
    return bind(op.getResult(), space); // what follows is lowered, too, for its errors
  Value chunk = values.lookup(op.getChunk()), chunks = values.lookup(op.getChunks());
  Value next = op.getTo() ? values.lookup(op.getTo())
                          : arith::AddIOp::create(b, loc, chunk, arith::ConstantIndexOp::create(b, loc, 1));
  const auto alignment = int64_t(op.getAlignment());
  Positions positions(space, tensors.lookup(op.getEstimate()));
  PositionRange bounds{positions.boundary(chunk, chunks, alignment),
                       positions.boundary(next, chunks, alignment)};
  if (hasSegments(space))
    bounds = {afterSegment(space, bounds.begin), afterSegment(space, bounds.end)};
  limit(space, bounds);
  bind(op.getResult(), space);
}

/// The position of the first value below a position of the first level.
static Value firstValueBelow(const Emitter &emit, Value position) {
  for (unsigned l = 1; l < emit.storage.encoding.levels.size(); ++l) {
    const format::LevelKind kind = emit.storage.encoding.levels[l].format.kind;
    if (kind == format::LevelKind::Dense)
      position = emit.mul(position, emit.levelSize(l));
    else if (kind != format::LevelKind::Singleton)
      position = emit.load(*emit.storage.layout.positions[l], position);
  }
  return position;
}

void Lowering::lower(EmptyOp op) {
  Values fields{Value()};
  if (op.getLike())
    fields = tensors.lookup(op.getLike())->fields;
  addStorage(op.getResult(), fields, plain(op.getSizes()));
  levels::Storage &storage = *storages.back();
  Emitter emit(b, op.getLoc(), storage);
  auto [begin, end] = boundsOf(spaces.at(op.getCoordinates()));
  storage.firstValue = firstValueBelow(emit, begin);
  // An empty range may have its end before its beginning.
  Value last = emit.greatest(firstValueBelow(emit, end), storage.firstValue);
  Type type = levels::fieldTypes(storage.layout, storage.element).back();
  storage.fields.back() =
      memref::AllocOp::create(b, op.getLoc(), cast<MemRefType>(type), emit.sub(last, storage.firstValue));
  temporaries.push_back(storage.fields.back());
}

void Lowering::lower(WorkOp op) {
  values.map(op.getResult(), Positions(spaces.at(op.getSpace()), tensors.lookup(op.getEstimate())).work());
}

void Lowering::lower(PartitionBoundaryOp op) {
  const Space space = spaces.at(op.getSpace());
  if (!checkPartition(op, space)) {
    for (Value result : op.getResults())
      values.map(result, space.emit.constant(0));
    return;
  }
  Positions positions(space, tensors.lookup(op.getEstimate()));
  const Emitter &emit = positions.emit;
  Value target = positions.target(values.lookup(op.getChunk()), values.lookup(op.getChunks()));
  Value at = positions.boundaryAt(target), least = values.lookup(op.getLeast()), zero = emit.constant(0);
  Values result = emit.branch(
      emit.compare(CmpIPredicate::ugt, at, positions.begin), SmallVector<Type>(4, b.getIndexType()),
      [&] {
        Value first = emit.sub(at, emit.constant(1)), last = at;
        if (hasSegments(space)) {
          first = space.lowerBound(positions.begin, first, space.coordinate(first));
          last = afterSegment(space, last);
        }
        Value start = positions.workBefore(first), stop = positions.workBefore(last);
        Value whole = emit.sub(stop, start);
        Value inside = emit.both(emit.isLess(target, stop), emit.compare(CmpIPredicate::ugt, whole, least));
        // As a ratio of numbers that can be multiplied with each other.
        Value unit = emit.next(emit.shiftRight(whole, 31));
        return Values{emit.select(inside, first, last), last, emit.divide(emit.sub(target, start), unit),
                      emit.divide(whole, unit)};
      },
      [&] { return Values{at, at, zero, zero}; });
  for (auto [value, found] : llvm::zip(op.getResults(), result))
    values.map(value, found);
}

void Lowering::lower(SliceOp op) {
  Space space = spaces.at(op.getSpace());
  auto [low, high] = boundsOf(space);
  limit(space, {arith::MaxSIOp::create(b, op.getLoc(), values.lookup(op.getBegin()), low),
                arith::MinSIOp::create(b, op.getLoc(), values.lookup(op.getEnd()), high)});
  space.one = op.getOne();
  bind(op.getResult(), space);
}

void Lowering::lower(RestrictOp op) {
  Space space = spaces.at(op.getSpace());
  PositionRange chunk = spaces.at(op.getRange()).range;
  if (!space.full()) {
    // One chunk has all coordinates: a search, which misses the cache at every step, would cost more than a
    // short loop.
    const Emitter &emit = space.emit;
    auto [lo, hi] = chunk;
    auto [first, last] = space.range;
    chunk.begin = emit.choose(
        emit.isEqual(lo, emit.constant(0)), [&] { return first; },
        [&] { return space.lowerBound(first, last, lo); });
    chunk.end = emit.choose(
        emit.compare(CmpIPredicate::uge, hi, space.levelSize()), [&] { return last; },
        [&] { return space.lowerBound(chunk.begin, last, hi); });
  }
  limit(space, chunk);
  bind(op.getResult(), space);
}

} // namespace tulle::lower
