// Branches, scf's loops and parallel regions keep their form; what they carry loses its tensors, which are in
// the same storage before, inside and behind.
#include "mlir/IR/Matchers.h"
#include "passes/lower/Lowering.h"
#include "passes/program/TensorFlow.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::lower {

using program::isTensor;

Values Lowering::plain(ValueRange carried) const {
  Values result;
  for (Value value : carried)
    if (!isTensor(value))
      result.push_back(values.lookup(value));
  return result;
}

void Lowering::bindCarried(ValueRange targets, ValueRange inits, ValueRange plainValues) {
  unsigned next = 0;
  for (auto [target, init] : llvm::zip(targets, inits))
    if (isTensor(init))
      tensors[target] = tensors.lookup(init);
    else
      values.map(target, plainValues[next++]);
}

Values Lowering::yielded(Block &block, ValueRange inits) {
  Operation *terminator = block.getTerminator();
  for (auto [value, init] : llvm::zip(terminator->getOperands(), inits))
    if (isTensor(value) && tensors.lookup(value) != tensors.lookup(init)) {
      terminator->emitError(
          "the yielded tensor is not the storage of the tensor carried in: stores are in place");
      ok = false;
    }
  return plain(terminator->getOperands());
}

Values Lowering::emitBody(Region &region, Value coordinate, ArrayRef<Iterator> its, ValueRange inits,
                          ValueRange plainValues, ArrayRef<Value> flags) {
  Block &block = region.front();
  values.map(block.getArgument(0), coordinate);
  for (auto [arg, iterator] : llvm::zip(block.getArguments().drop_front(), its))
    iterators[arg] = iterator;
  for (auto [arg, flag] : llvm::zip(block.getArguments().drop_front(1 + its.size()), flags))
    values.map(arg, flag);
  bindCarried(block.getArguments().drop_front(1 + its.size() + flags.size()), inits, plainValues);
  lowerBlock(block);
  return yielded(block, inits);
}

void Lowering::lower(scf::IfOp op) {
  Value condition = values.lookup(op.getCondition());
  if (matchPattern(condition, m_One())) { // as where no slot lies outside the tensor
    lowerBlock(op.getThenRegion().front());
    ValueRange yields = op.getThenRegion().front().getTerminator()->getOperands();
    Values results = plain(yields);
    bindCarried(op.getResults(), yields, results);
    return;
  }
  SmallVector<Type> types =
      llvm::filter_to_vector(op.getResultTypes(), [](Type type) { return !isa<RankedTensorType>(type); });
  SmallVector<Value> stored(op.getNumResults());
  auto emit = [&](Region &region) {
    Values result;
    if (region.empty())
      return result;
    Block &block = region.front();
    lowerBlock(block);
    ValueRange operands = block.getTerminator()->getOperands();
    for (auto [slot, value] : llvm::zip(stored, operands)) {
      if (slot && isTensor(value) && tensors.lookup(slot) != tensors.lookup(value)) {
        op.emitError("the branches yield tensors of different storage: stores are in place");
        ok = false;
      }
      slot = value;
    }
    return plain(operands);
  };
  Values results = levels::ifElse(
      b, op.getLoc(), condition, types, [&] { return emit(op.getThenRegion()); },
      [&] { return emit(op.getElseRegion()); });
  bindCarried(op.getResults(), stored, results);
}

void Lowering::lower(scf::ForOp op) {
  Values inits = plain(op.getInitArgs());
  auto loop = scf::ForOp::create(b, op.getLoc(), values.lookup(op.getLowerBound()),
                                 values.lookup(op.getUpperBound()), values.lookup(op.getStep()), inits);
  loop->setAttrs(op->getAttrs());
  loop->setAttr(kLoopAttr, loopOf(op));
  bindCarried(op.getResults(), op.getInitArgs(), loop.getResults());
  OpBuilder::InsertionGuard guard(b);
  Block *block = loop.getBody();
  if (!block->empty())
    block->getTerminator()->erase();
  b.setInsertionPointToEnd(block);
  values.map(op.getInductionVar(), loop.getInductionVar());
  bindCarried(op.getRegionIterArgs(), op.getInitArgs(), loop.getRegionIterArgs());
  lowerBlock(*op.getBody());
  scf::YieldOp::create(b, op.getLoc(), yielded(*op.getBody(), op.getInitArgs()));
}

void Lowering::lower(scf::WhileOp op) {
  const Location loc = op.getLoc();
  auto plainTypes = [](ValueRange carried) {
    return llvm::filter_to_vector(carried.getTypes(), [](Type type) { return !isa<RankedTensorType>(type); });
  };
  auto loop = scf::WhileOp::create(b, loc, plainTypes(op.getResults()), plain(op.getInits()));
  loop->setAttrs(op->getAttrs());
  OpBuilder::InsertionGuard guard(b);
  auto enter = [&](Block &source, Region &target, ValueRange from) {
    SmallVector<Location> locs;
    for (BlockArgument arg : source.getArguments())
      if (!isTensor(arg))
        locs.push_back(arg.getLoc());
    Block *block = b.createBlock(&target, {}, plainTypes(source.getArguments()), locs);
    bindCarried(source.getArguments(), from, block->getArguments());
    lowerBlock(source);
  };
  enter(*op.getBeforeBody(), loop.getBefore(), op.getInits());
  scf::ConditionOp condition = op.getConditionOp();
  scf::ConditionOp::create(b, loc, values.lookup(condition.getCondition()), plain(condition.getArgs()));
  enter(*op.getAfterBody(), loop.getAfter(), condition.getArgs());
  scf::YieldOp::create(b, loc, yielded(*op.getAfterBody(), op.getInits()));
  bindCarried(op.getResults(), condition.getArgs(), loop.getResults());
}

void Lowering::lower(ParallelOp op) {
  Block &source = op.getBody().front();
  levels::parallelTasks(b, op.getLoc(), values.lookup(op.getTasks()), [&](Value task) {
    values.map(source.getArgument(0), task);
    bindCarried(source.getArguments().drop_front(), op.getInits(), {});
    lowerBlock(source);
    yielded(source, op.getInits());
  });
  bindCarried(op.getResults(), op.getInits(), {});
}

} // namespace tulle::lower
