// Trip counts of loops, as far as their bounds tell.
#pragma once
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <optional>

namespace tulle::passes {

/// The constant of `min(x, constant)`, the upper bound of loops over the part of a tile inside a dimension.
std::optional<int64_t> minWithConstant(mlir::Value bound);

/// An upper bound of the trip count: of constant bounds, `x to x + constant`, or `0 to min(x, constant)`.
std::optional<int64_t> maxTripCount(mlir::scf::ForOp loop);

/// The trip count of a loop with constant bounds.
std::optional<int64_t> exactTripCount(mlir::scf::ForOp loop);

} // namespace tulle::passes
