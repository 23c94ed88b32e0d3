// tulle-expand-inserts: a tensor under insertion is a list that grows; sparse_tensor.load converts it.
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/boundary/BoundaryPasses.h"
#include "passes/boundary/EntryLists.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_EXPANDINSERTS
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

constexpr int64_t firstCapacity = 16;

/// Everything that may be one tensor under insertion: what loops and branches carry, and what is inserted
/// into.
class Insertion {
public:
  explicit Insertion(sparse_tensor::LoadOp load)
      : load(load), type(cast<RankedTensorType>(load.getTensor().getType())),
        listed(type.cloneWithEncoding(
            boundary::listEncoding(load.getContext(), type.getRank(), /*ordered=*/false))) {}

  LogicalResult expand() {
    if (!isUnderInsertion(load.getTensor())) {
      load.replaceAllUsesWith(load.getTensor());
      load.erase();
      return success();
    }
    values.insert(load.getTensor());
    for (size_t k = 0; k < values.size(); ++k)
      if (failed(reach(values[k])))
        return failure();
    for (Value value : values)
      value.setType(listed);
    for (OpOperand *use : stored)
      listStored(*use);
    for (Operation *op : ops)
      if (auto insert = dyn_cast<tensor::InsertOp>(op))
        append(insert);
      else
        begin(op);
    finish();
    return success();
  }

private:
  sparse_tensor::LoadOp load;
  RankedTensorType type, listed;
  llvm::SetVector<Value> values;
  llvm::SetVector<Operation *> ops;    ///< inserts, and what makes an empty tensor
  llvm::SetVector<OpOperand *> stored; ///< tensors with entries of their own that are inserted into

  static bool isUnderInsertion(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return isa<scf::ForOp>(argument.getOwner()->getParentOp());
    auto alloc = value.getDefiningOp<bufferization::AllocTensorOp>();
    return (alloc && !alloc.getCopy()) ||
           isa<scf::ForOp, scf::IfOp, tensor::InsertOp, tensor::EmptyOp>(value.getDefiningOp());
  }

