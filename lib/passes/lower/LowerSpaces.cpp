// Spaces and iterators become positions: located, searched for, read from a table, or found by a loop. From
// the coordinates of levels, an inverse map gives those of dimensions. Iterations become loops over
// positions, partitions are bounds.
#include "levels/Expression.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "passes/assemble/algorithms/Emit.h"
#include "passes/lower/Lowering.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::lower {

using arith::CmpIPredicate;

std::optional<Iterator> Lowering::parentIterator(Value parent) const {
  return parent ? std::optional(iterators.lookup(parent)) : std::nullopt;
}

void Lowering::lower(RangeOp op) {
  bind(op.getResult(),
       Space{emitter(op), nullptr, 0, {values.lookup(op.getLo()), values.lookup(op.getHi())}});
}

void Lowering::lower(SpaceOp op) {
  Value condition = op.getCondition() ? values.lookup(op.getCondition()) : Value();
  bind(op.getResult(), spaceOf(op, condition));
}

void Lowering::lower(SpaceSizeOp op) {
  const Space space = spaces.at(op.getSpace());
  const Emitter &emit = space.emit;
  Value size;
  if (space.full())
    size = space.levelSize();
  else if (space.hasPadding())
    size = iterate(op.getLoc(), space, space.range.begin, space.range.end,
                   LoopAttr::get(b.getContext(), LoopKind::Reduction), /*each=*/false, emit.constant(0),
                   [&](Value, const Iterator &, Values count) { return Values{emit.next(count[0])}; })[0];
  else
    size = emit.sub(space.range.end, space.range.begin);
  values.map(op.getResult(), size);
}

void Lowering::lower(LocateOp op) {
  Space space = spaceOf(op);
  Value coordinate = values.lookup(op.getCoordinate());
  iterators[op.getResult()] = space.at(space.locate(coordinate), {}, coordinate);
}

void Lowering::lower(SearchOp op) {
  Space space = spaceOf(op);
  const Emitter &emit = space.emit;
  Value coordinate = values.lookup(op.getCoordinate());
  if (auto known = space.format->find({emit, space.level}, space.parent, coordinate)) {
    iterators[op.getResult()] = space.at(known->position, {}, coordinate);
    values.map(op.getFound(), known->found);
    return;
  }
  Value position = space.lowerBound(space.range.begin, space.range.end, coordinate);
  Value found = emit.guarded(space.hasEntries(position),
                             [&] { return emit.isEqual(space.coordinate(position), coordinate); });
  Value end;
  if (!space.unique())
    end =
        emit.choose(found, [&] { return space.segmentEnd(position, coordinate); }, [&] { return position; });
  iterators[op.getResult()] = space.at(position, end, coordinate);
  values.map(op.getFound(), found);
}

//===--- Tables of positions ---===//

void Lowering::lower(PositionTableOp op) {
  Location loc = op.getLoc();
  const Space space = spaces.at(op.getSpace());
  Value table = values.lookup(op.getTable());
  Type element = cast<MemRefType>(table.getType()).getElementType();
  iterate(loc, space, space.range.begin, space.range.end, LoopAttr::get(b.getContext(), LoopKind::Parallel),
          /*each=*/false, {}, [&](Value coordinate, const Iterator &at, Values) {
            Value position = arith::IndexCastUIOp::create(b, loc, element, at.position);
            memref::StoreOp::create(b, loc, position, table, coordinate);
            return Values{};
          });
}

/// What a table holds that is no position of the space at hand is known by its value.
void Lowering::lower(LookupOp op) {
  Location loc = op.getLoc();
  const Space &space = spaces.at(op.getSpace());
  Value coordinate = values.lookup(op.getCoordinate());
  Value held = memref::LoadOp::create(b, loc, values.lookup(op.getTable()), coordinate);
  Value position = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), held);
  // Positions below other parents lie outside of the range; those before it wrap.
  Value distance = arith::SubIOp::create(b, loc, position, space.range.begin);
  Value size = space.emit.sub(space.range.end, space.range.begin);
  iterators[op.getResult()] = space.at(position, {}, coordinate);
  values.map(op.getFound(), space.emit.isLess(distance, size));
}

//===--- Coordinates of dimensions ---===//

