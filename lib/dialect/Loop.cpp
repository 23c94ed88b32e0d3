// #tulle.loop: its text, and what passes ask of it.
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"

using namespace mlir;
using namespace tulle::dialect;

LoopAttr LoopAttr::withKind(LoopKind kind) const {
  return get(getContext(), kind, getIndex(), getCacheResident());
}
LoopAttr LoopAttr::withCacheResident() const { return get(getContext(), getKind(), getIndex(), true); }

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
  std::optional<LoopKind> kind;
  std::string index;
  bool cacheResident = false;
  auto one = [&]() -> ParseResult {
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    if (!kind) {
      kind = symbolizeLoopKind(word);
      return kind ? success()
                  : ParseResult(parser.emitError(loc)
                                << "expected 'parallel' or 'reduction', got '" << word << "'");
    }
    auto once = [&](bool given) {
      return given ? parser.emitError(loc) << "'" << word << "' is given twice" : ParseResult(success());
    };
    if (word == "index")
      return failure(once(!index.empty()) || parser.parseEqual() || parser.parseKeywordOrString(&index));
    if (word == "cache_resident")
      return once(std::exchange(cacheResident, true));
    return parser.emitError(loc) << "expected 'index' or 'cache_resident', got '" << word << "'";
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, one))
    return {};
  if (!kind) {
    parser.emitError(loc) << "expected 'parallel' or 'reduction'";
    return {};
  }
  MLIRContext *context = parser.getContext();
  return get(context, *kind, index.empty() ? StringAttr() : StringAttr::get(context, index), cacheResident);
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
