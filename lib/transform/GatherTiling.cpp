// Tiles of gathers and scatters. A tile of a gather's result needs all of the source in the dimensions that
// integers give the coordinates of; where it is at one place of the indices, it needs the slice at the
// coordinates there, which a producer can be asked for.
#include "dialect/Dialect.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "transform/SubsetModels.h"

using namespace mlir;
using namespace tulle::dialect;

namespace {

using Sizes = SmallVector<OpFoldResult>;

int64_t rank(Value value) { return cast<ShapedType>(value.getType()).getRank(); }

/// Fails, with an error, where operands have no slices that are tensors.
LogicalResult checkSlices(Operation *op) {
  for (Type type : op->getOperandTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return op->emitError("cannot tile an op on buffers; tile before --one-shot-bufferize");
    if (tensor.getEncoding())
      return op->emitError("cannot take slices of ")
             << tensor << "; --tulle-expand-gather makes loops over its levels of this";
  }
  return success();
}

SmallVector<Range> domainOf(OpBuilder &b, Location loc, Value part) {
  SmallVector<Range> ranges;
  const bool isTensor = isa<RankedTensorType>(part.getType());
  for (int64_t d = 0; d < rank(part); ++d) {
    const OpFoldResult size =
        isTensor ? tensor::getMixedSize(b, loc, part, d) : memref::getMixedSize(b, loc, part, d);
    ranges.push_back({b.getIndexAttr(0), size, b.getIndexAttr(1)});
  }
  return ranges;
}

tensor::ExtractSliceOp slice(OpBuilder &b, Location loc, Value of, ArrayRef<OpFoldResult> offsets,
                             ArrayRef<OpFoldResult> sizes) {
  const Sizes strides(offsets.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, loc, of, offsets, sizes, strides);
}

/// The part of the whole that a tile has: from an offset where the part has the dimension.
struct WholeTile {
  Sizes offsets, sizes;

  WholeTile(OpBuilder &b, Location loc, Value whole, ArrayRef<int64_t> given, int64_t batchRank,
            ArrayRef<OpFoldResult> tileOffsets, ArrayRef<OpFoldResult> tileSizes) {
    for (int64_t d = 0, next = batchRank; d < rank(whole); ++d) {
      const bool isGiven = llvm::is_contained(given, d);
      offsets.push_back(isGiven ? OpFoldResult(b.getIndexAttr(0)) : tileOffsets[size_t(next)]);
      sizes.push_back(isGiven ? tensor::getMixedSize(b, loc, whole, d) : tileSizes[size_t(next)]);
      next += !isGiven;
    }
  }
};

/// The integers at the places of a tile.
tensor::ExtractSliceOp indicesOf(OpBuilder &b, Location loc, Value indices,
                                 ArrayRef<OpFoldResult> tileOffsets, ArrayRef<OpFoldResult> tileSizes) {
  const size_t batchRank = size_t(rank(indices) - 1);
  Sizes offsets(tileOffsets.take_front(batchRank)), sizes(tileSizes.take_front(batchRank));
  offsets.push_back(b.getIndexAttr(0));
  sizes.push_back(tensor::getMixedSize(b, loc, indices, int64_t(batchRank)));
  return slice(b, loc, indices, offsets, sizes);
}

/// The integer at one place as a coordinate of a dimension.
Value coordinateAt(OpBuilder &b, GatherOp op, ArrayRef<OpFoldResult> place, size_t column) {
  const Location loc = op.getLoc();
  SmallVector<Value> at = getValueOrCreateConstantIndexOp(b, loc, place);
  at.push_back(arith::ConstantIndexOp::create(b, loc, int64_t(column)));
  Value integer = tensor::ExtractOp::create(b, loc, op.getIndices(), at);
  if (!integer.getType().isIndex())
    integer = arith::IndexCastOp::create(b, loc, b.getIndexType(), integer);
  const int64_t dim = op.getGiven()[column];
  Value size = getValueOrCreateConstantIndexOp(b, loc, tensor::getMixedSize(b, loc, op.getSource(), dim));
  if (op.getOutside() == Outside::Nearest) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
    Value last = arith::SubIOp::create(b, loc, size, one);
    return arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, integer, last), zero);
  }
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, integer, size);
  cf::AssertOp::create(b, loc, inside,
                       "an integer of the indices is no coordinate of dimension " + std::to_string(dim));
  return integer;
}

