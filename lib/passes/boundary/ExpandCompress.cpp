// tulle-expand-compress: the dense scratch of a tensor's last level (sparse_tensor.expand), and the insertion
// of what was stored in it (sparse_tensor.compress).
#include "dialect/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/boundary/BoundaryPasses.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_EXPANDCOMPRESS
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

Value index(ImplicitLocOpBuilder &b, int64_t value) { return arith::ConstantIndexOp::create(b, value); }

Value zeroOf(ImplicitLocOpBuilder &b, Type type) {
  return dialect::materialize(b, b.getLoc(), dialect::zeroAttr(type), type);
}

/// The dimension of each level; fails, with an error, where levels are not the dimensions in some order.
FailureOr<SmallVector<int64_t>> dimensionsOf(Operation *op, Type type) {
  const AffineMap order = sparse_tensor::getSparseTensorEncoding(type).getDimToLvl();
  SmallVector<int64_t> dimensions;
  if (!order)
    llvm::append_range(dimensions, llvm::seq(cast<RankedTensorType>(type).getRank()));
  else if (order.isPermutation())
    for (AffineExpr level : order.getResults())
      dimensions.push_back(cast<AffineDimExpr>(level).getPosition());
  else
    return op->emitError("expected a tensor whose levels are its dimensions, in any order");
  return dimensions;
}

/// All values are zero, and nothing is marked as stored.
LogicalResult expand(sparse_tensor::ExpandOp op) {
  const FailureOr<SmallVector<int64_t>> dimensions = dimensionsOf(op, op.getTensor().getType());
  if (failed(dimensions))
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value size = tensor::DimOp::create(b, op.getTensor(), dimensions->back());
  SmallVector<Value> results;
  for (Value buffer : op->getResults().drop_back())
    results.push_back(memref::AllocOp::create(b, cast<MemRefType>(buffer.getType()), size));
  results.push_back(index(b, 0));
  auto loop = scf::ForOp::create(b, index(b, 0), size, index(b, 1));
  b.setInsertionPointToStart(loop.getBody());
  for (Value buffer : ArrayRef(results).take_front(2))
    memref::StoreOp::create(b, zeroOf(b, cast<MemRefType>(buffer.getType()).getElementType()), buffer,
                            loop.getInductionVar());
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}

/// Inserts, in the order in which they were stored, and frees the scratch.
LogicalResult compress(sparse_tensor::CompressOp op) {
  const FailureOr<SmallVector<int64_t>> dimensions = dimensionsOf(op, op.getTensor().getType());
  if (failed(dimensions))
    return failure();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto loop = scf::ForOp::create(b, index(b, 0), op.getCount(), index(b, 1), op.getTensor());
  for (Value buffer : op->getOperands().take_front(3))
    memref::DeallocOp::create(b, buffer);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> coordinates(dimensions->size());
  SmallVector<Value> levels = llvm::to_vector(op.getLvlCoords());
  levels.push_back(memref::LoadOp::create(b, op.getAdded(), loop.getInductionVar()));
  for (auto [level, dimension] : llvm::zip(levels, *dimensions))
    coordinates[size_t(dimension)] = level;
  Value value = memref::LoadOp::create(b, op.getValues(), levels.back());
  scf::YieldOp::create(
      b, tensor::InsertOp::create(b, value, loop.getRegionIterArgs().front(), coordinates).getResult());
  op.replaceAllUsesWith(loop.getResult(0));
  op.erase();
  return success();
}

struct ExpandCompress : impl::ExpandCompressBase<ExpandCompress> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) {
      LogicalResult done = success();
      if (auto expansion = dyn_cast<sparse_tensor::ExpandOp>(op))
        done = expand(expansion);
      else if (auto compression = dyn_cast<sparse_tensor::CompressOp>(op))
        done = compress(compression);
      return failed(done) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace tulle::passes
