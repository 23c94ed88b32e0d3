// Parser, printer and verifiers of the ops that several threads run.
#include "dialect/Dialect.h"
#include "dialect/Inits.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace tulle;
using namespace tulle::dialect;

ParseResult ParallelOp::parse(OpAsmParser &parser, OperationState &result) {
  Type index = parser.getBuilder().getIndexType();
  OpAsmParser::UnresolvedOperand tasks;
  SmallVector<OpAsmParser::Argument> args(1), carried;
  args[0].type = index;
  if (parser.parseArgument(args[0]) || parser.parseKeyword("of") || parser.parseOperand(tasks) ||
      parser.resolveOperand(tasks, index, result.operands) || parseInits(parser, carried, result))
    return failure();
  llvm::append_range(args, carried);
  return parseBody<ParallelOp>(parser, args, result);
}

void ParallelOp::print(OpAsmPrinter &p) {
  Block &block = getBody().front();
  p << ' ' << block.getArgument(0) << " of " << getTasks();
  printInits(p, getInits(), block.getArguments());
  p.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  p << ' ';
  p.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/!getInits().empty());
}

void ParallelOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  if (region.empty() || region.front().getNumArguments() == 0)
    return;
  setName(region.front().getArgument(0), "task");
  for (BlockArgument arg : region.front().getArguments().drop_front())
    setName(arg, "acc");
}

LogicalResult ParallelOp::verify() {
  Block &block = getBody().front();
  SmallVector<Type> expected{IndexType::get(getContext())};
  llvm::append_range(expected, getInits().getTypes());
  if (!llvm::equal(block.getArgumentTypes(), expected))
    return emitOpError("expected block arguments of types (")
           << expected << "), got (" << block.getArgumentTypes() << ") (constraint 1)";
  if (getResultTypes() != getInits().getTypes() ||
      block.getTerminator()->getOperandTypes() != getInits().getTypes())
    return emitOpError("expected results and yielded values of the types of the inits (constraint 2)");
  return success();
}

static LogicalResult verifyEstimate(Operation *op, Value space, Value estimate) {
  if (!estimate)
    return success();
  const format::Encoding &encoding = getEncoding(cast<RankedTensorType>(estimate.getType())).getValue();
  if (!isa<RangeType>(space.getType()))
    return op->emitOpError(
        "expected no work estimate for a space, which has entries of its own (constraint 1)");
  if (encoding.levels.empty() || encoding.levels[0].format.kind != format::LevelKind::Dense)
    return op->emitOpError("expected a work estimate whose first level is dense (constraint 1)");
  return success();
}

static LogicalResult verifyOrdered(Operation *op, Value space) {
  auto type = dyn_cast<SpaceType>(space.getType());
  if (!type)
    return success();
  const format::LevelFormat &level = type.getEncoding().getValue().levels[type.getLevel()].format;
  if (!level.ordered)
    return op->emitOpError("expected an ordered level, got ") << format::print(level) << " (constraint 1)";
  return success();
}

LogicalResult PartitionOp::verify() {
  if (failed(verifyEstimate(*this, getSpace(), getEstimate())))
    return failure();
  auto space = dyn_cast<SpaceType>(getSpace().getType());
  if (getAlignment() == 1 || !space)
    return success();
  format::LevelKind kind = space.getEncoding().getValue().levels[space.getLevel()].format.kind;
  if (kind != format::LevelKind::Dense && kind != format::LevelKind::Batch)
    return emitOpError("expected an alignment of 1 for a level that stores its coordinates, got ")
           << getAlignment() << " (constraint 2)";
  return success();
}

LogicalResult WorkOp::verify() { return verifyEstimate(*this, getSpace(), getEstimate()); }

LogicalResult PartitionBoundaryOp::verify() {
  if (failed(verifyEstimate(*this, getSpace(), getEstimate())))
    return failure();
  return verifyOrdered(*this, getSpace());
}

LogicalResult RestrictOp::verify() { return verifyOrdered(*this, getSpace()); }

LogicalResult ValuesOp::verify() {
  if (!getLevel())
    return success();
  const format::Layout layout =
      format::layout(getEncoding(cast<RankedTensorType>(getTensor().getType())).getValue());
  if (*getLevel() >= layout.coordinates.size() || !layout.coordinates[*getLevel()] ||
      layout.coordinates[*getLevel()]->stride != 1)
    return emitOpError("expected a level that stores its coordinates in a buffer of their own, got level ")
           << *getLevel() << " (constraint 1)";
  return success();
}

LogicalResult WithValuesOp::verify() {
  RankedTensorType tensor = getTensor().getType(), result = getResult().getType();
  if (getEncoding(tensor) != getEncoding(result) || failed(verifyCompatibleShape(tensor, result)))
    return emitOpError("expected equal encodings and shapes, got ")
           << tensor << " and " << result << " (constraint 1)";
  Type stored =
      result.getElementType().isInteger(1) ? IntegerType::get(getContext(), 8) : result.getElementType();
  auto buffer = MemRefType::get({ShapedType::kDynamic}, stored);
  if (getValues().getType() != buffer)
    return emitOpError("expected a buffer ")
           << buffer << ", got " << getValues().getType() << " (constraint 2)";
  return success();
}
