// Each value of the body has a presence: a bit that says whether upstream computes it. Where it does not, the
// output keeps what it has, and in sums it is 0.
#include "passes/import_sparse_tensor/ImportSemiring.h"
#include "dialect/Dialect.h"
#include "dialect/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"

namespace tulle::passes {
using namespace mlir;

bool isSemiringOp(Operation *op) {
  return isa<sparse_tensor::UnaryOp, sparse_tensor::BinaryOp, sparse_tensor::SelectOp,
             sparse_tensor::ReduceOp>(op);
}

Value inlined(ImplicitLocOpBuilder &b, Region &region, ValueRange arguments) {
  if (region.empty())
    return {};
  IRMapping mapping;
  mapping.map(region.getArguments(), arguments);
  for (Operation &op : region.front().without_terminator())
    b.clone(op, mapping);
  Operation *yield = region.front().getTerminator();
  return yield->getNumOperands() ? mapping.lookupOrDefault(yield->getOperand(0)) : Value();
}

namespace {

/// A bit; null for one that is always set.
using Bit = Value;

class Semiring {
public:
  explicit Semiring(linalg::GenericOp generic)
      : generic(generic), body(generic.getBody()), b(generic.getLoc(), generic.getContext()) {}

  LogicalResult rewrite() {
    SmallVector<Operation *> ops;
    for (Operation &op : *body)
      if (isSemiringOp(&op))
        ops.push_back(&op);
    for (Operation *op : ops)
      if (failed(rewrite(op)))
        return failure();
    if (!ops.empty())
      keepWhereAbsent();
    return success();
  }

private:
  linalg::GenericOp generic;
  Block *body;
  ImplicitLocOpBuilder b;
  DenseMap<Value, Bit> known; ///< presence

  BlockArgument output() const { return body->getArguments().back(); }

  //===--- Bits ---===//

  Bit both(Bit x, Bit y) { return !x ? y : !y ? x : b.createOrFold<arith::AndIOp>(x, y); }
  Bit either(Bit x, Bit y) { return !x || !y ? Bit() : b.createOrFold<arith::OrIOp>(x, y); }
  Bit never() { return arith::ConstantIntOp::create(b, 0, 1); }
  Bit negated(Bit x) {
    return !x ? never() : b.createOrFold<arith::XOrIOp>(x, arith::ConstantIntOp::create(b, 1, 1));
  }

  Bit presence(Value value) {
    if (auto found = known.find(value); found != known.end())
      return found->second;
    return known[value] = computePresence(value);
  }

  /// As upstream's merger: products need all factors, else one operand is enough. Tensors that store
  /// everything, constants and indices are always there.
  Bit computePresence(Value value) {
    if (auto arg = dyn_cast<BlockArgument>(value); arg && arg.getOwner() == body) {
      auto type = dyn_cast<RankedTensorType>(generic->getOperand(arg.getArgNumber()).getType());
      if (arg == output() || !type || format::isAllDense(dialect::getEncoding(type).getValue()))
        return {};
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(body);
      return dialect::StoredOp::create(b, b.getI1Type(), arg);
    }
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != body || op->getNumOperands() == 0)
      return {};
    const bool product =
        isa<arith::MulFOp, arith::MulIOp, arith::AndIOp>(op) || op->getName().getStringRef() == "complex.mul";
    Bit result = presence(op->getOperand(0));
    for (Value operand : op->getOperands().drop_front())
      result = product ? both(result, presence(operand)) : either(result, presence(operand));
    return result;
  }

  //===--- Ops ---===//

  LogicalResult rewrite(Operation *op) {
    b.setInsertionPoint(op);
    b.setLoc(op->getLoc());
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        if (inner.getNumRegions() > 0)
          return inner.emitError("cannot import control flow in a region of '") << op->getName() << "'";
    if (auto unary = dyn_cast<sparse_tensor::UnaryOp>(op))
      return replace(op, casesOf(unary));
    if (auto binary = dyn_cast<sparse_tensor::BinaryOp>(op))
      return replace(op, casesOf(binary));
    if (auto select = dyn_cast<sparse_tensor::SelectOp>(op)) {
      const Value x = select.getX();
      return replace(op, {{both(presence(x), inlined(b, select.getRegion(), x)), x}});
    }
    return reduce(cast<sparse_tensor::ReduceOp>(op));
  }

  /// A value, and where it is the op's. No two cases hold at once.
  struct Case {
    Bit holds;
    Value value;
  };

