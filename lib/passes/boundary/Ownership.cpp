#include "passes/boundary/Ownership.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace tulle::boundary {

/// A tensor of the same type may be the operand itself; what linalg writes to is its result.
static bool mayKeep(Operation *user, Value tensor) {
  if (auto op = dyn_cast<linalg::LinalgOp>(user))
    return llvm::is_contained(op.getDpsInits(), tensor);
  return user->hasTrait<OpTrait::IsTerminator>() || isa<bufferization::DeallocTensorOp>(user) ||
         llvm::is_contained(user->getResultTypes(), tensor.getType());
}

static bool isReadIn(Block *block, Value tensor) {
  return llvm::all_of(tensor.getUsers(), [&](Operation *user) {
    if (!block->findAncestorOpInBlock(*user))
      return false;
    return isa<tensor::CastOp>(user) ? isReadIn(block, user->getResult(0)) : !mayKeep(user, tensor);
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
