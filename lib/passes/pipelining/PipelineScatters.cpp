// tulle-pipeline-scatters: unroll loops with indirect stores, and group loads before stores.
//
// Until the address of a store is known, a processor can only predict which later loads depend on it, and the
// longer the address takes, the longer such loops take (experiment 048). Here the loads of a few iterations
// come first, then their updates, then their stores.
#include "dialect/Costs.h"
#include "levels/Indices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopMatchers.h"
#include "passes/analysis/LoopTransforms.h"
#include "passes/pipelining/PipelinePlan.h"

namespace tulle::passes {
#define GEN_PASS_DEF_PIPELINESCATTERS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// A loop, unrolled and regrouped by stage; the loop itself is the epilogue.
class PipelinedLoop : levels::IndicesAt {
public:
  PipelinedLoop(levels::IndicesAt at, scf::ForOp loop, const PipelinePlan &plan)
      : IndicesAt(at), loop(loop), plan(plan) {}

  using Values = levels::Values;

  /// The `size` iterations from `first` on; returns what the last one yields.
  Values group(Value first, int64_t size, ValueRange carried) {
    SmallVector<IRMapping> maps(size);
    for (int64_t k = 0; k < size; ++k) {
      maps[k].map(loop.getInductionVar(), k == 0 ? first : add(first, constant(k)));
      clone(maps[k], PipelineStage::Load);
      clone(maps[k], PipelineStage::Test);
    }
    Value guarded;
    for (IRMapping &map : maps)
      for (scf::IfOp guard : plan.guards)
        guarded = either(guarded, map.lookupOrDefault(guard.getCondition()));
    if (!guarded)
      return staged(maps, carried);
    return levels::ifElse(
        b, loc, guarded, carried.getTypes(), [&] { return inOrder(first, size, carried); },
        [&] { return staged(maps, carried); });
  }

private:
  void clone(IRMapping &map, PipelineStage wanted) {
    for (auto [op, stage] : plan.stages)
      if (stage == wanted)
        b.clone(*op, map);
  }

  Values staged(MutableArrayRef<IRMapping> maps, ValueRange carried) {
    Values values(carried);
    keepOrder();
    auto *end = loop.getBody()->getTerminator();
    for (IRMapping &map : maps) {
      map.map(loop.getRegionIterArgs(), values);
      clone(map, PipelineStage::Update);
      values.clear();
      for (Value yielded : end->getOperands())
        values.push_back(map.lookupOrDefault(yielded));
    }
    if (llvm::any_of(plan.stages, [](auto entry) { return entry.second == PipelineStage::Store; }))
      keepOrder();
    for (IRMapping &map : maps)
      clone(map, PipelineStage::Store);
    return values;
  }

  /// A fence for the compiler alone: to need fewer registers it would move each load to its store again.
  void keepOrder() { LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst, "singlethread"); }

  Values inOrder(Value first, int64_t size, ValueRange carried) {
    Value end = add(first, constant(size));
    auto copy = cast<scf::ForOp>(b.clone(*loop));
    copy.setLowerBound(first);
    copy.setUpperBound(end);
    copy.getInitArgsMutable().assign(carried);
    disableLoopTransforms(copy);
    return copy.getResults();
  }

  scf::ForOp loop;
  const PipelinePlan &plan;
};

/// Iterations that run together. Segments are often short, and their epilogue runs one by one.
constexpr int64_t segmentUnroll = 4, streamUnroll = 8;

struct PipelineScattersPass : impl::PipelineScattersBase<PipelineScattersPass> {
  void runOnOperation() override {
    SmallVector<std::pair<scf::ForOp, PipelinePlan>> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (hasLoopAnnotation(loop) || maxTripCount(loop))
        return;
      if (std::optional<PipelinePlan> plan = PipelinePlan::of(loop))
        loops.emplace_back(loop, std::move(*plan));
    });
    for (auto &[loop, plan] : loops) {
      const int64_t size = isOutermost(loop) ? streamUnroll : segmentUnroll;
      dialect::explainChoice(loop, "software pipelining: " + std::to_string(size) +
                                       " iterations load before any of them stores at a loaded index");
      splitGroups(loop, size, [&](levels::IndicesAt at, Value first, ValueRange carried) {
        return PipelinedLoop(at, loop, plan).group(first, size, carried);
      });
    }
  }
};

} // namespace
} // namespace tulle::passes
