// A select on the bits of one or two operands has a case for each combination of them: the regions of unary
// and binary. What the result keeps where nobody computes a value goes without saying there.
#include "passes/export_sparse_tensor/ExportSemiring.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/LoopUtils.h"

namespace tulle::passes {
using namespace mlir;

namespace {

/// Which of the body's arguments store something.
using Bits = llvm::SmallDenseMap<Value, bool>;

class Exporter {
public:
  explicit Exporter(linalg::GenericOp generic)
      : generic(generic), body(generic.getBody()), b(generic.getLoc(), generic.getContext()) {}

  LogicalResult run() {
    if (body->getOps<dialect::StoredOp>().empty())
      return success();
    for (Operation &op : llvm::make_early_inc_range(*body))
      if (auto select = dyn_cast<arith::SelectOp>(op); select && isRoot(select))
        if (failed(exportSelect(select)))
          return failure();
    if (failed(exportYield()))
      return failure();
    eraseUnused();
    for (auto stored : body->getOps<dialect::StoredOp>())
      return stored.emitError("expected in the body of a linalg.generic a select on what one or two operands "
                              "store, as the sparse_tensor dialect says by unary, binary, select and reduce");
    return success();
  }

private:
  linalg::GenericOp generic;
  Block *body;
  ImplicitLocOpBuilder b;
  DenseMap<Value, Value> presence; ///< of what was exported: the bit of its values

  Value output() const { return body->getArguments().back(); }

  //===--- Bits ---===//

  /// The operands whose bits the condition reads; false where it reads anything else.
  static bool collect(Value bit, SmallVectorImpl<Value> &operands) {
    return acceptsSlice(bit, [&](Value part) -> std::optional<bool> {
      if (auto stored = part.getDefiningOp<dialect::StoredOp>()) {
        if (!llvm::is_contained(operands, stored.getValue()))
          operands.push_back(stored.getValue());
        return true;
      }
      if (matchPattern(part, m_Constant()))
        return true;
      if (isa_and_nonnull<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(part.getDefiningOp()))
        return std::nullopt;
      return false;
    });
  }

  /// Precondition: `collect` is true.
  static bool evaluate(Value bit, const Bits &bits) {
    Bits known;
    return evaluate(bit, bits, known);
  }

  /// A condition is a graph: each of its values is evaluated once.
  static bool evaluate(Value bit, const Bits &bits, Bits &known) {
    if (auto found = known.find(bit); found != known.end())
      return found->second;
    if (auto stored = bit.getDefiningOp<dialect::StoredOp>())
      return bits.lookup(stored.getValue());
    APInt constant;
    if (matchPattern(bit, m_ConstantInt(&constant)))
      return !constant.isZero();
    Operation *op = bit.getDefiningOp();
    const bool x = evaluate(op->getOperand(0), bits, known), y = evaluate(op->getOperand(1), bits, known);
    return known[bit] = isa<arith::AndIOp>(op) ? x && y : isa<arith::OrIOp>(op) ? x || y : x != y;
  }

  static bool readsBits(Value bit) {
    SmallVector<Value> operands;
    if (collect(bit, operands))
      return !operands.empty();
    return bool(conditionOnValue(bit).first);
  }

  /// `stored x and condition`: the operand, and the condition.
  static std::pair<Value, Value> conditionOnValue(Value bit) {
    auto both = bit.getDefiningOp<arith::AndIOp>();
    auto stored = both ? both.getLhs().getDefiningOp<dialect::StoredOp>() : dialect::StoredOp();
    SmallVector<Value> others;
    if (!stored || collect(both.getRhs(), others))
      return {};
    return {stored.getValue(), both.getRhs()};
  }

  //===--- Selects ---===//

  /// A select of cases that are all about bits, and else 0; the outermost one.
  bool isRoot(arith::SelectOp select) {
    if (!isChain(select) || isReduction(select))
      return false;
    return llvm::none_of(select->getUsers(), [&](Operation *user) {
      auto outer = dyn_cast<arith::SelectOp>(user);
      return outer && outer.getFalseValue() == select.getResult() && isChain(outer);
    });
  }

  bool isChain(arith::SelectOp select) {
    for (; readsBits(select.getCondition());
         select = select.getFalseValue().getDefiningOp<arith::SelectOp>()) {
      if (isZero(select.getFalseValue()))
        return true;
      if (!select.getFalseValue().getDefiningOp<arith::SelectOp>())
        return false;
    }
    return false;
  }

  static bool isZero(Value value) {
    return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
  }

  bool isReduction(arith::SelectOp select) { return select.getFalseValue() == output(); }

