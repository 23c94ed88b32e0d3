// The ops whose regions carry values (tulle.iterate, tulle.coiterate, tulle.parallel): their text, the names
// of block arguments, and constraints.
#include "dialect/Dialect.h"
#include "iteration/Plan.h"
#include "mlir/IR/OpImplementation.h"
#include <bit>

using namespace mlir;
using namespace tulle;
using namespace tulle::dialect;
using iteration::CoordinateSet;
using iteration::Minterm;
using Argument = OpAsmParser::Argument;

//===--- Text ---===//

/// `iter_args(%a = %x, …) -> (types)`, or nothing: fills the operands and types of the result.
static ParseResult parseInits(OpAsmParser &parser, SmallVectorImpl<Argument> &args, OperationState &result) {
  if (failed(parser.parseOptionalKeyword("iter_args")))
    return success();
  SmallVector<OpAsmParser::UnresolvedOperand> inits;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAssignmentList(args, inits) || parser.parseArrowTypeList(result.types))
    return failure();
  if (inits.size() != result.types.size())
    return parser.emitError(loc) << "expected " << inits.size() << " types for iter_args, got "
                                 << result.types.size();
  for (auto [arg, type] : llvm::zip(args, result.types))
    arg.type = type;
  return parser.resolveOperands(inits, result.types, loc, result.operands);
}

/// The same; `args` end with the arguments that the inits start. Without a region there are none.
static void printInits(OpAsmPrinter &p, OperandRange inits, Block::BlockArgListType args) {
  if (inits.empty())
    return;
  p << " iter_args(";
  llvm::interleaveComma(llvm::enumerate(inits), p, [&](auto init) {
    if (args.empty())
      p << "%acc" << init.index();
    else
      p << args[args.size() - inits.size() + init.index()];
    p << " = " << init.value();
  });
  p << ") -> (" << inits.getTypes() << ")";
}

/// `loop = <…>`
static ParseResult parseLoop(OpAsmParser &parser, OperationState &result) {
  Attribute loop = LoopAttr::get(parser.getContext(), LoopKind::Parallel);
  if (succeeded(parser.parseOptionalKeyword("loop")) &&
      (parser.parseEqual() || !(loop = LoopAttr::parse(parser, Type()))))
    return failure();
  result.addAttribute("loop", loop);
  return success();
}