  /// What is the same tensor as the value, before and after.
  LogicalResult reach(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      values.insert(cast<scf::ForOp>(argument.getOwner()->getParentOp()).getTiedLoopResult(argument));
    } else if (auto loop = value.getDefiningOp<scf::ForOp>()) {
      const unsigned number = cast<OpResult>(value).getResultNumber();
      values.insert(loop.getRegionIterArg(number));
      reachSource(loop.getInitsMutable()[number]);
      reachSource(loop.getBody()->getTerminator()->getOpOperand(number));
    } else if (auto branch = value.getDefiningOp<scf::IfOp>()) {
      for (Block *block : {branch.thenBlock(), branch.elseBlock()})
        reachSource(block->getTerminator()->getOpOperand(cast<OpResult>(value).getResultNumber()));
    } else if (auto insert = value.getDefiningOp<tensor::InsertOp>()) {
      reachSource(insert.getDestMutable());
      ops.insert(insert);
    } else {
      ops.insert(value.getDefiningOp());
    }
    for (OpOperand &use : value.getUses())
      if (failed(reachUse(use)))
        return failure();
    return success();
  }

  void reachSource(OpOperand &source) {
    if (isUnderInsertion(source.get()))
      values.insert(source.get());
    else
      stored.insert(&source);
  }

  /// The tensor is a list from here on.
  void listStored(OpOperand &use) {
    ImplicitLocOpBuilder b(use.getOwner()->getLoc(), use.getOwner());
    Value list = sparse_tensor::ConvertOp::create(b, listed, use.get());
    bufferization::DeallocTensorOp::create(b, use.get());
    use.set(list);
  }

  LogicalResult reachUse(OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto loop = dyn_cast<scf::ForOp>(user))
      values.insert(loop.getTiedLoopResult(&use));
    else if (isa<scf::YieldOp>(user) && isa<scf::ForOp, scf::IfOp>(user->getParentOp()))
      values.insert(user->getParentOp()->getResult(use.getOperandNumber()));
    else if (auto insert = dyn_cast<tensor::InsertOp>(user))
      values.insert(insert.getResult());
    else if (user != load && !isa<tensor::DimOp>(user))
      return refuse(user, "what this op reads");
    return success();
  }

  LogicalResult refuse(Operation *op, const Twine &what) {
    InFlightDiagnostic error = op->emitError("expected ")
                               << what << " not to be a tensor under insertion: between tensor.empty and one "
                               << "sparse_tensor.load are inserts, scf.for and scf.if alone";
    error.attachNote(load.getLoc()) << "its insertions end here";
    return error;
  }

  static Value index(ImplicitLocOpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }

  /// Positions, coordinates and values.
  SmallVector<Value> buffersOf(ImplicitLocOpBuilder &b, Value list) {
    auto integers = MemRefType::get({ShapedType::kDynamic}, b.getI64Type());
    SmallVector<Value> buffers{sparse_tensor::ToPositionsOp::create(b, integers, list, b.getIndexAttr(0))};
    for (int64_t d = 0; d < type.getRank(); ++d)
      buffers.push_back(sparse_tensor::ToCoordinatesOp::create(b, integers, list, b.getIndexAttr(d)));
    buffers.push_back(sparse_tensor::ToValuesOp::create(
        b, MemRefType::get({ShapedType::kDynamic}, type.getElementType()), list));
    return buffers;
  }

  SmallVector<Value> sizesOf(ImplicitLocOpBuilder &b, Value list) {
    SmallVector<Value> sizes;
    for (int64_t d = 0; d < type.getRank(); ++d)
      sizes.push_back(tensor::DimOp::create(b, list, d));
    return sizes;
  }

  Value asList(ImplicitLocOpBuilder &b, ValueRange buffers, ValueRange sizes) {
    return tensor::CastOp::create(b, listed, boundary::listOf(b, type, buffers, sizes));
  }

  void begin(Operation *op) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    ValueRange dynamic = op->getOperands();
    SmallVector<Value> sizes;
    for (int64_t size : type.getShape()) {
      sizes.push_back(ShapedType::isDynamic(size) ? dynamic.front() : index(b, size));
      dynamic = ShapedType::isDynamic(size) ? dynamic.drop_front() : dynamic;
    }
    auto allocate = [&](Type element, int64_t count) -> Value {
      return memref::AllocOp::create(b, MemRefType::get({ShapedType::kDynamic}, element), index(b, count));
    };
    SmallVector<Value> buffers{allocate(b.getI64Type(), 2)};
    Value none = arith::ConstantIntOp::create(b, 0, 64);
    for (int64_t k : {0, 1})
      memref::StoreOp::create(b, none, buffers[0], index(b, k));
    for (int64_t d = 0; d < type.getRank(); ++d)
      buffers.push_back(allocate(b.getI64Type(), firstCapacity));
    buffers.push_back(allocate(type.getElementType(), firstCapacity));
    op->replaceAllUsesWith(ValueRange(asList(b, buffers, sizes)));
    op->erase();
  }

  void append(tensor::InsertOp insert) {
    ImplicitLocOpBuilder b(insert.getLoc(), insert);
    SmallVector<Value> buffers = buffersOf(b, insert.getDest());
    Value one = index(b, 1), stored = memref::LoadOp::create(b, buffers[0], one);
    Value at = arith::IndexCastOp::create(b, b.getIndexType(), stored);
    Value capacity = memref::DimOp::create(b, buffers.back(), 0);
    Value full = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, at, capacity);
    const ValueRange growing = ValueRange(buffers).drop_front();
    auto grow = scf::IfOp::create(b, growing.getTypes(), full, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(grow.thenBlock());
      // A list that was converted may have no capacity at all.
      Value twice =
          arith::AddIOp::create(b, arith::AddIOp::create(b, capacity, capacity), index(b, firstCapacity));
      scf::YieldOp::create(b, llvm::map_to_vector(growing, [&](Value buffer) -> Value {
                             return memref::ReallocOp::create(b, cast<MemRefType>(buffer.getType()), buffer,
                                                              twice);
                           }));
      b.setInsertionPointToStart(grow.elseBlock());
      scf::YieldOp::create(b, growing);
    }
    llvm::copy(grow.getResults(), std::next(buffers.begin()));
    for (auto [coordinate, buffer] : llvm::zip(insert.getIndices(), ArrayRef(buffers).drop_front()))
      memref::StoreOp::create(b, arith::IndexCastOp::create(b, b.getI64Type(), coordinate), buffer, at);
    memref::StoreOp::create(b, insert.getScalar(), buffers.back(), at);
    Value more = arith::AddIOp::create(b, stored, arith::ConstantIntOp::create(b, 1, 64));
    memref::StoreOp::create(b, more, buffers[0], one);
    insert.replaceAllUsesWith(asList(b, buffers, sizesOf(b, insert.getDest())));
    insert.erase();
  }

  /// The list has buffers as long as it is when it is converted.
  void finish() {
    ImplicitLocOpBuilder b(load.getLoc(), load);
    Value list = load.getTensor();
    SmallVector<Value> buffers = buffersOf(b, list);
    Value count =
        arith::IndexCastOp::create(b, b.getIndexType(), memref::LoadOp::create(b, buffers[0], index(b, 1)));
    for (Value &buffer : MutableArrayRef(buffers).drop_front())
      buffer = memref::ReinterpretCastOp::create(
          b, cast<MemRefType>(buffer.getType()), buffer, OpFoldResult(b.getIndexAttr(0)),
          ArrayRef<OpFoldResult>{count}, ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
    Value converted =
        sparse_tensor::ConvertOp::create(b, type, boundary::listOf(b, type, buffers, sizesOf(b, list)));
    bufferization::DeallocTensorOp::create(b, list);
    load.replaceAllUsesWith(converted);
    load.erase();
  }
};