void Lowering::lower(CoordinatesOp op) {
  const Emitter emit = emitter(op, op.getTensor());
  const Iterator at = iterators.lookup(op.getIterator());
  const format::Encoding &encoding = emit.storage.encoding;
  Value inside;
  for (auto [d, expr] : llvm::enumerate(*format::inverseMap(encoding))) {
    const bool ranked = expr->kind == format::ExprKind::Unrank;
    Value coordinate = levels::ExpressionEmitter(emit, {{}, at.coordinates})(ranked ? expr->lhs : expr);
    // Slots without entries may lie beyond the dimension's size.
    Value check;
    if (format::mayLieOutside(encoding, unsigned(d), ranked ? expr->lhs : expr)) {
      check = emit.isLess(coordinate, emit.storage.dims[d]);
      inside = emit.both(inside, check);
    }
    // A rank that no coordinate has is not read.
    Value rank = coordinate;
    if (ranked)
      coordinate = check ? emit.choose(
                               check, [&] { return emit.permuted(rank); }, [&] { return emit.constant(0); })
                         : emit.permuted(rank);
    values.map(op.getCoordinates()[d], coordinate);
  }
  values.map(op.getInside(), inside ? inside : emit.bit(true));
}

//===--- Iterations ---===//

Values Lowering::iterate(Location loc, const Space &space, Value begin, Value end, LoopAttr loop, bool each,
                         ValueRange carried, function_ref<Values(Value, const Iterator &, Values)> body) {
  const std::string name = loop.valueName(), positionName = name.empty() ? name : name + "_pos";
  // Padding is skipped.
  auto visit = [&](Value position, Value end, Value coordinate, Values now) -> Values {
    levels::named(position, positionName);
    levels::named(coordinate, name);
    Value entry = space.valid(position, coordinate);
    auto run = [&] { return body(coordinate, space.at(position, end, coordinate), now); };
    return entry ? space.emit.branch(entry, ValueRange(now).getTypes(), run, [&] { return now; }) : run();
  };
  if (space.format->single(space.parent)) {
    auto only = [&] { return visit(begin, {}, space.coordinate(begin), Values(carried)); };
    if (!space.maybeEmpty)
      return only();
    return space.emit.branch(space.emit.isLess(begin, end), carried.getTypes(), only,
                             [&] { return Values(carried); });
  }
  if (space.unique() || each)
    return forLoop(b, loc, begin, end, loop, carried, [&](Value position, Values now) {
      return visit(position, {}, space.coordinate(position), now);
    });
  // A nonunique level is iterated segment by segment; where the next one starts is known only at the end of
  // this one.
  auto more = [&](Values at) { return space.emit.isLess(at[0], end); };
  auto segment = [&](Values at) {
    Value coordinate = space.coordinate(at[0]), next = space.segmentEnd(at[0], coordinate);
    return concat({next}, visit(at[0], next, coordinate, dropFront(at, 1)));
  };
  return dropFront(whileLoop(b, loc, concat({begin}, carried), more, segment), 1);
}

/// The coordinates of a full level below which something can be: all of them, unless the next level says
/// that its slot lies outside for some.
static std::optional<PositionRange> boundedByChild(const Space &space) {
  unsigned next = space.level + 1;
  if (next >= space.storage().encoding.levels.size())
    return std::nullopt;
  const levels::LevelFormat *child = levels::find(space.storage().encoding.levels[next].format);
  return child->parentCoordinates({space.emit, next}, space.parent);
}

void Lowering::lower(IterateOp op) {
  Location loc = op.getLoc();
  const Space space = spaces.at(op.getSpace());
  auto emit = [&](Value coordinate, ArrayRef<Iterator> at, Values carried) {
    return emitBody(op.getBody(), coordinate, at, op.getInits(), carried);
  };
  Values inits = plain(op.getInits()), results;
  if (!space.format) {
    results = forLoop(b, loc, space.range.begin, space.range.end, op.getLoop(), inits,
                      [&](Value coordinate, Values carried) { return emit(coordinate, {}, carried); });
  } else if (space.full()) {
    // Counting coordinates instead of positions keeps the lower bound 0.
    std::optional<PositionRange> bounds = boundedByChild(space);
    Value begin = bounds ? bounds->begin : space.emit.constant(0);
    Value end = bounds ? bounds->end : space.levelSize();
    if (space.slice) {
      begin = space.emit.greatest(begin, space.slice->begin);
      end = space.emit.least(end, space.slice->end);
    }
    results = forLoop(b, loc, begin, end, op.getLoop(), inits, [&](Value coordinate, Values carried) {
      Iterator iterator = space.at(space.locate(coordinate), {}, coordinate);
      iterator.bounded = bounds.has_value();
      return emit(coordinate, iterator, carried);
    });
  } else {
    results = iterate(loc, space, space.range.begin, space.range.end, op.getLoop(), visitsEachEntry(op),
                      inits, [&](Value coordinate, const Iterator &iterator, Values carried) {
                        prefetch(op, space, iterator.position);
                        return emit(coordinate, iterator, carried);
                      });
  }
  bindCarried(op.getResults(), op.getInits(), results);
}

