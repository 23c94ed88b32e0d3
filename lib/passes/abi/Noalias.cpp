// tulle-noalias: mark the buffer arguments of statements and parallel regions llvm.noalias.
#include "dialect/Attributes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Passes.h"

namespace tulle::passes {
#define GEN_PASS_DEF_NOALIAS
#include "passes/Passes.h.inc"

namespace {

struct NoaliasPass : impl::NoaliasBase<NoaliasPass> {
  void runOnOperation() override {
    mlir::UnitAttr unit = mlir::UnitAttr::get(&getContext());
    // An allocation aliases nothing.
    for (llvm::StringRef name : {"_mlir_memref_to_llvm_alloc", "tulle_allocate_filled"})
      if (auto alloc = getOperation().lookupSymbol<mlir::LLVM::LLVMFuncOp>(name))
        alloc.setResultAttr(0, mlir::LLVM::LLVMDialect::getNoAliasAttrName(), unit);
    for (auto func : getOperation().getOps<mlir::LLVM::LLVMFuncOp>()) {
      bool takesBuffers = func.getName().starts_with("statement") || func->hasAttr(dialect::kNoaliasAttr);
      if (func.isExternal() || !takesBuffers)
        continue;
      // A memref is passed as two equal pointers and three integers; code only goes through the second,
      // aligned one. Both may carry the promise, because the first is never accessed.
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        if (mlir::isa<mlir::LLVM::LLVMPointerType>(func.getArgument(i).getType()))
          func.setArgAttr(i, mlir::LLVM::LLVMDialect::getNoAliasAttrName(), unit);
    }
  }
};

} // namespace
} // namespace tulle::passes
