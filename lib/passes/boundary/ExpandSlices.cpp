// tulle-expand-slices: a slice is a tensor of its own, whose entries are copied; no type has slices any more.
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "passes/boundary/BoundaryPasses.h"
#include "passes/boundary/EntryLists.h"
#include "passes/boundary/Ownership.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_EXPANDSLICES
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

bool isSparse(Type type) { return bool(sparse_tensor::getSparseTensorEncoding(type)); }

RankedTensorType withoutSlices(RankedTensorType type) {
  auto encoding = sparse_tensor::getSparseTensorEncoding(type);
  return encoding ? type.cloneWithEncoding(encoding.withoutDimSlices()) : type;
}

class Slice {
public:
  explicit Slice(tensor::ExtractSliceOp op)
      : op(op), b(op.getLoc(), op), offsets(valuesOf(op.getMixedOffsets())),
        sizes(valuesOf(op.getMixedSizes())), strides(valuesOf(op.getMixedStrides())) {}

  void expand() {
    RankedTensorType from = op.getSourceType(), to = withoutSlices(op.getType());
    auto list = sparse_tensor::ConvertOp::create(
        b, from.cloneWithEncoding(boundary::listEncoding(b.getContext(), from.getRank(), /*ordered=*/true)),
        op.getSource());
    Value count = sparse_tensor::NumberOfEntriesOp::create(b, list);
    const auto integers = MemRefType::get({ShapedType::kDynamic}, b.getI64Type());
    const auto elements = MemRefType::get({ShapedType::kDynamic}, from.getElementType());
    for (int64_t d = 0; d < from.getRank(); ++d) {
      stored.push_back(sparse_tensor::ToCoordinatesOp::create(b, integers, list, b.getIndexAttr(d)));
      kept.push_back(memref::AllocOp::create(b, integers, count));
    }
    stored.push_back(sparse_tensor::ToValuesOp::create(b, elements, list));
    kept.push_back(memref::AllocOp::create(b, elements, count));
    Value number = keepEntries(count);
    Value positions = memref::AllocOp::create(b, integers, index(2));
    memref::StoreOp::create(b, arith::ConstantIntOp::create(b, 0, 64), positions, index(0));
    memref::StoreOp::create(b, arith::IndexCastOp::create(b, b.getI64Type(), number), positions, index(1));
    SmallVector<Value> buffers{positions};
    for (Value buffer : kept)
      buffers.push_back(memref::ReinterpretCastOp::create(
          b, cast<MemRefType>(buffer.getType()), buffer, OpFoldResult(b.getIndexAttr(0)),
          ArrayRef<OpFoldResult>{number}, ArrayRef<OpFoldResult>{b.getIndexAttr(1)}));
    auto result = sparse_tensor::ConvertOp::create(b, to, boundary::listOf(b, to, buffers, sizes));
    memref::DeallocOp::create(b, positions);
    for (Value buffer : kept)
      memref::DeallocOp::create(b, buffer);
    bufferization::DeallocTensorOp::create(b, list);
    if (isSparse(to))
      boundary::freeInBlock(op.getResult());
    op->replaceAllUsesWith(result);
    op.erase();
  }

private:
  tensor::ExtractSliceOp op;
  ImplicitLocOpBuilder b;
  SmallVector<Value> offsets, sizes, strides, stored, kept;

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

  SmallVector<Value> valuesOf(ArrayRef<OpFoldResult> mixed) {
    return llvm::map_to_vector(
        mixed, [&](OpFoldResult each) { return getValueOrCreateConstantIndexOp(b, b.getLoc(), each); });
  }

