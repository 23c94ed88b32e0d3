#include "passes/assemble/Clone.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

/// The copies of the region's ops, in order.
static SmallVector<Operation *> copyOps(OpBuilder &b, AssembleOp op) {
  IRMapping mapping;
  SmallVector<Operation *> copies;
  for (Operation &inner : op.getBody().front())
    copies.push_back(b.clone(inner, mapping));
  // Every insert changes what the next one finds: rounds are no longer independent.
  for (Operation *copy : copies)
    copy->walk([](Operation *loop) {
      bool inserts = loop->walk([](InsertOp) { return WalkResult::interrupt(); }).wasInterrupted();
      if (auto iterate = dyn_cast<IterateOp>(loop); iterate && inserts)
        iterate.setKind(LoopKind::Reduction);
      else if (auto coiterate = dyn_cast<CoiterateOp>(loop); coiterate && inserts)
        coiterate.setKind(LoopKind::Reduction);
    });
  return copies;
}

/// The inserts in the copies. Those of nested assemblies have been lowered: the pass goes innermost first.
static SmallVector<InsertOp> insertsOf(ArrayRef<Operation *> copies) {
  SmallVector<InsertOp> inserts;
  for (Operation *copy : copies)
    copy->walk([&](InsertOp insert) { inserts.push_back(insert); });
  return inserts;
}

void cloneLoops(OpBuilder &b, AssembleOp op, OnInsert onInsert) {
  SmallVector<Operation *> copies = copyOps(b, op);
  OpBuilder::InsertionGuard guard(b);
  for (InsertOp insert : insertsOf(copies)) {
    b.setInsertionPoint(insert);
    onInsert(b, insert.getCoordinates(), insert.getValue());
    insert.erase();
  }
}

void cloneCounting(OpBuilder &b, AssembleOp op, OnCoordinates onInsert) {
  SmallVector<Operation *> copies = copyOps(b, op);
  OpBuilder::InsertionGuard guard(b);
  for (InsertOp insert : insertsOf(copies)) {
    b.setInsertionPoint(insert);
    onInsert(b, insert.getCoordinates());
    Operation *value = insert.getValue().getDefiningOp();
    insert.erase();
    // Reading a value can cost as much as everything else here.
    while (value && isOpTriviallyDead(value)) {
      Operation *from = value->getNumOperands() ? value->getOperand(0).getDefiningOp() : nullptr;
      value->erase();
      value = from;
    }
  }
}

} // namespace tulle::assemble
