// Verifiers of the ops without carried values, by the numbers that their definitions give the constraints;
// and what else ops say of themselves.
#include "dialect/Dialect.h"
#include "dialect/Scalars.h"
#include "format/Layout.h"
#include "format/LevelKinds.h"
#include "iteration/Plan.h"
#include "iteration/Shape.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace tulle;
using namespace tulle::dialect;

/// The type of an init, which a tensor's result has, too.
static ParseResult parseDestination(OpAsmParser &parser, Type &init, Type &result) {
  if (parser.parseType(init))
    return failure();
  result = isa<RankedTensorType>(init) ? init : Type();
  return success();
}
static void printDestination(OpAsmPrinter &printer, Operation *, Type init, Type) { printer << init; }

#define GET_OP_CLASSES
#include "dialect/TulleOps.cpp.inc"

static LogicalResult verifyType(Operation *op, StringRef what, Type type, Type expected, int constraint) {
  if (type == expected)
    return success();
  return op->emitOpError("expected ")
         << what << " of type " << expected << ", got " << type << " (constraint " << constraint << ")";
}

static LogicalResult verifySizes(Operation *op, RankedTensorType tensor, OperandRange sizes) {
  if (int64_t(sizes.size()) != tensor.getRank())
    return op->emitOpError("expected ") << tensor.getRank() << " sizes, got " << sizes.size();
  for (auto [d, size] : llvm::enumerate(sizes))
    if (APInt value; !tensor.isDynamicDim(unsigned(d)) && matchPattern(size, m_ConstantInt(&value)) &&
                     value.getSExtValue() != tensor.getDimSize(unsigned(d)))
      return op->emitOpError("size ") << d << " is " << value.getSExtValue() << ", but the type has "
                                      << tensor.getDimSize(unsigned(d));
  return success();
}

//===--- Whole tensors ---===//

LogicalResult StoredOp::verify() {
  auto arg = dyn_cast<BlockArgument>(getValue());
  Operation *owner = arg ? arg.getOwner()->getParentOp() : nullptr;
  // By name: this dialect does not depend on linalg.
  if (!owner || owner->getName().getStringRef() != "linalg.generic")
    return emitOpError("expects a block argument of linalg.generic (constraint 1)");
  auto generic = dyn_cast<DestinationStyleOpInterface>(owner);
  if (generic && int64_t(arg.getArgNumber()) >= generic.getNumDpsInputs())
    return emitOpError("expects an input of linalg.generic, got one of its results (constraint 1)");
  return success();
}

LogicalResult FillOp::verify() {
  return verifyType(*this, "a value", getValue().getType(), getTensor().getType().getElementType(), 1);
}

/// Constraint 1 of ops that give a tensor the pattern of another.
static LogicalResult verifySamePattern(Operation *op, RankedTensorType x, RankedTensorType y) {
  if (getEncoding(x) == getEncoding(y) && succeeded(verifyCompatibleShape(x, y)))
    return success();
  return op->emitOpError("expected equal encodings and shapes, got ")
         << x << " and " << y << " (constraint 1)";
}

LogicalResult LikeOp::verify() {
  RankedTensorType tensor = getTensor().getType(), pattern = getPattern().getType();
  const auto common = size_t(std::min(tensor.getRank(), pattern.getRank()));
  if (succeeded(verifyCompatibleShape(tensor.getShape().take_front(common),
                                      pattern.getShape().take_front(common))) &&
      format::sharesStructure(getEncoding(tensor).getValue(), getEncoding(pattern).getValue()))
    return success();
  return emitOpError("expected the levels of the pattern, and below them a dense one for each further "
                     "dimension, or the outer levels of the pattern, got ")
         << tensor << " and " << pattern << " (constraint 1)";
}

LogicalResult ConvertOp::verify() {
  RankedTensorType source = getSource().getType(), result = getResult().getType();
  if (source.getShape() != result.getShape() || source.getElementType() != result.getElementType())
    return emitOpError("expected the shape and element type of ")
           << source << ", got " << result << " (constraint 1)";
  return success();
}

