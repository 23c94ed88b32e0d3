// tulle-expand-bf16: expand rounding to bf16 into integer arithmetic, which vectorizes where the call of a
// function would not. Processors with an instruction for it flush subnormal numbers; so all of them store the
// same. Upstream's arith-expand is not used: it expands extensions too, which makes LLVM vectorize gathers
// over short rows, and gives every nan one payload (experiment 017).
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/Passes.h"

namespace tulle::passes {
#define GEN_PASS_DEF_EXPANDBF16
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// Round half to even: the high half of the bits, after half a unit in its last place, less one where that
/// place is even, was added to them. nan stays nan.
Value rounded(arith::TruncFOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value x = op.getIn();
  auto vector = dyn_cast<VectorType>(x.getType());
  auto withElement = [&](Type element) { return vector ? Type(vector.clone(element)) : element; };
  Type whole = withElement(b.getI32Type());
  auto constant = [&](int32_t value) -> Value {
    auto attr = b.getI32IntegerAttr(value);
    return arith::ConstantOp::create(
        b, vector ? TypedAttr(DenseElementsAttr::get(cast<ShapedType>(whole), attr)) : attr);
  };
  Value bits = arith::BitcastOp::create(b, whole, x), places = constant(16);
  Value high = arith::ShRUIOp::create(b, bits, places);
  Value odd = arith::AndIOp::create(b, high, constant(1));
  Value up = arith::AddIOp::create(b, arith::AddIOp::create(b, bits, constant(0x7fff)), odd);
  Value nearest = arith::ShRUIOp::create(b, up, places);
  Value nan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  Value quiet = arith::OrIOp::create(b, high, constant(0x40));
  Value half = arith::TruncIOp::create(b, withElement(b.getI16Type()),
                                       arith::SelectOp::create(b, nan, quiet, nearest));
  return arith::BitcastOp::create(b, op.getType(), half);
}

struct ExpandBf16 : impl::ExpandBf16Base<ExpandBf16> {
  void runOnOperation() override {
    bool changed = false;
    getOperation()->walk([&](arith::TruncFOp op) {
      if (!getElementTypeOrSelf(op.getType()).isBF16() || !getElementTypeOrSelf(op.getIn()).isF32())
        return;
      op.replaceAllUsesWith(rounded(op));
      op.erase();
      changed = true;
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
