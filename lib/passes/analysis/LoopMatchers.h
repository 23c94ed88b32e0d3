// Small matchers of loops and index arithmetic.
#pragma once
#include "levels/Control.h"
#include "mlir/IR/Matchers.h"

namespace tulle::passes {

inline bool isZero(mlir::Value value) { return mlir::matchPattern(value, mlir::m_Zero()); }
inline bool hasUnitStep(mlir::scf::ForOp loop) { return mlir::matchPattern(loop.getStep(), mlir::m_One()); }

/// Whether the loop is there, and its iterations are independent.
inline bool isParallel(mlir::scf::ForOp loop) { return loop && dialect::loopOf(loop).isParallel(); }

inline bool isInnermost(mlir::scf::ForOp loop) {
  return !loop.getBody()
              ->walk([](mlir::LoopLikeOpInterface) { return mlir::WalkResult::interrupt(); })
              .wasInterrupted();
}

/// The loops in an operation, inner ones first.
inline llvm::SmallVector<mlir::scf::ForOp> loopsIn(mlir::Operation *op) {
  llvm::SmallVector<mlir::scf::ForOp> loops;
  op->walk([&](mlir::scf::ForOp loop) { loops.push_back(loop); });
  return loops;
}

/// The other operand of a sum or a product; null where the value is no such operation on `operand`.
template <typename Op> mlir::Value otherOperand(mlir::Value value, mlir::Value operand) {
  auto op = value.getDefiningOp<Op>();
  if (!op || (op.getLhs() != operand && op.getRhs() != operand))
    return {};
  return op.getLhs() == operand ? op.getRhs() : op.getLhs();
}

} // namespace tulle::passes
