#include "passes/assemble/Append.h"
#include "passes/assemble/Appender.h"
#include "passes/assemble/Clone.h"
#include "passes/assemble/Groups.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

bool fitsAppend(const Target &target, AssembleOp op, const Order &order) {
  if (!Appender::supports(target))
    return false;
  unsigned stored = target.storedLevels();
  if (order.sortedLevels() < stored)
    return false;
  // A repeat in a block is told by what is there already, or because it comes next to the first.
  return order.unique || stored == target.levels() || target.fillIsIdentity() || order.sorted();
}

/// Emits a copy of the loops that appends every entry.
static void appendAll(OpBuilder &b, Target &target, AssembleOp op, const Order &order, Appender &appender,
                      bool counting) {
  bool grouped = Groups::arePasses(target, op, order, appender.groupLevels());
  Groups groups(b, target, order, appender.groupLevels());
  auto append = [&](OpBuilder &b, ValueRange dims, Value value) {
    if (!grouped)
      return appender.append(b, target.levelCoordinates(b, dims), value);
    groups.atInsert(b, dims);
    appender.appendInGroup(b, target.levelCoordinates(b, dims), value);
  };
  if (counting)
    cloneCounting(b, op, [&](OpBuilder &b, ValueRange dims) { append(b, dims, {}); });
  else
    cloneLoops(b, op, append);
  if (grouped)
    groups.finish(b, [&](OpBuilder &b, ValueRange group) { appender.closeGroup(b, group); });
}

/// The numbers of positions the entries will need, by a copy of the loops that only counts.
static Values countPositions(OpBuilder &b, Target &target, AssembleOp op, const Order &order) {
  Appender counter(b, target, order, /*counting=*/true);
  appendAll(b, target, op, order, counter, /*counting=*/true);
  Values counts;
  for (unsigned r = 0; r < counter.runCount(); ++r)
    counts.push_back(counter.count(b, r));
  return counts;
}

FailureOr<Value> lowerByAppend(OpBuilder &b, Target &target, AssembleOp op, const Order &order) {
  Value bound = op.getBound();
  bool stores = target.storedLevels() > 0;
  bool loose = stores && bound && op.getPlan() != AssemblyPlan::Count;
  Values bounds{bound};
  if (!loose)
    bounds = stores ? countPositions(b, target, op, order) : Values();
  Appender appender(b, target, order, /*counting=*/false);
  appender.allocate(b, bounds);
  appendAll(b, target, op, order, appender, /*counting=*/false);
  appender.finish(b, loose);
  return target.finish(b);
}

} // namespace tulle::assemble
