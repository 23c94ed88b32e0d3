// tulle-defer-checks: integers that give coordinates may be checked where loops read them.
//
//   %q = bounded_indices %p below %n outside error   becomes   %q = bounded_indices %p below %n deferred
//   outside error
//
// where nothing is lost if the call ends in the middle of a loop that reads them. Loops for several threads
// no longer say that: what they change may be a part, or a copy, of what is new.
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/set_loops/CheckedReads.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;
#define GEN_PASS_DEF_DEFERCHECKS
#include "passes/Passes.h.inc"

namespace {

/// The tensor that loops change, one after the other or inside of another.
Value beforeLoops(Value tensor) {
  if (auto loop = tensor.getDefiningOp<IterateOp>())
    return beforeLoops(loop.getInits()[cast<OpResult>(tensor).getResultNumber()]);
  auto carried = dyn_cast<BlockArgument>(tensor);
  auto loop = carried ? dyn_cast<IterateOp>(carried.getOwner()->getParentOp()) : IterateOp();
  if (!loop)
    return tensor;
  const unsigned before = loop.getBody().getNumArguments() - unsigned(loop.getInits().size());
  return carried.getArgNumber() < before ? tensor
                                         : beforeLoops(loop.getInits()[carried.getArgNumber() - before]);
}

/// Whether what the loop changes is new, or it reads nothing of it.
bool mayEndAnywhere(IterateOp loop) {
  SmallVector<Value> old;
  for (Value init : loop.getInits())
    if (Value tensor = beforeLoops(init);
        isa<RankedTensorType>(tensor.getType()) &&
        !isa_and_nonnull<FillOp, EmptyOp, tensor::EmptyOp>(tensor.getDefiningOp()))
      old.push_back(tensor);
  return !loop.getBody()
              .walk([&](LoadOp load) {
                return llvm::is_contained(old, beforeLoops(load.getTensor())) ? WalkResult::interrupt()
                                                                              : WalkResult::advance();
              })
              .wasInterrupted();
}

struct DeferChecks : impl::DeferChecksBase<DeferChecks> {
  void runOnOperation() override {
    getOperation()->walk([](BoundedIndicesOp check) {
      if (std::optional<CheckedReads> reads = checkedReads(check))
        check.setDeferred(llvm::all_of(reads->loops, mayEndAnywhere));
    });
  }
};

} // namespace
} // namespace tulle::passes
