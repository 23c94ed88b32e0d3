// Upstream's encodings as ours.
#pragma once
#include "dialect/Dialect.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"

namespace tulle::passes {

/// Upstream's text, read by our parser: both spellings are one language. Nothing, with an error, where it
/// says what ours does not.
std::optional<format::Encoding> readEncoding(mlir::sparse_tensor::SparseTensorEncodingAttr upstream,
                                             llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
/// The same as an attribute; null for nothing.
dialect::EncodingAttr translateEncoding(mlir::sparse_tensor::SparseTensorEncodingAttr upstream,
                                        llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace tulle::passes
