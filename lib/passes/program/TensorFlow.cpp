// Stores and loops continue a tensor in place: forward along uses, backward to what a value was made from.
#include "passes/program/TensorFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::program {

bool readsPattern(Operation *op) {
  return isa<SpaceOp, LocateOp, SearchOp, CoordinatesOp, LevelSizeOp, StoredCountOp, PartitionOp, WorkOp,
             PartitionBoundaryOp, BoundsBelowOp, EnclosingOp, tensor::DimOp>(op);
}

bool carriesTensors(Operation *op) { return isa<IterateOp, CoiterateOp, ParallelOp, scf::ForOp>(op); }

bool isLoop(Operation *op) { return isa<IterateOp, CoiterateOp>(op); }

/// The operands that start what a loop carries are its last.
MutableOperandRange initsOf(Operation *loop) {
  const unsigned count = loop->getNumResults();
  return {loop, loop->getNumOperands() - count, count};
}

BlockArgument carriedArgument(Region &region, unsigned number) {
  unsigned results = region.getParentOp()->getNumResults();
  return region.getArgument(region.getNumArguments() - results + number);
}

SmallVector<Value> continuations(OpOperand &use) {
  Operation *op = use.getOwner();
  unsigned number = use.getOperandNumber();
  const bool first = number == 0;
  if ((isa<StoreOp, FillOp>(op) && !first) || (isa<LikeOp, ReshapeOp, tensor::CastOp>(op) && first))
    return {op->getResult(0)};
  // A while loop begins with its inits, and again with what its body yields; the condition passes on.
  if (auto loop = dyn_cast<scf::WhileOp>(isa<scf::YieldOp>(op) ? op->getParentOp() : op))
    return {loop.getBeforeArguments()[number]};
  if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
    auto loop = condition->getParentOfType<scf::WhileOp>();
    return {loop.getAfterArguments()[number - 1], loop.getResult(number - 1)};
  }
  if (isa<YieldOp, scf::YieldOp>(op))
    return {op->getParentOp()->getResult(number)};
  unsigned inits = op->getNumOperands() - op->getNumResults();
  if (!carriesTensors(op) || number < inits)
    return {};
  SmallVector<Value> values{op->getResult(number - inits)};
  for (Region &region : op->getRegions())
    values.push_back(carriedArgument(region, number - inits));
  return values;
}

void sources(Value tensor, SmallVectorImpl<Value> &from) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  Operation *op = argument ? argument.getOwner()->getParentOp() : tensor.getDefiningOp();
  if (isa<StoreOp, FillOp>(op))
    return from.push_back(op->getOperand(1));
  if (isa<LikeOp, ReshapeOp, tensor::CastOp>(op))
    return from.push_back(op->getOperand(0));
  if (auto loop = dyn_cast_or_null<scf::WhileOp>(op)) {
    const bool first = argument && argument.getOwner() == loop.getBeforeBody();
    const unsigned place = argument ? argument.getArgNumber() : cast<OpResult>(tensor).getResultNumber();
    if (!first)
      return from.push_back(loop.getConditionOp().getArgs()[place]);
    from.append({loop.getInits()[place], loop.getYieldOp().getResults()[place]});
    return;
  }
  if (!carriesTensors(op) && !isa<scf::IfOp>(op))
    return;
  unsigned results = op->getNumResults();
  unsigned number = argument ? argument.getArgNumber() - (argument.getOwner()->getNumArguments() - results)
                             : cast<OpResult>(tensor).getResultNumber();
  if (carriesTensors(op))
    from.push_back(op->getOperand(op->getNumOperands() - results + number));
  for (Region &region : op->getRegions())
    if (!region.empty())
      from.push_back(region.front().getTerminator()->getOperand(number));
}

} // namespace tulle::program
