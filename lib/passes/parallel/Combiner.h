// The operation by which the rounds of a loop change what they hand on.
#pragma once
#include "passes/parallel/SetLoops.h"

namespace tulle::parallel {

/// The operation that makes `result` from `start` and other values, where it may be applied to them in any
/// order and grouping; null where there is none. `start` may be an init of `result`'s loop, or a load that it
/// goes back to, and is used for nothing else.
Operation *combinerOf(Value result, Value start);

/// The value that the operation leaves others as they are with; nothing for types it is not known for.
std::optional<mlir::TypedAttr> identity(Operation *combiner);
Value constant(mlir::OpBuilder &b, mlir::Location loc, mlir::TypedAttr value);

/// The operation once more.
Value combine(mlir::OpBuilder &b, mlir::Location loc, Operation *combiner, Value x, Value y);

} // namespace tulle::parallel
