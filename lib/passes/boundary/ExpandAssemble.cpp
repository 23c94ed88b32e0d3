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
#include "passes/boundary/SparseValues.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_EXPANDASSEMBLE
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

/// A copy of all elements in one dimension, as a field of that type; null where the elements are others.
Value copyOf(ImplicitLocOpBuilder &b, Value tensor, MemRefType field) {
  auto type = cast<RankedTensorType>(tensor.getType());
  const bool isIndex = type.getElementType().isIndex() && field.getElementType().isInteger(64);
  if (!type.hasStaticShape() || (type.getElementType() != field.getElementType() && !isIndex))
    return {};
  Value source = bufferization::ToBufferOp::create(b, MemRefType::get(type.getShape(), type.getElementType()),
                                                   tensor, /*read_only=*/true);
  auto flat = MemRefType::get({type.getNumElements()}, type.getElementType());
  if (source.getType() != flat)
    source = memref::ReinterpretCastOp::create(
        b, flat, source, /*offset=*/0, ArrayRef<int64_t>{type.getNumElements()}, ArrayRef<int64_t>{1});
  Value copy = memref::AllocOp::create(b, flat);
  memref::CopyOp::create(b, source, copy);
  copy = memref::CastOp::create(b, MemRefType::get({ShapedType::kDynamic}, type.getElementType()), copy);
  // An index is 64 bits wide in memory.
  return isIndex ? UnrealizedConversionCastOp::create(b, field, copy).getResult(0) : copy;
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
  for (auto [tensor, field] : llvm::zip(given, types)) {
    buffers.push_back(copyOf(b, tensor, cast<MemRefType>(field)));
    if (!buffers.back())
      return op.emitError("expected static sizes, and the elements of ")
             << field << ", got " << tensor.getType();
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
      return assemble && failed(expand(assemble)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace tulle::passes
