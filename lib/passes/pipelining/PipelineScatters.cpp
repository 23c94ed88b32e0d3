// tulle-pipeline-scatters: loops that store at places they look up run several iterations at once.
//
// Until the address of a store is known, a processor can only guess which later loads read what it stores,
// and the longer it takes to find that address, the longer such loops take (the figures are in README.md).
// Here all that a few iterations read comes first, then what they update, then their stores.
#include "levels/Indices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopAnnotation.h"
#include "passes/analysis/ReductionNest.h"
#include "passes/analysis/TripCount.h"
#include "passes/pipelining/PipelinePlan.h"

namespace tulle::passes {
#define GEN_PASS_DEF_PIPELINESCATTERS
#include "passes/Passes.h.inc"

namespace {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
using mlir::Operation;
using mlir::Value;

class Batcher : levels::Indices {
public:
  Batcher(scf::ForOp loop, const PipelinePlan &plan) : Indices(loop), loop(loop), plan(plan) {}

  /// Batches of `size` iterations come before the loop, which runs the rest.
  void run(int64_t size) {
    Value lower = loop.getLowerBound(), step = constant(size);
    Value limit = sub(loop.getUpperBound(), constant(size - 1));
    llvm::SmallVector<Value> inits{lower};
    llvm::append_range(inits, loop.getInitArgs());
    auto batches = scf::ForOp::create(b, loc, lower, limit, step, inits);
    keepScalar(batches);
    b.setInsertionPointToStart(batches.getBody());
    Value first = batches.getInductionVar();
    llvm::SmallVector<Value> results{add(first, step)};
    llvm::append_range(results, batch(first, size, batches.getRegionIterArgs().drop_front()));
    scf::YieldOp::create(b, loc, results);
    loop.getLowerBoundMutable().assign(batches.getResult(0));
    loop.getInitArgsMutable().assign(batches.getResults().drop_front());
  }

private:
  using Values = llvm::SmallVector<Value>;

  /// One batch from iteration `first`; returns what the last iteration yields.
  Values batch(Value first, int64_t size, mlir::ValueRange carried) {
    llvm::SmallVector<mlir::IRMapping> maps(size);
    for (int64_t k = 0; k < size; ++k) {
      maps[k].map(loop.getInductionVar(), k == 0 ? first : add(first, constant(k)));
      clone(maps[k], PipelineStage::Read);
      clone(maps[k], PipelineStage::Test);
    }
    Value guarded;
    for (mlir::IRMapping &map : maps)
      for (scf::IfOp guard : plan.guards) {
        Value taken = map.lookupOrDefault(guard.getCondition());
        guarded = guarded ? arith::OrIOp::create(b, loc, guarded, taken).getResult() : taken;
      }
    if (!guarded)
      return straight(maps, carried);
    auto branch = scf::IfOp::create(b, loc, carried.getTypes(), guarded, /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    mlir::OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToEnd(branch.thenBlock());
    Values results = inOrder(first, size, carried);
    scf::YieldOp::create(b, loc, results);
    b.setInsertionPointToEnd(branch.elseBlock());
    results = straight(maps, carried);
    scf::YieldOp::create(b, loc, results);
    return branch.getResults();
  }

  void clone(mlir::IRMapping &map, PipelineStage wanted) {
    for (auto [op, stage] : plan.stages)
      if (stage == wanted)
        b.clone(*op, map);
  }

  Values straight(llvm::MutableArrayRef<mlir::IRMapping> maps, mlir::ValueRange carried) {
    Values values(carried);
    keepOrder();
    auto *end = loop.getBody()->getTerminator();
    for (mlir::IRMapping &map : maps) {
      map.map(loop.getRegionIterArgs(), values);
      clone(map, PipelineStage::Update);
      values.clear();
      for (Value yielded : end->getOperands())
        values.push_back(map.lookupOrDefault(yielded));
    }
    if (llvm::any_of(plan.stages, [](auto entry) { return entry.second == PipelineStage::Write; }))
      keepOrder();
    for (mlir::IRMapping &map : maps)
      clone(map, PipelineStage::Write);
    return values;
  }

  /// The compiler moves no load or store across; the processor is told nothing. To need fewer registers it
  /// would put each load in front of its store again.
  void keepOrder() {
    mlir::LLVM::FenceOp::create(b, loc, mlir::LLVM::AtomicOrdering::seq_cst, "singlethread");
  }

  Values inOrder(Value first, int64_t size, mlir::ValueRange carried) {
    Value end = add(first, constant(size));
    auto copy = mlir::cast<scf::ForOp>(b.clone(*loop));
    copy.setLowerBound(first);
    copy.setUpperBound(end);
    copy.getInitArgsMutable().assign(carried);
    keepScalar(copy);
    return copy.getResults();
  }

  scf::ForOp loop;
  const PipelinePlan &plan;
};

/// Segments are often short: what does not fill a batch takes its time one by one.
constexpr int64_t batchOfSegment = 4, batchOfStream = 8;

struct PipelineScattersPass : impl::PipelineScattersBase<PipelineScattersPass> {
  void runOnOperation() override {
    llvm::SmallVector<std::pair<scf::ForOp, PipelinePlan>> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (isKeptScalar(loop) || mostIterations(loop))
        return;
      if (std::optional<PipelinePlan> plan = PipelinePlan::of(loop))
        loops.emplace_back(loop, std::move(*plan));
    });
    for (auto &[loop, plan] : loops) {
      Batcher(loop, plan).run(isOutermost(loop) ? batchOfStream : batchOfSegment);
      keepScalar(loop);
    }
  }
};

} // namespace
} // namespace tulle::passes
