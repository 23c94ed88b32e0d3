// Upstream's encodings as ours.
#pragma once
#include "dialect/Dialect.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"

namespace tulle::passes {

/// Both spellings are one language: upstream's text is read by our parser. Null, with an error, where it says
/// something that no tensor of ours has.
dialect::EncodingAttr translateEncoding(mlir::sparse_tensor::SparseTensorEncodingAttr upstream,
                                        llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace tulle::passes
