// tulle-loop-hints: keep LLVM from vectorizing innermost loops with indirect stores, and from unrolling short
// sums of vectors.
//
// Addresses computed in vectors have to be extracted again for scalar stores, and the processors that have a
// scatter instruction take longer for it than for its stores one by one.
//
// Where a loop accumulates at indices it loads, these are prefetched: until they are known, no later load can
// tell whether it depends on the store.
#include "dialect/Costs.h"
#include "levels/Indices.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopUtils.h"
#include "passes/prefetch/PrefetchPlan.h"

namespace tulle::passes {
#define GEN_PASS_DEF_LOOPHINTS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// Whether the value depends on a load of the loop.
bool dependsOnLoad(Value value, scf::ForOp loop) {
  return !acceptsSlice(value, [&](Value value) -> std::optional<bool> {
    Operation *op = value.getDefiningOp();
    if (!op || !loop->isProperAncestor(op))
      return true;
    return isa<memref::LoadOp>(op) ? std::optional(false) : std::nullopt;
  });
}

bool scatters(scf::ForOp loop) {
  return anyIn(loop, [&](Operation *op) {
    auto store = dyn_cast<memref::StoreOp>(op);
    return store && llvm::any_of(store.getIndices(), [&](Value at) { return dependsOnLoad(at, loop); });
  });
}

/// The loads at the loop's index, if all it does is accumulate such elements in one of a buffer; nothing
/// otherwise, and of a loop whose iterations fill no cache line.
SmallVector<memref::LoadOp> accumulatedStreams(scf::ForOp loop, int64_t line) {
  SmallVector<memref::LoadOp> streams;
  auto stores = loop.getBody()->getOps<memref::StoreOp>();
  if (loop.getNumRegionIterArgs() != 0 || !hasUnitStep(loop) || maxTripCount(loop).value_or(line) < line ||
      !llvm::hasSingleElement(stores))
    return streams;
  memref::StoreOp store = *stores.begin();
  bool updates = false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      if (load.getIndices().size() == 1 && load.getIndices()[0] == loop.getInductionVar() &&
          !isPrefetchScheduled(loop, load.getMemRef()))
        streams.push_back(load);
      updates |= load.getMemRef() == store.getMemRef() && load.getIndices() == store.getIndices();
    } else if (&op != store && !isMemoryEffectFree(&op)) {
      return {};
    }
  }
  return updates && streams.size() > 1 ? streams : SmallVector<memref::LoadOp>();
}

/// How many elements of the narrowest stream a cache line holds.
int64_t elementsOfLine(ArrayRef<memref::LoadOp> streams, const iteration::Cpu &cpu) {
  unsigned narrowest = 64;
  for (memref::LoadOp stream : streams)
    if (Type type = stream.getType(); type.isIntOrFloat())
      narrowest = std::min(narrowest, std::max(8u, type.getIntOrFloatBitWidth()));
  return cpu.line * 8 / narrowest;
}

/// A few iterations at a time, with a prefetch of the streams (experiments 004 and 010): those of a line
/// where the loop is long enough for certain, else few, as most segments are short.
void prefetchStreams(scf::ForOp loop, ArrayRef<memref::LoadOp> streams, const iteration::Cpu &cpu) {
  const int64_t line = elementsOfLine(streams, cpu);
  const int64_t group = exactTripCount(loop).value_or(0) >= line ? line : cpu.entriesPerPrefetch;
  splitGroups(loop, group, [&](levels::IndicesAt at, Value first, ValueRange) {
    Value later = at.add(first, at.constant(cpu.prefetchEntries));
    for (memref::LoadOp stream : streams)
      emitPrefetch(at.b, at.loc, stream.getMemRef(), later);
    for (int64_t k = 0; k < group; ++k) {
      IRMapping map;
      map.map(loop.getInductionVar(), at.add(first, at.constant(k)));
      for (Operation &op : loop.getBody()->without_terminator())
        at.b.clone(op, map);
    }
    return levels::Values();
  });
}

/// Whether the loop, over a segment of any length, does little but sum one or two vectors: each sum waits for
/// the one before, so that bodies one behind the other gain nothing, and short segments would run in LLVM's
/// remainder (experiment 105).
bool sumsFewVectors(scf::ForOp loop) {
  return loop.getNumResults() != 0 && loop.getNumResults() <= 2 && !maxTripCount(loop) &&
         llvm::all_of(loop.getResultTypes(), llvm::IsaPred<VectorType>);
}

/// Nor are the rows around it unrolled: copies of the loop, each for every fourth segment, took up to twice as
/// long where what the entries select lies outside of L2 (experiment 123).
void keepRowByRow(scf::ForOp loop) {
  disableLoopTransforms(loop);
  for (auto rows = loop->getParentOfType<scf::ForOp>(); rows; rows = rows->getParentOfType<scf::ForOp>())
    if (!hasLoopAnnotation(rows) && scheduledUnroll(rows) == 0)
      disableUnrolling(rows);
}

struct LoopHintsPass : impl::LoopHintsBase<LoopHintsPass> {
  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    for (scf::ForOp loop : loopsIn(getOperation())) {
      if (!isInnermost(loop) || hasLoopAnnotation(loop))
        continue;
      if (sumsFewVectors(loop))
        keepRowByRow(loop);
      if (hasLoopAnnotation(loop) || !scatters(loop))
        continue;
      if (SmallVector<memref::LoadOp> streams = accumulatedStreams(loop, model.cpu.line); !streams.empty())
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
