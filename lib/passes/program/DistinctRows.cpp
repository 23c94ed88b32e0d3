// A table holds the number of each coordinate that was met, and is as it was before for the next tile.
#include "passes/program/DistinctRows.h"
#include "levels/Indices.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::program {

void DistinctRows::find(OpBuilder &b, const TileReads &reads, const TileAxis &axis, Value begin, Value end,
                        Value size) {
  IteratorAtOp selection = axis.selection;
  Location loc = selection.getLoc();
  levels::IndicesAt at(b, loc);
  Value none = arith::ConstantIntOp::create(b, loc, -1, 64);
  Value table =
      FilledBufferOp::create(b, loc, MemRefType::get({ShapedType::kDynamic}, b.getI64Type()), size, none);
  // The coordinate's number, which is the next one at its first occurrence.
  auto number = [&](Value coordinate, Value integer, Value next) {
    Value known = memref::LoadOp::create(b, loc, table, coordinate);
    Value isNew = at.is(arith::CmpIPredicate::eq, known, none);
    Value own = at.select(isNew, next, arith::IndexCastOp::create(b, loc, b.getIndexType(), known));
    memref::StoreOp::create(b, loc, arith::IndexCastOp::create(b, loc, b.getI64Type(), own), table,
                            coordinate);
    memref::StoreOp::create(b, loc, coordinate, rows, own);
    memref::StoreOp::create(b, loc, own, numbers, at.sub(integer, begin));
    return at.add(next, arith::IndexCastUIOp::create(b, loc, b.getIndexType(), isNew));
  };
  auto visit = [&](Value integer, const levels::Values &next) {
    IRMapping mapping;
    mapping.map(TileReads::selectingLoop(axis).getBody().getArgument(0), integer);
    for (Operation *op : reads.selectingOps(axis))
      b.clone(*op, mapping);
    auto one = cast<IteratorAtOp>(mapping.lookup(selection.getCoordinate()).getDefiningOp());
    return levels::ifElse(
        b, loc, one.getEntry(), b.getIndexType(),
        [&] { return levels::Values{number(one.getCoordinate(), integer, next[0])}; }, [&] { return next; });
  };
  count = levels::forLoop(b, loc, begin, end, LoopKind::Reduction, at.constant(0), visit)[0];
  levels::forEach(b, loc, at.constant(0), count, LoopKind::Parallel, [&](Value each) {
    memref::StoreOp::create(b, loc, none, table, ValueRange(memref::LoadOp::create(b, loc, rows, each)));
  });
  ReturnFilledBufferOp::create(b, loc, table, none);
}

Value DistinctRows::numberAt(const TileAxis &axis, Value begin) const {
  IteratorAtOp selection = axis.selection;
  OpBuilder b(selection);
  b.setInsertionPointAfter(selection);
  levels::IndicesAt at(b, selection.getLoc());
  Value integer = TileReads::selectingLoop(axis).getBody().getArgument(0);
  return memref::LoadOp::create(b, at.loc, numbers, at.sub(integer, begin));
}

} // namespace tulle::program
