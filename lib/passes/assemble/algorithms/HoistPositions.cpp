// Each operation goes behind the operand that is defined in the innermost region.
#include "passes/assemble/algorithms/HoistPositions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tulle::assemble {

/// The operand that is known last.
static Value lastKnown(Operation &op) {
  Value last = op.getOperand(0);
  for (Value operand : op.getOperands()) {
    Operation *definition = operand.getDefiningOp();
    const bool isLater =
        operand.getParentBlock() == last.getParentBlock()
            ? definition && (!last.getDefiningOp() || last.getDefiningOp()->isBeforeInBlock(definition))
            : last.getParentRegion()->isProperAncestor(operand.getParentRegion());
    if (isLater)
      last = operand;
  }
  return last;
}

static void clampIndex(memref::LoadOp load) {
  OpBuilder b(load);
  Location loc = load.getLoc();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  Value size = memref::DimOp::create(b, loc, load.getMemRef(), zero);
  Value last = arith::SubIOp::create(b, loc, size, one);
  load.getIndicesMutable().assign(arith::MinUIOp::create(b, loc, load.getIndices()[0], last));
}

void hoistPositions(const OpBuilder &b, Block *block, Operation *before, const levels::Storage &storage) {
  auto isKnown = [&](Value buffer) {
    return buffer != storage.fields.back() && llvm::is_contained(storage.fields, buffer);
  };
  llvm::DenseMap<Block *, Operation *> moved; // the last one moved to a block
  const Block::iterator begin = before ? std::next(before->getIterator()) : block->begin();
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(begin, b.getInsertionPoint()))) {
    auto load = dyn_cast<memref::LoadOp>(op);
    if (load ? !isKnown(load.getMemRef()) : !isMemoryEffectFree(&op))
      return;
    if (op.getNumRegions() != 0 || op.getNumOperands() == 0)
      continue;
    Value last = lastKnown(op);
    Block *to = last.getParentBlock();
    if (!to->getParent()->isProperAncestor(block->getParent()))
      continue;
    Operation *&behind = moved[to];
    if (Operation *definition = last.getDefiningOp();
        definition && (!behind || behind->isBeforeInBlock(definition)))
      behind = definition;
    // Where the parent is a constant all operands are known when the buffer is allocated, but its positions
    // are not.
    if (load && to == load.getMemRef().getParentBlock())
      op.moveBefore(to->findAncestorOpInBlock(*block->getParentOp()));
    else
      behind ? op.moveAfter(behind) : op.moveBefore(to, to->begin());
    behind = &op;
    if (load)
      clampIndex(load);
  }
}

} // namespace tulle::assemble
