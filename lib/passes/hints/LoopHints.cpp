// tulle-loop-hints: innermost loops that store at positions they read stay scalar.
//
// Where each entry goes to a place of its own, the stores are the work. Addresses put together in vectors
// have to come apart again for them, and the processors that have a scatter instruction take longer for it
// than for its stores one by one.
//
// Where a loop adds to places it reads, the places are fetched early: until they are known, no later load can
// tell whether it reads what was stored.
#include "dialect/Costs.h"
#include "levels/Control.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopAnnotation.h"
#include "passes/analysis/ReductionNest.h"
#include "passes/analysis/TripCount.h"

namespace tulle::passes {
#define GEN_PASS_DEF_LOOPHINTS
#include "passes/Passes.h.inc"

namespace {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Operation;
using mlir::Value;

/// Whether the value is computed from something the loop reads.
bool isRead(Value value, scf::ForOp loop, llvm::DenseSet<Operation *> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !loop->isProperAncestor(op) || !seen.insert(op).second)
    return false;
  return mlir::isa<memref::LoadOp>(op) ||
         llvm::any_of(op->getOperands(), [&](Value operand) { return isRead(operand, loop, seen); });
}

bool scatters(scf::ForOp loop) {
  return loop
      .walk([&](memref::StoreOp store) {
        llvm::DenseSet<Operation *> seen;
        bool scatter =
            llvm::any_of(store.getIndices(), [&](Value index) { return isRead(index, loop, seen); });
        return scatter ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

bool isInnermost(scf::ForOp loop) {
  return !loop.getBody()
              ->walk([](mlir::LoopLikeOpInterface) { return mlir::WalkResult::interrupt(); })
              .wasInterrupted();
}

/// What the loop reads in order, if all it does is add such things to an element of a buffer; nothing
/// otherwise.
llvm::SmallVector<memref::LoadOp> streamsAddedUp(scf::ForOp loop) {
  llvm::SmallVector<memref::LoadOp> streams;
  auto stores = loop.getBody()->getOps<memref::StoreOp>();
  if (loop.getNumRegionIterArgs() != 0 || !mlir::matchPattern(loop.getStep(), mlir::m_One()) ||
      mostIterations(loop) || !llvm::hasSingleElement(stores))
    return streams;
  memref::StoreOp store = *stores.begin();
  bool updates = false;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto load = mlir::dyn_cast<memref::LoadOp>(op)) {
      if (load.getIndices().size() == 1 && load.getIndices()[0] == loop.getInductionVar())
        streams.push_back(load);
      updates |= load.getMemRef() == store.getMemRef() && load.getIndices() == store.getIndices();
    } else if (&op != store && !mlir::isMemoryEffectFree(&op)) {
      return {};
    }
  }
  return updates && streams.size() > 1 ? streams : llvm::SmallVector<memref::LoadOp>();
}

/// A few iterations at a time, with the streams fetched ahead (experiments 004 and 010).
void fetchStreams(scf::ForOp loop, llvm::ArrayRef<memref::LoadOp> streams, const iteration::Cpu &cpu) {
  mlir::OpBuilder b(loop);
  mlir::Location loc = loop.getLoc();
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
  Value lower = loop.getLowerBound(), step = constant(cpu.entriesPerPrefetch);
  Value limit = arith::SubIOp::create(b, loc, loop.getUpperBound(), constant(cpu.entriesPerPrefetch - 1));
  auto several = scf::ForOp::create(b, loc, lower, limit, step, lower);
  keepScalar(several);
  b.setInsertionPointToStart(several.getBody());
  Value position = several.getInductionVar();
  Value later = arith::AddIOp::create(b, loc, position, constant(cpu.prefetchEntries));
  for (memref::LoadOp stream : streams)
    memref::PrefetchOp::create(b, loc, stream.getMemRef(), later, /*isWrite=*/false, /*localityHint=*/3,
                               /*isDataCache=*/true);
  for (int64_t k = 0; k < cpu.entriesPerPrefetch; ++k) {
    mlir::IRMapping map;
    map.map(loop.getInductionVar(), arith::AddIOp::create(b, loc, position, constant(k)));
    for (Operation &op : loop.getBody()->without_terminator())
      b.clone(op, map);
  }
  scf::YieldOp::create(b, loc, arith::AddIOp::create(b, loc, position, step).getResult());
  loop.getLowerBoundMutable().assign(several.getResult(0));
  keepScalar(loop);
}

/// One round after another: unrolling gains nothing then (CSR to ELL takes 0.74 of the time without). Rounds
/// that overlap gain (the lookups of a masked product take 1.35 of the time without).
bool isReduction(scf::ForOp loop) {
  auto kind = loop->getAttrOfType<mlir::StringAttr>(levels::kindAttr);
  return kind && kind.getValue() == "reduction";
}

struct LoopHintsPass : impl::LoopHintsBase<LoopHintsPass> {
  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    llvm::SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (isInnermost(loop) && !loop->hasAttr("llvm.loop_annotation") && scatters(loop))
        loops.push_back(loop);
    });
    for (scf::ForOp loop : loops) {
      if (llvm::SmallVector<memref::LoadOp> streams = streamsAddedUp(loop); !streams.empty())
        fetchStreams(loop, streams, model.cpu);
      else if (isReduction(loop) && !isOutermost(loop))
        keepScalar(loop); // segments are often shorter than what is unrolled: the rest would be most of them
      else
        keepFromVectors(loop);
    }
  }
};

} // namespace
} // namespace tulle::passes
