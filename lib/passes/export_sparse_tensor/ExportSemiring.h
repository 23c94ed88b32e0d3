// Selects on what operands store, in the body of a linalg.generic, as upstream's unary, binary, select and
// reduce.
#pragma once
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace tulle::passes {

/// Undoes what importSemiring does; a body without `tulle.stored` stays. Fails, with an error, for a select
/// that no op of upstream's says.
mlir::LogicalResult exportSemiring(mlir::linalg::GenericOp generic);

} // namespace tulle::passes
