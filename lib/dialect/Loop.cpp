// #tulle.loop: its text and verifier, and the names that it gives to values.
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"

using namespace mlir;
using namespace tulle::dialect;

std::string LoopAttr::valueName() const {
  std::string name;
  for (char c : getIndex() ? getIndex().getValue() : StringRef())
    if (c == '/')
      name += "_div";
    else if (c == '%')
      name += "_mod";
    else
      name += c;
  return name;
}

LogicalResult LoopAttr::verify(function_ref<InFlightDiagnostic()> emitError, LoopKind, StringAttr index,
                               bool) {
  if (index && index.getValue().empty())
    return emitError() << "expected the name of an index, got \"\"";
  return success();
}

Attribute LoopAttr::parse(AsmParser &parser, Type) {
  StringRef word;
  SMLoc loc;
  auto parseWord = [&]() -> ParseResult {
    return failure(parser.getCurrentLocation(&loc) || parser.parseKeyword(&word));
  };
  auto refuse = [&](const Twine &expected) {
    parser.emitError(loc) << expected << ", got '" << word << "'";
    return Attribute();
  };
  if (parser.parseLess() || parseWord())
    return {};
  std::optional<LoopKind> kind = symbolizeLoopKind(word);
  if (!kind)
    return refuse("expected 'parallel' or 'reduction'");
  StringAttr index;
  bool cacheResident = false;
  while (succeeded(parser.parseOptionalComma())) {
    if (parseWord())
      return {};
    const bool isIndex = word == "index";
    if (!isIndex && word != "cache_resident")
      return refuse("expected 'index' or 'cache_resident'");
    if (isIndex ? bool(index) : std::exchange(cacheResident, true)) {
      parser.emitError(loc) << "'" << word << "' is given twice";
      return {};
    }
    std::string name;
    if (isIndex && (parser.parseEqual() || parser.parseKeywordOrString(&name)))
      return {};
    if (isIndex)
      index = parser.getBuilder().getStringAttr(name);
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<LoopAttr>(parser.getContext(), *kind, index, cacheResident);
}

void LoopAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyLoopKind(getKind());
  if (getIndex()) {
    printer << ", index = ";
    printer.printKeywordOrString(getIndex());
  }
  if (getCacheResident())
    printer << ", cache_resident";
  printer << '>';
}

LoopAttr tulle::dialect::loopOf(Operation *loop) {
  auto attr = loop->getAttrOfType<LoopAttr>(kLoopAttr);
  return attr ? attr : LoopAttr::get(loop->getContext(), LoopKind::Reduction);
}
