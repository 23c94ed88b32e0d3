// Which operation a loop reduces its values with: what fusion asks before it mixes a reduction into a
// parallel loop, and parallelization before it gives each task a partial result.
#pragma once
#include "dialect/Dialect.h"
#include <optional>

namespace tulle::program {

using mlir::Operation;
using mlir::Value;

/// The operation that makes `result` from `start` and other values, where it may be reassociated and
/// commuted; null where there is none. `start` may be an init of `result`'s loop, or a load that it goes back
/// to, and is used for nothing else.
Operation *combinerOf(Value result, Value start);
/// The identity of the operation; null for types it is not known for.
mlir::Attribute identity(Operation *combiner);

/// What a loop combines its values with, for each result; null for tensors.
struct Combiners {
  llvm::SmallVector<Operation *> operations;
  llvm::SmallVector<mlir::Attribute> identities;
};
std::optional<Combiners> combinersOf(Operation *loop);

} // namespace tulle::program
