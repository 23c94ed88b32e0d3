// Loop metadata that keeps LLVM from transforming a loop again.
#pragma once
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tulle::passes {

inline constexpr llvm::StringLiteral kLoopAnnotationAttr = "llvm.loop_annotation";

/// LLVM does not vectorize the loop.
inline void disableVectorization(mlir::scf::ForOp loop, mlir::LLVM::LoopUnrollAttr unroll = {}) {
  namespace LLVM = mlir::LLVM;
  mlir::MLIRContext *context = loop.getContext();
  auto vectorize =
      LLVM::LoopVectorizeAttr::get(context, mlir::BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  loop->setAttr(kLoopAnnotationAttr, LLVM::LoopAnnotationAttr::get(context, {}, vectorize, {}, unroll, {}, {},
                                                                   {}, {}, {}, {}, {}, {}, {}, {}, {}));
}

/// LLVM neither vectorizes nor unrolls the loop.
inline void disableLoopTransforms(mlir::scf::ForOp loop) {
  auto yes = mlir::BoolAttr::get(loop.getContext(), true);
  disableVectorization(loop, mlir::LLVM::LoopUnrollAttr::get(loop.getContext(), yes, {}, {}, {}, {}, {}, {}));
}

inline bool hasLoopAnnotation(mlir::scf::ForOp loop) { return loop->hasAttr(kLoopAnnotationAttr); }

} // namespace tulle::passes
