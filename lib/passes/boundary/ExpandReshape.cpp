// tulle-expand-reshape: entries get the coordinates of their place in row-major order. Reshapes to static
// sizes stay: they are other maps of the same buffers.
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/boundary/BoundaryPasses.h"
#include "passes/boundary/EntryLists.h"
#include "passes/boundary/Kernels.h"
#include "passes/boundary/SparseValues.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_EXPANDRESHAPE
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

bool isSparse(Value value) { return boundary::SparseTypes::isSparse(value.getType()); }

/// Dimensions of the source, and those of the result that they become.
struct Group {
  SmallVector<int64_t> from, to;
};

class Reshape {
public:
  explicit Reshape(Operation *op)
      : op(op), b(op->getLoc(), op), source(op->getOperand(0)),
        from(cast<RankedTensorType>(source.getType())),
        to(cast<RankedTensorType>(op->getResult(0).getType())) {}

  /// Whether digits of static sizes say the same (import_sparse_tensor/ImportReshape).
  bool isView() const {
    if (isa<tensor::ReshapeOp>(op))
      return false;
    const bool expands = isa<tensor::ExpandShapeOp>(op);
    const RankedTensorType larger = expands ? to : from;
    return llvm::all_of(groups(), [&](const Group &group) {
      return llvm::all_of(ArrayRef(expands ? group.to : group.from).drop_front(),
                          [&](int64_t d) { return larger.getDimSize(unsigned(d)) > 1; });
    });
  }

  void expand() {
    const std::vector<Value> oldSizes = sizesOf(source, from);
    const std::vector<Value> newSizes = resultSizes(oldSizes);
    for (const Group &group : groups())
      requireSameCount(group, oldSizes, newSizes);
    auto listed = from.cloneWithEncoding(boundary::listEncoding(b.getContext(), from.getRank(), true));
    Value list = sparse_tensor::ConvertOp::create(b, listed, source);
    auto integers = MemRefType::get({ShapedType::kDynamic}, b.getI64Type());
    SmallVector<Value> old,
        buffers{sparse_tensor::ToPositionsOp::create(b, integers, list, b.getIndexAttr(0))};
    for (int64_t d = 0; d < from.getRank(); ++d)
      old.push_back(sparse_tensor::ToCoordinatesOp::create(b, integers, list, b.getIndexAttr(d)));
    Value count = sparse_tensor::NumberOfEntriesOp::create(b, list);
    for (int64_t d = 0; d < to.getRank(); ++d)
      buffers.push_back(memref::AllocOp::create(b, integers, count));
    auto loop = scf::ForOp::create(b, index(0), count, index(1));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      for (const Group &group : groups())
        moveCoordinates(group, loop.getInductionVar(), old, ArrayRef(buffers).drop_front(), oldSizes,
                        newSizes);
    }
    buffers.push_back(sparse_tensor::ToValuesOp::create(
        b, MemRefType::get({ShapedType::kDynamic}, from.getElementType()), list));
    Value moved = boundary::listOf(b, to, buffers, newSizes);
    op->replaceAllUsesWith(sparse_tensor::ConvertOp::create(b, to, moved));
    for (Value buffer : ArrayRef(buffers).drop_front().drop_back())
      memref::DeallocOp::create(b, buffer);
    bufferization::DeallocTensorOp::create(b, list);
    op->erase();
  }

