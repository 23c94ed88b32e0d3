// The dialect itself, its attributes that have a text of their own, and its types.
#include "dialect/Dialect.h"
#include "format/Checks.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Support/DebugStringHelper.h"
#include "support/Diagnostic.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tulle;
using namespace tulle::dialect;

#include "dialect/TulleDialect.cpp.inc"
#include "dialect/TulleEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/TulleAttributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/TulleTypes.cpp.inc"

llvm::hash_code tulle::format::hash_value(const Encoding &encoding) {
  return llvm::hash_value(print(encoding));
}

llvm::hash_code tulle::iteration::hash_value(const Cpu &cpu) { return llvm::hash_value(printCpu(cpu)); }

std::vector<std::string> dialect::strategyNames() {
  std::vector<std::string> names;
  for (uint32_t i = 0; i <= getMaxEnumValForStrategy(); ++i)
    names.push_back(stringifyStrategy(Strategy(i)).str());
  return names;
}

namespace {
/// Names encodings after their preset, so that IR reads `tensor<?x?xf64, #CSR>`.
struct EncodingAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &os) const final {
    auto encoding = dyn_cast<EncodingAttr>(attr);
    if (!encoding)
      return AliasResult::NoAlias;
    std::string preset = format::displayName(encoding.getValue()), name;
    for (char c : StringRef(preset))
      if (llvm::isAlnum(c) || c == '_')
        name += c;
      else if (!name.empty() && name.back() != '_')
        name += '_';
    while (StringRef(name).ends_with("_"))
      name.pop_back();
    // A map's text is no name.
    os << (preset.find("->") != std::string::npos || name.empty() || !llvm::isAlpha(name[0]) ? "encoding"
                                                                                             : name);
    return AliasResult::OverridableAlias;
  }
};
} // namespace

void TulleDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/TulleAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/TulleTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/TulleOps.cpp.inc"
      >();
  addInterfaces<EncodingAliases>();
}

/// What `parse` makes of the text between the brackets of `spec`, which follows the mnemonic.
template <typename Attr, typename Parse>
static Attribute parseText(DialectAsmParser &parser, StringRef spec, StringRef inside, Parse parse) {
  StringRef text = spec.drop_front(Attr::getMnemonic().size());
  if (!text.consume_front("<") || !text.consume_back(">")) {
    parser.emitError(parser.getNameLoc())
        << "expected '<" << inside << ">' after '#tulle." << Attr::getMnemonic() << "'";
    return {};
  }
  try {
    return Attr::get(parser.getContext(), parse(std::string_view(text.data(), text.size())));
  } catch (const support::SyntaxError &error) {
    size_t offset = std::min(error.range.begin, text.size());
    parser.emitError(SMLoc::getFromPointer(text.data() + offset)) << error.message;
    return {};
  } catch (const Error &error) {
    parser.emitError(parser.getNameLoc()) << error.what();
    return {};
  }
}

/// The encoding language has its own tokens (`mod`, `#i`, comments, properties), as names of processors have
/// (`x86-64-v3`), so these texts go to their own parsers instead of through MLIR's lexer, which only finds
/// the closing bracket.
Attribute TulleDialect::parseAttribute(DialectAsmParser &parser, Type type) const {
  StringRef spec = parser.getFullSymbolSpec();
  StringRef name = spec.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (name == EncodingAttr::getMnemonic())
    return parseText<EncodingAttr>(parser, spec, "{ map = … }",
                                   [](std::string_view text) { return format::parseEncoding(text); });
  if (name == CpuAttr::getMnemonic())
    return parseText<CpuAttr>(parser, spec, "znver5", iteration::parseCpu);
  StringRef mnemonic;
  Attribute attr;
  SMLoc loc = parser.getCurrentLocation();
  if (!generatedAttributeParser(parser, &mnemonic, type, attr).has_value())
    parser.emitError(loc) << "unknown attribute '" << mnemonic << "' in dialect 'tulle'";
  return attr;
}

void TulleDialect::printAttribute(Attribute attr, DialectAsmPrinter &printer) const {
  (void)generatedAttributePrinter(attr, printer);
}

/// Reached only where an encoding stands without its name, which never happens in printed IR.
Attribute EncodingAttr::parse(AsmParser &parser, Type) {
  parser.emitError(parser.getCurrentLocation(), "expected '#tulle.encoding<{ map = … }>'");
  return {};
}

void EncodingAttr::print(AsmPrinter &printer) const {
  printer << "<{ " << format::printBody(getValue()) << " }>";
}

/// As that of an encoding.
Attribute CpuAttr::parse(AsmParser &parser, Type) {
  parser.emitError(parser.getCurrentLocation(), "expected '#tulle.cpu<znver5>'");
  return {};
}

void CpuAttr::print(AsmPrinter &printer) const { printer << "<" << iteration::printCpu(getValue()) << ">"; }

LogicalResult EncodingAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                           function_ref<InFlightDiagnostic()> emitError) const {
  const format::Encoding &encoding = getValue();
  if (shape.size() != encoding.order())
    return emitError() << "the encoding is for tensors with " << encoding.order()
                       << " dimensions, got one with " << shape.size();
  if (format::hasSlices(encoding) || !format::whyNotExecutable(encoding).empty())
    return success();
  if (ShapedType::isDynamicShape(shape)) {
    const std::optional<format::Violation> found =
        format::notInvertible(encoding, {shape.begin(), shape.end()});
    return found ? LogicalResult(emitError() << found->message) : success();
  }
  std::string why = format::whyNotSizes(encoding, {shape.begin(), shape.end()});
  return why.empty() ? success() : LogicalResult(emitError() << why);
}

IteratorType SpaceType::getIterator() const {
  return IteratorType::get(getContext(), getEncoding(), getLevel());
}

EncodingAttr dialect::getEncoding(RankedTensorType type) {
  if (auto encoding = dyn_cast_or_null<EncodingAttr>(type.getEncoding()))
    return encoding;
  return EncodingAttr::get(type.getContext(), format::denseEncoding(unsigned(type.getRank())));
}

RankedTensorType dialect::withEncoding(RankedTensorType type, const format::Encoding &encoding) {
  Attribute attr;
  if (!(encoding == format::denseEncoding(unsigned(type.getRank()))))
    attr = EncodingAttr::get(type.getContext(), encoding);
  return RankedTensorType::get(type.getShape(), type.getElementType(), attr);
}

RankedTensorType dialect::selectionOf(RankedTensorType integers) {
  SmallVector<int64_t> shape(integers.getShape());
  shape.push_back(ShapedType::kDynamic);
  return withEncoding(
      RankedTensorType::get(shape, integers.getElementType()),
      format::selectionEncoding(unsigned(integers.getRank()), integers.getElementTypeBitWidth()));
}

std::optional<ElementType> dialect::elementType(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex.getElementType().isF32()   ? std::optional(ElementType::C64)
           : complex.getElementType().isF64() ? std::optional(ElementType::C128)
                                              : std::nullopt;
  std::string text = debugString(type);
  return text == "i1" ? ElementType::Bool : parseElementType(text);
}

std::string dialect::whyNotExecutable(const format::Encoding &encoding, Type element) {
  std::optional<ElementType> type = elementType(element);
  return type ? format::whyNotExecutable(encoding, *type) : format::whyNotExecutable(encoding);
}
