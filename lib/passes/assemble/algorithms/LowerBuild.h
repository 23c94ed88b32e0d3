// What the passes have in common that lower an op which builds a tensor of a stream of entries.
#pragma once
#include "passes/assemble/algorithms/Target.h"
#include "passes/assemble/choose/Order.h"

namespace tulle::assemble {

/// Replaces each such op by the buffers that `lower(target, stream, op)` gives the target; an op whose
/// entries do not fit is refused.
template <typename Op, typename Lower>
mlir::LogicalResult lowerBuild(mlir::Operation *root, bool (*fits)(const TargetFacts &, const Stream &),
                               Lower lower) {
  auto tensorOf = [](Op op) { return mlir::cast<mlir::RankedTensorType>(op.getTensor()); };
  auto streamOf = [&](Op op) {
    return assemble::streamOf(op.getEntries().template getDefiningOp<dialect::EntriesOp>(),
                              dialect::getEncoding(tensorOf(op)).getValue());
  };
  auto check = [&](Op op) {
    if (fits(TargetFacts(tensorOf(op), op.getCombine(), op.getPlan()), streamOf(op)))
      return mlir::WalkResult::advance();
    op.emitOpError("expected entries in an order, and of loops, that it can build the tensor from");
    return mlir::WalkResult::interrupt();
  };
  if (root->walk(check).wasInterrupted())
    return mlir::failure();
  lowerEach<Op>(root, [&](mlir::OpBuilder &b, Op op) {
    Target target(b, op.getLoc(), tensorOf(op), op.getSizes(), op.getCombine(), op.getPlan());
    const Stream stream = streamOf(op);
    lower(target, stream, op);
    return target.storage.fields;
  });
  return mlir::success();
}

} // namespace tulle::assemble