  LogicalResult exportSelect(arith::SelectOp root) {
    b.setInsertionPoint(root);
    b.setLoc(root.getLoc());
    if (auto [operand, condition] = conditionOnValue(root.getCondition()); operand)
      return exportSelectOnValue(root, operand, condition);
    SmallVector<Value> operands;
    SmallVector<arith::SelectOp> chain;
    for (auto select = root; select; select = select.getFalseValue().getDefiningOp<arith::SelectOp>()) {
      if (!collect(select.getCondition(), operands))
        return select.emitError(
            "expected a condition on what operands store alone, or on one operand's value");
      chain.push_back(select);
    }
    llvm::sort(operands, [](Value x, Value y) {
      return cast<BlockArgument>(x).getArgNumber() < cast<BlockArgument>(y).getArgNumber();
    });
    if (operands.size() > 2)
      return root.emitError("expected a select on what one or two operands store; the sparse_tensor dialect "
                            "has no op of three");
    FailureOr<Operation *> made = operands.size() == 1 ? exportUnary(chain, operands[0])
                                                       : exportBinary(chain, operands[0], operands[1]);
    if (failed(made))
      return failure();
    b.setInsertionPoint(root);
    Value present = chain.front().getCondition();
    for (arith::SelectOp select : MutableArrayRef(chain).drop_front())
      present = b.createOrFold<arith::OrIOp>(present, select.getCondition());
    return replace(root, (*made)->getResult(0), present);
  }

  LogicalResult replace(arith::SelectOp root, Value by, Value present) {
    presence[by] = present;
    root.getResult().replaceAllUsesWith(by);
    return success();
  }

  LogicalResult exportSelectOnValue(arith::SelectOp root, Value operand, Value condition) {
    if (root.getTrueValue() != operand || !isZero(root.getFalseValue()))
      return root.emitError("expected a condition on a value to select the value itself");
    auto made = sparse_tensor::SelectOp::create(b, operand.getType(), operand);
    if (failed(fill(made.getRegion(), condition, operand)))
      return failure();
    b.setInsertionPoint(root);
    return replace(root, made.getResult(), root.getCondition());
  }

  /// The value of the first case that holds; null for none.
  static Value valueAt(MutableArrayRef<arith::SelectOp> chain, const Bits &bits) {
    for (arith::SelectOp select : chain)
      if (evaluate(select.getCondition(), bits))
        return select.getTrueValue();
    return {};
  }

  FailureOr<Operation *> exportUnary(MutableArrayRef<arith::SelectOp> chain, Value x) {
    auto made = sparse_tensor::UnaryOp::create(b, chain.front().getType(), x);
    if (failed(fill(made.getPresentRegion(), valueAt(chain, {{x, true}}), x)) ||
        failed(fill(made.getAbsentRegion(), valueAt(chain, {{x, false}}), {})))
      return failure();
    return made.getOperation();
  }

  FailureOr<Operation *> exportBinary(MutableArrayRef<arith::SelectOp> chain, Value x, Value y) {
    if (valueAt(chain, {{x, false}, {y, false}}))
      return chain.front().emitError("expected no value where both operands store nothing");
    Value left = valueAt(chain, {{x, true}, {y, false}}), right = valueAt(chain, {{x, false}, {y, true}});
    const bool keepsLeft = left == x, keepsRight = right == y;
    auto made = sparse_tensor::BinaryOp::create(b, chain.front().getType(), x, y, keepsLeft, keepsRight);
    if (failed(fill(made.getOverlapRegion(), valueAt(chain, {{x, true}, {y, true}}), {x, y})) ||
        failed(fill(made.getLeftRegion(), keepsLeft ? Value() : left, x)) ||
        failed(fill(made.getRightRegion(), keepsRight ? Value() : right, y)))
      return failure();
    return made.getOperation();
  }

  //===--- Regions ---===//

  /// A region that yields the value, with what computes it in the body; nothing for no value.
  LogicalResult fill(Region &region, Value value, ValueRange operands) {
    if (!value)
      return success();
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&region);
    IRMapping mapping;
    for (Value operand : operands)
      mapping.map(operand, block->addArgument(operand.getType(), operand.getLoc()));
    if (failed(copy(value, mapping)))
      return failure();
    sparse_tensor::YieldOp::create(b, mapping.lookupOrDefault(value));
    return success();
  }

  /// What depends on the operands is copied; what does not is read from outside.
  LogicalResult copy(Value value, IRMapping &mapping) {
    if (mapping.contains(value) || !dependsOnOperands(value))
      return success();
    Operation *op = value.getDefiningOp();
    if (!op || presence.count(value) || op->getNumRegions() > 0 || isa<dialect::StoredOp>(op))
      return generic.emitError(
          "expected what a case of a select yields to read the operands that it is of alone");
    for (Value operand : op->getOperands())
      if (failed(copy(operand, mapping)))
        return failure();
    b.clone(*op, mapping);
    return success();
  }

