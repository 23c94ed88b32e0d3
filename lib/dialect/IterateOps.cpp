// Parsers, printers and verifiers of the ops of stage 2.
#include "dialect/Dialect.h"
#include "dialect/Inits.h"
#include "iteration/Plan.h"
#include "mlir/IR/OpImplementation.h"
#include <bit>

using namespace mlir;
using namespace tulle;
using namespace tulle::dialect;
using iteration::CoordinateSet;
using iteration::Minterm;

#define GET_OP_CLASSES
#include "dialect/TulleOps.cpp.inc"

namespace {

/// Constraints that every op which names a level of a tensor shares.
LogicalResult verifyLevel(Operation *op, RankedTensorType tensor, uint64_t level, IteratorType parent,
                          bool takesParent) {
  EncodingAttr encoding = getEncoding(tensor);
  size_t levels = encoding.getValue().levels.size();
  if (level >= levels)
    return op->emitOpError("expected a level below ")
           << levels << ", got " << int64_t(level) << " (constraint 2)";
  if (!takesParent)
    return success();
  if (level == 0 && parent)
    return op->emitOpError("level 0 has no parent (constraint 1)");
  if (level > 0 && !parent)
    return op->emitOpError("level ") << level << " needs the iterator of level " << level - 1
                                     << " (constraint 1)";
  if (parent && (parent.getEncoding() != encoding || parent.getLevel() != level - 1))
    return op->emitOpError("expected a parent of type ")
           << IteratorType::get(op->getContext(), encoding, unsigned(level - 1)) << ", got " << parent
           << " (constraint 1)";
  return success();
}

IteratorType parentType(Value parent) {
  return parent ? cast<IteratorType>(parent.getType()) : IteratorType();
}

template <typename T>
LogicalResult verifyResultType(Operation *op, RankedTensorType tensor, uint64_t level, T result) {
  T expected = T::get(op->getContext(), getEncoding(tensor), unsigned(level));
  if (result != expected)
    return op->emitOpError("expected a result of type ") << expected << ", got " << result;
  return success();
}

const format::LevelFormat &levelFormat(EncodingAttr encoding, unsigned level) {
  return encoding.getValue().levels[level].format;
}

LogicalResult verifyLeaf(Operation *op, RankedTensorType tensor, Value iterator) {
  EncodingAttr encoding = getEncoding(tensor);
  size_t levels = encoding.getValue().levels.size();
  if (levels == 0)
    return iterator ? op->emitOpError("a tensor of order 0 takes no iterator (constraint 1)") : success();
  auto expected = IteratorType::get(op->getContext(), encoding, unsigned(levels - 1));
  if (!iterator)
    return op->emitOpError("expected an iterator of type ") << expected << " (constraint 1)";
  if (iterator.getType() != expected)
    return op->emitOpError("expected an iterator of type ")
           << expected << ", got " << iterator.getType() << " (constraint 1)";
  return success();
}

/// `strategy = merge`
ParseResult parseStrategy(OpAsmParser &parser, OperationState &result) {
  if (failed(parser.parseOptionalKeyword("strategy")))
    return success();
  StringRef word;
  SMLoc loc;
  if (parser.parseEqual() || parser.getCurrentLocation(&loc) || parser.parseKeyword(&word))
    return failure();
  std::optional<Strategy> strategy = symbolizeStrategy(word);
  if (!strategy)
    return parser.emitError(loc) << "unknown strategy '" << word << "'";
  result.addAttribute("strategy", StrategyAttr::get(parser.getContext(), *strategy));
  return success();
}

/// `loop = <…>`
ParseResult parseLoop(OpAsmParser &parser, OperationState &result) {
  Attribute loop = LoopAttr::get(parser.getContext(), LoopKind::Parallel);
  if (succeeded(parser.parseOptionalKeyword("loop")) &&
      (parser.parseEqual() || !(loop = LoopAttr::parse(parser, Type()))))
    return failure();
  result.addAttribute("loop", loop);
  return success();
}

/// Constraints on inits, block arguments and yields that both loops share.
LogicalResult verifyRegion(Operation *op, Region &region, ArrayRef<Type> leading, ValueRange inits) {
  Block &block = region.front();
  SmallVector<Type> expected(leading);
  llvm::append_range(expected, inits.getTypes());
  if (!llvm::equal(block.getArgumentTypes(), expected))
    return op->emitOpError("expected block arguments of types (")
           << expected << "), got (" << block.getArgumentTypes() << ")";
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return op->emitOpError("expected every region to end in tulle.yield");
  if (yield.getValues().getTypes() != inits.getTypes())
    return yield.emitOpError("expected values of types (")
           << inits.getTypes() << "), got (" << yield.getValues().getTypes() << ")";
  return success();
}

std::string printMinterm(Minterm minterm) {
  if (minterm == 0)
    return "none";
  std::string text;
  for (unsigned k = 0; minterm >> k; ++k)
    if (minterm >> k & 1)
      text += (text.empty() ? "" : " & ") + iteration::operandName(k);
  return text;
}

/// `a & c`, or `none`.
std::optional<Minterm> parseMinterm(StringRef text, unsigned operands) {
  if (text == "none")
    return 0;
  Minterm minterm = 0;
  SmallVector<StringRef> names;
  text.split(names, '&');
  for (StringRef name : names) {
    name = name.trim();
    if (name.size() != 1 || name[0] < 'a' || unsigned(name[0] - 'a') >= operands)
      return std::nullopt;
    minterm |= Minterm(1) << (name[0] - 'a');
  }
  return minterm;
}

} // namespace

