#include "passes/assemble/choose/BlockLoops.h"
#include "passes/assemble/choose/InsertLoops.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

const format::Encoding &encodingOf(SpaceOp space) {
  return cast<SpaceType>(space.getResult().getType()).getEncoding().getValue();
}

/// Whether it is known before the loop whether it has a pass: by the size of a level, or by its ends.
static bool isCountable(AssembleOp op, IterateOp loop, bool first) {
  if (loop.getNumResults() != 0)
    return false;
  if (auto range = loop.getSpace().getDefiningOp<RangeOp>())
    return llvm::none_of(range->getOperands(),
                         [&](Value operand) { return op.getBody().isAncestor(operand.getParentRegion()); });
  auto space = loop.getSpace().getDefiningOp<SpaceOp>();
  if (!first || !space)
    return false;
  const format::LevelFormat &level = encodingOf(space).levels[size_t(space.getLevel())].format;
  return level.kind == format::LevelKind::Compressed && level.unique && !level.padded;
}

/// The loops around the op's only insert, up to the one whose coordinate is the last stored level's.
std::optional<BlockLoops> matchBlockLoops(const TargetFacts &target, AssembleOp op, const Order &order) {
  SmallVector<InsertOp> inserts = insertsOf(op);
  const format::Expr &last = order.levels[target.storedLevels() - 1];
  if (inserts.size() != 1 || last->kind != format::ExprKind::Dim)
    return std::nullopt;
  auto coordinate = dyn_cast<BlockArgument>(inserts[0].getCoordinates()[size_t(last->value)]);
  if (!coordinate)
    return std::nullopt;
  BlockLoops loops;
  for (Block *block = inserts[0]->getBlock(); block != coordinate.getOwner();) {
    auto loop = dyn_cast<IterateOp>(block->getParentOp());
    if (!loop || loop == op)
      return std::nullopt;
    loops.insert(loops.begin(), loop);
    block = loop->getBlock();
  }
  for (IterateOp loop : loops)
    if (!isCountable(op, loop, loop == loops.front()))
      return std::nullopt;
  return loops.empty() ? std::nullopt : std::optional(loops);
}

} // namespace tulle::assemble
