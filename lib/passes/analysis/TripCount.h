// How often a loop can run, where its bounds say so.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <optional>

namespace tulle::passes {

/// The constant of `min(x, constant)`: what loops over the part of a block inside the dimensions are bounded
/// by.
std::optional<int64_t> blockBound(mlir::Value bound);

/// An upper bound of the number of iterations: constant bounds, `x to x + constant`, or `0 to min(x,
/// constant)`.
std::optional<int64_t> mostIterations(mlir::scf::ForOp loop);

/// The number of iterations where both bounds are constants.
std::optional<int64_t> constantIterations(mlir::scf::ForOp loop);

} // namespace tulle::passes
