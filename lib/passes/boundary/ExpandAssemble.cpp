// tulle-expand-assemble: the tensor has buffers of its own, which it frees; those it is made of stay the
// caller's.
#include "dialect/Dialect.h"
#include "levels/Storage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/boundary/BoundaryPasses.h"
#include "passes/boundary/Ownership.h"
#include "passes/boundary/SparseValues.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_EXPANDASSEMBLE
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

/// A copy of the first `count` elements, all where it is null, in one dimension, as a field of that type;
/// null where the elements are others.
Value copyOf(ImplicitLocOpBuilder &b, Value tensor, MemRefType field, Value count) {
  auto type = cast<RankedTensorType>(tensor.getType());
  const Type element = type.getElementType();
  const bool isIndex = element.isIndex() && field.getElementType().isInteger(64);
  if (element != field.getElementType() && !isIndex)
    return {};
  Value source = bufferization::ToBufferOp::create(b, MemRefType::get(type.getShape(), element), tensor,
                                                   /*read_only=*/true);
  if (!count) {
    count = arith::ConstantIndexOp::create(b, 1);
    for (int64_t d = 0; d < type.getRank(); ++d)
      count = b.createOrFold<arith::MulIOp>(count, b.createOrFold<tensor::DimOp>(tensor, d));
  }
  auto any = MemRefType::get({ShapedType::kDynamic}, element);
  source = memref::ReinterpretCastOp::create(b, any, source, OpFoldResult(b.getIndexAttr(0)),
                                             ArrayRef<OpFoldResult>{count},
                                             ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  Value copy = memref::AllocOp::create(b, any, count);
  memref::CopyOp::create(b, source, copy);
  return boundary::withElements(b, copy, field.getElementType());
}

/// How many coordinates a field has, as the positions above say: the caller's buffer may have more. Null of
/// levels without positions, and of batches, each of which has its own.
Value coordinatesOf(ImplicitLocOpBuilder &b, const format::Layout &layout, const format::Encoding &encoding,
                    const format::Field &field, ArrayRef<Value> buffers) {
  const std::optional<unsigned> positions = layout.positions[field.level];
  if (!positions || encoding.levels.front().format.kind == format::LevelKind::Batch)
    return {};
  Value size = memref::DimOp::create(b, buffers[*positions], 0);
  Value last = arith::SubIOp::create(b, size, arith::ConstantIndexOp::create(b, 1));
  Value end = memref::LoadOp::create(b, buffers[*positions], last);
  end = arith::IndexCastUIOp::create(b, b.getIndexType(), end);
  return arith::MulIOp::create(b, end,
                               arith::ConstantIndexOp::create(b, layout.coordinates[field.level]->stride));
}

LogicalResult expand(sparse_tensor::AssembleOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<RankedTensorType>(op.getResult().getType());
  const std::optional<format::Encoding> encoding = boundary::encodingOf(type);
  if (!encoding || !type.hasStaticShape())
    return op.emitError("expected a tensor whose sizes are known");
  const format::Layout layout = format::layout(*encoding);
  const SmallVector<Type> types = levels::fieldTypes(layout, type.getElementType());
  // Level by level positions, then coordinates, those of several levels in one buffer with the first of them.
  SmallVector<Value> given(op.getLevels()), buffers;
  given.push_back(op.getValues());
  if (given.size() != types.size())
    return op.emitError("expected ") << types.size() - 1 << " buffers of levels, got " << given.size() - 1;
  for (auto [tensor, type, field] : llvm::zip(given, types, layout.fields)) {
    Value count;
    if (field.kind == format::FieldKind::Coordinates)
      count = coordinatesOf(b, layout, *encoding, field, buffers);
    buffers.push_back(copyOf(b, tensor, cast<MemRefType>(type), count));
    if (!buffers.back())
      return op.emitError("expected the elements of ") << type << ", got " << tensor.getType();
  }
  SmallVector<Value> sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(arith::ConstantIndexOp::create(b, size));
  Value made = dialect::StorageOp::create(b, dialect::withEncoding(type, *encoding), buffers, sizes);
  op.replaceAllUsesWith(tensor::CastOp::create(b, type, made).getResult());
  op.erase();
  return success();
}

struct ExpandAssemble : impl::ExpandAssembleBase<ExpandAssemble> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) {
      if (isa<sparse_tensor::HasRuntimeLibraryOp>(op)) {
        OpBuilder b(op);
        op->replaceAllUsesWith(ValueRange(arith::ConstantIntOp::create(b, op->getLoc(), 1, 1).getResult()));
        op->erase();
        return WalkResult::advance();
      }
      auto assemble = dyn_cast<sparse_tensor::AssembleOp>(op);
      if (assemble)
        boundary::freeInBlock(assemble.getResult());
      return assemble && failed(expand(assemble)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace tulle::passes
