// Reshapes of the tensor dialect as tulle.reshape: a change of the map.
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace tulle::passes {

/// `tensor.collapse_shape`, `tensor.expand_shape`.
bool isReshape(mlir::Operation *op);

/// Replaces a reshape: what linalg reads of it is a view of the source where the levels allow one, else of a
/// conversion to levels that do; what else uses it is a copy in the type that the op says. Fails, with an
/// error, for groups of dimensions of which more than the first have no static size, or one has size 1.
mlir::LogicalResult importReshape(mlir::IRRewriter &rewriter, mlir::Operation *op);

} // namespace tulle::passes
