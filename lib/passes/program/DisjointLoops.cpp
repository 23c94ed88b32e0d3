// Follows a tensor from loop to loop, as long as the operands that these iterate have disjoint coordinates.
#include "passes/program/DisjointLoops.h"
#include "dialect/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/program/LoopBlocks.h"
#include "passes/program/TensorFlow.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::program {

/// The number that the loop's coordinates share with others that are different; nullopt where nothing says
/// so. The level stores no coordinate without an entry.
static std::optional<int64_t> groupOf(IterateOp loop) {
  auto space = loop.getSpace().getDefiningOp<SpaceOp>();
  auto argument = space ? dyn_cast<BlockArgument>(space.getTensor()) : BlockArgument();
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto groups = function
                    ? function.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(), kDisjointAttr)
                    : DenseI64ArrayAttr();
  if (!groups || space.getLevel() != 0 || space.getCondition())
    return std::nullopt;
  const format::Level &level = space.getType().getEncoding().getValue().levels.front();
  if (level.format.kind != format::LevelKind::Compressed || !level.format.unique || !level.format.ordered ||
      level.expr->kind != format::ExprKind::Dim)
    return std::nullopt;
  const int64_t group = groups[level.expr->value];
  return group < 0 ? std::nullopt : std::optional(group);
}

std::optional<uint64_t> ownLevel(IterateOp loop) {
  if (loop->getNumResults() != 1 || !isTensor(loop.getResult(0)) || loop.getKind() != LoopKind::Parallel ||
      loop.getEach())
    return std::nullopt;
  OwnAccesses accesses(loop);
  return accesses.add(carriedArgument(loop, 0)) ? accesses.level() : std::nullopt;
}

/// The one loop that goes on with a tensor, which nothing else reads; null without one.
static IterateOp continuedBy(Value tensor) {
  IterateOp next;
  for (OpOperand &use : tensor.getUses()) {
    if (readsPattern(use.getOwner()))
      continue;
    auto loop = dyn_cast<IterateOp>(use.getOwner());
    if (next || !loop)
      return {};
    next = loop;
  }
  return next;
}

SmallVector<DisjointLoops> disjointLoops(Block &block) {
  SmallVector<DisjointLoops> found;
  llvm::DenseSet<Operation *> seen;
  for (IterateOp loop : block.getOps<IterateOp>()) {
    const std::optional<int64_t> group = groupOf(loop);
    const std::optional<uint64_t> level = group && seen.insert(loop).second ? ownLevel(loop) : std::nullopt;
    if (!level || continuedBy(loop.getInits()[0]) != loop)
      continue;
    DisjointLoops loops{loop};
    for (IterateOp next = continuedBy(loop.getResult(0));
         next && next->getBlock() == &block && groupOf(next) == group && ownLevel(next) == level;
         next = continuedBy(next.getResult(0))) {
      seen.insert(next);
      loops.push_back(next);
    }
    if (loops.size() > 1)
      found.push_back(std::move(loops));
  }
  return found;
}

bool hoistNeeds(Operation *op, Operation *first, OpOperand &except) {
  llvm::SetVector<Operation *> needed;
  SmallVector<Operation *> work{op};
  bool movable = true;
  while (!work.empty())
    work.pop_back_val()->walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands()) {
        Operation *maker = &operand == &except ? nullptr : operand.get().getDefiningOp();
        maker = maker ? first->getBlock()->findAncestorOpInBlock(*maker) : nullptr;
        movable &= maker != first;
        if (maker && maker != op && first->isBeforeInBlock(maker) && needed.insert(maker))
          work.push_back(maker);
      }
    });
  if (!movable)
    return false;
  SmallVector<Operation *> ops = needed.takeVector();
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *maker : ops)
    maker->moveBefore(first);
  return true;
}

} // namespace tulle::program
