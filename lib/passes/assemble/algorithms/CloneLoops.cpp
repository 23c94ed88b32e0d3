// Copies op by op: only the loops around inserts change, since each insert changes what the next one finds.
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

Operation *cloneLoops(OpBuilder &b, const Stream &stream, const parallel::Chunk *chunk, OnInsert onInsert,
                      bool counting) {
  SmallVector<Operation *> copies = copyOps(b, *stream.loops);
  Operation *loop = outermostLoop(copies);
  OpBuilder::InsertionGuard guard(b);
  if (chunk) {
    b.setInsertionPoint(loop);
    parallel::restrictTo(b, loop, *chunk, stream.alignment);
  }
  for (InsertOp insert : insertsIn(copies)) {
    b.setInsertionPoint(insert);
    onInsert(insert.getCoordinates(), counting ? Value() : insert.getValue());
    Operation *value = insert.getValue().getDefiningOp();
    insert.erase();
    if (counting)
      eraseUnused(value);
  }
  return loop;
}

Operation *cloneCounting(OpBuilder &b, const Stream &stream, const parallel::Chunk *chunk,
                         OnCoordinates onInsert) {
  return cloneLoops(b, stream, chunk, [&](ValueRange dims, Value) { onInsert(dims); }, /*counting=*/true);
}

void forChunks(const levels::Emitter &e, Value chunks, function_ref<void(const parallel::Chunk *)> body) {
  if (!chunks)
    return body(nullptr);
  levels::parallelTasks(e.builder, e.loc, chunks, [&](Value number) {
    const parallel::Chunk chunk{number, chunks};
    body(&chunk);
  });
}

void forRanges(const levels::Emitter &e, Value ranges, Value count,
               function_ref<void(Value number, Value first, Value last)> body) {
  if (!ranges)
    return body(e.constant(0), e.constant(0), count);
  levels::parallelTasks(e.builder, e.loc, ranges, [&](Value number) {
    auto [first, last] = parallel::chunkBounds(e.builder, e.loc, count, {number, ranges});
    body(number, first, last);
  });
}

} // namespace tulle::assemble
