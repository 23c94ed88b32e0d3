// Detects fiber boundaries: where the outer coordinates of an insert become known, they are compared with
// those of the entry before.
#include "passes/assemble/algorithms/FiberBoundaries.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;

FiberBoundaries::FiberBoundaries(const Target &target, const Order &order, unsigned levels)
    : target(target), levels(levels), analysis(order, levels, target.builder.getInsertionBlock()) {
  // No coordinate is -1 in a map of digits, so that the first entry starts a fiber.
  Value none = target.constant(-1);
  for (unsigned l = 0; l < levels; ++l)
    current.emplace_back(target, none);
}

void FiberBoundaries::atInsert(ValueRange dims) {
  if (levels == 0)
    return;
  analysis.add(target.constant(0).getDefiningOp(), dims);
}

Values FiberBoundaries::coordinates(const FiberAnalysis::Insert &insert) const {
  // Coordinates of other dimensions may not be known here, and do not matter.
  Values known(insert.dims.size(), target.constant(0));
  for (unsigned d : analysis.fiberDims())
    known[d] = insert.dims[d];
  Values all = target.levelCoordinates(known);
  return Values(ArrayRef<Value>(all).take_front(levels));
}

static Values valuesOf(const std::vector<Register> &registers) {
  return llvm::map_to_vector<6>(registers, [](const Register &r) { return r.get(); });
}

/// When the fiber changes, the one before is complete.
void FiberBoundaries::checkAt(const FiberAnalysis::Insert &insert, Complete complete) const {
  Values now = coordinates(insert), before = valuesOf(current);
  Value changed;
  for (unsigned l = 0; l < levels; ++l) {
    Value differs = target.compare(CmpIPredicate::ne, now[l], before[l]);
    changed = changed ? make<arith::OrIOp>(target, changed, differs) : differs;
  }
  when(target, changed, [&] {
    complete(before);
    for (unsigned l = 0; l < levels; ++l)
      current[l].set(now[l]);
  });
}

void FiberBoundaries::finish(Complete complete) {
  OpBuilder &b = target.builder;
  std::vector<FiberAnalysis::Insert> done;
  bool atEnds = analysis.endsKnown();
  for (const FiberAnalysis::Insert &insert : analysis.inserts) {
    bool hoisted = analysis.canHoist(insert);
    if (hoisted &&
        llvm::any_of(done, [&](const FiberAnalysis::Insert &other) { return other.point == insert.point; }))
      continue;
    OpBuilder::InsertionGuard guard(b);
    if (hoisted)
      done.push_back(insert);
    if (atEnds) {
      b.setInsertionPoint(insert.point.block->getTerminator());
      complete(coordinates(insert));
      continue;
    }
    const FiberAnalysis::Point &point =
        hoisted ? insert.point : FiberAnalysis::Point{insert.marker->getBlock(), insert.marker};
    if (point.after)
      b.setInsertionPointAfter(point.after);
    else
      b.setInsertionPointToStart(point.block);
    checkAt(insert, complete);
  }
  if (!atEnds)
    complete(valuesOf(current));
}

} // namespace tulle::assemble
