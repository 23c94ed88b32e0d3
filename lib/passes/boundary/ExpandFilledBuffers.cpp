// tulle-expand-filled-buffers: workspaces as memory that the kernel takes and fills itself.
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/boundary/BoundaryPasses.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_EXPANDFILLEDBUFFERS
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

struct ExpandFilledBuffers : impl::ExpandFilledBuffersBase<ExpandFilledBuffers> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      ImplicitLocOpBuilder b(op->getLoc(), op);
      if (auto filled = dyn_cast<dialect::FilledBufferOp>(op)) {
        Value buffer =
            memref::AllocOp::create(b, cast<MemRefType>(filled.getResult().getType()), filled.getSize());
        Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
        scf::ForOp::create(b, zero, filled.getSize(), one, ValueRange(),
                           [&](OpBuilder &nested, Location loc, Value k, ValueRange) {
                             memref::StoreOp::create(nested, loc, filled.getValue(), buffer, k);
                             scf::YieldOp::create(nested, loc);
                           });
        filled.replaceAllUsesWith(buffer);
        filled.erase();
      } else if (auto returned = dyn_cast<dialect::ReturnFilledBufferOp>(op)) {
        memref::DeallocOp::create(b, returned.getBuffer());
        returned.erase();
      }
    });
  }
};

} // namespace
} // namespace tulle::passes
