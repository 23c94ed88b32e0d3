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

bool isLoaded(Value value) { return bool(loadBehindCasts(value)); }

bool iteratesSegments(scf::ForOp around, scf::ForOp loop) {
  memref::LoadOp begin = loadBehindCasts(loop.getLowerBound()), end = loadBehindCasts(loop.getUpperBound());
  if (!begin || !end || begin.getMemRef() != end.getMemRef() ||
      !around.isDefinedOutsideOfLoop(begin.getMemRef()) || begin->getBlock() != around.getBody() ||
      begin.getIndices()[0] != around.getInductionVar())
    return false;
  auto next = end.getIndices()[0].getDefiningOp<arith::AddIOp>();
  return next && next.getLhs() == around.getInductionVar() && matchPattern(next.getRhs(), m_One());
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
