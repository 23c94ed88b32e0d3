// Clones of parts of loops, whole groups of iterations, and loop metadata that keeps LLVM from transforming a
// loop again.
#pragma once
#include "levels/Indices.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"

namespace tulle::passes {

inline constexpr llvm::StringLiteral kLoopAnnotationAttr = "llvm.loop_annotation";

/// LLVM does not vectorize the loop.
void disableVectorization(mlir::scf::ForOp loop, mlir::LLVM::LoopUnrollAttr unroll = {});
/// LLVM neither vectorizes nor unrolls the loop.
void disableLoopTransforms(mlir::scf::ForOp loop);
inline bool hasLoopAnnotation(mlir::scf::ForOp loop) { return loop->hasAttr(kLoopAnnotationAttr); }

/// Splits whole groups of `size` iterations off a loop, which becomes their epilogue: `emit(first, carried)`
/// emits a group, and returns what it carries to the next one. LLVM transforms neither.
void splitGroups(
    mlir::scf::ForOp loop, int64_t size,
    llvm::function_ref<levels::Values(levels::IndicesAt at, mlir::Value first, mlir::ValueRange carried)>
        emit);

/// Clones the body of a loop of a nest without the loop at its end, and extends `map`.
void clonePrologue(mlir::OpBuilder &b, mlir::scf::ForOp loop, mlir::IRMapping &map);

/// Clones the backward slice of `value` within its block.
mlir::Value cloneSlice(mlir::OpBuilder &b, mlir::Value value, mlir::Block *block, mlir::IRMapping &map);
/// The same, of a value of a loop's body, for another value of the induction variable.
mlir::Value cloneSlice(mlir::OpBuilder &b, mlir::Value value, mlir::scf::ForOp loop, mlir::Value iteration);
/// The bounds of a loop in such an iteration of the loop around.
std::pair<mlir::Value, mlir::Value> cloneBounds(mlir::OpBuilder &b, mlir::scf::ForOp loop,
                                                mlir::scf::ForOp around, mlir::Value iteration);

} // namespace tulle::passes
