// tulle-free-allocations: without an engine, what a kernel allocates and does not return must be freed by
// itself.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/boundary/BoundaryPasses.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_FREEALLOCATIONS
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

/// What may be the memory of one allocation.
class Aliases {
public:
  /// Whether the memory may be freed at the end of the block that allocates it.
  static bool endsInBlock(memref::AllocOp alloc) {
    Aliases aliases(alloc->getBlock());
    aliases.values.insert(alloc.getResult());
    for (size_t k = 0; k < aliases.values.size(); ++k)
      for (OpOperand &use : aliases.values[k].getUses())
        if (!aliases.follow(use))
          return false;
    return true;
  }

private:
  explicit Aliases(Block *block) : block(block) {}
  Block *block;
  llvm::SetVector<Value> values;

  /// False where the memory leaves the block, or is freed.
  bool follow(OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto loop = dyn_cast<scf::ForOp>(user)) {
      values.insert(loop.getTiedLoopRegionIterArg(&use));
      values.insert(loop.getTiedLoopResult(&use));
    } else if (isa<scf::YieldOp>(user) && isa<scf::ForOp, scf::IfOp>(user->getParentOp())) {
      if (user->getBlock() == block)
        return false;
      values.insert(user->getParentOp()->getResult(use.getOperandNumber()));
    } else if (isa<ViewLikeOpInterface>(user)) {
      values.insert_range(user->getResults());
    } else if (auto store = dyn_cast<memref::StoreOp>(user)) {
      return store.getMemRef() == use.get();
    } else {
      return !isa<memref::DeallocOp, memref::ReallocOp>(user) && !user->hasTrait<OpTrait::IsTerminator>() &&
             user->getNumRegions() == 0 && llvm::none_of(user->getResultTypes(), llvm::IsaPred<MemRefType>);
    }
    return true;
  }
};

struct FreeAllocations : impl::FreeAllocationsBase<FreeAllocations> {
  void runOnOperation() override {
    SmallVector<memref::AllocOp> freed;
    getOperation().walk([&](memref::AllocOp alloc) {
      if (Aliases::endsInBlock(alloc))
        freed.push_back(alloc);
    });
    if (freed.empty())
      return markAllAnalysesPreserved();
    for (memref::AllocOp alloc : freed) {
      OpBuilder b(alloc->getBlock()->getTerminator());
      memref::DeallocOp::create(b, alloc.getLoc(), alloc);
    }
  }
};

} // namespace
} // namespace tulle::passes