/// A tile at one place of the indices: a slice of the source.
TilingResult tileAtPlace(OpBuilder &b, GatherOp op, ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes) {
  const Location loc = op.getLoc();
  const int64_t batchRank = op.getBatchRank();
  const SmallVector<int64_t> given = op.getGiven();
  WholeTile tile(b, loc, op.getSource(), given, batchRank, offsets, sizes);
  for (auto [column, d] : llvm::enumerate(given)) {
    tile.offsets[size_t(d)] = coordinateAt(b, op, offsets.take_front(size_t(batchRank)), column);
    tile.sizes[size_t(d)] = b.getIndexAttr(1);
  }
  auto found = slice(b, loc, op.getSource(), tile.offsets, tile.sizes);
  SmallVector<int64_t> shape, kept;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  if (found.getType().getShape() == ArrayRef(shape))
    return {{found}, {found.getResult()}, {found}};
  // The dimensions of the indices are before all others in the result, and have size 1.
  kept.assign(shape.begin() + batchRank, shape.end());
  found.getResult().setType(RankedTensorType::get(kept, found.getType().getElementType()));
  auto init = slice(b, loc, op.getInit(), offsets, sizes);
  const Sizes zeros(sizes.size(), b.getIndexAttr(0)), ones(sizes.size(), b.getIndexAttr(1));
  auto made = tensor::InsertSliceOp::create(b, loc, found, init, zeros, sizes, ones);
  return {{made}, {made.getResult()}, {found, init}};
}

struct GatherTiling : TilingInterface::ExternalModel<GatherTiling, GatherOp> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const {
    return SmallVector<utils::IteratorType>(size_t(rank(cast<GatherOp>(op).getInit())),
                                            utils::IteratorType::parallel);
  }
  SmallVector<Range> getIterationDomain(Operation *op, OpBuilder &b) const {
    return domainOf(b, op->getLoc(), cast<GatherOp>(op).getInit());
  }

  FailureOr<TilingResult> getTiledImplementation(Operation *operation, OpBuilder &b,
                                                 ArrayRef<OpFoldResult> offsets,
                                                 ArrayRef<OpFoldResult> sizes) const {
    auto op = cast<GatherOp>(operation);
    if (failed(checkSlices(op)))
      return failure();
    const int64_t batchRank = op.getBatchRank();
    const bool onePlace = llvm::all_of(sizes.take_front(size_t(batchRank)),
                                       [](OpFoldResult size) { return isConstantIntValue(size, 1); });
    if (onePlace && op.getOutside() != Outside::Nothing)
      return tileAtPlace(b, op, offsets, sizes);
    const Location loc = op.getLoc();
    const WholeTile tile(b, loc, op.getSource(), op.getGiven(), batchRank, offsets, sizes);
    auto source = slice(b, loc, op.getSource(), tile.offsets, tile.sizes);
    auto indices = indicesOf(b, loc, op.getIndices(), offsets, sizes);
    auto init = slice(b, loc, op.getInit(), offsets, sizes);
    auto tiled = GatherOp::create(b, loc, init.getType(), source, indices, init, op.getCoordinatesAttr(),
                                  op.getOutside());
    return TilingResult{{tiled}, {tiled.getResult()}, {source, indices, init}};
  }

  LogicalResult getResultTilePosition(Operation *, OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
                                      ArrayRef<OpFoldResult> sizes, Sizes &resultOffsets,
                                      Sizes &resultSizes) const {
    resultOffsets.assign(offsets.begin(), offsets.end());
    resultSizes.assign(sizes.begin(), sizes.end());
    return success();
  }
  LogicalResult getIterationDomainTileFromResultTile(Operation *, OpBuilder &, unsigned,
                                                     ArrayRef<OpFoldResult> offsets,
                                                     ArrayRef<OpFoldResult> sizes,
                                                     SmallVectorImpl<OpFoldResult> &domainOffsets,
                                                     SmallVectorImpl<OpFoldResult> &domainSizes) const {
    domainOffsets.assign(offsets.begin(), offsets.end());
    domainSizes.assign(sizes.begin(), sizes.end());
    return success();
  }
  FailureOr<TilingResult> generateResultTileValue(Operation *op, OpBuilder &b, unsigned,
                                                  ArrayRef<OpFoldResult> offsets,
                                                  ArrayRef<OpFoldResult> sizes) const {
    return getTiledImplementation(op, b, offsets, sizes);
  }
};

