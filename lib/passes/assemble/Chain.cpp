#include "passes/assemble/Chain.h"
#include "passes/assemble/AllocationPlan.h"
#include "passes/assemble/Appender.h"
#include "passes/assemble/CoordinateList.h"

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

/// Static sizes of the levels behind the stored ones; a size that is not known counts as many.
static int64_t blockSize(const Target &target) {
  constexpr int64_t many = 1 << 16;
  int64_t size = 1;
  for (unsigned l = target.storedLevels(); l < target.levels(); ++l) {
    int64_t modulus = target.storage.digits.empty() ? 0 : target.storage.digits[l].modulus;
    size = std::min(many, size * (modulus == 0 ? many : std::min(modulus, many)));
  }
  return size;
}

void assembleByChain(OpBuilder &b, Target &target, const Order &order, Value inserts) {
  Entries entries(b, target, inserts);
  entries.collect(b);
  entries.sort(b, levelsToSort(target, order));
  auto appendAll = [&](OpBuilder &b, Appender &appender) {
    entries.forEach(b, [&](OpBuilder &b, ValueRange dims, Value value) {
      appender.append(b, target.levelCoordinates(b, dims), value);
    });
  };
  auto count = [&](OpBuilder &b) {
    Appender counter(b, target, order, /*counting=*/true);
    appendAll(b, counter);
    Values counts;
    for (unsigned r = 0; r < counter.runCount(); ++r)
      counts.push_back(counter.count(b, r));
    return counts;
  };
  unsigned runs = Appender(b, target, order, /*counting=*/true).runCount();
  Values bounds =
      planPositions(b, target, entries.count(b), runs, target.emitter(b).constant(blockSize(target)), count);
  Appender appender(b, target, order, /*counting=*/false);
  appender.allocate(b, bounds);
  appendAll(b, appender);
  appender.finish(b, /*loose=*/true);
  entries.free(b);
}

FailureOr<Value> lowerByChain(OpBuilder &b, Target &target, AssembleOp op, const Order &order) {
  assembleByChain(b, target, order, boundInserts(b, target, op));
  return target.finish(b);
}

} // namespace tulle::assemble
