// tensor.gather as a product with what its integers select.
#pragma once
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tulle::passes {

/// Replaces a gather by linalg.generic over tulle.one_hot, and returns the tensor.empty that its result
/// starts from. Integers are checked before the loops. Integers of type index, which have to be an argument
/// of the function, become i64. Fails, with an error, where the result keeps dimensions of size 1.
mlir::FailureOr<mlir::Operation *> importGather(mlir::IRRewriter &rewriter, mlir::tensor::GatherOp op);

} // namespace tulle::passes
