// The operation by which the iterations of a loop change a loop-carried value.
#pragma once
#include "passes/parallel/SetLoops.h"

namespace tulle::parallel {

/// The operation that makes `result` from `start` and other values, where it may be reassociated and
/// commuted; null where there is none. `start` may be an init of `result`'s loop, or a load that it
/// goes back to, and is used for nothing else.
Operation *combinerOf(Value result, Value start);

/// The identity of the operation; nothing for types it is not known for.
std::optional<mlir::TypedAttr> identity(Operation *combiner);
Value constant(mlir::OpBuilder &b, mlir::Location loc, mlir::TypedAttr value);

/// Applies the operation to x and y.
Value combine(mlir::OpBuilder &b, mlir::Location loc, Operation *combiner, Value x, Value y);

} // namespace tulle::parallel
