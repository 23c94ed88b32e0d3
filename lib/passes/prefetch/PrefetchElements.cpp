// tulle-prefetch-elements: the elements of dense operands that integers of later iterations select.
//
// Loads wait for lines in L1, which has few of them on their way. L2 has more, so that elements that no cache
// holds are there before a loop loads them, however short the segments are that it runs over.
#include "dialect/Costs.h"
#include "passes/Passes.h"
#include "passes/prefetch/PrefetchPlan.h"
#include "llvm/ADT/MapVector.h"
#include <memory>

namespace tulle::passes {
#define GEN_PASS_DEF_PREFETCHELEMENTS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// The elements that a loop's later iterations select.
class LaterElements : levels::Indices {
public:
  LaterElements(scf::ForOp loop, const iteration::Cpu &cpu)
      : Indices(loop), loop(loop), cpu(cpu), elements(b, loop, cpu) {
    if (elements.any())
      outermost = elements.outermostPlace({});
  }

  /// The outermost loop before which they can be tested; null where there are none, or where that is inside
  /// of another loop: in each segment a test would cost more than the prefetch gains.
  Operation *place() const {
    return outermost && !outermost->getParentOfType<scf::ForOp>() ? outermost : nullptr;
  }

  /// Before that loop: whether no cache holds them.
  Value emitTest() {
    b.setInsertionPoint(outermost);
    return ifThen(elements.exceedCaches(), [&] { return elements.areScattered(); });
  }

  /// In the clone of the loop that `map` has: as many iterations ahead as all coordinates have elements.
  void emitIn(IRMapping map) {
    auto version = cast<scf::ForOp>(map.lookup(loop.getOperation()));
    b.setInsertionPoint(version);
    Value ahead = constant(cpu.prefetchElements);
    for (memref::LoadOp load : elements.coordinateLoads())
      ahead = min(ahead, sub(sizeOf(load.getMemRef()), version.getUpperBound()));
    b.setInsertionPointToStart(version.getBody());
    elements.cloneAddressesAt(add(version.getInductionVar(), ahead), map);
    elements.prefetch(map, constant(0), cpu.prefetchIntoL2);
  }

private:
  scf::ForOp loop;
  const iteration::Cpu &cpu;
  PrefetchPlan elements;
  Operation *outermost = nullptr;
};

/// Adds a version of the nest in which its loops prefetch, where that is profitable for some of them.
void addPrefetches(Operation *nest, ArrayRef<std::unique_ptr<LaterElements>> loops) {
  dialect::explainChoice(nest, "elements that later iterations select are prefetched where they are "
                               "scattered, and an operand is larger than the caches");
  OpBuilder b(nest);
  Value isProfitable;
  for (const auto &loop : loops)
    isProfitable = levels::IndicesAt(b, nest->getLoc()).either(isProfitable, loop->emitTest());
  addVersion(b, nest, isProfitable, [&] {
    // A function of its own takes no registers from the version that prefetches nothing.
    auto outlined = scf::ExecuteRegionOp::create(b, nest->getLoc(), nest->getResultTypes(),
                                                 /*no_inline=*/b.getUnitAttr());
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&outlined.getRegion());
    IRMapping map;
    Operation *version = b.clone(*nest, map);
    scf::YieldOp::create(b, nest->getLoc(), version->getResults());
    for (const auto &loop : loops)
      loop->emitIn(map);
    return levels::Values(outlined.getResults());
  });
}

/// Whether what the loop loads is prefetched by whoever made it.
bool prefetches(scf::ForOp loop) { return !loop.getBody()->getOps<memref::PrefetchOp>().empty(); }

struct PrefetchElementsPass : impl::PrefetchElementsBase<PrefetchElementsPass> {
  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    llvm::MapVector<Operation *, std::vector<std::unique_ptr<LaterElements>>> nests;
    for (scf::ForOp loop : loopsIn(getOperation())) {
      if (model.cpu.prefetchElements == 0 || !isInnermost(loop) || hasLoopAnnotation(loop) ||
          isBodyScheduled(loop) || dialect::loopOf(loop).getCacheResident() || prefetches(loop))
        continue;
      auto elements = std::make_unique<LaterElements>(loop, model.cpu);
      if (Operation *nest = elements->place())
        nests[nest].push_back(std::move(elements));
    }
    if (nests.empty())
      markAllAnalysesPreserved();
    for (const auto &[nest, loops] : nests)
      addPrefetches(nest, loops);
  }
};

} // namespace
} // namespace tulle::passes
