// tulle-expand-segments: bounds of segments become loads, when no pass needs to know any more which segment
// a loop iterates.
#include "dialect/Dialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"

namespace tulle::passes {
#define GEN_PASS_DEF_EXPANDSEGMENTS
#include "passes/Passes.h.inc"

namespace {

struct ExpandSegments : impl::ExpandSegmentsBase<ExpandSegments> {
  void runOnOperation() override {
    mlir::IRRewriter rewriter(&getContext());
    getOperation()->walk([&](dialect::SegmentOp segment) { segment.expand(rewriter); });
  }
};

} // namespace
} // namespace tulle::passes