/// Whether the elements are integers that lie in the order of their coordinates.
static bool isPlainIntegers(RankedTensorType type) {
  const auto order = unsigned(type.getRank());
  const format::Encoding &encoding = getEncoding(type).getValue();
  return llvm::is_contained({8u, 16u, 32u, 64u},
                            type.getElementType().isInteger() ? type.getElementTypeBitWidth() : 0) &&
         encoding.levels.size() == order &&
         format::haveEqualLevels(encoding, format::denseEncoding(order), order);
}

/// Whether `at`, where there is one, has a coordinate or -1 for each dimension.
static bool isPlace(std::optional<ArrayRef<int64_t>> at, RankedTensorType type) {
  return !at ||
         (int64_t(at->size()) == type.getRank() && llvm::all_of(*at, [](int64_t c) { return c >= -1; }));
}

LogicalResult BoundedIndicesOp::verify() {
  RankedTensorType source = getSource().getType(), result = getResult().getType();
  if (!isPlainIntegers(source) || !isPlainIntegers(result) || source.getShape() != result.getShape())
    return emitOpError("expected dense tensors of integers of one shape, got ")
           << source << " and " << result << " (constraint 1)";
  const unsigned width = source.getElementTypeBitWidth();
  if (isCheck() ? source != result : result.getElementTypeBitWidth() < std::max(width, 32u))
    return emitOpError("expected ") << (isCheck() ? "the type of the source"
                                                  : "integers as wide as the source's, and 32 bits at least")
                                    << ", got " << result << " (constraint 2)";
  if (!isPlace(getAt(), source))
    return emitOpError("expected a coordinate for each dimension of ") << source << ", or -1 (constraint 3)";
  if (getOver() && (source.getRank() != 1 || !isCheck() || getAt()))
    return emitOpError("expected that integers of one dimension are checked over a range (constraint 4)");
  if (getDeferred() && !isCheck())
    return emitOpError("expected that what is deferred is a check (constraint 5)");
  return success();
}

LogicalResult DistinctIndicesOp::verify() {
  RankedTensorType source = getSource().getType();
  if (!isPlainIntegers(source))
    return emitOpError("expected a dense tensor of integers, got ") << source << " (constraint 1)";
  if (!isPlace(getAt(), source) || (getAt() && getSizes().size() > 1))
    return emitOpError("expected a coordinate for each dimension of ")
           << source << ", or -1, and none with several sizes (constraint 2)";
  const auto several = int64_t(getSizes().size());
  if (several == 0 || (several > 1 && (source.getRank() == 0 || source.getShape().back() != several)))
    return emitOpError("expected one size, or one for each coordinate in the last dimension of ")
           << source << ", got " << several << " (constraint 3)";
  return success();
}

/// `d`, `d floordiv n`, `d mod m`, `d floordiv n mod m`.
static std::optional<format::Digit> digitOf(AffineExpr expr) {
  format::Digit digit;
  auto operand = [&](AffineExprKind kind) -> std::optional<int64_t> {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    auto by = binary && expr.getKind() == kind ? dyn_cast<AffineConstantExpr>(binary.getRHS())
                                               : AffineConstantExpr();
    if (!by || by.getValue() < 1)
      return std::nullopt;
    expr = binary.getLHS();
    return by.getValue();
  };
  digit.modulus = operand(AffineExprKind::Mod).value_or(0);
  digit.stride = operand(AffineExprKind::FloorDiv).value_or(1);
  auto dim = dyn_cast<AffineDimExpr>(expr);
  digit.dim = dim ? dim.getPosition() : 0;
  return dim ? std::optional(digit) : std::nullopt;
}

