// Detects fiber boundaries: where the outer coordinates of an insert become known, they are compared with
// those of the entry before.
#include "passes/assemble/algorithms/FiberBoundaries.h"
#include "levels/Control.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;

FiberBoundaries::FiberBoundaries(OpBuilder &b, const Target &target, const Order &order, unsigned levels)
    : target(target), levels(levels), analysis(order, levels, b.getInsertionBlock()) {
  // No coordinate is -1 in a map of digits, so that the first entry starts a group.
  Value none = arith::ConstantIndexOp::create(b, target.loc, -1);
  for (unsigned l = 0; l < levels; ++l)
    current.emplace_back(b, target.loc, none);
}

void FiberBoundaries::atInsert(OpBuilder &b, ValueRange dims) {
  if (levels == 0)
    return;
  Operation *marker = arith::ConstantIndexOp::create(b, target.loc, 0);
  analysis.add(marker, dims);
}

Values FiberBoundaries::coordinates(OpBuilder &b, const FiberAnalysis::Insert &insert) const {
  // Coordinates of other dimensions may not be known here, and do not matter.
  Values known(insert.dims.size(), arith::ConstantIndexOp::create(b, target.loc, 0));
  for (unsigned d : analysis.fiberDims())
    known[d] = insert.dims[d];
  Values all = target.levelCoordinates(b, known);
  return Values(ArrayRef<Value>(all).take_front(levels));
}

static Values valuesOf(OpBuilder &b, const std::vector<Register> &registers) {
  Values values;
  for (const Register &r : registers)
    values.push_back(r.get(b));
  return values;
}

/// When the group changes, the one before is complete.
void FiberBoundaries::checkAt(OpBuilder &b, const FiberAnalysis::Insert &insert, Complete complete) const {
  Values now = coordinates(b, insert), before = valuesOf(b, current);
  Value changed;
  for (unsigned l = 0; l < levels; ++l) {
    Value differs = arith::CmpIOp::create(b, target.loc, CmpIPredicate::ne, now[l], before[l]);
    changed = changed ? Value(arith::OrIOp::create(b, target.loc, changed, differs)) : differs;
  }
  auto branch = scf::IfOp::create(b, target.loc, changed, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  complete(b, before);
  for (unsigned l = 0; l < levels; ++l)
    current[l].set(b, now[l]);
}

void FiberBoundaries::finish(OpBuilder &b, Complete complete) {
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
      complete(b, coordinates(b, insert));
      continue;
    }
    const FiberAnalysis::Point &point =
        hoisted ? insert.point : FiberAnalysis::Point{insert.marker->getBlock(), insert.marker};
    if (point.after)
      b.setInsertionPointAfter(point.after);
    else
      b.setInsertionPointToStart(point.block);
    checkAt(b, insert, complete);
  }
  if (!atEnds)
    complete(b, valuesOf(b, current));
}

} // namespace tulle::assemble
