// Queries as statements on the pattern.
#include "dialect/Dialect.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/Passes.h"

namespace tulle::passes {
using namespace mlir;
using dialect::Aggregate;
#define GEN_PASS_DEF_EXPANDQUERY
#include "passes/Passes.h.inc"

namespace {

struct ExpandQuery : impl::ExpandQueryBase<ExpandQuery> {
  void runOnOperation() override {
    SmallVector<dialect::QueryOp> queries;
    getOperation().walk([&](dialect::QueryOp op) { queries.push_back(op); });
    for (dialect::QueryOp op : queries) {
      OpBuilder b(op);
      op.getResult().replaceAllUsesWith(expand(b, op));
      op.erase();
    }
  }

  static Value expand(OpBuilder &b, dialect::QueryOp op) {
    unsigned rank = unsigned(op.getTensor().getType().getRank());
    SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::reduction);
    for (AffineExpr selected : op.getSelect().getResults())
      kinds[cast<AffineDimExpr>(selected).getPosition()] = utils::IteratorType::parallel;
    auto generic = linalg::GenericOp::create(
        b, op.getLoc(), op.getType(), op.getTensor(), op.getInit(),
        {b.getMultiDimIdentityMap(rank), op.getSelect()}, kinds,
        [&](OpBuilder &nested, Location loc, ValueRange args) { body(nested, loc, op, args[0], args[1]); });
    return generic.getResult(0);
  }

  static void body(OpBuilder &b, Location loc, dialect::QueryOp op, Value element, Value soFar) {
    Value combined = combine(b, loc, op, soFar);
    Value stored = dialect::StoredOp::create(b, loc, b.getI1Type(), element);
    linalg::YieldOp::create(b, loc, Value(arith::SelectOp::create(b, loc, stored, combined, soFar)));
  }

  static Value combine(OpBuilder &b, Location loc, dialect::QueryOp op, Value soFar) {
    Type type = soFar.getType();
    switch (op.getAggregate()) {
    case Aggregate::Count:
      return arith::AddIOp::create(b, loc, soFar, arith::ConstantIntOp::create(b, loc, type, 1));
    case Aggregate::Id:
      return arith::ConstantIntOp::create(b, loc, type, 1);
    case Aggregate::Max:
      return arith::MaxSIOp::create(b, loc, soFar, value(b, loc, *op.getValue(), type));
    case Aggregate::Min:
      return arith::MinSIOp::create(b, loc, soFar, value(b, loc, *op.getValue(), type));
    }
    llvm_unreachable("an aggregate outside its enumeration");
  }

  /// The expression at the entry's coordinates.
  static Value value(OpBuilder &b, Location loc, AffineMap map, Type type) {
    SmallVector<Value> coordinates;
    for (unsigned d = 0; d < map.getNumDims(); ++d)
      coordinates.push_back(linalg::IndexOp::create(b, loc, d));
    Value index = affine::expandAffineExpr(b, loc, map.getResult(0), coordinates, {});
    return arith::IndexCastOp::create(b, loc, type, index);
  }
};

} // namespace
} // namespace tulle::passes
