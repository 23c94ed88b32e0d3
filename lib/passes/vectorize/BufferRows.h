// Rows of buffers of several dimensions.
#pragma once
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tulle::passes {

/// Makes the rows that a loop accesses of buffers of several dimensions buffers of one, before the loop: where
/// all subscripts but the last are the same in all iterations. A buffer that the loop stores to keeps its form
/// where it has other accesses, which may be to the same elements.
void useRowsOfBuffers(mlir::scf::ForOp loop);

} // namespace tulle::passes