/// Whether a tile has all of a dimension of the tensor that is tiled.
bool isWhole(Value tensor, int64_t dim, OpFoldResult offset, OpFoldResult size) {
  if (!isConstantIntValue(offset, 0))
    return false;
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim))
    return isConstantIntValue(size, type.getDimSize(dim));
  auto value = dyn_cast<Value>(size);
  auto asked = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  return asked && asked.getSource() == tensor && asked.getConstantIndex() == dim;
}

/// Fails, with an error, where a coordinate of one tile might be that of another, which no tile would find.
LogicalResult checkUnique(ScatterOp op, ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes) {
  for (int64_t d = 0; op.getUnique() && d < op.getBatchRank(); ++d)
    if (!isWhole(op.getSource(), d, offsets[size_t(d)], sizes[size_t(d)]))
      return op->emitError("cannot check 'unique' in tiles of dimension ")
             << d << ", one of the indices: a coordinate may be given again in another tile; tile the "
             << "dimensions of the slices alone, or leave out 'unique'";
  return success();
}

/// Tiles of the source follow on each other: those of several places may store at the same coordinates.
struct ScatterTiling : TilingInterface::ExternalModel<ScatterTiling, ScatterOp> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *operation) const {
    auto op = cast<ScatterOp>(operation);
    SmallVector<utils::IteratorType> kinds(size_t(op.getBatchRank()), utils::IteratorType::reduction);
    kinds.resize(size_t(rank(op.getSource())), utils::IteratorType::parallel);
    return kinds;
  }
  SmallVector<Range> getIterationDomain(Operation *op, OpBuilder &b) const {
    return domainOf(b, op->getLoc(), cast<ScatterOp>(op).getSource());
  }

  FailureOr<TilingResult> getTiledImplementation(Operation *operation, OpBuilder &b,
                                                 ArrayRef<OpFoldResult> offsets,
                                                 ArrayRef<OpFoldResult> sizes) const {
    auto op = cast<ScatterOp>(operation);
    if (failed(checkSlices(op)) || failed(checkUnique(op, offsets, sizes)))
      return failure();
    const Location loc = op.getLoc();
    const WholeTile tile(b, loc, op.getInit(), op.getGiven(), op.getBatchRank(), offsets, sizes);
    auto source = slice(b, loc, op.getSource(), offsets, sizes);
    auto indices = indicesOf(b, loc, op.getIndices(), offsets, sizes);
    auto init = slice(b, loc, op.getInit(), tile.offsets, tile.sizes);
    auto tiled = ScatterOp::create(b, loc, init.getType(), source, init, indices, op.getCoordinatesAttr(),
                                   op.getOutside(), op.getUnique());
    return TilingResult{{tiled}, {tiled.getResult()}, {source, indices, init}};
  }

  LogicalResult getResultTilePosition(Operation *operation, OpBuilder &b, unsigned,
                                      ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
                                      Sizes &resultOffsets, Sizes &resultSizes) const {
    auto op = cast<ScatterOp>(operation);
    WholeTile tile(b, op.getLoc(), op.getInit(), op.getGiven(), op.getBatchRank(), offsets, sizes);
    resultOffsets = std::move(tile.offsets);
    resultSizes = std::move(tile.sizes);
    return success();
  }
};

} // namespace

void tulle::transform::registerTilingModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TulleDialect *) {
    context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, tensor::TensorDialect>();
    GatherOp::attachInterface<GatherTiling>(*context);
    ScatterOp::attachInterface<ScatterTiling>(*context);
  });
}
