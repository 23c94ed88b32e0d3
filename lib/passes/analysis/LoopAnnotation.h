// What LLVM is told about a loop.
#pragma once
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tulle::passes {

/// LLVM neither vectorizes nor unrolls the loop.
inline void keepScalar(mlir::scf::ForOp loop) {
  namespace LLVM = mlir::LLVM;
  mlir::MLIRContext *context = loop.getContext();
  auto yes = mlir::BoolAttr::get(context, true);
  auto vectorize = LLVM::LoopVectorizeAttr::get(context, yes, {}, {}, {}, {}, {}, {});
  auto unroll = LLVM::LoopUnrollAttr::get(context, yes, {}, {}, {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation",
                LLVM::LoopAnnotationAttr::get(context, {}, vectorize, {}, unroll, {}, {}, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}));
}

/// LLVM does not vectorize the loop.
inline void keepFromVectors(mlir::scf::ForOp loop) {
  namespace LLVM = mlir::LLVM;
  mlir::MLIRContext *context = loop.getContext();
  auto yes = mlir::BoolAttr::get(context, true);
  auto vectorize = LLVM::LoopVectorizeAttr::get(context, yes, {}, {}, {}, {}, {}, {});
  loop->setAttr("llvm.loop_annotation", LLVM::LoopAnnotationAttr::get(context, {}, vectorize, {}, {}, {}, {},
                                                                      {}, {}, {}, {}, {}, {}, {}, {}, {}));
}

inline bool isKeptScalar(mlir::scf::ForOp loop) { return loop->hasAttr("llvm.loop_annotation"); }

} // namespace tulle::passes
