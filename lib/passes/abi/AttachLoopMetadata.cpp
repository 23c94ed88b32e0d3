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

struct AttachLoopMetadata : impl::AttachLoopMetadataBase<AttachLoopMetadata> {
  void runOnOperation() override {
    auto adopt = [](auto branch) {
      if (mlir::Attribute hint = branch->removeDiscardableAttr("llvm.loop_annotation"))
        branch.setLoopAnnotationAttr(mlir::cast<mlir::LLVM::LoopAnnotationAttr>(hint));
    };
    getOperation().walk([&](mlir::LLVM::BrOp branch) { adopt(branch); });
    getOperation().walk([&](mlir::LLVM::CondBrOp branch) { adopt(branch); });
  }
};

} // namespace
} // namespace tulle::passes