/// Iterators that loops are at exist wherever they can be named, but those of a merge by presence flags only
/// where their flags are set; of others nothing is known.
static Speculation::Speculatability whereExists(Value iterator) {
  auto argument = dyn_cast_or_null<BlockArgument>(iterator);
  auto merge = argument ? dyn_cast<CoiterateOp>(argument.getOwner()->getParentOp()) : CoiterateOp();
  const bool exists = !iterator || (argument && !(merge && merge.getFlags()));
  return exists ? Speculation::Speculatable : Speculation::NotSpeculatable;
}

Speculation::Speculatability SpaceOp::getSpeculatability() {
  return getCondition() ? Speculation::Speculatable : whereExists(getParent());
}
Speculation::Speculatability SearchOp::getSpeculatability() { return whereExists(getParent()); }
Speculation::Speculatability CoordinatesOp::getSpeculatability() { return whereExists(getIterator()); }
Speculation::Speculatability LoadOp::getSpeculatability() { return whereExists(getIterator()); }
Speculation::Speculatability StoreOp::getSpeculatability() { return whereExists(getIterator()); }

LogicalResult SpaceOp::verify() {
  RankedTensorType tensor = getTensor().getType();
  if (failed(verifyLevel(*this, tensor, getLevel(), parentType(getParent()), true)))
    return failure();
  return verifyResultType<SpaceType>(*this, tensor, getLevel(), getType());
}

LogicalResult LocateOp::verify() {
  RankedTensorType tensor = getTensor().getType();
  if (failed(verifyLevel(*this, tensor, getLevel(), parentType(getParent()), true)))
    return failure();
  const format::LevelFormat &level = levelFormat(getEncoding(tensor), unsigned(getLevel()));
  if (!isFull(level))
    return emitOpError("expected a level where every coordinate exists, got ")
           << format::print(level) << " (constraint 2); use tulle.search";
  return verifyResultType<IteratorType>(*this, tensor, getLevel(), getType());
}

LogicalResult SearchOp::verify() {
  RankedTensorType tensor = getTensor().getType();
  if (failed(verifyLevel(*this, tensor, getLevel(), parentType(getParent()), true)))
    return failure();
  const format::LevelFormat &level = levelFormat(getEncoding(tensor), unsigned(getLevel()));
  bool hashed = level.kind == format::LevelKind::Hashed;
  if (isFull(level) || !(level.ordered || hashed))
    return emitOpError("expected an ordered sparse level or a hashed one, got ")
           << format::print(level) << " (constraint 2)";
  return verifyResultType<IteratorType>(*this, tensor, getLevel(), cast<IteratorType>(getResult().getType()));
}

LogicalResult LevelSizeOp::verify() {
  return verifyLevel(*this, getTensor().getType(), getLevel(), {}, false);
}

