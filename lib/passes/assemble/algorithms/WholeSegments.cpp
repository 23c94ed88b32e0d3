// An entry's position among the target's is its distance from the beginning of its segment, and what was
// there before.
#include "passes/assemble/algorithms/WholeSegments.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/assemble/algorithms/CloneLoops.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

bool visitsSegment(IterateOp loop) {
  auto type = dyn_cast<SpaceType>(loop.getSpace().getType());
  return type && loop.getInits().empty() && type.getFormat().kind == format::LevelKind::Compressed &&
         type.getFormat().unique && !type.getFormat().padded;
}

bool insertsSegment(IterateOp loop) {
  if (!visitsSegment(loop))
    return false;
  int64_t inserts = 0;
  for (Operation &op : loop.getBody().front().without_terminator()) {
    if (op.getNumRegions() != 0)
      return false;
    if (isa<InsertOp>(op))
      ++inserts;
    else if (!isMemoryEffectFree(&op) && !hasSingleEffect<MemoryEffects::Read>(&op))
      return false;
  }
  return inserts == 1;
}

/// Where a coordinate may be too wide for the target, which its size says, all are checked before any is
/// stored.
static void checkWidths(const Target &target, const Appender &appender, IterateOp loop, BoundsOp positions) {
  for (unsigned level : appender.storedCoordinates()) {
    const unsigned field = target.storage.layout.coordinates[level]->field;
    const unsigned width = target.storage.layout.fields[field].width;
    if (width >= 64)
      continue;
    when(target, target.isAbove(target.levelSize(level), target.constant(int64_t(1) << width)), [&] {
      forEach(target, positions.getBegin(), positions.getEnd(), LoopKind::Parallel, [&](Value position) {
        InsertOp insert = cloneInsert(target.builder, loop, position);
        target.checkWidth(field, target.levelCoordinates(insert.getCoordinates())[level]);
        insert.erase();
      });
    });
  }
}

void appendSegment(const Target &target, Appender &appender, InsertOp insert) {
  auto loop = cast<IterateOp>(insert->getParentOp());
  OpBuilder &b = target.builder;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop);
  auto positions = BoundsOp::create(b, target.loc, loop.getSpace());
  Value begin = positions.getBegin(), end = positions.getEnd();
  if (!appender.counting()) {
    checkWidths(target, appender, loop, positions);
    Value distance = arith::SubIOp::create(b, target.loc, appender.lastCount(), begin);
    forEach(target, begin, end, LoopKind::Parallel, [&](Value position) {
      InsertOp entry = cloneInsert(b, loop, position);
      Value to = arith::AddIOp::create(b, target.loc, position, distance);
      appender.storeEntry(to, target.levelCoordinates(entry.getCoordinates()), entry.getValue());
      entry.erase();
    });
  }
  appender.skip(target.sub(end, begin));
  loop.erase();
}

} // namespace tulle::assemble