std::vector<format::Digit> ReshapeOp::getDigits() {
  std::vector<format::Digit> digits;
  for (AffineExpr expr : getMap().getResults())
    if (std::optional<format::Digit> digit = digitOf(expr))
      digits.push_back(*digit);
  return digits;
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType source = getSource().getType(), result = getResult().getType();
  AffineMap map = getMap();
  const std::vector<format::Digit> digits = getDigits();
  const RankedTensorType from = getExpand() ? source : result, into = getExpand() ? result : source;
  if (map.getNumSymbols() != 0 || digits.size() != size_t(into.getRank()) ||
      int64_t(map.getNumDims()) != from.getRank() || source.getElementType() != result.getElementType())
    return emitOpError("expected a digit of the ")
           << (getExpand() ? "source" : "result") << "'s dimensions for each of " << into
           << " (constraint 1)";
  const format::Encoding &own = getEncoding(source).getValue();
  const std::optional<format::Encoding> reshaped =
      getExpand() ? format::expanded(own, digits) : format::reshaped(own, digits, map.getNumDims());
  const std::optional<format::Encoding> linear =
      getExpand() ? format::linearized(own, digits) : std::optional<format::Encoding>();
  const format::Encoding &given = getEncoding(result).getValue();
  if (!(reshaped && given == *reshaped) && !(linear && given == *linear))
    return emitOpError("expected the encoding of ")
           << source << " with the map before it, got " << result << " (constraint 2)";
  return verifySizes(*this, result, getSizes());
}

LogicalResult OneHotOp::verify() {
  RankedTensorType source = getSource().getType(), result = getResult().getType();
  if (!isPlainIntegers(source))
    return emitOpError("expected a dense tensor of integers, got ") << source << " (constraint 1)";
  if (result != selectionOf(source))
    return emitOpError("expected ") << selectionOf(source) << ", got " << result << " (constraint 2)";
  return success();
}

/// Whether static sizes of parts and result agree where parts are side by side, and add up along the others.
static LogicalResult verifyPartSizes(ConcatOp op) {
  RankedTensorType result = op.getResult().getType();
  for (int64_t d = 0; d < result.getRank(); ++d) {
    const bool along = llvm::is_contained(op.getAlong(), d);
    int64_t known = along ? 0 : result.getDimSize(d);
    for (Value part : op.getParts()) {
      auto type = cast<RankedTensorType>(part.getType());
      const bool isSingle = type.getRank() < result.getRank();
      const int64_t size = isSingle && along ? 1 : type.getDimSize(d - (isSingle && d > op.getAlong()[0]));
      if (along)
        known =
            ShapedType::isDynamic(size) || ShapedType::isDynamic(known) ? ShapedType::kDynamic : known + size;
      else if (ShapedType::isDynamic(known))
        known = size;
      else if (!ShapedType::isDynamic(size) && size != known)
        return op.emitOpError("expected parts of one size in dimension ")
               << d << ", got " << known << " and " << size << " (constraint 4)";
    }
    if (along && !ShapedType::isDynamic(known) && !result.isDynamicDim(d) && known != result.getDimSize(d))
      return op.emitOpError("expected size ") << known << " in dimension " << d << " of the result, got "
                                              << result.getDimSize(d) << " (constraint 4)";
  }
  return success();
}

LogicalResult ConcatOp::verify() {
  RankedTensorType result = getResult().getType();
  if (getParts().empty())
    return emitOpError("expected an operand");
  for (Value part : getParts()) {
    auto type = cast<RankedTensorType>(part.getType());
    const bool isSingle = type.getRank() + 1 == result.getRank() && getAlong().size() == 1;
    if ((type.getRank() != result.getRank() && !isSingle) || !elementType(type.getElementType()) ||
        !elementType(result.getElementType()) ||
        fillAttr(getEncoding(type).getValue(), result.getElementType()) != fillAttr(result))
      return emitOpError("expected parts with the order and the fill of ")
             << result << ", or without the one dimension of 'along', got " << type << " (constraint 1)";
  }
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t d : getAlong())
    if (d < 0 || d >= result.getRank() || !seen.insert(d).second)
      return emitOpError("expected distinct dimensions of the result, got ") << d << " (constraint 2)";
  if (seen.empty())
    return emitOpError("expected a dimension (constraint 2)");
  if (format::isAllDense(getEncoding(result).getValue()))
    return emitOpError("expected a sparse result, got ") << result << " (constraint 3)";
  return verifyPartSizes(*this);
}