LogicalResult SpaceSizeOp::verify() {
  SpaceType space = getSpace().getType();
  const format::LevelFormat &level = levelFormat(space.getEncoding(), space.getLevel());
  if (!level.unique)
    return emitOpError("expected a unique level, got ") << format::print(level) << " (constraint 1)";
  return success();
}

/// Whether positions say which parent and which coordinate they belong to.
static LogicalResult verifyTabled(Operation *op, SpaceType space, int constraint) {
  const format::LevelFormat &level = levelFormat(space.getEncoding(), space.getLevel());
  if (!iteration::hasTables(level))
    return op->emitOpError("expected a unique level, compressed or loose_compressed, got ")
           << format::print(level) << " (constraint " << constraint << ")";
  return success();
}

LogicalResult PositionTableOp::verify() { return verifyTabled(*this, getSpace().getType(), 1); }

LogicalResult LookupOp::verify() {
  SpaceType space = getSpace().getType();
  if (failed(verifyTabled(*this, space, 2)))
    return failure();
  auto expected = IteratorType::get(getContext(), space.getEncoding(), space.getLevel());
  if (getResult().getType() != expected)
    return emitOpError("expected an iterator of type ")
           << expected << ", got " << getResult().getType() << " (constraint 2)";
  return success();
}

LogicalResult CoordinatesOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  auto rank = cast<RankedTensorType>(adaptor.getTensor().getType()).getRank();
  types.assign(size_t(rank), IndexType::get(context));
  types.push_back(IntegerType::get(context, 1));
  return success();
}

LogicalResult CoordinatesOp::verify() {
  RankedTensorType tensor = getTensor().getType();
  if (int64_t(getCoordinates().size()) != tensor.getRank())
    return emitOpError("expected ") << tensor.getRank() << " coordinates, got " << getCoordinates().size()
                                    << " (constraint 2)";
  return verifyLeaf(*this, tensor, getIterator());
}

LogicalResult LoadOp::verify() {
  RankedTensorType tensor = getTensor().getType();
  if (getType() != tensor.getElementType())
    return emitOpError("expected a result of type ")
           << tensor.getElementType() << ", got " << getType() << " (constraint 2)";
  return verifyLeaf(*this, tensor, getIterator());
}

LogicalResult StoreOp::verify() {
  auto tensor = cast<RankedTensorType>(getTensor().getType());
  if (getValue().getType() != tensor.getElementType())
    return emitOpError("expected a value of type ")
           << tensor.getElementType() << ", got " << getValue().getType();
  return verifyLeaf(*this, tensor, getIterator());
}

ParseResult IterateOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument coordinate, iterator;
  OpAsmParser::UnresolvedOperand space;
  Type spaceType;
  SMLoc loc;
  bool named = false;
  if (parser.parseArgument(coordinate))
    return failure();
  if (succeeded(parser.parseOptionalComma())) {
    named = true;
    if (parser.parseArgument(iterator))
      return failure();
  }
  if (parser.parseKeyword("in") || parser.getCurrentLocation(&loc) || parser.parseOperand(space) ||
      parser.parseColonType(spaceType) || parser.resolveOperand(space, spaceType, result.operands))
    return failure();
  coordinate.type = parser.getBuilder().getIndexType();
  SmallVector<OpAsmParser::Argument> args{coordinate};
  if (named) {
    auto type = dyn_cast<SpaceType>(spaceType);
    if (!type)
      return parser.emitError(loc, "a range has no iterator (constraint 1)");
    iterator.type = IteratorType::get(parser.getContext(), type.getEncoding(), type.getLevel());
    args.push_back(iterator);
  }
  SmallVector<OpAsmParser::Argument> carried;
  if (parseInits(parser, carried, result) || parseLoop(parser, result))
    return failure();
  llvm::append_range(args, carried);
  return parseBody<IterateOp>(parser, args, result);
}

void IterateOp::print(OpAsmPrinter &p) {
  Block &block = getBody().front();
  unsigned leading = block.getNumArguments() - unsigned(getInits().size());
  p << ' ';
  llvm::interleaveComma(block.getArguments().take_front(leading), p);
  p << " in " << getSpace() << " : " << getSpace().getType();
  printInits(p, getInits(), block.getArguments());
  p << " loop = ";
  getLoop().print(p);
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getLoopAttrName()});
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/!getInits().empty());
}

