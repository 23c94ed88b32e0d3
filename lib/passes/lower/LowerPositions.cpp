// Spaces and iterators become positions: located, searched for, read from a table, or found by a loop. From
// the coordinates of levels, an inverse map gives those of dimensions.
#include "format/Encoding.h"
#include "levels/Expression.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/lower/Lowering.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::lower {

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

} // namespace tulle::lower
