// tulle-lower-chained-scan: ordered prefix sums over chunks as calls of the runtime.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/Emit.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
#define GEN_PASS_DEF_LOWERCHAINEDSCAN
#include "passes/Passes.h.inc"

static assemble::Values lower(OpBuilder &b, ChainedScanOp op) {
  assemble::IndexEmitter emit(b, op.getLoc());
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, op.getLoc(), op.getState());
  Value cell = emit.add(address, emit.mul(op.getCell(), emit.constant(sizeof(int64_t))));
  return {assemble::callForIndex(emit, "tulle_ordered_scan", {cell, op.getNumber(), op.getCount()})};
}

namespace {

struct LowerChainedScan : impl::LowerChainedScanBase<LowerChainedScan> {
  void runOnOperation() override { assemble::lowerEach<ChainedScanOp>(getOperation(), lower); }
};

} // namespace
} // namespace tulle::passes