SmallVector<Region *> IterateOp::getLoopRegions() { return {&getBody()}; }
Block::BlockArgListType IterateOp::getRegionIterArgs() {
  return getBody().getArguments().take_back(getInits().size());
}
std::optional<MutableArrayRef<OpOperand>> IterateOp::getYieldedValuesMutable() {
  return MutableArrayRef<OpOperand>(cast<YieldOp>(getBody().front().getTerminator()).getValuesMutable());
}
std::optional<ResultRange> IterateOp::getLoopResults() { return getResults(); }

LogicalResult IterateOp::verify() {
  SmallVector<Type> leading{IndexType::get(getContext())};
  if (auto space = dyn_cast<SpaceType>(getSpace().getType()))
    leading.push_back(IteratorType::get(getContext(), space.getEncoding(), space.getLevel()));
  if (getResultTypes() != getInits().getTypes())
    return emitOpError("expected results of the types of the inits (constraint 2)");
  return verifyRegion(*this, getBody(), leading, getInits());
}

static ParseResult iteratorTypeOf(OpAsmParser &parser, SMLoc loc, Type type,
                                  OpAsmParser::Argument &iterator) {
  auto space = dyn_cast<SpaceType>(type);
  if (!space)
    return parser.emitError(loc) << "expected a tulle.space, got " << type;
  iterator.type = IteratorType::get(parser.getContext(), space.getEncoding(), space.getLevel());
  return success();
}

static ParseResult parseCase(OpAsmParser &parser, ArrayRef<OpAsmParser::Argument> args,
                             OperationState &result) {
  Region *region = result.addRegion();
  if (parser.parseRegion(*region, args))
    return failure();
  if (!region->empty() && !region->front().empty() &&
      region->front().back().hasTrait<OpTrait::IsTerminator>())
    return success();
  if (region->empty())
    region->emplaceBlock();
  OpBuilder builder(parser.getContext());
  builder.setInsertionPointToEnd(&region->front());
  YieldOp::create(builder, result.location);
  return success();
}

