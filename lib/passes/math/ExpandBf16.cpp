// tulle-expand-bf16: expand rounding to bf16 into integer arithmetic, which vectorizes where the call of a
// function would not. Processors with an instruction for it flush subnormal numbers; so all of them store the
// same. Upstream's arith-expand is not used: it expands extensions too, which makes LLVM vectorize gathers
// over short rows, and gives every nan one payload (experiment 017).
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"

namespace tulle::passes {
#define GEN_PASS_DEF_EXPANDBF16
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// The type with another element, of a number or of a vector.
Type withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}

/// Round half to even: the high half of the bits, after half a unit in its last place, less one where that
/// place is even, was added to them. nan stays nan.
Value rounded(arith::TruncFOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value x = op.getIn();
  Type whole = withElement(x.getType(), b.getI32Type());
  auto constant = [&](int32_t value) -> Value {
    auto attr = b.getI32IntegerAttr(value);
    auto vector = dyn_cast<VectorType>(whole);
    return arith::ConstantOp::create(b, loc, vector ? TypedAttr(DenseElementsAttr::get(vector, attr)) : attr);
  };
  Value bits = arith::BitcastOp::create(b, loc, whole, x), places = constant(16);
  Value high = arith::ShRUIOp::create(b, loc, bits, places);
  Value odd = arith::AndIOp::create(b, loc, high, constant(1));
  Value up = arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, bits, constant(0x7fff)), odd);
  Value nearest = arith::ShRUIOp::create(b, loc, up, places);
  Value nan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  Value quiet = arith::OrIOp::create(b, loc, high, constant(0x40));
  Value half = arith::TruncIOp::create(b, loc, withElement(x.getType(), b.getI16Type()),
                                       arith::SelectOp::create(b, loc, nan, quiet, nearest));
  return arith::BitcastOp::create(b, loc, op.getType(), half);
}

struct ExpandBf16 : impl::ExpandBf16Base<ExpandBf16> {
  void runOnOperation() override {
    getOperation()->walk([](arith::TruncFOp op) {
      if (!getElementTypeOrSelf(op.getType()).isBF16() || !getElementTypeOrSelf(op.getIn()).isF32())
        return;
      op.replaceAllUsesWith(rounded(op));
      op.erase();
    });
  }
};

} // namespace
} // namespace tulle::passes