private:
  Operation *op;
  ImplicitLocOpBuilder b;
  Value source;
  RankedTensorType from, to;

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value product(Value x, Value y) { return b.createOrFold<arith::MulIOp>(x, y); }

  SmallVector<Group> groups() const {
    SmallVector<Group> result;
    if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      for (auto [d, indices] : llvm::enumerate(collapse.getReassociationIndices()))
        result.push_back({llvm::to_vector(indices), {int64_t(d)}});
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      for (auto [d, indices] : llvm::enumerate(expand.getReassociationIndices()))
        result.push_back({{int64_t(d)}, llvm::to_vector(indices)});
    } else {
      result.push_back(
          {llvm::to_vector(llvm::seq(from.getRank())), llvm::to_vector(llvm::seq(to.getRank()))});
    }
    return result;
  }

  std::vector<Value> sizesOf(Value tensor, RankedTensorType type) {
    std::vector<Value> sizes;
    for (int64_t d = 0; d < type.getRank(); ++d)
      sizes.push_back(b.createOrFold<tensor::DimOp>(tensor, d));
    return sizes;
  }

  std::vector<Value> resultSizes(ArrayRef<Value> old) {
    std::vector<Value> sizes(size_t(to.getRank()));
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      for (auto [size, given] : llvm::zip(sizes, expand.getMixedOutputShape()))
        size = getValueOrCreateConstantIndexOp(b, b.getLoc(), given);
    } else if (auto reshape = dyn_cast<tensor::ReshapeOp>(op)) {
      for (auto [d, size] : llvm::enumerate(sizes)) {
        size = tensor::ExtractOp::create(b, reshape.getShape(), index(int64_t(d)));
        if (!size.getType().isIndex())
          size = arith::IndexCastOp::create(b, b.getIndexType(), size);
      }
    } else {
      for (auto [size, group] : llvm::zip(sizes, groups())) {
        size = index(1);
        for (int64_t d : group.from)
          size = product(size, old[size_t(d)]);
      }
    }
    return sizes;
  }

  /// The product of sizes, and whether each of them and all products are numbers below 2^63.
  std::pair<Value, Value> countOf(ArrayRef<int64_t> dimensions, ArrayRef<Value> sizes) {
    const Type i64 = b.getI64Type();
    Value zero = arith::ConstantIntOp::create(b, 0, 64), count = arith::ConstantIntOp::create(b, 1, 64);
    Value fits = arith::ConstantIntOp::create(b, 1, 1);
    auto require = [&](arith::CmpIPredicate is, Value value) {
      fits = arith::AndIOp::create(b, fits, arith::CmpIOp::create(b, is, value, zero));
    };
    for (int64_t d : dimensions) {
      Value size = arith::IndexCastOp::create(b, i64, sizes[size_t(d)]);
      auto extended = arith::MulSIExtendedOp::create(b, count, size);
      require(arith::CmpIPredicate::sge, size);
      require(arith::CmpIPredicate::eq, extended.getHigh());
      require(arith::CmpIPredicate::sge, count = extended.getLow());
    }
    return {count, fits};
  }

  void requireSameCount(const Group &group, ArrayRef<Value> oldSizes, ArrayRef<Value> newSizes) {
    const auto [before, fitsBefore] = countOf(group.from, oldSizes);
    const auto [after, fitsAfter] = countOf(group.to, newSizes);
    Value same = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, before, after);
    boundary::require(b, arith::AndIOp::create(b, same, arith::AndIOp::create(b, fitsBefore, fitsAfter)),
                      op->getParentOfType<ModuleOp>(), boundary::kReshapeError);
  }

  void moveCoordinates(const Group &group, Value entry, ArrayRef<Value> old, ArrayRef<Value> moved,
                       ArrayRef<Value> oldSizes, ArrayRef<Value> newSizes) {
    Value place = index(0);
    for (int64_t d : group.from) {
      Value coordinate = memref::LoadOp::create(b, old[size_t(d)], entry);
      coordinate = arith::IndexCastOp::create(b, b.getIndexType(), coordinate);
      place = arith::AddIOp::create(b, product(place, oldSizes[size_t(d)]), coordinate);
    }
    for (int64_t d : llvm::reverse(group.to)) {
      const bool isFirst = d == group.to.front();
      Value coordinate = isFirst ? place : arith::RemUIOp::create(b, place, newSizes[size_t(d)]).getResult();
      if (!isFirst)
        place = arith::DivUIOp::create(b, place, newSizes[size_t(d)]);
      coordinate = arith::IndexCastOp::create(b, b.getI64Type(), coordinate);
      memref::StoreOp::create(b, coordinate, moved[size_t(d)], entry);
    }
  }
};

struct ExpandReshape : impl::ExpandReshapeBase<ExpandReshape> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<tensor::ReshapeOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op) &&
          isa<RankedTensorType>(op->getOperand(0).getType()) &&
          isa<RankedTensorType>(op->getResult(0).getType()) &&
          (isSparse(op->getOperand(0)) || isSparse(op->getResult(0))))
        ops.push_back(op);
    });
    if (ops.empty())
      return markAllAnalysesPreserved();
    for (Operation *op : ops) {
      const auto from = cast<RankedTensorType>(op->getOperand(0).getType());
      const auto to = cast<RankedTensorType>(op->getResult(0).getType());
      if (from.getRank() == 0 || to.getRank() == 0) {
        op->emitError("expected a reshape of one dimension or more to as many");
        return signalPassFailure();
      }
      if (Reshape reshape(op); !reshape.isView())
        reshape.expand();
    }
  }
};

} // namespace
} // namespace tulle::passes
