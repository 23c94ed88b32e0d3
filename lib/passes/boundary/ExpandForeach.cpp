// tulle-expand-foreach: a loop over the entries of a list, or over all elements of a dense tensor.
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/boundary/BoundaryPasses.h"
#include "passes/boundary/EntryLists.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_EXPANDFOREACH
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

class Foreach {
public:
  explicit Foreach(sparse_tensor::ForeachOp op)
      : op(op), b(op.getLoc(), op), type(cast<RankedTensorType>(op.getTensor().getType())) {}

  LogicalResult expand() {
    const auto encoding = sparse_tensor::getSparseTensorEncoding(type);
    AffineMap order = b.getMultiDimIdentityMap(unsigned(type.getRank()));
    if (op.getOrder())
      order = *op.getOrder();
    else if (encoding && !encoding.isIdentity())
      order = encoding.getDimToLvl();
    if (!order.isPermutation())
      return op.emitError("expected a tensor whose levels are its dimensions, in any order");
    auto constant = op.getTensor().getDefiningOp<arith::ConstantOp>();
    const bool isListed = constant && isa<SparseElementsAttr>(constant.getValue());
    const ValueRange results =
        isListed || (encoding && !encoding.isAllDense()) ? overEntries(order) : overElements(order);
    op->replaceAllUsesWith(SmallVector<Value>(results));
    op.erase();
    return success();
  }

private:
  sparse_tensor::ForeachOp op;
  ImplicitLocOpBuilder b;
  RankedTensorType type;

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

  /// Entries are sorted as the loop meets them.
  ValueRange overEntries(AffineMap order) {
    auto listed = type.cloneWithEncoding(boundary::listEncoding(order, /*ordered=*/true));
    Value list = sparse_tensor::ConvertOp::create(b, listed, op.getTensor());
    SmallVector<Value> coordinates(size_t(type.getRank()));
    for (auto [level, dimension] : llvm::enumerate(order.getResults()))
      coordinates[cast<AffineDimExpr>(dimension).getPosition()] = sparse_tensor::ToCoordinatesOp::create(
          b, MemRefType::get({ShapedType::kDynamic}, b.getI64Type()), list, b.getIndexAttr(int64_t(level)));
    Value values = sparse_tensor::ToValuesOp::create(
        b, MemRefType::get({ShapedType::kDynamic}, type.getElementType()), list);
    Value count = sparse_tensor::NumberOfEntriesOp::create(b, list);
    auto loop = scf::ForOp::create(b, index(0), count, index(1), op.getInitArgs());
    bufferization::DeallocTensorOp::create(b, list);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> arguments;
    for (Value buffer : coordinates)
      arguments.push_back(arith::IndexCastOp::create(
          b, b.getIndexType(), memref::LoadOp::create(b, buffer, loop.getInductionVar())));
    arguments.push_back(memref::LoadOp::create(b, values, loop.getInductionVar()));
    fill(loop, arguments, loop.getRegionIterArgs());
    return loop.getResults();
  }

  ValueRange overElements(AffineMap order) {
    Value dense = op.getTensor();
    if (type.getEncoding())
      dense = sparse_tensor::ConvertOp::create(b, type.cloneWithEncoding({}), dense);
    SmallVector<Value> coordinates(size_t(type.getRank()));
    SmallVector<scf::ForOp> loops;
    ValueRange carried = op.getInitArgs();
    for (AffineExpr result : order.getResults()) {
      const unsigned dimension = cast<AffineDimExpr>(result).getPosition();
      Value size = tensor::DimOp::create(b, dense, int64_t(dimension));
      auto loop = scf::ForOp::create(b, index(0), size, index(1), carried);
      if (!loops.empty() && !carried.empty())
        scf::YieldOp::create(b, loop.getResults());
      b.setInsertionPointToStart(loop.getBody());
      coordinates[dimension] = loop.getInductionVar();
      carried = loop.getRegionIterArgs();
      loops.push_back(loop);
    }
    SmallVector<Value> arguments = coordinates;
    arguments.push_back(tensor::ExtractOp::create(b, dense, coordinates));
    fill(loops.back(), arguments, carried);
    return loops.front().getResults();
  }

  /// The body, at the builder's insertion point.
  void fill(scf::ForOp loop, SmallVector<Value> arguments, ValueRange carried) {
    llvm::append_range(arguments, carried);
    IRMapping mapping;
    Block &body = op.getRegion().front();
    mapping.map(body.getArguments(), arguments);
    for (Operation &inner : body.without_terminator())
      b.clone(inner, mapping);
    if (carried.empty())
      return;
    scf::YieldOp::create(b, llvm::map_to_vector(body.getTerminator()->getOperands(),
                                                [&](Value value) { return mapping.lookupOrDefault(value); }));
  }
};

struct ExpandForeach : impl::ExpandForeachBase<ExpandForeach> {
  void runOnOperation() override {
    SmallVector<sparse_tensor::ForeachOp> ops;
    getOperation().walk<WalkOrder::PreOrder>([&](sparse_tensor::ForeachOp op) { ops.push_back(op); });
    if (ops.empty())
      return markAllAnalysesPreserved();
    // Outer ones last: they copy what is in them.
    for (sparse_tensor::ForeachOp op : llvm::reverse(ops))
      if (failed(Foreach(op).expand()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace tulle::passes
