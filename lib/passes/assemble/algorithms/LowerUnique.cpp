// tulle-lower-unique: combinations of repeats as loops.
#include "passes/Passes.h"
#include "passes/assemble/algorithms/LowerEach.h"
#include "passes/assemble/algorithms/SegmentSort.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
#define GEN_PASS_DEF_LOWERUNIQUE
#include "passes/Passes.h.inc"

static levels::Values lower(OpBuilder &b, UniqueOp op) {
  assemble::Target target(b, op.getLoc(), cast<RankedTensorType>(op.getTensor()), {}, op.getCombine());
  target.setSegments(op.getPositions(), op.getCoordinates(), op.getValues());
  return {assemble::combineRepeats(assemble::TargetAssembly(b, target), op.getFirst(), op.getLast(),
                                   op.getStart())};
}

namespace {

struct LowerUnique : impl::LowerUniqueBase<LowerUnique> {
  void runOnOperation() override { assemble::lowerEach<UniqueOp>(getOperation(), lower); }
};

} // namespace
} // namespace tulle::passes
