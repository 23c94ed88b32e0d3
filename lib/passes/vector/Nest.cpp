#include "passes/vector/Nest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tulle::passes {

namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Operation;
using mlir::Value;

bool Nest::isFixed(Value value) const {
  scf::ForOp loop = inner, around = outer;
  if (value == loop.getInductionVar() || !around.getRegion().isAncestor(value.getParentRegion()))
    return true;
  Operation *op = value.getDefiningOp();
  return op && isFixed(op);
}

bool Nest::isFixed(Operation *op) const {
  scf::ForOp loop = inner;
  if (!loop->isProperAncestor(op) || op->getNumRegions() != 0 || op->getNumResults() != 1)
    return false;
  auto read = mlir::dyn_cast<memref::LoadOp>(op);
  memref::StoreOp written = store;
  if (read ? read.getMemRef() == written.getMemRef()
           : !(mlir::isMemoryEffectFree(op) && mlir::isSpeculatable(op)))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) { return isFixed(operand); });
}

/// The one loop at the end of the body, where everything before it only reads.
static scf::ForOp innerLoop(scf::ForOp outer) {
  auto before = outer.getBody()->without_terminator();
  if (before.empty() || outer.getNumRegionIterArgs() != 0 ||
      !mlir::matchPattern(outer.getStep(), mlir::m_One()))
    return {};
  auto inner = mlir::dyn_cast<scf::ForOp>(&*std::prev(before.end()));
  if (!inner || inner.getNumRegionIterArgs() != 0)
    return {};
  for (Operation &op : before)
    if (&op != inner &&
        (op.getNumRegions() != 0 || !(mlir::isMemoryEffectFree(&op) || mlir::isa<memref::LoadOp>(op))))
      return {};
  return inner;
}

/// The only store of the loop, and the only read of its buffer, at the same place just before.
static bool findElement(Nest &nest) {
  unsigned writes = 0, reads = 0;
  nest.inner.walk([&](memref::StoreOp store) {
    ++writes;
    nest.store = store;
  });
  if (writes != 1)
    return false;
  nest.outer.walk([&](memref::LoadOp load) {
    if (load.getMemRef() != nest.store.getMemRef())
      return;
    ++reads;
    nest.load = load;
  });
  return reads == 1 && nest.load->getBlock() == nest.store->getBlock() &&
         nest.load.getIndices()[0] == nest.store.getIndices()[0] && nest.load->isBeforeInBlock(nest.store);
}

std::optional<Nest> matchNest(scf::ForOp outer) {
  Nest nest;
  nest.outer = outer;
  nest.inner = innerLoop(outer);
  if (!nest.inner)
    return std::nullopt;
  for (Value bound : {nest.inner.getLowerBound(), nest.inner.getUpperBound()})
    nest.movingBounds |= outer.getRegion().isAncestor(bound.getParentRegion());
  std::optional<LoopPlan> plan = planLoop(nest.inner);
  if (!plan || !findElement(nest))
    return std::nullopt;
  nest.plan = std::move(*plan);
  Value buffer = nest.store.getMemRef();
  if (outer.getRegion().isAncestor(buffer.getParentRegion()) || !nest.isFixed(nest.store.getIndices()[0]))
    return std::nullopt;
  return nest;
}

} // namespace tulle::passes
