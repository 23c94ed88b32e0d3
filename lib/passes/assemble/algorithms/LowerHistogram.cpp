// tulle-lower-histogram: histograms as loops that clear and count.
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/Keys.h"
#include "passes/assemble/algorithms/LowerEach.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
#define GEN_PASS_DEF_LOWERHISTOGRAM
#include "passes/Passes.h.inc"

static levels::Values lower(OpBuilder &b, HistogramOp op) {
  Location loc = op.getLoc();
  assemble::IndexEmitter emit(b, loc);
  Value zero = emit.constant(0), end = emit.add(op.getFirst(), op.getBuckets());
  levels::forLoop(b, loc, op.getFirst(), end, LoopKind::Parallel, {}, [&](Value at, levels::Values) {
    memref::StoreOp::create(b, loc, zero, op.getCounts(), at);
    return levels::Values{};
  });
  return levels::forLoop(b, loc, op.getBegin(), op.getEnd(), LoopKind::Reduction, {},
                         [&](Value entry, levels::Values) {
                           assemble::takeFromBucket(emit, op.getBody(), entry, op.getCounts(), op.getFirst());
                           return levels::Values{};
                         });
}

namespace {

struct LowerHistogram : impl::LowerHistogramBase<LowerHistogram> {
  void runOnOperation() override { assemble::lowerEach<HistogramOp>(getOperation(), lower); }
};

} // namespace
} // namespace tulle::passes