LogicalResult QueryOp::verify() {
  RankedTensorType tensor = getTensor().getType(), result = getResult().getType();
  AffineMap select = getSelect();
  if (int64_t(select.getNumDims()) != tensor.getRank() || !select.isProjectedPermutation())
    return emitOpError("expected distinct dimensions of ") << tensor << " to be selected (constraint 1)";
  if (!result.getElementType().isSignlessInteger(64) || !format::isAllDense(getEncoding(result).getValue()) ||
      result.getRank() != int64_t(select.getNumResults()))
    return emitOpError("expected a dense result of ")
           << select.getNumResults() << " dimensions and type i64, got " << result << " (constraint 2)";
  bool valued = getAggregate() == Aggregate::Max || getAggregate() == Aggregate::Min;
  std::optional<AffineMap> value = getValue();
  if (valued != value.has_value() ||
      (value && (int64_t(value->getNumDims()) != tensor.getRank() || value->getNumResults() != 1)))
    return emitOpError("expected ") << (valued ? "one expression of " : "no expression of ")
                                    << tensor.getRank() << " dimensions (constraint 3)";
  return success();
}

//===--- Levels, and values at iterators ---===//

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
Speculation::Speculatability IteratorAtOp::getSpeculatability() { return Speculation::NotSpeculatable; }
Speculation::Speculatability SearchOp::getSpeculatability() { return whereExists(getParent()); }
Speculation::Speculatability CoordinatesOp::getSpeculatability() { return whereExists(getIterator()); }
Speculation::Speculatability LoadOp::getSpeculatability() { return whereExists(getIterator()); }
Speculation::Speculatability StoreOp::getSpeculatability() { return whereExists(getIterator()); }

static LogicalResult verifyLevel(Operation *op, EncodingAttr encoding, uint64_t level) {
  if (level < encoding.getValue().levels.size())
    return success();
  return op->emitOpError("expected a level below ")
         << encoding.getValue().levels.size() << ", got " << int64_t(level) << " (constraint 2)";
}

/// An iterator of a tensor's level is also one of the same level of a tensor with that structure.
static LogicalResult verifyIterator(Operation *op, const char *what, Value iterator, EncodingAttr encoding,
                                    unsigned level) {
  auto type = dyn_cast<IteratorType>(iterator.getType());
  if (type && type.getLevel() == level &&
      format::haveEqualLevels(type.getEncoding().getValue(), encoding.getValue(), level + 1))
    return success();
  return verifyType(op, what, iterator.getType(), IteratorType::get(op->getContext(), encoding, level), 1);
}

/// Constraints that the ops share which make a space or an iterator of a level.
template <typename Result, typename Op> static LogicalResult verifyOfLevel(Op op, int constraint) {
  EncodingAttr encoding = getEncoding(op.getTensor().getType());
  const uint64_t level = op.getLevel();
  if (failed(verifyLevel(op, encoding, level)))
    return failure();
  if (level == 0 && op.getParent())
    return op.emitOpError("level 0 has no parent (constraint 1)");
  if (level > 0 && !op.getParent())
    return op.emitOpError("level ") << level << " needs the iterator of level " << level - 1
                                    << " (constraint 1)";
  if (level > 0 && failed(verifyIterator(op, "a parent", op.getParent(), encoding, unsigned(level - 1))))
    return failure();
  auto expected = Result::get(op.getContext(), encoding, unsigned(level));
  return verifyType(op, "a result", op.getResult().getType(), expected, constraint);
}

