// tulle-hoist-invariants: loop-invariant code motion, out of branches as well.
//
// Upstream's loop-invariant-code-motion looks at the operations of a loop's body alone, and the address of a
// row of the result stands in a branch where entries may be padding: nothing would see that it is one row.
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "passes/Passes.h"

namespace tulle::passes {
#define GEN_PASS_DEF_HOISTINVARIANTS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// Moves what the loop's branches compute before the loop, where that may be done whether they are taken or
/// not.
size_t hoistFromBranches(LoopLikeOpInterface loop) {
  SmallVector<Region *> branches; // outer ones first
  loop->walk<WalkOrder::PreOrder>([&](scf::IfOp branch) {
    if (branch->getParentOfType<LoopLikeOpInterface>() == loop)
      for (Region &region : branch->getRegions())
        branches.push_back(&region);
  });
  return moveLoopInvariantCode(
      branches, [&](Value value, Region *) { return loop.isDefinedOutsideOfLoop(value); },
      [](Operation *op, Region *) {
        return op->getNumRegions() == 0 && isMemoryEffectFree(op) && isSpeculatable(op);
      },
      [&](Operation *op, Region *) { loop.moveOutOfLoop(op); });
}

struct HoistInvariantsPass : impl::HoistInvariantsBase<HoistInvariantsPass> {
  void runOnOperation() override {
    size_t moved = 0;
    // From the innermost loop on: what leaves it stands in the next one, or in a branch there.
    getOperation().walk([&](LoopLikeOpInterface loop) {
      moved += moveLoopInvariantCode(loop);
      moved += hoistFromBranches(loop);
    });
    if (moved == 0)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
