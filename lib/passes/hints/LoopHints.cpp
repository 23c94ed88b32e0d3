// tulle-loop-hints: keep LLVM from vectorizing innermost loops with indirect stores.
//
// Addresses computed in vectors have to be extracted again for scalar stores, and the processors that have a
// scatter instruction take longer for it than for its stores one by one.
//
// Where a loop accumulates at indices it loads, these are prefetched: until they are known, no later load can
// tell whether it depends on the store.
#include "dialect/Costs.h"
#include "levels/Indices.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopAnnotation.h"
#include "passes/analysis/LoopMatchers.h"
#include "passes/analysis/SegmentLoops.h"
#include "passes/analysis/TripCount.h"
#include "passes/prefetch/PrefetchPlan.h"

namespace tulle::passes {
#define GEN_PASS_DEF_LOOPHINTS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// Whether the value depends on a load of the loop.
bool dependsOnLoad(Value value, scf::ForOp loop, llvm::DenseSet<Operation *> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !loop->isProperAncestor(op) || !seen.insert(op).second)
    return false;
  return isa<memref::LoadOp>(op) ||
         llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOnLoad(operand, loop, seen); });
}

bool scatters(scf::ForOp loop) {
  return loop
      .walk([&](memref::StoreOp store) {
        llvm::DenseSet<Operation *> seen;
        bool scatter =
            llvm::any_of(store.getIndices(), [&](Value index) { return dependsOnLoad(index, loop, seen); });
        return scatter ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The loads at the loop's index, if all it does is accumulate such elements in one of a buffer; nothing
/// otherwise.
SmallVector<memref::LoadOp> accumulatedStreams(scf::ForOp loop) {
  SmallVector<memref::LoadOp> streams;
  auto stores = loop.getBody()->getOps<memref::StoreOp>();
  if (loop.getNumRegionIterArgs() != 0 || !hasUnitStep(loop) || maxTripCount(loop) ||
      !llvm::hasSingleElement(stores))
    return streams;
  memref::StoreOp store = *stores.begin();
  bool updates = false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      if (load.getIndices().size() == 1 && load.getIndices()[0] == loop.getInductionVar())
        streams.push_back(load);
      updates |= load.getMemRef() == store.getMemRef() && load.getIndices() == store.getIndices();
    } else if (&op != store && !isMemoryEffectFree(&op)) {
      return {};
    }
  }
  return updates && streams.size() > 1 ? streams : SmallVector<memref::LoadOp>();
}

/// A few iterations at a time, with a prefetch of the streams (experiments 004 and 010).
void prefetchStreams(scf::ForOp loop, ArrayRef<memref::LoadOp> streams, const iteration::Cpu &cpu) {
  levels::Indices at(loop);
  Value lower = loop.getLowerBound(), step = at.constant(cpu.entriesPerPrefetch);
  Value limit = at.sub(loop.getUpperBound(), at.constant(cpu.entriesPerPrefetch - 1));
  auto unrolled = scf::ForOp::create(at.b, at.loc, lower, limit, step, lower);
  disableLoopTransforms(unrolled);
  at.b.setInsertionPointToStart(unrolled.getBody());
  Value position = unrolled.getInductionVar();
  Value later = at.add(position, at.constant(cpu.prefetchEntries));
  for (memref::LoadOp stream : streams)
    emitPrefetch(at.b, at.loc, stream.getMemRef(), later);
  for (int64_t k = 0; k < cpu.entriesPerPrefetch; ++k) {
    IRMapping map;
    map.map(loop.getInductionVar(), at.add(position, at.constant(k)));
    for (Operation &op : loop.getBody()->without_terminator())
      at.b.clone(op, map);
  }
  scf::YieldOp::create(at.b, at.loc, at.add(position, step));
  loop.getLowerBoundMutable().assign(unrolled.getResult(0));
  disableLoopTransforms(loop);
}

struct LoopHintsPass : impl::LoopHintsBase<LoopHintsPass> {
  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (isInnermost(loop) && !hasLoopAnnotation(loop) && scatters(loop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      if (SmallVector<memref::LoadOp> streams = accumulatedStreams(loop); !streams.empty())
        prefetchStreams(loop, streams, model.cpu);
      else if (!isParallel(loop) && !isOutermost(loop))
        // Most of a short segment would run in the epilogue, and iterations that depend on each other gain
        // nothing from being unrolled (experiment 049).
        disableLoopTransforms(loop);
      else
        disableVectorization(loop);
    }
  }
};

} // namespace
} // namespace tulle::passes
