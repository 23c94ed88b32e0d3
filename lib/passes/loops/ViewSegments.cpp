// tulle-view-segments: segments of rows from an offset on are those of a view of the positions.
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopUtils.h"

namespace tulle::passes {
#define GEN_PASS_DEF_VIEWSEGMENTS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// What is added to the index of the loop around to get the row; null where that is not all it is.
Value offsetOf(dialect::SegmentOp segment, scf::ForOp around) {
  auto sum = segment.getAt().getDefiningOp<arith::AddIOp>();
  const bool isWhole = cast<MemRefType>(segment.getPositions().getType()).getLayout().isIdentity();
  if (!sum || !isWhole || !around.isDefinedOutsideOfLoop(segment.getPositions()))
    return {};
  Value index = around.getInductionVar();
  Value offset = sum.getLhs() == index ? sum.getRhs() : sum.getRhs() == index ? sum.getLhs() : Value();
  return offset && around.isDefinedOutsideOfLoop(offset) ? offset : Value();
}

void view(dialect::SegmentOp segment, scf::ForOp around, Value offset) {
  levels::Indices at(around);
  Value positions = segment.getPositions();
  auto type = cast<MemRefType>(positions.getType());
  Value count = at.sub(memref::DimOp::create(at.b, at.loc, positions, 0), offset);
  auto layout = StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, {1});
  auto own = MemRefType::get({ShapedType::kDynamic}, type.getElementType(), layout, type.getMemorySpace());
  // As positions begin where their memory does, upstream's memref.subview, which has no lowering to LLVM of
  // its own, is this.
  Value rows = memref::ReinterpretCastOp::create(at.b, at.loc, own, positions, OpFoldResult(offset),
                                                 ArrayRef<OpFoldResult>{count},
                                                 ArrayRef<OpFoldResult>{at.b.getIndexAttr(1)});
  segment.getPositionsMutable().assign(rows);
  segment.getAtMutable().assign(around.getInductionVar());
}

struct ViewSegments : impl::ViewSegmentsBase<ViewSegments> {
  void runOnOperation() override {
    getOperation().walk([](dialect::SegmentOp segment) {
      auto around = dyn_cast<scf::ForOp>(segment->getParentOp());
      if (Value offset = around ? offsetOf(segment, around) : Value())
        view(segment, around, offset);
    });
  }
};

} // namespace
} // namespace tulle::passes