/// `(%ia if %pa, …) { … }`
static ParseResult parseFlagged(OpAsmParser &parser, SMLoc loc, OpAsmParser::Argument coordinate,
                                ArrayRef<Type> spaces, ArrayRef<OpAsmParser::Argument> carried,
                                OperationState &result) {
  SmallVector<OpAsmParser::Argument> args{coordinate}, flags;
  SMLoc here = parser.getCurrentLocation();
  auto one = [&] {
    return failure(parser.parseArgument(args.emplace_back()) || parser.parseKeyword("if") ||
                   parser.parseArgument(flags.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, one))
    return failure();
  if (flags.size() != spaces.size())
    return parser.emitError(here) << "expected an iterator and a flag for each space";
  for (auto [type, iterator] : llvm::zip(spaces, MutableArrayRef(args).drop_front()))
    if (iteratorTypeOf(parser, loc, type, iterator))
      return failure();
  for (OpAsmParser::Argument &flag : flags)
    flag.type = parser.getBuilder().getI1Type();
  llvm::append_range(args, flags);
  llvm::append_range(args, carried);
  return parseCase(parser, args, result);
}

ParseResult CoiterateOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument coordinate;
  StringAttr set;
  SmallVector<OpAsmParser::UnresolvedOperand> spaces;
  SmallVector<Type> spaceTypes;
  SMLoc loc;
  if (parser.parseArgument(coordinate) || parser.parseKeyword("in") ||
      parser.parseAttribute(set, "set", result.attributes) || parser.parseLParen() ||
      parser.getCurrentLocation(&loc) || parser.parseOperandList(spaces) ||
      parser.parseColonTypeList(spaceTypes) || parser.parseRParen() ||
      parser.resolveOperands(spaces, spaceTypes, loc, result.operands))
    return failure();
  coordinate.type = parser.getBuilder().getIndexType();
  bool hasRange = succeeded(parser.parseOptionalKeyword("range"));
  if (hasRange) {
    OpAsmParser::UnresolvedOperand range;
    if (parser.parseOperand(range) ||
        parser.resolveOperand(range, RangeType::get(parser.getContext()), result.operands))
      return failure();
  }
  SmallVector<OpAsmParser::Argument> carried;
  if (parseInits(parser, carried, result) || parseLoop(parser, result) || parseStrategy(parser, result) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  int32_t inits = int32_t(carried.size());
  result.addAttribute("operandSegmentSizes",
                      parser.getBuilder().getDenseI32ArrayAttr({int32_t(spaces.size()), hasRange, inits}));
  SmallVector<int64_t> cases;
  while (succeeded(parser.parseOptionalKeyword("case"))) {
    std::string text;
    SMLoc caseLoc = parser.getCurrentLocation();
    SmallVector<OpAsmParser::Argument> iterators;
    if (parser.parseString(&text) ||
        parser.parseArgumentList(iterators, OpAsmParser::Delimiter::OptionalParen))
      return failure();
    std::optional<Minterm> minterm = parseMinterm(text, unsigned(spaces.size()));
    if (!minterm || std::popcount(*minterm) != int(iterators.size()))
      return parser.emitError(caseLoc)
             << "expected the names of the spaces that have the coordinate, joined by '&', or "
                "\"none\", and one iterator for each";
    unsigned next = 0;
    for (unsigned k = 0; *minterm >> k; ++k)
      if (*minterm >> k & 1 && iteratorTypeOf(parser, loc, spaceTypes[k], iterators[next++]))
        return failure();
    cases.push_back(*minterm);
    SmallVector<OpAsmParser::Argument> args{coordinate};
    llvm::append_range(args, iterators);
    llvm::append_range(args, carried);
    if (parseCase(parser, args, result))
      return failure();
  }
  if (cases.empty() && succeeded(parser.parseOptionalKeyword("flags"))) {
    result.addAttribute("flags", parser.getBuilder().getUnitAttr());
    if (parseFlagged(parser, loc, coordinate, spaceTypes, carried, result))
      return failure();
  }
  result.addAttribute("cases", parser.getBuilder().getDenseI64ArrayAttr(cases));
  return success();
}

void CoiterateOp::print(OpAsmPrinter &p) {
  // Every region has its own arguments; the coordinate and the carried values have the same names in all of
  // them, see getAsmBlockArgumentNames.
  p << ' ';
  Block *first = getCaseRegions().empty() ? nullptr : &getCaseRegions().front().front();
  if (first)
    p << first->getArgument(0);
  else
    p << "%i";
  p << " in " << getSetAttr() << " (" << getSpaces() << " : " << getSpaces().getTypes() << ")";
  if (getRange())
    p << " range " << getRange();
  if (first) {
    printInits(p, getInits(), first->getArguments());
  } else if (!getInits().empty()) {
    unsigned next = 0;
    p << " iter_args(";
    llvm::interleaveComma(getInits(), p, [&](Value init) { p << "%acc" << next++ << " = " << init; });
    p << ") -> (" << getInits().getTypes() << ")";
  }
  p << " loop = ";
  getLoop().print(p);
  p << " strategy = " << stringifyStrategy(getStrategy());
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                     {getLoopAttrName(), getStrategyAttrName(), getSetAttrName(),
                                      getCasesAttrName(), getFlagsAttrName(), "operandSegmentSizes"});
  if (getFlags()) {
    p.printNewline();
    p << "flags (";
    llvm::interleaveComma(llvm::seq(getSpaces().size()), p, [&](size_t k) {
      p << first->getArgument(1 + unsigned(k)) << " if " << getFlag(unsigned(k));
    });
    p << ") ";
    p.printRegion(getCaseRegions()[0], /*printEntryBlockArgs=*/false,
                  /*printBlockTerminators=*/!getInits().empty());
  }
  for (auto [region, minterm] : llvm::zip(getCaseRegions(), getCases())) {
    Block &block = region.front();
    p.printNewline();
    p << "case \"" << printMinterm(Minterm(minterm)) << "\"";
    unsigned iterators = block.getNumArguments() - 1 - unsigned(getInits().size());
    if (iterators) {
      p << " (";
      llvm::interleaveComma(block.getArguments().slice(1, iterators), p);
      p << ")";
    }
    p << ' ';
    p.printRegion(region, /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/!getInits().empty());
  }
}

