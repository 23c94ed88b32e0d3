// tulle-lower-sort-segments: sorts of segments as loops: by counting, then by merging.
#include "passes/Passes.h"
#include "passes/assemble/algorithms/LowerEach.h"
#include "passes/assemble/algorithms/SegmentSort.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
#define GEN_PASS_DEF_LOWERSORTSEGMENTS
#include "passes/Passes.h.inc"

static levels::Values lower(OpBuilder &b, SortSegmentsOp op) {
  assemble::Target target(b, op.getLoc(), cast<RankedTensorType>(op.getTensor()), {});
  target.setSegments(op.getPositions(), op.getCoordinates(), op.getValues());
  assemble::sortSegments(assemble::TargetAssembly(b, target), op.getFirst(), op.getLast(), op.getStart());
  return {};
}

namespace {

struct LowerSortSegments : impl::LowerSortSegmentsBase<LowerSortSegments> {
  void runOnOperation() override { assemble::lowerEach<SortSegmentsOp>(getOperation(), lower); }
};

} // namespace
} // namespace tulle::passes
