#include "passes/assemble/Chain.h"
#include "passes/assemble/Appender.h"
#include "passes/assemble/Clone.h"
#include "passes/assemble/Entries.h"
#include "passes/assemble/Memory.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

/// The expression is known from the entry alone.
static bool isPlain(const format::Expr &e) {
  if (!e)
    return true;
  using K = format::ExprKind;
  return e->kind != K::Counter && e->kind != K::Rank && e->kind != K::Symbol && isPlain(e->lhs) &&
         isPlain(e->rhs);
}

bool fitsChain(const Target &target, AssembleOp, const Order &order) {
  return Appender::supports(target) && llvm::all_of(order.levels, isPlain);
}

/// The levels that the entries have to be sorted by; those behind are in order already.
static unsigned levelsToSort(const Target &target, const Order &order) {
  unsigned stored = target.storedLevels();
  // Repeats in a block are told by coming next to each other where its values do not tell them.
  bool byBlock = !order.unique && stored < target.levels() && !target.fillIsIdentity();
  unsigned needed = byBlock ? target.levels() : stored;
  unsigned outer = 0;
  while (outer < needed && order.sortedLevels(outer) < needed - outer)
    ++outer;
  return outer;
}

FailureOr<Value> lowerByChain(OpBuilder &b, Target &target, AssembleOp op, const Order &order) {
  Entries entries(b, target, boundInserts(b, target, op));
  cloneLoops(b, op, [&](OpBuilder &b, ValueRange dims, Value value) { entries.push(b, dims, value); });
  entries.sort(b, levelsToSort(target, order));
  auto appendAll = [&](OpBuilder &b, Appender &appender) {
    entries.forEach(b, [&](OpBuilder &b, ValueRange dims, Value value) {
      appender.append(b, target.levelCoordinates(b, dims), value);
    });
  };
  Value bound = entries.count(b);
  Appender appender(b, target, order, /*counting=*/false);
  appender.allocate(b, bound);
  appendAll(b, appender);
  appender.finish(b, /*loose=*/true);
  entries.free(b);
  return target.finish(b);
}

} // namespace tulle::assemble
