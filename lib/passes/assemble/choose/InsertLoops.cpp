#include "passes/assemble/choose/InsertLoops.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/parallel/SetLoops.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::ExprKind;
using format::LevelKind;

SmallVector<InsertOp> insertsIn(ArrayRef<Operation *> ops) {
  SmallVector<InsertOp> inserts;
  for (Operation *op : ops)
    op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
      if (isa<AssembleOp, EntriesOp>(inner))
        return WalkResult::skip();
      if (auto insert = dyn_cast<InsertOp>(inner))
        inserts.push_back(insert);
      return WalkResult::advance();
    });
  return inserts;
}

static SmallVector<Operation *> opsOf(AssembleOp op) {
  return llvm::map_to_vector(op.getBody().front(), [](Operation &inner) { return &inner; });
}

SmallVector<InsertOp> insertsOf(AssembleOp op) { return insertsIn(opsOf(op)); }

Operation *outermostLoop(ArrayRef<Operation *> ops) {
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

Operation *outermostLoop(AssembleOp op) { return outermostLoop(opsOf(op)); }

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
  if (e->kind == ExprKind::FloorDiv && e->rhs->kind == ExprKind::Constant) {
    alignment = e->rhs->value;
    e = e->lhs;
  }
  if (e->kind != ExprKind::Dim || alignment < 1)
    return std::nullopt;
  auto iterate = dyn_cast<IterateOp>(loop);
  auto space = iterate ? dyn_cast<SpaceType>(iterate.getSpace().getType()) : SpaceType();
  bool full = iterate && (!space || space.getEncoding().getValue().levels[space.getLevel()].format.kind ==
                                        LevelKind::Dense);
  if (alignment > 1 && !full)
    return std::nullopt;
  bool all = llvm::all_of(insertsOf(op), [&](InsertOp insert) {
    auto argument = dyn_cast<BlockArgument>(insert.getCoordinates()[size_t(e->value)]);
    return argument && argument.getArgNumber() == 0 && argument.getOwner()->getParentOp() == loop;
  });
  return all ? std::optional(alignment) : std::nullopt;
}

std::optional<unsigned> iterationDimension(AssembleOp op) {
  auto loop = dyn_cast_or_null<IterateOp>(outermostLoop(op));
  auto space = loop && loop.getNumResults() == 0 ? loop.getSpace().getDefiningOp<SpaceOp>() : SpaceOp();
  if (!space)
    return std::nullopt;
  const auto &levels = getEncoding(space.getTensor().getType()).getValue().levels;
  // A level whose coordinates follow from those above may leave some of these out.
  if (space.getLevel() != 0 || levels[0].format.kind != LevelKind::Dense ||
      levels[0].expr->kind != ExprKind::Dim ||
      (levels.size() > 1 && levels[1].format.kind == LevelKind::Offset))
    return std::nullopt;
  for (unsigned d = 0; d < op.getSizes().size(); ++d) {
    if (llvm::all_of(insertsOf(op), [&](InsertOp insert) {
          return insert.getCoordinates()[d] == loop.getBody().getArgument(0);
        }))
      return d;
  }
  return std::nullopt;
}

void hoistBounds(AssembleOp op) {
  for (Operation &inner : llvm::make_early_inc_range(op.getBody().front()))
    if (inner.getNumRegions() == 0 && isMemoryEffectFree(&inner) &&
        llvm::all_of(inner.getResultTypes(), llvm::IsaPred<IndexType>) &&
        llvm::none_of(inner.getOperands(),
                      [&](Value operand) { return op.getBody().isAncestor(operand.getParentRegion()); }))
      inner.moveBefore(op);
}

} // namespace tulle::assemble
