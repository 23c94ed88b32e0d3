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

StringRef LoopAttr::lastStatement() const {
  return getOf() ? cast<StringAttr>(getOf().getValue().back()).getValue() : StringRef();
}

/// What the index of a loop over blocks has behind that of the loop over their coordinates.
static constexpr StringLiteral blockSuffix = "_block";

StringAttr LoopAttr::blockIndex() const {
  if (!getIndex())
    return {};
  // Of a digit, `l/64`, the index has it: `l_block/64`.
  const StringRef loop = getIndex().getValue(),
                  index = loop.take_until([](char c) { return c == '/' || c == '%'; });
  return StringAttr::get(getContext(), index + blockSuffix + loop.drop_front(index.size()));
}

LoopAttr LoopAttr::ofBlocks(DirectivesAttr directives) const {
  return get(getContext(), getKind(), blockIndex(), getOf(), directives, false, true, false);
}

StringRef LoopAttr::visitedIndex() const {
  StringRef index = getIndex() ? getIndex().getValue() : StringRef();
  if (getBlocks())
    index.consume_back(blockSuffix);
  return index;
}

LogicalResult LoopAttr::verify(function_ref<InFlightDiagnostic()> emitError, LoopKind, StringAttr index,
                               ArrayAttr of, DirectivesAttr, bool, bool blocks, bool) {
  if (index && index.getValue().empty())
    return emitError() << "expected the name of an index, got \"\"";
  if (blocks && index && (!index.getValue().ends_with(blockSuffix) || index.size() == blockSuffix.size()))
    return emitError() << "expected an index of blocks, as i_block, got " << index;
  if (of && (of.empty() || !llvm::all_of(of, llvm::IsaPred<StringAttr>)))
    return emitError() << "expected the names of statements, got " << of;
  return success();
}

namespace {

/// The parameters behind the kind, in any order, each once.
class LoopParser {
public:
  explicit LoopParser(AsmParser &parser) : parser(parser) {}

  Attribute parse() {
    if (parser.parseLess() || parseWord())
      return {};
    std::optional<LoopKind> kind = symbolizeLoopKind(word);
    if (!kind)
      return refuse("expected 'parallel' or 'reduction'");
    while (succeeded(parser.parseOptionalComma()))
      if (parseParameter())
        return {};
    if (parser.parseGreater())
      return {};
    return parser.getChecked<LoopAttr>(parser.getContext(), *kind, index, of, directives, cacheResident,
                                       blocks, rare);
  }

private:
  AsmParser &parser;
  StringRef word;
  SMLoc loc;
  StringAttr index;
  ArrayAttr of;
  DirectivesAttr directives;
  bool cacheResident = false, blocks = false, rare = false;

  ParseResult parseWord() { return failure(parser.getCurrentLocation(&loc) || parser.parseKeyword(&word)); }

  Attribute refuse(const Twine &expected) {
    parser.emitError(loc) << expected << ", got '" << word << "'";
    return {};
  }

  ParseResult parseParameter() {
    if (parseWord())
      return failure();
    if (word == "index"        ? bool(index)
        : word == "of"         ? bool(of)
        : word == "directives" ? bool(directives)
        : word == "blocks"     ? blocks
        : word == "rare"       ? rare
                               : word == "cache_resident" && cacheResident)
      return parser.emitError(loc) << "'" << word << "' is given twice";
    if (word == "cache_resident") {
      cacheResident = true;
      return success();
    }
    if (word == "blocks" || word == "rare") {
      (word == "rare" ? rare : blocks) = true;
      return success();
    }
    if (word == "of")
      return failure(parser.parseEqual() || parser.parseAttribute(of));
    if (word == "directives")
      return failure(parser.parseEqual() || parser.parseCustomAttributeWithFallback(directives));
    if (word != "index")
      return refuse("expected 'index', 'of', 'directives', 'blocks', 'rare' or 'cache_resident'"), failure();
    std::string name;
    if (parser.parseEqual() || parser.parseKeywordOrString(&name))
      return failure();
    index = parser.getBuilder().getStringAttr(name);
    return success();
  }
};

} // namespace

Attribute LoopAttr::parse(AsmParser &parser, Type) { return LoopParser(parser).parse(); }

void LoopAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyLoopKind(getKind());
  if (getIndex()) {
    printer << ", index = ";
    printer.printKeywordOrString(getIndex());
  }
  if (getOf())
    printer << ", of = " << getOf();
  if (getDirectives()) {
    printer << ", directives = ";
    printer.printStrippedAttrOrType(getDirectives());
  }
  if (getBlocks())
    printer << ", blocks";
  if (getRare())
    printer << ", rare";
  if (getCacheResident())
    printer << ", cache_resident";
  printer << '>';
}

LoopAttr tulle::dialect::loopOf(Operation *loop) {
  auto attr = loop->getAttrOfType<LoopAttr>(kLoopAttr);
  return attr ? attr : LoopAttr::get(loop->getContext(), LoopKind::Reduction);
}

LoopAttr tulle::dialect::loopOverSets(Operation *op) {
  if (auto iterate = dyn_cast<IterateOp>(op))
    return iterate.getLoop();
  auto coiterate = dyn_cast<CoiterateOp>(op);
  return coiterate ? coiterate.getLoop() : LoopAttr();
}

void tulle::dialect::setLoopOverSets(Operation *op, LoopAttr loop) {
  if (auto iterate = dyn_cast<IterateOp>(op))
    return iterate.setLoopAttr(loop);
  cast<CoiterateOp>(op).setLoopAttr(loop);
}