/// Where no load ends the insertions that this one is of, the ops that read the tensor do.
void endInsertions(tensor::InsertOp insert) {
  llvm::SetVector<Value> values;
  values.insert(insert.getResult());
  SmallVector<OpOperand *> reads;
  for (size_t k = 0; k < values.size(); ++k)
    for (OpOperand &use : values[k].getUses()) {
      Operation *user = use.getOwner();
      if (isa<sparse_tensor::LoadOp>(user))
        return;
      if (auto loop = dyn_cast<scf::ForOp>(user))
        values.insert(loop.getTiedLoopResult(&use));
      else if (isa<scf::YieldOp>(user) && isa<scf::ForOp, scf::IfOp>(user->getParentOp()))
        values.insert(user->getParentOp()->getResult(use.getOperandNumber()));
      else if (auto next = dyn_cast<tensor::InsertOp>(user))
        values.insert(next.getResult());
      else if (!isa<tensor::DimOp>(user))
        reads.push_back(&use);
    }
  for (OpOperand *use : reads) {
    OpBuilder b(use->getOwner());
    use->set(sparse_tensor::LoadOp::create(b, insert.getLoc(), use->get(), /*hasInserts=*/true));
  }
}

struct ExpandInserts : impl::ExpandInsertsBase<ExpandInserts> {
  void runOnOperation() override {
    getOperation().walk([](tensor::InsertOp insert) {
      if (sparse_tensor::getSparseTensorEncoding(insert.getType()))
        endInsertions(insert);
    });
    SmallVector<sparse_tensor::LoadOp> loads;
    getOperation().walk([&](sparse_tensor::LoadOp load) { loads.push_back(load); });
    for (sparse_tensor::LoadOp load : loads) {
      if (load.getHasInserts()) {
        if (failed(Insertion(load).expand()))
          return signalPassFailure();
        continue;
      }
      load.replaceAllUsesWith(load.getTensor());
      load.erase();
    }
  }
};

} // namespace
} // namespace tulle::passes
