// The initialization of a result by a loop of its own.
#pragma once
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <optional>

namespace tulle::passes {

/// `for i in 0..size: buffer[offset + i] = value`; offset is null where there is none.
struct InitLoop {
  mlir::scf::ForOp loop;
  mlir::Value offset, size;
  mlir::TypedAttr value;
};

/// Matches a loop that initializes the buffer, and does nothing else.
std::optional<InitLoop> asInitLoop(mlir::Operation *op, mlir::Value buffer);

/// The loop before `op`, in its block, that initializes the buffer, where nothing between the two accesses
/// it.
std::optional<InitLoop> findInitLoop(mlir::Operation *op, mlir::Value buffer);

/// What is added to the loop's index in `index`: null where nothing; fails for another form.
std::optional<mlir::Value> offsetFrom(mlir::Value index, mlir::scf::ForOp loop);

} // namespace tulle::passes
