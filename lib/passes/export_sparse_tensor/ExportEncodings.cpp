#include "passes/export_sparse_tensor/ExportEncodings.h"
#include "dialect/Scalars.h"
#include "format/LevelKinds.h"
#include "mlir/AsmParser/AsmParser.h"
#include <map>

namespace tulle::passes {
using namespace mlir;

namespace {

/// Empty where upstream has the level's format, else one sentence.
std::string whyNot(const format::LevelFormat &level) {
  using format::LevelKind;
  const bool known =
      format::isOneOf(level.kind, {LevelKind::Dense, LevelKind::Batch, LevelKind::Compressed,
                                   LevelKind::LooseCompressed, LevelKind::Singleton, LevelKind::Structured});
  const bool reserves = level.kind != LevelKind::Structured && level.n != 0;
  if (known && !level.padded && !reserves)
    return {};
  return "it has no level format '" + format::print(level) + "'";
}

/// Upstream finds the way back from levels to dimensions for permutations and for one block of a dimension.
std::string whyNotMap(const format::Encoding &encoding) {
  const std::string map = "it cannot invert the map " + format::printRemapping(encoding);
  const std::optional<std::vector<format::Digit>> digits = format::digits(encoding);
  if (!digits || !encoding.symbols.empty())
    return map;
  std::map<unsigned, std::vector<format::Digit>> ofDimension;
  for (const format::Digit &digit : *digits)
    ofDimension[digit.dim].push_back(digit);
  for (const auto &[dim, parts] : ofDimension) {
    const bool whole = parts.size() == 1 && parts[0].stride == 1 && parts[0].modulus == 0;
    const bool block = parts.size() == 2 && parts[0].modulus == 0 && parts[1].stride == 1 &&
                       parts[0].stride == parts[1].modulus;
    if (!whole && !block)
      return map;
  }
  return {};
}

std::string whyNot(const format::Encoding &encoding, Type element) {
  for (const format::Level &level : encoding.levels)
    if (std::string why = whyNot(level.format); !why.empty())
      return why;
  if (std::string why = whyNotMap(encoding); !why.empty())
    return why;
  for (unsigned width : {encoding.posWidth, encoding.crdWidth})
    if (width != 0 && (width < 8 || !llvm::isPowerOf2_32(width)))
      return "it has no positions and coordinates of " + std::to_string(width) + " bits";
  if (dialect::fillAttr(encoding, element) != dialect::zeroAttr(element))
    return "what its tensors do not store is 0";
  return {};
}

/// In upstream's words: it has typed values, and no fill that is not 0.
std::string textOf(const format::Encoding &encoding, Type element) {
  format::Encoding plain = encoding;
  plain.fill = plain.implicitVal = plain.explicitVal = std::nullopt;
  std::string text = format::printBody(plain);
  for (size_t at = text.find("#tulle<slice"); at != std::string::npos; at = text.find("#tulle<slice"))
    text.replace(at, 6, "#sparse_tensor");
  llvm::raw_string_ostream out(text);
  if (Attribute value = dialect::explicitAttr(encoding, element))
    out << ", explicitVal = " << value;
  if (encoding.implicitVal)
    out << ", implicitVal = " << dialect::zeroAttr(element);
  return "#sparse_tensor.encoding<{ " + text + " }>";
}

} // namespace

RankedTensorType exportType(RankedTensorType type, function_ref<InFlightDiagnostic()> emitError) {
  const format::Encoding &encoding = dialect::getEncoding(type).getValue();
  std::string why = whyNot(encoding, type.getElementType());
  sparse_tensor::SparseTensorEncodingAttr upstream;
  if (why.empty()) {
    ScopedDiagnosticHandler handler(type.getContext(), [&](Diagnostic &diagnostic) {
      why = diagnostic.str();
      return success();
    });
    upstream = dyn_cast_or_null<sparse_tensor::SparseTensorEncodingAttr>(
        parseAttribute(textOf(encoding, type.getElementType()), type.getContext()));
  }
  if (!upstream) {
    emitError() << "expected a format that the sparse_tensor dialect has: " << why << "; " << type;
    return {};
  }
  return RankedTensorType::get(type.getShape(), type.getElementType(), upstream);
}

} // namespace tulle::passes
