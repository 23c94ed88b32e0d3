#include "passes/import_sparse_tensor/Encodings.h"
#include "support/Diagnostic.h"

using namespace mlir;
using tulle::dialect::EncodingAttr;

std::optional<tulle::format::Encoding>
tulle::passes::readEncoding(sparse_tensor::SparseTensorEncodingAttr upstream,
                            function_ref<InFlightDiagnostic()> emitError) {
  std::string text;
  llvm::raw_string_ostream(text) << upstream;
  try {
    return format::parseEncoding(text);
  } catch (const support::SyntaxError &error) {
    emitError() << "cannot import " << text << ": " << error.message;
    return std::nullopt;
  }
}

EncodingAttr tulle::passes::translateEncoding(sparse_tensor::SparseTensorEncodingAttr upstream,
                                              function_ref<InFlightDiagnostic()> emitError) {
  const std::optional<format::Encoding> encoding = readEncoding(upstream, emitError);
  return encoding ? EncodingAttr::get(upstream.getContext(), *encoding) : EncodingAttr();
}
