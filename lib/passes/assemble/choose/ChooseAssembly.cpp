// tulle-choose-assembly: every tulle.assemble gets the strategy that builds its tensor.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/assemble/choose/Strategies.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_CHOOSEASSEMBLY
#include "passes/Passes.h.inc"

namespace {

struct ChooseAssembly : impl::ChooseAssemblyBase<ChooseAssembly> {
  void runOnOperation() override {
    bool failed = getOperation()
                      ->walk([](dialect::AssembleOp op) {
                        return mlir::failed(assemble::chooseStrategy(op)) ? WalkResult::interrupt()
                                                                          : WalkResult::advance();
                      })
                      .wasInterrupted();
    if (failed)
      signalPassFailure();
  }
};

} // namespace
} // namespace tulle::passes
