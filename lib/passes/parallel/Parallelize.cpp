// tulle-parallelize: outermost loops are shared among threads.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"
#include "passes/parallel/Loops.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_PARALLELIZE
#include "passes/Passes.h.inc"

namespace {

struct Parallelize : impl::ParallelizeBase<Parallelize> {
  using ParallelizeBase::ParallelizeBase;

  void runOnOperation() override {
    SmallVector<dialect::IterateOp> outermost;
    for (Operation &op : getOperation().getBody().front())
      if (auto loop = dyn_cast<dialect::IterateOp>(&op))
        outermost.push_back(loop);
    for (dialect::IterateOp loop : outermost)
      if (loop.getKind() == dialect::LoopKind::Parallel && parallel::carriesTensorsOnly(loop))
        parallel::shareRounds(loop);
  }
};

} // namespace
} // namespace tulle::passes