//===--- Partitions ---===//

void Lowering::lower(ThreadsOp op) {
  StringRef name = op.getFixed() ? "tulle_fixed_tasks" : "tulle_threads";
  values.map(op.getResult(), assemble::callForIndex(emitter(op), name, values.lookup(op.getWork())));
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

/// What is partitioned, and by which work: the entries below the positions of level `worked`, if any.
struct Positions {
  Emitter emit;
  Value begin, end;
  std::optional<unsigned> worked = {};

  /// `estimate`: the tensor by whose entries a range is partitioned, or null.
  Positions(const Space &space, const levels::Storage *estimate)
      : emit(space.emit.builder, space.emit.loc, estimate && !space.format ? *estimate : space.storage()) {
    auto [first, last] = space.bounds();
    begin = first;
    end = last;
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
  Value work() const {
    return ofSome([&] { return emit.sub(workBefore(end), workBefore(begin)); });
  }

  /// The work before a chunk.
  Value target(Value chunk, Value chunks) const {
    return ofSome([&] {
      Value first = workBefore(begin);
      return emit.add(first, chunkBegin(emit, emit.sub(workBefore(end), first), chunk, chunks));
    });
  }
  /// The value, or 0 where a batch has no tensor: its buffers have no elements then, not even a first
  /// position.
  Value ofSome(llvm::function_ref<Value()> value) const {
    const bool mayHaveNone = llvm::any_of(emit.storage.encoding.levels, [](const format::Level &level) {
      return level.format.kind == format::LevelKind::Batch;
    });
    if (!worked || !mayHaveNone)
      return value();
    return emit.choose(emit.isLess(begin, end), value, [&] { return emit.constant(0); });
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

/// Whether positions of a space may begin inside of a segment of one coordinate.
bool hasSegments(const Space &space) { return space.format && !space.full() && !space.unique(); }

} // namespace

void Lowering::lower(BoundsOp op) {
  auto [begin, end] = spaces.at(op.getSpace()).bounds();
  values.map(op.getBegin(), begin);
  values.map(op.getEnd(), end);
}

void Lowering::lower(IteratorAtOp op) {
  const Space &space = spaces.at(op.getSpace());
  const Emitter &emit = space.emit;
  Value number = values.lookup(op.getNumber()), coordinate = number, entry = emit.bit(true);
  auto read = [&] {
    Value there = space.coordinate(number), valid = space.valid(number, there);
    return Values{there, valid ? valid : emit.bit(true)};
  };
  if (space.full()) {
    iterators[op.getIterator()] = space.at(space.locate(number), {}, number);
  } else {
    Values there;
    if (Value condition = op.getCondition())
      there = emit.branch(values.lookup(condition), {b.getIndexType(), b.getI1Type()}, read,
                          [&] { return Values{emit.constant(0), emit.bit(false)}; });
    else
      there = read();
    coordinate = there[0];
    entry = there[1];
    Value until = op.getUntil() ? values.lookup(op.getUntil()) : Value();
    iterators[op.getIterator()] = space.at(number, until, coordinate);
  }
  values.map(op.getCoordinate(), coordinate);
  values.map(op.getEntry(), entry);
}

void Lowering::lower(NextOp op) {
  const Space &space = spaces.at(op.getSpace());
  Value number = values.lookup(op.getNumber());
  if (Value coordinate = op.getCoordinate())
    number = space.segmentEnd(number, values.lookup(coordinate));
  values.map(op.getResult(), space.nextEntry(number));
}

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
  space.limit(bounds);
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
  auto [begin, end] = spaces.at(op.getCoordinates()).bounds();
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

} // namespace tulle::lower
