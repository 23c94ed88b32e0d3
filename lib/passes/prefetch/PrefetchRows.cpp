// tulle-prefetch-rows: the rows of dense operands that integers of later iterations select.
//
// Rows of which a loop inside updates or copies the elements are held in no registers over the iterations of
// the loop around (tulle-register-tiles), and summed up in none (tulle-vectorize): nothing else prefetches
// them.
#include "dialect/Costs.h"
#include "passes/Passes.h"
#include "passes/prefetch/PrefetchPlan.h"

namespace tulle::passes {
#define GEN_PASS_DEF_PREFETCHROWS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// Whether each iteration of the loop around has a row of its own that the loop stores to.
bool storesRows(const VectorizationLegality &legality, scf::ForOp around) {
  scf::ForOp loop = legality.loop;
  auto stores = loop.getBody()->getOps<memref::StoreOp>();
  return !stores.empty() && llvm::all_of(stores, [&](memref::StoreOp store) {
    Value index = store.getIndices()[0];
    return legality.shapeOf(index) == LaneShape::Consecutive && !isFunctionOfIndex(index, loop, around);
  });
}

struct PrefetchRowsPass : impl::PrefetchRowsBase<PrefetchRowsPass> {
  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    bool changed = false;
    for (scf::ForOp loop : loopsIn(getOperation())) {
      auto around = dyn_cast<scf::ForOp>(loop->getParentOp());
      if (!around || !isInnermost(loop) || hasLoopAnnotation(loop) || isBodyScheduled(around) ||
          dialect::loopOf(around).getCacheResident() ||
          !around.isDefinedOutsideOfLoop(loop.getLowerBound()) ||
          !around.isDefinedOutsideOfLoop(loop.getUpperBound()))
        continue;
      std::optional<VectorizationLegality> legality = analyzeLoop(loop);
      if (legality && legality->reductions.empty() && storesRows(*legality, around))
        changed |= prefetch(*legality, around, model);
    }
    if (!changed)
      markAllAnalysesPreserved();
  }

private:
  /// Returns whether there is something to prefetch.
  static bool prefetch(const VectorizationLegality &legality, scf::ForOp around,
                       const iteration::CostModel &model) {
    LaterRows rows(around, legality, model);
    if (!rows.any())
      return false;
    dialect::explainChoice(around, "rows that later iterations select are prefetched where they are "
                                   "scattered, and an operand is larger than the caches of a core");
    scf::ForOp inner = legality.loop;
    // A branch in the loop would cost short rows more than they gain elsewhere.
    OpBuilder b(around);
    addVersion(b, around, rows.emitTest(), [&] {
      IRMapping map;
      auto version = cast<scf::ForOp>(b.clone(*around, map));
      OpBuilder inside(map.lookup(inner.getOperation()));
      rows.emitAt(inside, version.getInductionVar());
      return levels::Values(version.getResults());
    });
    return true;
  }
};

} // namespace
} // namespace tulle::passes
