// tulle-hoist-allocations: hoist an allocation, with its deallocation, out of loops.
//
// A row of sums is allocated where the row begins; the allocation takes longer than a short row's sums, and
// threads wait for each other there.
#include "dialect/Costs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"

namespace tulle::passes {
#define GEN_PASS_DEF_HOISTALLOCATIONS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// The deallocation in the block of the allocation; the memory has no use beyond an iteration then.
memref::DeallocOp deallocOf(memref::AllocOp alloc) {
  for (Operation *user : alloc->getUsers())
    if (auto dealloc = dyn_cast<memref::DeallocOp>(user); dealloc && user->getBlock() == alloc->getBlock())
      return dealloc;
  return {};
}

/// The outermost loop around the operation that its operands do not depend on; null without one. The search
/// stops at parallel regions: each thread has memory of its own.
Operation *outermostLoop(memref::AllocOp alloc) {
  Operation *found = nullptr;
  for (Operation *around = alloc->getParentOp(); isa<scf::ForOp, scf::WhileOp, scf::IfOp>(around);
       around = around->getParentOp()) {
    if (llvm::any_of(alloc->getOperands(),
                     [&](Value v) { return around->isAncestor(v.getParentBlock()->getParentOp()); }))
      break;
    if (!isa<scf::IfOp>(around))
      found = around;
  }
  return found;
}

struct HoistAllocations : impl::HoistAllocationsBase<HoistAllocations> {
  void runOnOperation() override {
    getOperation()->walk([](memref::AllocOp alloc) {
      memref::DeallocOp dealloc = deallocOf(alloc);
      Operation *loop = dealloc ? outermostLoop(alloc) : nullptr;
      if (!loop)
        return;
      dialect::explainChoice(loop, "hoisting: an allocation in this loop is made once, before it");
      alloc->moveBefore(loop);
      dealloc->moveAfter(loop);
    });
  }
};

} // namespace
} // namespace tulle::passes
