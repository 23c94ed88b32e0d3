// Our encodings as upstream's.
#pragma once
#include "dialect/Dialect.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"

namespace tulle::passes {

/// The type with upstream's encoding in the place of ours, read from the same text by upstream's parser.
/// Null, with an error, where that does not have the format.
mlir::RankedTensorType exportType(mlir::RankedTensorType type,
                                  llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace tulle::passes
