// tulle-lower-unique: combinations of repeats as loops.
#include "passes/Passes.h"
#include "passes/assemble/algorithms/Target.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
#define GEN_PASS_DEF_LOWERUNIQUE
#include "passes/Passes.h.inc"

using arith::CmpIPredicate;
using assemble::either;
using assemble::loadAt;
using assemble::reduce;
using assemble::storeAt;
using assemble::Values;

/// The next entry goes to position `to` of a segment that begins at `begin` now, or is combined with the one
/// before. Returns the position behind.
static Value moveEntry(const assemble::Target &target, UniqueOp op, Value begin, Value next, Value to) {
  Type bit = target.builder.getI1Type(), index = to.getType();
  Value coordinate = loadAt(target, op.getCoordinates(), next);
  Value value = loadAt(target, op.getValues(), next), before = target.sub(to, target.constant(1));
  Value repeated = either(
      target, target.compare(CmpIPredicate::ult, begin, to), bit,
      [&] {
        Value last = loadAt(target, op.getCoordinates(), before);
        return Values{target.compare(CmpIPredicate::eq, last, coordinate)};
      },
      [&] { return Values{target.constantInt(bit, 0)}; })[0];
  return either(
      target, repeated, index,
      [&] {
        target.combineValue(before, target.fromMemory(value));
        return Values{to};
      },
      [&] {
        storeAt(target, coordinate, op.getCoordinates(), to);
        storeAt(target, value, op.getValues(), to);
        return Values{target.add(to, target.constant(1))};
      })[0];
}

static Values lower(OpBuilder &b, UniqueOp op) {
  assemble::Target target(b, op.getLoc(), cast<RankedTensorType>(op.getTensor()), {}, op.getCombine());
  target.storage.fields.back() = op.getValues();
  const bool loose = target.encoding().levels.back().format.kind == format::LevelKind::LooseCompressed;
  Value edges = op.getPositions();
  // Carried: where the segment before ended, and where the next entry goes. The edge of a parent is read
  // before it is written.
  auto combine = [&](Value parent, Values at) {
    Value edge = loose ? target.mul(parent, target.constant(2)) : parent;
    Value behind = target.add(edge, target.constant(1));
    Value begin = loose ? target.read(edges, edge) : at[0]; // gaps may be between loose ones
    Value end = target.read(edges, behind);
    Value out = reduce(target, begin, end, at[1], [&](Value next, Values to) {
      return Values{moveEntry(target, op, at[1], next, to[0])};
    })[0];
    if (loose)
      target.write(edges, edge, at[1]);
    target.write(edges, behind, out);
    return Values{end, out};
  };
  return {reduce(target, op.getFirst(), op.getLast(), {op.getStart(), op.getStart()}, combine)[1]};
}

namespace {

struct LowerUnique : impl::LowerUniqueBase<LowerUnique> {
  void runOnOperation() override { assemble::lowerEach<UniqueOp>(getOperation(), lower); }
};

} // namespace
} // namespace tulle::passes
