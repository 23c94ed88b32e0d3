#include "passes/boundary/Ownership.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace tulle::boundary {

/// Whether the op's results are in memory of its operand.
static bool isView(Operation *op) {
  return isa<tensor::CastOp, tensor::ExtractSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ReshapeOp, bufferization::ToTensorOp, bufferization::ToBufferOp,
             sparse_tensor::ToValuesOp, sparse_tensor::ToPositionsOp, sparse_tensor::ToCoordinatesOp,
             sparse_tensor::ToCoordinatesBufferOp, sparse_tensor::ReinterpretMapOp, ViewLikeOpInterface>(op);
}

/// Whether a result of that type may be the tensor or buffer itself, or in its memory.
static bool mayBe(Operation *user, Value value, Type result) {
  if (result == value.getType())
    return true;
  if (isa<BaseMemRefType>(value.getType()))
    return isa<TensorType, BaseMemRefType>(result);
  // What a function does to its operand may be a cast of its shape.
  auto operand = dyn_cast<RankedTensorType>(value.getType()), tensor = dyn_cast<RankedTensorType>(result);
  return isa<CallOpInterface>(user) &&
         (!tensor || !operand ? isa<TensorType, BaseMemRefType>(result)
                              : tensor.getEncoding() == operand.getEncoding() &&
                                    succeeded(verifyCompatibleShape(tensor, operand)));
}

/// What linalg writes to is its result, and reorder_coo frees its operand.
static bool mayKeep(Operation *user, Value value) {
  if (auto op = dyn_cast<linalg::LinalgOp>(user))
    return llvm::is_contained(op.getDpsInits(), value);
  return user->hasTrait<OpTrait::IsTerminator>() ||
         isa<bufferization::DeallocTensorOp, sparse_tensor::ReorderCOOOp, memref::DeallocOp,
             memref::ExtractAlignedPointerAsIndexOp, UnrealizedConversionCastOp>(user) ||
         llvm::any_of(user->getResultTypes(), [&](Type type) { return mayBe(user, value, type); });
}

static bool isReadIn(Block *block, Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (!block->findAncestorOpInBlock(*user))
      return false;
    return isView(user) ? isReadIn(block, user->getResult(0)) : !mayKeep(user, value);
  });
}

void freeInBlock(Value tensor) {
  Block *block = tensor.getParentBlock();
  if (!isReadIn(block, tensor))
    return;
  OpBuilder b(block->getTerminator());
  bufferization::DeallocTensorOp::create(b, tensor.getLoc(), tensor);
}

} // namespace tulle::boundary
