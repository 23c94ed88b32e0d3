#include "passes/analysis/SegmentLoops.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/analysis/LoopMatchers.h"

namespace tulle::passes {

using namespace mlir;

memref::LoadOp loadBehindCasts(Value value) {
  while (isa_and_nonnull<arith::IndexCastUIOp, arith::IndexCastOp, arith::ExtUIOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value.getDefiningOp<memref::LoadOp>();
}

bool isLoaded(Value value) { return loadBehindCasts(value) || value.getDefiningOp<dialect::SegmentOp>(); }

bool iteratesSegments(scf::ForOp around, scf::ForOp loop) {
  auto segment = loop.getLowerBound().getDefiningOp<dialect::SegmentOp>();
  return segment && segment.getBegin() == loop.getLowerBound() && segment.getEnd() == loop.getUpperBound() &&
         segment.getAt() == around.getInductionVar() && segment->getBlock() == around.getBody() &&
         around.isDefinedOutsideOfLoop(segment.getPositions());
}

bool isOutermost(Operation *loop) {
  Operation *around = loop->getParentOp();
  while (!isa<LoopLikeOpInterface, dialect::ParallelOp, func::FuncOp>(around))
    around = around->getParentOp();
  return !isa<LoopLikeOpInterface>(around);
}

scf::ForOp rowLoopOf(scf::ForOp loop) {
  auto rows = loop->getParentOfType<scf::ForOp>();
  return rows && isOutermost(rows) && rows.getNumResults() == 0 && iteratesSegments(rows, loop)
             ? rows
             : scf::ForOp();
}

} // namespace tulle::passes
