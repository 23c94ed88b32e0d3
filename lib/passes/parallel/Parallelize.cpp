// tulle-parallelize: partitions each outermost loop into parallel tasks by the first strategy that applies.
#include "dialect/Costs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/parallel/PartitionLoops.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_PARALLELIZE
#include "passes/Passes.h.inc"

namespace {

struct Strategy {
  bool (*apply)(Operation *, const parallel::Settings &);
  const char *what;
};
constexpr Strategy strategies[] = {
    {parallel::splitFibers,
     "the outermost loop in chunks of equal entries, which may begin inside of a long fiber"},
    {parallel::partitionIterations,
     "the outermost loop in chunks of equal entries; its iterations have disjoint stores"},
    {parallel::reducePartials, "the outermost loop in chunks of equal entries, each with a partial result"},
    {parallel::partitionInnerLoop,
     "an inner loop over all coordinates in equal chunks; iterations of the outer one may "
     "store to the same address"},
    {parallel::privatize, "the outermost loop in chunks of equal entries, each with a private copy of the "
                          "result, as iterations may store to the same address"},
};

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
      partition(loop, settings);
    for (dialect::FillOp fill : fills)
      parallel::partitionFill(fill, settings);
  }

  void partition(Operation *loop, const parallel::Settings &settings) {
    for (const Strategy &strategy : strategies)
      if (strategy.apply(loop, settings)) // the loop is moved or replaced
        return dialect::explainChoice(getOperation(),
                                      ("threads: " + llvm::Twine(strategy.what) + "; another thread from " +
                                       llvm::Twine(settings.costs.workPerThread) + " entries on")
                                          .str());
    dialect::explainChoice(getOperation(),
                           "threads: none; the outermost loop cannot be partitioned, or its iterations "
                           "depend on each other");
  }
};

} // namespace
} // namespace tulle::passes
