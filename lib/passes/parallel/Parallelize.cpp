// tulle-parallelize: partitions outermost loops into parallel tasks.
#include "dialect/Costs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"
#include "passes/parallel/PartitionLoops.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_PARALLELIZE
#include "passes/Passes.h.inc"

namespace {

struct Parallelize : impl::ParallelizeBase<Parallelize> {
  using ParallelizeBase::ParallelizeBase;

  void runOnOperation() override {
    SmallVector<Operation *> outermost;
    for (Operation &op : getOperation().getOps())
      if (parallel::isLoop(&op))
        outermost.push_back(&op);
    SmallVector<dialect::FillOp> fills(getOperation().getOps<dialect::FillOp>());
    const parallel::Settings settings{deterministic, dialect::costModel(getOperation()).costs};
    for (Operation *loop : outermost)
      parallel::parallelize(loop, settings);
    for (dialect::FillOp fill : fills)
      parallel::partitionFill(fill, settings);
  }
};

} // namespace
} // namespace tulle::passes
