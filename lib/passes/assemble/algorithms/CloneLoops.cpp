#include "passes/assemble/algorithms/CloneLoops.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

/// The copies of the region's ops, in order.
static SmallVector<Operation *> copyOps(OpBuilder &b, Region &loops) {
  IRMapping mapping;
  SmallVector<Operation *> copies;
  for (Operation &inner : loops.front())
    copies.push_back(b.clone(inner, mapping));
  // Every insert changes what the next one finds: iterations are no longer independent.
  for (InsertOp insert : insertsIn(copies))
    for (Operation *loop = insert->getParentOp(); loop; loop = loop->getParentOp()) {
      if (auto iterate = dyn_cast<IterateOp>(loop))
        iterate.setLoopAttr(iterate.getLoop().withKind(LoopKind::Reduction));
      else if (auto coiterate = dyn_cast<CoiterateOp>(loop))
        coiterate.setLoopAttr(coiterate.getLoop().withKind(LoopKind::Reduction));
      if (loop->getBlock() == b.getInsertionBlock())
        break;
    }
  return copies;
}

/// Reading a value can cost as much as everything else in a copy that counts.
static void eraseUnused(Operation *value) {
  while (value && isOpTriviallyDead(value)) {
    Operation *from = value->getNumOperands() ? value->getOperand(0).getDefiningOp() : nullptr;
    value->erase();
    value = from;
  }
}

void cloneLoops(OpBuilder &b, Region &loops, int64_t alignment, const parallel::Chunk *chunk,
                OnInsert onInsert, bool counting) {
  SmallVector<Operation *> copies = copyOps(b, loops);
  OpBuilder::InsertionGuard guard(b);
  if (chunk) {
    Operation *loop = outermostLoop(copies);
    b.setInsertionPoint(loop);
    parallel::restrictTo(b, loop, *chunk, alignment);
  }
  for (InsertOp insert : insertsIn(copies)) {
    b.setInsertionPoint(insert);
    onInsert(b, insert.getCoordinates(), counting ? Value() : insert.getValue());
    Operation *value = insert.getValue().getDefiningOp();
    insert.erase();
    if (counting)
      eraseUnused(value);
  }
}

void cloneLoops(OpBuilder &b, AssembleOp op, const parallel::Chunk *chunk, OnInsert onInsert, bool counting) {
  cloneLoops(b, op.getBody(), chunk ? alignmentOf(op).value_or(1) : 1, chunk, onInsert, counting);
}

void cloneCounting(OpBuilder &b, AssembleOp op, const parallel::Chunk *chunk, OnCoordinates onInsert) {
  cloneLoops(
      b, op, chunk, [&](OpBuilder &b, ValueRange dims, Value) { onInsert(b, dims); }, /*counting=*/true);
}

} // namespace tulle::assemble