LogicalResult SpaceOp::verify() { return verifyOfLevel<SpaceType>(*this, 2); }

LogicalResult LocateOp::verify() {
  if (failed(verifyOfLevel<IteratorType>(*this, 1)))
    return failure();
  if (const format::LevelFormat &level = getResult().getType().getFormat(); !format::isFull(level))
    return emitOpError("expected a level where every coordinate exists, got ")
           << format::print(level) << " (constraint 2); use tulle.search";
  return success();
}

LogicalResult SearchOp::verify() {
  if (failed(verifyOfLevel<IteratorType>(*this, 1)))
    return failure();
  const format::LevelFormat &level = cast<IteratorType>(getResult().getType()).getFormat();
  if (format::isFull(level) || !(level.ordered || level.kind == format::LevelKind::Hashed))
    return emitOpError("expected an ordered sparse level or a hashed one, got ")
           << format::print(level) << " (constraint 2)";
  return success();
}

LogicalResult LevelSizeOp::verify() {
  return verifyLevel(*this, getEncoding(getTensor().getType()), getLevel());
}

LogicalResult SpaceSizeOp::verify() {
  if (const format::LevelFormat &level = getSpace().getType().getFormat(); !level.unique)
    return emitOpError("expected a unique level, got ") << format::print(level) << " (constraint 1)";
  return success();
}

/// Whether positions say which parent and which coordinate they belong to.
static LogicalResult verifyTabled(Operation *op, SpaceType space, int constraint) {
  if (iteration::hasTables(space.getFormat()))
    return success();
  return op->emitOpError("expected a unique level, compressed or loose_compressed, got ")
         << format::print(space.getFormat()) << " (constraint " << constraint << ")";
}

LogicalResult PositionTableOp::verify() { return verifyTabled(*this, getSpace().getType(), 1); }

LogicalResult LookupOp::verify() {
  SpaceType space = getSpace().getType();
  if (failed(verifyTabled(*this, space, 2)))
    return failure();
  return verifyType(*this, "an iterator", getResult().getType(), space.getIterator(), 2);
}

static LogicalResult verifyLeaf(Operation *op, RankedTensorType tensor, Value iterator) {
  EncodingAttr encoding = getEncoding(tensor);
  const size_t levels = encoding.getValue().levels.size();
  if (levels == 0)
    return iterator ? op->emitOpError("a tensor of order 0 takes no iterator (constraint 1)") : success();
  auto expected = IteratorType::get(op->getContext(), encoding, unsigned(levels - 1));
  if (!iterator)
    return op->emitOpError("expected an iterator of type ") << expected << " (constraint 1)";
  return verifyIterator(op, "an iterator", iterator, encoding, unsigned(levels - 1));
}

LogicalResult IteratorAtOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                             SmallVectorImpl<Type> &types) {
  types.assign({cast<SpaceType>(adaptor.getSpace().getType()).getIterator(), IndexType::get(context),
                IntegerType::get(context, 1)});
  return success();
}

LogicalResult IteratorAtOp::verify() {
  const format::LevelFormat &level = cast<SpaceType>(getSpace().getType()).getFormat();
  if (!getUntil() || !level.unique)
    return success();
  return emitOpError("expected a nonunique level, got ") << format::print(level) << " (constraint 1)";
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
  if (failed(verifyType(*this, "a result", getType(), tensor.getElementType(), 2)))
    return failure();
  return verifyLeaf(*this, tensor, getIterator());
}

LogicalResult StoreOp::verify() {
  auto tensor = cast<RankedTensorType>(getTensor().getType());
  if (failed(verifyType(*this, "a value", getValue().getType(), tensor.getElementType(), 2)))
    return failure();
  return verifyLeaf(*this, tensor, getIterator());
}

void SegmentOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getBegin(), "begin");
  setName(getEnd(), "end");
}

//===--- Tensors in the making ---===//

