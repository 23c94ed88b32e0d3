// In-place analysis: whether every tensor value is in its storage wherever something reads or replaces it.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace tulle::lower {

/// Tensors of stage 2 are values; at run time each is the content of a buffer that stores overwrite. A
/// conflict is a use of a tensor whose values another operation may have replaced by then.
struct Conflict {
  enum Kind : uint8_t {
    Read,  ///< the old values are read: a copy of them serves as well
    Write, ///< values are replaced: the result may have a buffer of its own
    Keep,  ///< what a region or a function ends with must be in the buffer it began with
  };
  Kind kind;
  mlir::OpOperand *use;
  mlir::Value version; ///< the value that was in the buffer before; null if the use is of a buffer itself
  mlir::OpOperand *overwrite; ///< what replaced it; null if several may have
};

/// The first conflict in the order of execution; none if every store may be done in place.
std::optional<Conflict> findConflict(mlir::func::FuncOp func);

/// Reports a conflict that nothing mends.
mlir::LogicalResult emitConflict(const Conflict &conflict);

/// The values that a tensor lives on in, changed or not, where it is used so: results, and arguments of the
/// regions of loops.
void continuations(mlir::OpOperand &use, llvm::SmallVectorImpl<mlir::Value> &results);

} // namespace tulle::lower
