#include "passes/assemble/Clone.h"
#include "dialect/Attributes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/parallel/SetLoops.h"

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

//===--- Pieces ---===//

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

bool canCut(AssembleOp op) {
  auto loop = dyn_cast_or_null<IterateOp>(outermostLoop(op));
  if (!loop || loop.getNumResults() != 0)
    return false;
  auto space = dyn_cast<SpaceType>(loop.getSpace().getType());
  // A level with one position has no pieces.
  return !space || space.getEncoding().getValue().levels[size_t(space.getLevel())].format.kind !=
                       format::LevelKind::Singleton;
}

std::optional<int64_t> grainOf(AssembleOp op) {
  Operation *loop = outermostLoop(op);
  const auto &levels = getEncoding(op.getResult().getType()).getValue().levels;
  if (!loop || levels.empty())
    return std::nullopt;
  // Variables of `let` would have to be written out; no block's first level has any.
  format::Expr e = levels[0].expr;
  int64_t grain = 1;
  if (e->kind == format::ExprKind::FloorDiv && e->rhs->kind == format::ExprKind::Constant) {
    grain = e->rhs->value;
    e = e->lhs;
  }
  if (e->kind != format::ExprKind::Dim || grain < 1)
    return std::nullopt;
  auto iterate = dyn_cast<IterateOp>(loop);
  auto space = iterate ? dyn_cast<SpaceType>(iterate.getSpace().getType()) : SpaceType();
  bool full = iterate && (!space || space.getEncoding().getValue().levels[space.getLevel()].format.kind ==
                                        format::LevelKind::Dense);
  if (grain > 1 && !full)
    return std::nullopt;
  bool all = true;
  op->walk([&](InsertOp insert) {
    auto argument = dyn_cast<BlockArgument>(insert.getCoordinates()[size_t(e->value)]);
    all &= argument && argument.getArgNumber() == 0 && argument.getOwner()->getParentOp() == loop;
  });
  return all ? std::optional(grain) : std::nullopt;
}

void setGrain(Value piece, AssembleOp op) {
  if (int64_t grain = grainOf(op).value_or(1); grain != 1)
    piece.getDefiningOp<PartitionOp>()->setAttr(kGrainAttr, OpBuilder(op).getI64IntegerAttr(grain));
}

static void cut(OpBuilder &b, Operation *loop, AssembleOp op, const Piece &piece) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop);
  parallel::cutToPart(b, loop, piece.part, piece.parts);
  if (auto iterate = dyn_cast<IterateOp>(loop))
    setGrain(iterate.getSpace(), op);
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

void cloneLoops(OpBuilder &b, AssembleOp op, const Piece *piece, OnInsert onInsert, bool counting) {
  SmallVector<Operation *> copies = copyOps(b, op);
  if (piece)
    cut(b, outermostLoop(copies), op, *piece);
  OpBuilder::InsertionGuard guard(b);
  for (InsertOp insert : insertsOf(copies)) {
    b.setInsertionPoint(insert);
    onInsert(b, insert.getCoordinates(), counting ? Value() : insert.getValue());
    Operation *value = insert.getValue().getDefiningOp();
    insert.erase();
    if (counting)
      eraseUnused(value);
  }
}

void cloneCounting(OpBuilder &b, AssembleOp op, const Piece *piece, OnCoordinates onInsert) {
  cloneLoops(
      b, op, piece, [&](OpBuilder &b, ValueRange dims, Value) { onInsert(b, dims); }, /*counting=*/true);
}

} // namespace tulle::assemble