/// Carried values are named before iterators: their names must not depend on how many iterators a region has.
static void nameArguments(Block &block, LoopAttr loop, unsigned carried, OpAsmSetValueNameFn setName) {
  std::string index = loop.valueName();
  setName(block.getArgument(0), index.empty() ? "i" : index);
  for (BlockArgument arg : block.getArguments().take_back(carried))
    setName(arg, "acc");
  for (BlockArgument arg : block.getArguments().drop_back(carried).drop_front())
    setName(arg, isa<IteratorType>(arg.getType()) ? "it" : "present");
}

void IterateOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  if (!region.empty() && region.front().getNumArguments() > getInits().size())
    nameArguments(region.front(), getLoop(), unsigned(getInits().size()), setName);
}

void CoiterateOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  if (!region.empty() && region.front().getNumArguments() > getInits().size())
    nameArguments(region.front(), getLoop(), unsigned(getInits().size()), setName);
}

LogicalResult CoiterateOp::verify() {
  OperandRange spaces = getSpaces();
  if (spaces.empty())
    return emitOpError("expected at least one space (constraint 1)");
  for (Value value : spaces) {
    auto space = cast<SpaceType>(value.getType());
    const format::LevelFormat &level = levelFormat(space.getEncoding(), space.getLevel());
    if (!level.ordered)
      return emitOpError("expected ordered levels, got ") << format::print(level) << " (constraint 1)";
  }
  if (getResultTypes() != getInits().getTypes())
    return emitOpError("expected results of the types of the inits (constraint 5)");
  std::string error;
  const std::string_view text(getSet().data(), getSet().size());
  auto notASet = [&] { return emitOpError("in the set '") << getSet() << "': " << error; };
  auto checkRange = [&](bool needed) -> LogicalResult {
    if (needed == bool(getRange()))
      return success();
    return emitOpError(needed ? "the set holds coordinates that no space has: expected a range"
                              : "expected no range: every coordinate of the set is in a space")
           << " (constraint 3)";
  };
  auto iteratorOf = [&](Value space) -> Type {
    auto type = cast<SpaceType>(space.getType());
    return IteratorType::get(getContext(), type.getEncoding(), type.getLevel());
  };
  if (getFlags()) {
    auto set = iteration::SetExpression::parse(text, unsigned(spaces.size()), &error);
    if (!set)
      return notASet();
    if (!getCases().empty() || getCaseRegions().size() != 1)
      return emitOpError("with flags: expected no cases, and one region (constraint 2)");
    SmallVector<Type> leading{IndexType::get(getContext())};
    llvm::append_range(leading, llvm::map_range(spaces, iteratorOf));
    leading.append(spaces.size(), IntegerType::get(getContext(), 1));
    return failure(failed(checkRange(set->needsUniverse())) ||
                   failed(verifyRegion(*this, getCaseRegions()[0], leading, getInits())));
  }
  std::optional<CoordinateSet> set = CoordinateSet::parse(text, unsigned(spaces.size()), &error);
  if (!set)
    return notASet();
  SmallVector<int64_t> sorted(getCases());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, set->minterms(), [](int64_t a, Minterm b) { return a == int64_t(b); }) ||
      getCases().size() != getCaseRegions().size()) {
    InFlightDiagnostic diag = emitOpError("expected one case for each of");
    for (Minterm m : set->minterms())
      diag << " \"" << printMinterm(m) << "\"";
    return diag << " (constraint 2)";
  }
  if (failed(checkRange(set->needsUniverse())))
    return failure();
  for (auto [region, minterm] : llvm::zip(getCaseRegions(), getCases())) {
    SmallVector<Type> leading{IndexType::get(getContext())};
    for (auto [k, space] : llvm::enumerate(spaces))
      if (minterm >> k & 1)
        leading.push_back(iteratorOf(space));
    if (failed(verifyRegion(*this, region, leading, getInits())))
      return failure();
  }
  return success();
}
