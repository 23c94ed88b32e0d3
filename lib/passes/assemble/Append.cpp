#include "passes/assemble/Append.h"
#include "passes/assemble/Appender.h"
#include "passes/assemble/Clone.h"

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

/// The numbers of positions the entries will need, by a copy of the loops that only counts.
static Values countPositions(OpBuilder &b, Target &target, AssembleOp op, const Order &order) {
  Appender counter(b, target, order, /*counting=*/true);
  cloneCounting(
      b, op, [&](OpBuilder &b, ValueRange dims) { counter.append(b, target.levelCoordinates(b, dims), {}); });
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
  cloneLoops(b, op, [&](OpBuilder &b, ValueRange dims, Value value) {
    appender.append(b, target.levelCoordinates(b, dims), value);
  });
  appender.finish(b, loose);
  return target.finish(b);
}

} // namespace tulle::assemble
