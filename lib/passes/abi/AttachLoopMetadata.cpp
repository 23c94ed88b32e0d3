// tulle-attach-loop-metadata: attach loop annotations to branches.
//
// The conversions of scf.for and of branches pass `llvm.loop_annotation` on as a discardable attribute of the
// branch; the translation to LLVM IR looks for the branch's own.
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Passes.h"

namespace tulle::passes {
#define GEN_PASS_DEF_ATTACHLOOPMETADATA
#include "passes/Passes.h.inc"

namespace {

template <typename Branch> void adopt(Branch branch) {
  auto hint = branch->template getAttrOfType<mlir::LLVM::LoopAnnotationAttr>("llvm.loop_annotation");
  if (!hint)
    return;
  branch->removeAttr("llvm.loop_annotation");
  branch.setLoopAnnotationAttr(hint);
}

struct AttachLoopMetadata : impl::AttachLoopMetadataBase<AttachLoopMetadata> {
  void runOnOperation() override {
    getOperation().walk([](mlir::Operation *op) {
      if (auto branch = mlir::dyn_cast<mlir::LLVM::BrOp>(op))
        adopt(branch);
      else if (auto conditional = mlir::dyn_cast<mlir::LLVM::CondBrOp>(op))
        adopt(conditional);
    });
  }
};

} // namespace
} // namespace tulle::passes