  SmallVector<Case> casesOf(sparse_tensor::UnaryOp op) {
    SmallVector<Case> cases;
    const Bit stored = presence(op.getX());
    if (Value present = inlined(b, op.getPresentRegion(), op.getX()))
      cases.push_back({stored, present});
    if (Value absent = inlined(b, op.getAbsentRegion(), {}); absent && stored)
      cases.push_back({negated(stored), absent});
    return cases;
  }

  SmallVector<Case> casesOf(sparse_tensor::BinaryOp op) {
    SmallVector<Case> cases;
    const Value x = op.getX(), y = op.getY();
    const Bit left = presence(x), right = presence(y);
    if (Value overlap = inlined(b, op.getOverlapRegion(), {x, y}))
      cases.push_back({both(left, right), overlap});
    Value alone = op.getLeftIdentity() ? x : inlined(b, op.getLeftRegion(), x);
    if (alone && right)
      cases.push_back({both(left, negated(right)), alone});
    alone = op.getRightIdentity() ? y : inlined(b, op.getRightRegion(), y);
    if (alone && left)
      cases.push_back({both(negated(left), right), alone});
    return cases;
  }

  LogicalResult replace(Operation *op, ArrayRef<Case> cases) {
    const Type type = op->getResult(0).getType();
    // What nobody computes is 0 for the ops that read it; the yield does not.
    Value value = dialect::materialize(b, b.getLoc(), dialect::zeroAttr(type), type);
    Bit present = never();
    for (const Case &each : llvm::reverse(cases)) {
      value = each.holds ? b.createOrFold<arith::SelectOp>(each.holds, each.value, value) : each.value;
      present = either(present, each.holds);
    }
    known[value] = present;
    op->replaceAllUsesWith(ValueRange(value));
    op->erase();
    return success();
  }

  /// The result starts with the identity, whatever is in it.
  LogicalResult reduce(sparse_tensor::ReduceOp op) {
    const bool isLeft = op.getX() == output();
    if (!isLeft && op.getY() != output())
      return op.emitError("expected the output as an operand of '") << op->getName() << "'";
    const Bit contributes = presence(isLeft ? op.getY() : op.getX());
    Value value = inlined(b, op.getRegion(), {op.getX(), op.getY()});
    if (Value extreme = extremeOf(value)) {
      auto select = value.getDefiningOp<arith::SelectOp>();
      Operation *compared = select.getCondition().getDefiningOp();
      select.erase();
      compared->erase();
      value = extreme;
    }
    if (contributes)
      value = arith::SelectOp::create(b, contributes, value, output());
    known[value] = Bit();
    OpOperand *init = generic.getDpsInitOperand(0);
    OpBuilder outside(generic);
    init->set(dialect::FillOp::create(outside, op.getLoc(), op.getIdentity(), init->get()));
    op->replaceAllUsesWith(ValueRange(value));
    op->erase();
    return success();
  }

  /// `x < y ? x : y` as a minimum, and so on: values may meet in any order, as upstream asks of a reduction;
  /// null for another value.
  Value extremeOf(Value value) {
    auto select = value.getDefiningOp<arith::SelectOp>();
    auto compared = select ? select.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
    if (!compared || !select->use_empty() || !compared->hasOneUse())
      return {};
    const Value x = select.getTrueValue(), y = select.getFalseValue();
    const bool straight = compared.getLhs() == x && compared.getRhs() == y;
    if (!straight && !(compared.getLhs() == y && compared.getRhs() == x))
      return {};
    switch (compared.getPredicate()) {
    case arith::CmpFPredicate::OLT:
    case arith::CmpFPredicate::OLE:
    case arith::CmpFPredicate::ULT:
    case arith::CmpFPredicate::ULE:
      return straight ? arith::MinimumFOp::create(b, x, y).getResult() : arith::MaximumFOp::create(b, x, y);
    case arith::CmpFPredicate::OGT:
    case arith::CmpFPredicate::OGE:
    case arith::CmpFPredicate::UGT:
    case arith::CmpFPredicate::UGE:
      return straight ? arith::MaximumFOp::create(b, x, y).getResult() : arith::MinimumFOp::create(b, x, y);
    default:
      return {};
    }
  }

  void keepWhereAbsent() {
    Operation *yield = body->getTerminator();
    b.setInsertionPoint(yield);
    if (Bit present = presence(yield->getOperand(0)))
      yield->setOperand(0, arith::SelectOp::create(b, present, yield->getOperand(0), output()));
  }
};

} // namespace

LogicalResult importSemiring(linalg::GenericOp generic) { return Semiring(generic).rewrite(); }

} // namespace tulle::passes
