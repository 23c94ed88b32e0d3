// Finds the loops by their structure: no op but the outermost loop has an effect.
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

static SmallVector<Operation *> opsOf(Region &loops) {
  return llvm::map_to_vector(loops.front(), [](Operation &inner) { return &inner; });
}

SmallVector<InsertOp> insertsOf(Region &loops) { return insertsIn(opsOf(loops)); }

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

Operation *outermostLoop(Region &loops) { return outermostLoop(opsOf(loops)); }

bool canPartition(Region &loops) {
  auto loop = dyn_cast_or_null<IterateOp>(outermostLoop(loops));
  return loop && loop.getNumResults() == 0 && parallel::canPartition(loop);
}

std::optional<int64_t> alignmentOf(Region &loops, const format::Encoding &target) {
  Operation *loop = outermostLoop(loops);
  if (!loop || target.levels.empty())
    return std::nullopt;
  // Variables of `let` would have to be written out; no block's first level has any.
  format::Expr e = target.levels[0].expr;
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
  bool all = llvm::all_of(insertsOf(loops), [&](InsertOp insert) {
    auto argument = dyn_cast<BlockArgument>(insert.getCoordinates()[size_t(e->value)]);
    return argument && argument.getArgNumber() == 0 && argument.getOwner()->getParentOp() == loop;
  });
  return all ? std::optional(alignment) : std::nullopt;
}

std::optional<unsigned> iterationDimension(Region &loops) {
  auto loop = dyn_cast_or_null<IterateOp>(outermostLoop(loops));
  auto space = loop && loop.getNumResults() == 0 ? loop.getSpace().getDefiningOp<SpaceOp>() : SpaceOp();
  if (!space)
    return std::nullopt;
  const auto &levels = getEncoding(space.getTensor().getType()).getValue().levels;
  // A level whose coordinates follow from those above may leave some of these out.
  if (space.getLevel() != 0 || levels[0].format.kind != LevelKind::Dense ||
      levels[0].expr->kind != ExprKind::Dim ||
      (levels.size() > 1 && levels[1].format.kind == LevelKind::Offset))
    return std::nullopt;
  SmallVector<InsertOp> inserts = insertsOf(loops);
  for (unsigned d = 0; !inserts.empty() && d < inserts[0].getCoordinates().size(); ++d)
    if (llvm::all_of(inserts, [&](InsertOp insert) {
          return insert.getCoordinates()[d] == loop.getBody().getArgument(0);
        }))
      return d;
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

//===--- Blocks ---===//

const format::Encoding &encodingOf(SpaceOp space) {
  return cast<SpaceType>(space.getResult().getType()).getEncoding().getValue();
}

/// Whether it is known before the loop whether it has an iteration: by the size of a level, or by its ends.
static bool isCountable(Region &loops, IterateOp loop, bool first) {
  if (loop.getNumResults() != 0)
    return false;
  if (auto range = loop.getSpace().getDefiningOp<RangeOp>())
    return llvm::none_of(range->getOperands(),
                         [&](Value operand) { return loops.isAncestor(operand.getParentRegion()); });
  auto space = loop.getSpace().getDefiningOp<SpaceOp>();
  if (!first || !space)
    return false;
  const format::LevelFormat &level = encodingOf(space).levels[size_t(space.getLevel())].format;
  return level.kind == LevelKind::Compressed && level.unique && !level.padded;
}

std::optional<BlockLoops> matchBlockLoops(const TargetFacts &target, const Stream &stream) {
  SmallVector<InsertOp> inserts = insertsOf(*stream.loops);
  const format::Expr &last = stream.order.levels[target.storedLevels() - 1];
  if (inserts.size() != 1 || last->kind != ExprKind::Dim)
    return std::nullopt;
  auto coordinate = dyn_cast<BlockArgument>(inserts[0].getCoordinates()[size_t(last->value)]);
  if (!coordinate)
    return std::nullopt;
  BlockLoops around;
  for (Block *block = inserts[0]->getBlock(); block != coordinate.getOwner();) {
    auto loop = dyn_cast<IterateOp>(block->getParentOp());
    if (!loop || !stream.loops->isAncestor(loop->getParentRegion()))
      return std::nullopt;
    around.insert(around.begin(), loop);
    block = loop->getBlock();
  }
  for (IterateOp loop : around)
    if (!isCountable(*stream.loops, loop, loop == around.front()))
      return std::nullopt;
  return around.empty() ? std::nullopt : std::optional(around);
}

} // namespace tulle::assemble