LogicalResult AssembleOp::verify() {
  if (failed(verifySizes(*this, getResult().getType(), getSizes())))
    return failure();
  if (std::optional<AffineMap> order = getOrder())
    if (int64_t(order->getNumDims()) != getResult().getType().getRank() || order->getNumSymbols() != 0)
      return emitOpError("expected an order over ")
             << getResult().getType().getRank() << " dimensions and no symbols (constraint 2)";
  if (getEncoding(getResult().getType()).getValue().explicitVal)
    return emitOpError("makes a tensor with values of its own, and explicitVal leaves no place for them "
                       "(constraint 4)");
  if (getBody().getNumArguments() != 0)
    return emitOpError("expected a region without arguments (constraint 3)");
  return success();
}

LogicalResult EntriesOp::verify() {
  if (getBody().getNumArguments() != 0)
    return emitOpError("expected a region without arguments (constraint 1)");
  if (getAligned().value_or(1) < 1)
    return emitOpError("expected a positive alignment, got ") << *getAligned() << " (constraint 2)";
  return success();
}

LogicalResult ForEachEntryOp::verify() {
  if (!getEntries().getDefiningOp<EntriesOp>())
    return emitOpError("expected the result of a tulle.entries (constraint 1)");
  EntriesType type = getEntries().getType();
  SmallVector<Type> expected(type.getRank(), IndexType::get(getContext()));
  expected.push_back(type.getElement());
  if (!llvm::equal(getBody().getArgumentTypes(), expected))
    return emitOpError("expected ") << type.getRank() << " coordinates and a value of type "
                                    << type.getElement() << " as block arguments (constraint 2)";
  if (bool(getChunk()) != bool(getChunks()))
    return emitOpError("expected both the number of a chunk and the number of chunks (constraint 3)");
  return success();
}

void ForEachEntryOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  setName(region.getArguments().back(), "value");
}

LogicalResult InsertOp::verify() {
  Operation *parent = (*this)->getParentOp();
  while (parent && !isa<AssembleOp, EntriesOp>(parent))
    parent = parent->getParentOp();
  if (!parent)
    return emitOpError("expected to be inside tulle.assemble or tulle.entries (constraint 1)");
  auto entries = dyn_cast<EntriesOp>(parent);
  RankedTensorType tensor = entries ? RankedTensorType() : cast<AssembleOp>(parent).getResult().getType();
  const int64_t rank = entries ? entries.getType().getRank() : tensor.getRank();
  if (int64_t(getCoordinates().size()) != rank)
    return emitOpError("expected ") << rank << " coordinates, got " << getCoordinates().size()
                                    << " (constraint 1)";
  Type element = entries ? entries.getType().getElement() : tensor.getElementType();
  return verifyType(*this, "a value", getValue().getType(), element, 2);
}

LogicalResult StorageOp::verify() {
  RankedTensorType tensor = getResult().getType();
  size_t fields = format::layout(getEncoding(tensor).getValue()).fields.size();
  if (getBuffers().size() != fields)
    return emitOpError("expected ") << fields << " buffers, got " << getBuffers().size() << " (constraint 1)";
  return verifySizes(*this, tensor, getSizes());
}

//===--- Work of several threads ---===//

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
  if (type.getFormat().ordered)
    return success();
  return op->emitOpError("expected an ordered level, got ")
         << format::print(type.getFormat()) << " (constraint 1)";
}

LogicalResult PartitionOp::verify() {
  if (failed(verifyEstimate(*this, getSpace(), getEstimate())))
    return failure();
  auto space = dyn_cast<SpaceType>(getSpace().getType());
  if (getAlignment() == 1 || !space || format::isFull(space.getFormat()))
    return success();
  return emitOpError("expected an alignment of 1 for a level that stores its coordinates, got ")
         << getAlignment() << " (constraint 2)";
}

LogicalResult WorkOp::verify() { return verifyEstimate(*this, getSpace(), getEstimate()); }

