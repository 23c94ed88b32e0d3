// tulle-lower-histogram: histograms as loops that clear and count.
#include "passes/Passes.h"
#include "passes/assemble/algorithms/Keys.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
#define GEN_PASS_DEF_LOWERHISTOGRAM
#include "passes/Passes.h.inc"

static assemble::Values lower(OpBuilder &b, HistogramOp op) {
  assemble::IndexEmitter emit(b, op.getLoc());
  Value zero = emit.constant(0), end = emit.add(op.getFirst(), op.getBuckets());
  assemble::forEach(emit, op.getFirst(), end, LoopKind::Parallel,
                    [&](Value at) { assemble::storeAt(emit, zero, op.getCounts(), at); });
  assemble::forEach(emit, op.getBegin(), op.getEnd(), LoopKind::Reduction, [&](Value entry) {
    assemble::takeFromBucket(emit, op.getBody(), entry, op.getCounts(), op.getFirst());
  });
  return {};
}

namespace {

struct LowerHistogram : impl::LowerHistogramBase<LowerHistogram> {
  void runOnOperation() override { assemble::lowerEach<HistogramOp>(getOperation(), lower); }
};

} // namespace
} // namespace tulle::passes