  /// On what may be absent, or on the output.
  bool dependsOnOperands(Value value) {
    return !acceptsSlice(value, [&](Value part) -> std::optional<bool> {
      if (auto arg = dyn_cast<BlockArgument>(part)) {
        if (arg.getOwner() != body)
          return true;
        auto type = dyn_cast<RankedTensorType>(generic->getOperand(arg.getArgNumber()).getType());
        return arg != output() && !(type && !format::isAllDense(dialect::getEncoding(type).getValue()));
      }
      Operation *op = part.getDefiningOp();
      if (op->getBlock() != body)
        return true;
      return presence.count(part) || isa<dialect::StoredOp>(op) ? std::optional(false) : std::nullopt;
    });
  }

  //===--- What the result keeps ---===//

  /// The bits of a value that the import would compute, as a sum of products.
  bool isPresent(Value value, const Bits &bits) {
    Bits known;
    return isPresent(value, bits, known);
  }

  bool isPresent(Value value, const Bits &bits, Bits &known) {
    if (auto found = known.find(value); found != known.end())
      return found->second;
    if (auto found = presence.find(value); found != presence.end())
      return evaluate(found->second, bits);
    if (auto arg = dyn_cast<BlockArgument>(value))
      return arg == output() || !dependsOnOperands(arg) || bits.lookup(arg);
    Operation *op = value.getDefiningOp();
    if (op->getBlock() != body || op->getNumOperands() == 0)
      return true;
    auto present = [&](Value operand) { return isPresent(operand, bits, known); };
    const bool product =
        isa<arith::MulFOp, arith::MulIOp, arith::AndIOp>(op) || op->getName().getStringRef() == "complex.mul";
    return known[value] =
               product ? llvm::all_of(op->getOperands(), present) : llvm::any_of(op->getOperands(), present);
  }

  /// Whether the result keeps what it has exactly where the value is not computed.
  bool keepsWhereAbsent(Value bit, Value value) {
    if (auto found = presence.find(value); found != presence.end() && found->second == bit)
      return true;
    SmallVector<Value> operands;
    for (const auto &[exported, own] : presence)
      if (!collect(own, operands))
        return false;
    if (!collect(bit, operands) || operands.size() > 6)
      return false;
    for (unsigned number = 0; number < 1u << operands.size(); ++number) {
      Bits bits;
      for (auto [k, operand] : llvm::enumerate(operands))
        bits[operand] = number >> k & 1;
      if (evaluate(bit, bits) != isPresent(value, bits))
        return false;
    }
    return true;
  }

  LogicalResult exportYield() {
    Operation *yield = body->getTerminator();
    auto select = yield->getOperand(0).getDefiningOp<arith::SelectOp>();
    if (!select || select.getFalseValue() != output())
      return success();
    const Value value = select.getTrueValue();
    if (!reads(value, output()) && keepsWhereAbsent(select.getCondition(), value)) {
      yield->setOperand(0, value);
      return success();
    }
    return exportReduction(select, yield);
  }

  static bool reads(Value value, Value other) {
    return !acceptsSlice(value,
                         [&](Value part) { return part == other ? std::optional(false) : std::nullopt; });
  }

  /// `stored x ? f(x, output) : output` from a constant on.
  LogicalResult exportReduction(arith::SelectOp select, Operation *yield) {
    auto start = generic.getDpsInitOperand(0)->get().getDefiningOp<dialect::FillOp>();
    SmallVector<Value> read;
    leaves(select.getTrueValue(), read);
    if (!start || read.size() != 1 || !reads(select.getTrueValue(), output()) ||
        !keepsWhereAbsent(select.getCondition(), read.front()))
      return select.emitError("expected the result to keep what it has where no value is computed, or a "
                              "reduction of one value, from a tulle.fill on");
    b.setInsertionPoint(yield);
    b.setLoc(select.getLoc());
    auto made = sparse_tensor::ReduceOp::create(b, read.front(), output(), start.getValue());
    if (failed(fill(made.getRegion(), select.getTrueValue(), {read.front(), output()})))
      return failure();
    yield->setOperand(0, made.getResult());
    generic.getDpsInitOperand(0)->set(start.getTensor());
    return success();
  }

  /// What the value is computed of, but the output.
  void leaves(Value value, SmallVectorImpl<Value> &found) {
    acceptsSlice(value, [&](Value part) -> std::optional<bool> {
      if (part == output() || !dependsOnOperands(part))
        return true;
      if (!isa<BlockArgument>(part) && !presence.count(part))
        return std::nullopt;
      found.push_back(part);
      return true;
    });
  }

  void eraseUnused() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
};

} // namespace

LogicalResult exportSemiring(linalg::GenericOp generic) { return Exporter(generic).run(); }

} // namespace tulle::passes
