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

//===--- Chunks ---===//

/// The loop that everything with an effect is in.
static Operation *outermostLoop(ArrayRef<Operation *> ops) {
  Operation *found = nullptr;
  for (Operation *op : ops) {
    if (isMemoryEffectFree(op))
      continue;
    if (found || !parallel::isLoop(op))
      return nullptr;
    found = op;
  }
  return found;
}

Operation *outermostLoop(AssembleOp op) {
  SmallVector<Operation *> ops;
  for (Operation &inner : op.getBody().front())
    ops.push_back(&inner);
  return outermostLoop(ops);
}

bool canPartition(AssembleOp op) {
  auto loop = dyn_cast_or_null<IterateOp>(outermostLoop(op));
  return loop && loop.getNumResults() == 0 && parallel::canPartition(loop);
}

std::optional<int64_t> alignmentOf(AssembleOp op) {
  Operation *loop = outermostLoop(op);
  const auto &levels = getEncoding(op.getResult().getType()).getValue().levels;
  if (!loop || levels.empty())
    return std::nullopt;
  // Variables of `let` would have to be written out; no block's first level has any.
  format::Expr e = levels[0].expr;
  int64_t alignment = 1;
  if (e->kind == format::ExprKind::FloorDiv && e->rhs->kind == format::ExprKind::Constant) {
    alignment = e->rhs->value;
    e = e->lhs;
  }
  if (e->kind != format::ExprKind::Dim || alignment < 1)
    return std::nullopt;
  auto iterate = dyn_cast<IterateOp>(loop);
  auto space = iterate ? dyn_cast<SpaceType>(iterate.getSpace().getType()) : SpaceType();
  bool full = iterate && (!space || space.getEncoding().getValue().levels[space.getLevel()].format.kind ==
                                        format::LevelKind::Dense);
  if (alignment > 1 && !full)
    return std::nullopt;
  bool all = true;
  op->walk([&](InsertOp insert) {
    auto argument = dyn_cast<BlockArgument>(insert.getCoordinates()[size_t(e->value)]);
    all &= argument && argument.getArgNumber() == 0 && argument.getOwner()->getParentOp() == loop;
  });
  return all ? std::optional(alignment) : std::nullopt;
}

//===--- Copies ---===//

/// Reading a value can cost as much as everything else in a copy that counts.
static void eraseUnused(Operation *value) {
  while (value && isOpTriviallyDead(value)) {
    Operation *from = value->getNumOperands() ? value->getOperand(0).getDefiningOp() : nullptr;
    value->erase();
    value = from;
  }
}

void cloneLoops(OpBuilder &b, AssembleOp op, const parallel::Chunk *piece, OnInsert onInsert, bool counting) {
  SmallVector<Operation *> copies = copyOps(b, op);
  OpBuilder::InsertionGuard guard(b);
  if (piece) {
    Operation *loop = outermostLoop(copies);
    b.setInsertionPoint(loop);
    parallel::restrictTo(b, loop, *piece, alignmentOf(op).value_or(1));
  }
  for (InsertOp insert : insertsOf(copies)) {
    b.setInsertionPoint(insert);
    onInsert(b, insert.getCoordinates(), counting ? Value() : insert.getValue());
    Operation *value = insert.getValue().getDefiningOp();
    insert.erase();
    if (counting)
      eraseUnused(value);
  }
}

void cloneCounting(OpBuilder &b, AssembleOp op, const parallel::Chunk *piece, OnCoordinates onInsert) {
  cloneLoops(
      b, op, piece, [&](OpBuilder &b, ValueRange dims, Value) { onInsert(b, dims); }, /*counting=*/true);
}

} // namespace tulle::assemble
