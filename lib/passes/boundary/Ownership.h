// Who frees the tensors that passes here make.
#pragma once
#include "mlir/IR/Value.h"

namespace tulle::boundary {

/// Frees a tensor at the end of the block that makes it, where only ops of the block (and in it) read the
/// tensor, or memory of it, none of them can give it to others, and none frees it.
void freeInBlock(mlir::Value tensor);

} // namespace tulle::boundary