LogicalResult PartitionBoundaryOp::verify() {
  return failure(failed(verifyEstimate(*this, getSpace(), getEstimate())) ||
                 failed(verifyOrdered(*this, getSpace())));
}

LogicalResult RestrictOp::verify() { return verifyOrdered(*this, getSpace()); }

LogicalResult ShiftOp::verify() {
  if (!format::storesCoordinates(getSpace().getType().getFormat()))
    return emitOpError("expected a level that stores its coordinates (constraint 1)");
  return verifyOrdered(*this, getSpace());
}

/// What stands below the coordinates of a space, or of a range over a tensor's first level.
static LogicalResult verifyBelow(Operation *op, Value space, Value tensor) {
  auto type = dyn_cast<SpaceType>(space.getType());
  if (bool(tensor) == bool(type))
    return op->emitOpError(type ? "expected no tensor for a space, which is one of a tensor (constraint 1)"
                                : "expected the tensor that the range is of (constraint 1)");
  const EncodingAttr encoding =
      type ? type.getEncoding() : getEncoding(cast<RankedTensorType>(tensor.getType()));
  const auto &levels = encoding.getValue().levels;
  if (!type && (levels.empty() || levels[0].format.kind != format::LevelKind::Dense))
    return op->emitOpError("expected a tensor whose first level is dense (constraint 1)");
  const size_t next = type ? size_t(type.getLevel()) + 1 : 1;
  using enum format::LevelKind;
  if (next >= levels.size() || !llvm::is_contained({Compressed, Singleton}, levels[next].format.kind))
    return op->emitOpError("expected a compressed or singleton level ")
           << next << (next < levels.size() ? ", got " + format::print(levels[next].format) : std::string())
           << " (constraint 2)";
  return success();
}

LogicalResult BoundsBelowOp::verify() { return verifyBelow(*this, getSpace(), getTensor()); }
LogicalResult EnclosingOp::verify() { return verifyBelow(*this, getSpace(), getTensor()); }

bool EmptyOp::isPossibleFor(RankedTensorType type) {
  using enum format::LevelKind;
  auto encoding = getEncoding(type);
  return encoding && !encoding.getValue().levels.empty() &&
         llvm::all_of(llvm::drop_begin(encoding.getValue().levels), [](const format::Level &level) {
           return llvm::is_contained({Dense, Compressed, Ragged, Banded, Singleton}, level.format.kind);
         });
}

LogicalResult EmptyOp::verify() {
  RankedTensorType type = getResult().getType();
  if (int64_t(getSizes().size()) != type.getRank())
    return emitOpError("expected a size for each of ") << type.getRank() << " dimensions (constraint 1)";
  if (!isPossibleFor(type))
    return emitOpError("expected levels below the first that are dense, compressed, ragged, banded or "
                       "singleton (constraint 4)");
  EncodingAttr encoding = getEncoding(type);
  auto isDense = [](const format::Level &level) { return level.format.kind == format::LevelKind::Dense; };
  if (getLike() ? getEncoding(getLike().getType()) != encoding
                : !llvm::all_of(encoding.getValue().levels, isDense))
    return emitOpError("expected a tensor of the same encoding after 'like', or dense levels only "
                       "(constraint 2)");
  auto space = dyn_cast<SpaceType>(getCoordinates().getType());
  if (space ? space.getEncoding() != encoding || space.getLevel() != 0
            : !isDense(encoding.getValue().levels[0]))
    return emitOpError("expected a space of the first level, or a range where that is dense (constraint 3)");
  return success();
}

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
  RankedTensorType result = getResult().getType();
  if (failed(verifySamePattern(*this, getTensor().getType(), result)))
    return failure();
  auto buffer = MemRefType::get({ShapedType::kDynamic}, memoryType(result.getElementType()));
  if (getValues().getType() == buffer)
    return success();
  return emitOpError("expected a buffer ")
         << buffer << ", got " << getValues().getType() << " (constraint 2)";
}
