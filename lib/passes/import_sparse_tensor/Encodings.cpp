#include "passes/import_sparse_tensor/Encodings.h"
#include "support/Diagnostic.h"

using namespace mlir;
using tulle::dialect::EncodingAttr;

EncodingAttr tulle::passes::translateEncoding(sparse_tensor::SparseTensorEncodingAttr upstream,
                                              function_ref<InFlightDiagnostic()> emitError) {
  std::string text;
  llvm::raw_string_ostream(text) << upstream;
  try {
    return EncodingAttr::get(upstream.getContext(), format::parseEncoding(text));
  } catch (const support::SyntaxError &error) {
    emitError() << "cannot import " << text << ": " << error.message;
    return {};
  }
}