/// `strategy = merge`
static ParseResult parseStrategy(OpAsmParser &parser, OperationState &result) {
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

/// A region with these arguments, whose terminator may be left out.
template <typename Op>
static ParseResult parseBody(OpAsmParser &parser, SmallVector<Argument> args, ArrayRef<Argument> carried,
                             OperationState &result) {
  Region *body = result.addRegion();
  llvm::append_range(args, carried);
  if (parser.parseRegion(*body, args))
    return failure();
  Op::ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

static void printBody(OpAsmPrinter &p, Region &body, bool carriesValues) {
  p << ' ';
  p.printRegion(body, /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/carriesValues);
}

ParseResult ParallelOp::parse(OpAsmParser &parser, OperationState &result) {
  Type index = parser.getBuilder().getIndexType();
  OpAsmParser::UnresolvedOperand tasks;
  SmallVector<Argument> args(1), carried;
  args[0].type = index;
  if (parser.parseArgument(args[0]) || parser.parseKeyword("of") || parser.parseOperand(tasks) ||
      parser.resolveOperand(tasks, index, result.operands) || parseInits(parser, carried, result) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parseBody<ParallelOp>(parser, args, carried, result);
}

void ParallelOp::print(OpAsmPrinter &p) {
  p << ' ' << getBody().getArgument(0) << " of " << getTasks();
  printInits(p, getInits(), getBody().getArguments());
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printBody(p, getBody(), !getInits().empty());
}

ParseResult IterateOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<Argument> args(1), carried;
  OpAsmParser::UnresolvedOperand space;
  Type type;
  SMLoc loc;
  if (parser.parseArgument(args[0]) ||
      (succeeded(parser.parseOptionalComma()) && parser.parseArgument(args.emplace_back())) ||
      parser.parseKeyword("in") || parser.getCurrentLocation(&loc) || parser.parseOperand(space) ||
      parser.parseColonType(type) || parser.resolveOperand(space, type, result.operands))
    return failure();
  args[0].type = parser.getBuilder().getIndexType();
  if (args.size() == 2) {
    auto stored = dyn_cast<SpaceType>(type);
    if (!stored)
      return parser.emitError(loc, "a range has no iterator (constraint 1)");
    args[1].type = stored.getIterator();
  }
  if (parseInits(parser, carried, result) || parseLoop(parser, result) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parseBody<IterateOp>(parser, args, carried, result);
}

void IterateOp::print(OpAsmPrinter &p) {
  p << ' ';
  llvm::interleaveComma(getBody().getArguments().drop_back(getInits().size()), p);
  p << " in " << getSpace() << " : " << getSpace().getType();
  printInits(p, getInits(), getBody().getArguments());
  p << " loop = ";
  getLoop().print(p);
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getLoopAttrName()});
  printBody(p, getBody(), !getInits().empty());
}

/// `a & c`, or `none`.
static std::optional<Minterm> parseMinterm(StringRef text, size_t operands) {
  if (text == "none")
    return 0;
  Minterm minterm = 0;
  for (StringRef name : llvm::split(text, '&')) {
    name = name.trim();
    if (name.size() != 1 || name[0] < 'a' || size_t(name[0] - 'a') >= operands)
      return std::nullopt;
    minterm |= Minterm(1) << (name[0] - 'a');
  }
  return minterm;
}

static std::string printMinterm(Minterm minterm) {
  std::string text;
  for (unsigned k = 0; minterm >> k; ++k)
    if (minterm >> k & 1)
      text += (text.empty() ? "" : " & ") + iteration::operandName(k);
  return text.empty() ? "none" : text;
}

/// The iterators of all spaces, or of those of a minterm.
static SmallVector<Type> iteratorTypes(TypeRange spaces, std::optional<Minterm> minterm = {}) {
  SmallVector<Type> types;
  for (auto [k, space] : llvm::enumerate(spaces))
    if (!minterm || *minterm >> k & 1)
      types.push_back(cast<SpaceType>(space).getIterator());
  return types;
}

static void setTypes(MutableArrayRef<Argument> arguments, ArrayRef<Type> types) {
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
}

/// `case "a & b" (%ia, %ib) { … }`, any number of them.
static ParseResult parseCases(OpAsmParser &parser, Argument coordinate, ArrayRef<Type> spaces,
                              ArrayRef<Argument> carried, OperationState &result) {
  SmallVector<int64_t> cases;
  while (succeeded(parser.parseOptionalKeyword("case"))) {
    std::string text;
    SMLoc loc = parser.getCurrentLocation();
    SmallVector<Argument> args{coordinate}, iterators;
    if (parser.parseString(&text) ||
        parser.parseArgumentList(iterators, OpAsmParser::Delimiter::OptionalParen))
      return failure();
    std::optional<Minterm> minterm = parseMinterm(text, spaces.size());
    if (!minterm || std::popcount(*minterm) != int(iterators.size()))
      return parser.emitError(loc)
             << "expected the names of the spaces that have the coordinate, joined by '&', or "
                "\"none\", and one iterator for each";
    setTypes(iterators, iteratorTypes(spaces, *minterm));
    llvm::append_range(args, iterators);
    cases.push_back(*minterm);
    if (parseBody<CoiterateOp>(parser, args, carried, result))
      return failure();
  }
  result.addAttribute("cases", parser.getBuilder().getDenseI64ArrayAttr(cases));
  return success();
}

/// `flags (%ia if %pa, …) { … }`, or nothing.
static ParseResult parseFlags(OpAsmParser &parser, Argument coordinate, ArrayRef<Type> spaces,
                              ArrayRef<Argument> carried, OperationState &result) {
  if (failed(parser.parseOptionalKeyword("flags")))
    return success();
  SmallVector<Argument> args{coordinate}, iterators, flags;
  SMLoc loc = parser.getCurrentLocation();
  auto one = [&] {
    return failure(parser.parseArgument(iterators.emplace_back()) || parser.parseKeyword("if") ||
                   parser.parseArgument(flags.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, one))
    return failure();
  if (flags.size() != spaces.size())
    return parser.emitError(loc) << "expected an iterator and a flag for each space";
  setTypes(iterators, iteratorTypes(spaces));
  setTypes(flags, SmallVector<Type>(flags.size(), parser.getBuilder().getI1Type()));
  llvm::append_range(args, iterators);
  llvm::append_range(args, flags);
  result.addAttribute("flags", parser.getBuilder().getUnitAttr());
  return parseBody<CoiterateOp>(parser, args, carried, result);
}

ParseResult CoiterateOp::parse(OpAsmParser &parser, OperationState &result) {
  Argument coordinate;
  StringAttr set;
  SmallVector<OpAsmParser::UnresolvedOperand> spaces;
  SmallVector<Type> types;
  SMLoc loc;
  if (parser.parseArgument(coordinate) || parser.parseKeyword("in") ||
      parser.parseAttribute(set, "set", result.attributes) || parser.parseLParen() ||
      parser.getCurrentLocation(&loc) || parser.parseOperandList(spaces) ||
      parser.parseColonTypeList(types) || parser.parseRParen() ||
      parser.resolveOperands(spaces, types, loc, result.operands))
    return failure();
  for (Type type : types)
    if (!isa<SpaceType>(type))
      return parser.emitError(loc) << "expected a tulle.space, got " << type;
  coordinate.type = parser.getBuilder().getIndexType();
  bool hasRange = succeeded(parser.parseOptionalKeyword("range"));
  OpAsmParser::UnresolvedOperand range;
  if (hasRange && (parser.parseOperand(range) ||
                   parser.resolveOperand(range, RangeType::get(parser.getContext()), result.operands)))
    return failure();
  SmallVector<Argument> carried;
  if (parseInits(parser, carried, result) || parseLoop(parser, result) || parseStrategy(parser, result) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  int32_t segments[] = {int32_t(spaces.size()), hasRange, int32_t(carried.size())};
  result.addAttribute("operandSegmentSizes", parser.getBuilder().getDenseI32ArrayAttr(segments));
  return failure(parseCases(parser, coordinate, types, carried, result) ||
                 (result.regions.empty() && parseFlags(parser, coordinate, types, carried, result)));
}

void CoiterateOp::print(OpAsmPrinter &p) {
  // Every region has its own arguments; the coordinate and the carried values have the same names in all of
  // them, see getAsmBlockArgumentNames.
  Block::BlockArgListType args;
  if (!getCaseRegions().empty())
    args = getCaseRegions().front().getArguments();
  p << ' ';
  if (args.empty())
    p << "%i";
  else
    p << args[0];
  p << " in " << getSetAttr() << " (" << getSpaces() << " : " << getSpaces().getTypes() << ")";
  if (getRange())
    p << " range " << getRange();
  printInits(p, getInits(), args);
  p << " loop = ";
  getLoop().print(p);
  p << " strategy = " << stringifyStrategy(getStrategy());
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                     {getLoopAttrName(), getStrategyAttrName(), getSetAttrName(),
                                      getCasesAttrName(), getFlagsAttrName(), "operandSegmentSizes"});
  if (getFlags()) {
    p.printNewline();
    p << "flags (";
    llvm::interleaveComma(llvm::seq(unsigned(getSpaces().size())), p,
                          [&](unsigned k) { p << args[1 + k] << " if " << getFlag(k); });
    p << ")";
    printBody(p, getCaseRegions()[0], !getInits().empty());
  }
  for (auto [region, minterm] : llvm::zip(getCaseRegions(), getCases())) {
    auto iterators = region.getArguments().drop_front().drop_back(getInits().size());
    p.printNewline();
    p << "case \"" << printMinterm(Minterm(minterm)) << "\"";
    if (!iterators.empty()) {
      p << " (";
      llvm::interleaveComma(iterators, p);
      p << ")";
    }
    printBody(p, region, !getInits().empty());
  }
}

/// Carried values are named before iterators: their names must not depend on how many iterators a region has.
static void nameArguments(Region &region, StringRef first, size_t carried, OpAsmSetValueNameFn setName) {
  if (region.empty() || region.getNumArguments() <= carried)
    return;
  setName(region.getArgument(0), first.empty() ? "i" : first);
  for (BlockArgument arg : region.getArguments().take_back(carried))
    setName(arg, "acc");
  for (BlockArgument arg : region.getArguments().drop_back(carried).drop_front())
    setName(arg, isa<IteratorType>(arg.getType()) ? "it" : "present");
}

void IterateOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  nameArguments(region, getLoop().valueName(), getInits().size(), setName);
}

void CoiterateOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  nameArguments(region, getLoop().valueName(), getInits().size(), setName);
}

void ParallelOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  nameArguments(region, "task", getInits().size(), setName);
}

//===--- Loops ---===//

SmallVector<Region *> IterateOp::getLoopRegions() { return {&getBody()}; }
Block::BlockArgListType IterateOp::getRegionIterArgs() {
  return getBody().getArguments().take_back(getInits().size());
}
std::optional<MutableArrayRef<OpOperand>> IterateOp::getYieldedValuesMutable() {
  return MutableArrayRef<OpOperand>(cast<YieldOp>(getBody().front().getTerminator()).getValuesMutable());
}
std::optional<ResultRange> IterateOp::getLoopResults() { return getResults(); }

//===--- Constraints ---===//

/// Constraints on block arguments, and on results and yields, that the ops share: by these numbers.
static LogicalResult verifyCarried(Operation *op, Region &region, ArrayRef<Type> leading, ValueRange inits,
                                   int arguments, int results) {
  auto cite = [](int constraint) { return (" (constraint " + Twine(constraint) + ")").str(); };
  if (op->getResultTypes() != inits.getTypes())
    return op->emitOpError("expected results of the types of the inits") << cite(results);
  SmallVector<Type> expected(leading);
  llvm::append_range(expected, inits.getTypes());
  if (!llvm::equal(region.getArgumentTypes(), expected))
    return op->emitOpError("expected block arguments of types (")
           << expected << "), got (" << region.getArgumentTypes() << ")" << cite(arguments);
  ValueRange yielded = region.front().getTerminator()->getOperands();
  if (yielded.getTypes() != inits.getTypes())
    return region.front().getTerminator()->emitOpError("expected values of types (")
           << inits.getTypes() << "), got (" << yielded.getTypes() << ")" << cite(results);
  return success();
}

