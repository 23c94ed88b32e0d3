// What the passes have in common that lower one op each.
#pragma once
#include "levels/Control.h"
#include "levels/Storage.h"

namespace tulle::assemble {

/// Arithmetic on indices outside of any tensor.
class IndexEmitter : public levels::Emitter {
public:
  IndexEmitter(mlir::OpBuilder &b, mlir::Location loc) : Emitter(b, loc, none) {}

private:
  levels::Storage none;
};

/// Replaces each such op by the values that `lower(b, op)` emits in its place.
template <typename Op, typename Lower> void lowerEach(mlir::Operation *root, Lower lower) {
  llvm::SmallVector<Op> ops;
  root->walk([&](Op op) { ops.push_back(op); });
  for (Op op : ops) {
    mlir::OpBuilder b(op);
    levels::Values values = lower(b, op);
    op->replaceAllUsesWith(values);
    op->erase();
  }
}

} // namespace tulle::assemble
