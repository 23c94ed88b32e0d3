// Tables of positions: what stands in one that is no position of the space at hand is known by its value.
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/lower/Lowering.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::lower {

void Lowering::lowerPositionTable(PositionTableOp op) {
  Location loc = op.getLoc();
  Space space = spaces.lookup(op.getSpace());
  Value table = values.lookup(op.getTable());
  Type element = cast<MemRefType>(table.getType()).getElementType();
  walk(loc, space, space.range.begin, space.range.end, LoopAttr::get(b.getContext(), LoopKind::Parallel),
       /*each=*/false, {}, [&](Value coordinate, const levels::Iterator &at, Values) {
         Value position = arith::IndexCastUIOp::create(b, loc, element, at.position);
         memref::StoreOp::create(b, loc, position, table, coordinate);
         return Values{};
       });
}

void Lowering::lowerLookup(LookupOp op) {
  Location loc = op.getLoc();
  Space space = spaces.lookup(op.getSpace());
  levels::Emitter emit = space.emitter(b, loc);
  Value coordinate = values.lookup(op.getCoordinate());
  Value held = memref::LoadOp::create(b, loc, values.lookup(op.getTable()), coordinate);
  Value position = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), held);
  // Positions below other parents lie outside of the range; those before it wrap.
  Value distance = arith::SubIOp::create(b, loc, position, space.range.begin);
  Value size = emit.sub(space.range.end, space.range.begin);
  iterators[op.getResult()] = space.at(position, {}, coordinate);
  values.map(op.getFound(), emit.compare(arith::CmpIPredicate::ult, distance, size));
}

} // namespace tulle::lower