  /// Of those entries that are in the slice, which come first in the buffers then; their number.
  Value keepEntries(Value count) {
    OpBuilder::InsertionGuard guard(b);
    auto loop = scf::ForOp::create(b, index(0), count, index(1), index(0));
    b.setInsertionPointToStart(loop.getBody());
    Value isKept = arith::ConstantIntOp::create(b, 1, 1);
    SmallVector<Value> moved;
    for (auto [d, buffer] : llvm::enumerate(ArrayRef(stored).drop_back())) {
      Value coordinate = memref::LoadOp::create(b, buffer, loop.getInductionVar());
      // One below the offset is, without a sign, beyond every size.
      Value distance =
          arith::SubIOp::create(b, arith::IndexCastOp::create(b, b.getIndexType(), coordinate), offsets[d]);
      Value step = arith::DivUIOp::create(b, distance, strides[d]);
      Value rest = arith::RemUIOp::create(b, distance, strides[d]);
      Value isOn = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest, index(0));
      Value isIn = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, step, sizes[d]);
      Value isBehind = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, distance, index(0));
      for (Value condition : {isOn, isIn, isBehind})
        isKept = arith::AndIOp::create(b, isKept, condition);
      moved.push_back(arith::IndexCastOp::create(b, b.getI64Type(), step));
    }
    Value at = loop.getRegionIterArgs().front();
    auto check = scf::IfOp::create(b, b.getIndexType(), isKept, /*withElseRegion=*/true);
    scf::YieldOp::create(b, check.getResults());
    b.setInsertionPointToStart(check.elseBlock());
    scf::YieldOp::create(b, at);
    b.setInsertionPointToStart(check.thenBlock());
    moved.push_back(memref::LoadOp::create(b, stored.back(), loop.getInductionVar()));
    for (auto [value, buffer] : llvm::zip(moved, kept))
      memref::StoreOp::create(b, value, buffer, at);
    scf::YieldOp::create(b, arith::AddIOp::create(b, at, index(1)).getResult());
    return loop.getResult(0);
  }
};

/// The op that makes the slice, where casts alone come between; null for others.
tensor::ExtractSliceOp sliceBehind(Value slice) {
  while (auto cast = slice.getDefiningOp<tensor::CastOp>())
    slice = cast.getSource();
  return slice.getDefiningOp<tensor::ExtractSliceOp>();
}

/// The offset or stride of a slice: what the type says of it, or else the op that makes it.
LogicalResult replaceBySaid(Operation *op, std::optional<uint64_t> said, OpFoldResult made) {
  OpBuilder b(op);
  if (said)
    made = b.getIndexAttr(int64_t(*said));
  if (!made)
    return op->emitError(
        "a slice is a tensor of its own here, which does not know its '?'; use the operand of "
        "tensor.extract_slice");
  op->replaceAllUsesWith(ValueRange(getValueOrCreateConstantIndexOp(b, op->getLoc(), made)));
  op->erase();
  return success();
}

struct ExpandSlices : impl::ExpandSlicesBase<ExpandSlices> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<tensor::ExtractSliceOp> slices;
    WalkResult result = module.walk([&](Operation *op) {
      LogicalResult done = success();
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
        if (isSparse(slice.getSourceType()) && slice.getType().getRank() != slice.getSourceType().getRank())
          done = slice.emitError("expected a slice of a sparse tensor with as many dimensions as the tensor");
        if (isSparse(slice.getSourceType()))
          slices.push_back(slice);
      } else if (auto offset = dyn_cast<sparse_tensor::ToSliceOffsetOp>(op)) {
        const auto encoding = sparse_tensor::getSparseTensorEncoding(offset.getSlice().getType());
        const uint64_t dim = offset.getDim().getZExtValue();
        tensor::ExtractSliceOp made = sliceBehind(offset.getSlice());
        done = replaceBySaid(op, encoding.getStaticDimSliceOffset(dim),
                             made ? made.getMixedOffsets()[dim] : OpFoldResult());
      } else if (auto stride = dyn_cast<sparse_tensor::ToSliceStrideOp>(op)) {
        const auto encoding = sparse_tensor::getSparseTensorEncoding(stride.getSlice().getType());
        const uint64_t dim = stride.getDim().getZExtValue();
        tensor::ExtractSliceOp made = sliceBehind(stride.getSlice());
        done = replaceBySaid(op, encoding.getStaticDimSliceStride(dim),
                             made ? made.getMixedStrides()[dim] : OpFoldResult());
      }
      return failed(done) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (tensor::ExtractSliceOp slice : slices)
      Slice(slice).expand();
    AttrTypeReplacer replacer;
    replacer.addReplacement([](sparse_tensor::StorageSpecifierType type) {
      return std::pair<Type, WalkResult>(type, WalkResult::skip());
    });
    replacer.addReplacement([](sparse_tensor::SparseTensorEncodingAttr encoding) -> Attribute {
      return encoding.withoutDimSlices();
    });
    replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
  }
};

} // namespace
} // namespace tulle::passes