LogicalResult ParallelOp::verify() {
  return verifyCarried(*this, getBody(), IndexType::get(getContext()), getInits(), 1, 2);
}

Value IterateOp::getWorkEstimate() {
  if (!isa<RangeType>(getSpace().getType()))
    return {};
  Value coordinate = getBody().getArgument(0), found;
  for (LocateOp locate : getBody().getOps<LocateOp>()) {
    const format::Encoding &encoding = getEncoding(locate.getTensor().getType()).getValue();
    if (locate.getLevel() != 0 || locate.getCoordinate() != coordinate || found ||
        encoding.levels[0].format.kind != format::LevelKind::Dense)
      continue;
    for (Operation *user : locate.getResult().getUsers())
      if (isa<SpaceOp>(user))
        found = locate.getTensor();
  }
  return found;
}

LogicalResult IterateOp::verify() {
  SmallVector<Type> leading{IndexType::get(getContext())};
  if (auto space = dyn_cast<SpaceType>(getSpace().getType()))
    leading.push_back(space.getIterator());
  return verifyCarried(*this, getBody(), leading, getInits(), 1, 2);
}

/// A range is given where the set holds coordinates that no space has, and only there.
static LogicalResult verifyRange(CoiterateOp op, bool isNeeded) {
  if (isNeeded == bool(op.getRange()))
    return success();
  return op.emitOpError(isNeeded ? "the set holds coordinates that no space has: expected a range"
                                 : "expected no range: every coordinate of the set is in a space")
         << " (constraint 3)";
}

static LogicalResult verifyCases(CoiterateOp op, const CoordinateSet &set) {
  SmallVector<int64_t> sorted(op.getCases());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, set.minterms(), [](int64_t a, Minterm b) { return a == int64_t(b); }) ||
      op.getCases().size() != op.getCaseRegions().size()) {
    InFlightDiagnostic diag = op.emitOpError("expected one case for each of");
    for (Minterm m : set.minterms())
      diag << " \"" << printMinterm(m) << "\"";
    return diag << " (constraint 2)";
  }
  if (failed(verifyRange(op, set.needsUniverse())))
    return failure();
  for (auto [region, minterm] : llvm::zip(op.getCaseRegions(), op.getCases())) {
    SmallVector<Type> leading = iteratorTypes(op.getSpaces().getTypes(), Minterm(minterm));
    leading.insert(leading.begin(), IndexType::get(op.getContext()));
    if (failed(verifyCarried(op, region, leading, op.getInits(), 4, 5)))
      return failure();
  }
  return success();
}

static LogicalResult verifyFlags(CoiterateOp op, const iteration::SetExpression &set) {
  if (!op.getCases().empty() || op.getCaseRegions().size() != 1)
    return op.emitOpError("with flags: expected no cases, and one region (constraint 2)");
  if (failed(verifyRange(op, set.needsUniverse())))
    return failure();
  SmallVector<Type> leading = iteratorTypes(op.getSpaces().getTypes());
  leading.insert(leading.begin(), IndexType::get(op.getContext()));
  leading.append(op.getSpaces().size(), IntegerType::get(op.getContext(), 1));
  return verifyCarried(op, op.getCaseRegions()[0], leading, op.getInits(), 4, 5);
}

LogicalResult CoiterateOp::verify() {
  if (getSpaces().empty())
    return emitOpError("expected at least one space (constraint 1)");
  for (Type space : getSpaces().getTypes())
    if (const format::LevelFormat &level = cast<SpaceType>(space).getFormat(); !level.ordered)
      return emitOpError("expected ordered levels, got ") << format::print(level) << " (constraint 1)";
  std::string error;
  const std::string_view text(getSet().data(), getSet().size());
  const unsigned spaces = unsigned(getSpaces().size());
  if (getFlags()) {
    if (auto set = iteration::SetExpression::parse(text, spaces, &error))
      return verifyFlags(*this, *set);
  } else if (auto set = CoordinateSet::parse(text, spaces, &error)) {
    return verifyCases(*this, *set);
  }
  return emitOpError("in the set '") << getSet() << "': " << error;
}
