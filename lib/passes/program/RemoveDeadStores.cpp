// tulle-remove-dead-stores: stores into tensors that nobody reads, and the destinations that are left without
// a use.
//
// A tensor value is needed if something reads or returns it, or a value that continues it. Need spreads
// backward from reads along stores and loops; what it does not reach is removed.
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"
#include "passes/program/TensorFlow.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;
#define GEN_PASS_DEF_REMOVEDEADSTORES
#include "passes/Passes.h.inc"

namespace {

struct RemoveDeadStores : impl::RemoveDeadStoresBase<RemoveDeadStores> {
  void runOnOperation() override {
    needed.clear();
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    function.walk([&](Operation *op) {
      for (OpOperand &use : op->getOpOperands())
        if (isa<RankedTensorType>(use.get().getType()) && !program::readsPattern(op) &&
            program::continuations(use).empty())
          need(use.get());
    });
    function.walk([&](Operation *op) {
      if (!isa<StoreOp, FillOp>(op) || needed.contains(op->getResult(0)))
        return;
      op->getResult(0).replaceAllUsesWith(op->getOperand(1));
      op->erase();
    });
    RewritePatternSet patterns(&getContext());
    IterateOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(function, std::move(patterns))))
      return signalPassFailure();
    eraseUnusedDestinations(function);
  }

private:
  /// Marks a value, and all that it may have been made from in place.
  void need(Value value) {
    SmallVector<Value> work{value};
    while (!work.empty()) {
      Value next = work.pop_back_val();
      if (needed.insert(next).second)
        program::sources(next, work);
    }
  }

  static void eraseUnusedDestinations(func::FuncOp function) {
    for (unsigned k = function.getNumArguments(); k-- > 0;)
      if (function.getArgAttr(k, kStatementAttr) && function.getArgument(k).use_empty())
        (void)function.eraseArgument(k);
  }

  llvm::DenseSet<Value> needed;
};

} // namespace
} // namespace tulle::passes
