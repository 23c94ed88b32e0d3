// Stage 1 to stage 2: linalg.generic on tensors with encodings becomes loops over sets of coordinates.
#include "dialect/Costs.h"
#include "dialect/Scalars.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopUtils.h"
#include "passes/sparsify/Emitter.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace tulle::passes {
using namespace mlir;
using linalg::GenericOp;
#define GEN_PASS_DEF_SPARSIFY
#include "passes/Passes.h.inc"

namespace {

//===--- Sums ---===//

struct Term {
  Value value;
  bool negative;
};

bool mayReorder(Operation *op) {
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op))
    return bitEnumContainsAll(fast.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::reassoc);
  return isa<arith::AddIOp, arith::SubIOp>(op);
}

/// A sum is a list of signed terms; terms that read the same sparse operands are one statement, which adds
/// them to the result of the one before. One statement's body: `out + (t1 + t2 + …)` or the terms alone,
/// where a mask holds.
class Sum {
public:
  explicit Sum(GenericOp generic)
      : generic(generic), block(*generic.getBody()), out(block.getArguments().back()) {}

  /// Puts `y = t1; y = y + t2; …` before `y = t1 + t2 + …`, one linalg.generic for all terms that read the
  /// same sparse operands: the last one's result is the sum. Empty, and nothing is put there, where that is
  /// not the same: the result is not dense, the order of its additions is kept, or it is narrower than its
  /// sums.
  SmallVector<GenericOp> split() {
    if (!match())
      return {};
    OpBuilder b(generic);
    SmallVector<GenericOp> made;
    Value init = generic.getDpsInits()[0];
    for (auto &[sparse, members] : groups) {
      made.push_back(statementOf(b, members, init, accumulates || !made.empty()));
      init = made.back().getResult(0);
    }
    return made;
  }

private:
  bool match() {
    auto type = cast<RankedTensorType>(generic.getResult(0).getType());
    const bool dense = format::isAllDense(dialect::getEncoding(type).getValue());
    if (!dense || type.getElementType().isF16() || type.getElementType().isBF16() || !fillsWithZero())
      return false;
    Value root = block.getTerminator()->getOperand(0);
    if (auto select = root.getDefiningOp<arith::SelectOp>(); select && select.getFalseValue() == out) {
      mask = select.getCondition();
      root = select.getTrueValue();
    }
    Operation *op = root.getDefiningOp();
    if (op && isSum(op) && llvm::is_contained(op->getOperands(), out) && mayReorder(op)) {
      accumulates = true;
      root = op->getOperand(op->getOperand(0) == out ? 1 : 0);
    }
    collect(root, /*negative=*/false);
    const bool reduces = generic.getNumReductionLoops() > 0;
    return (accumulates || !reduces) &&
           llvm::none_of(terms, [&](const Term &t) { return reads(t.value).contains(out); }) && group();
  }

  static bool isSum(Operation *op) { return isa<arith::AddFOp, arith::AddIOp, complex::AddOp>(op); }

  /// An infinite fill swallows what it is added to, wherever in the sum that is.
  bool fillsWithZero() {
    return llvm::all_of(generic.getDpsInputs(), [](Value input) {
      auto type = cast<RankedTensorType>(input.getType());
      return dialect::fillAttr(type) == dialect::zeroAttr(type.getElementType());
    });
  }

  void collect(Value value, bool negative) {
    Operation *op = value.getDefiningOp();
    const bool own = op && op->getBlock() == &block && value.hasOneUse();
    const bool difference = own && isa<arith::SubFOp, arith::SubIOp, complex::SubOp>(op);
    if (own && (isSum(op) || difference) && mayReorder(op)) {
      collect(op->getOperand(0), negative);
      collect(op->getOperand(1), negative != difference);
    } else if (own && isa<arith::NegFOp, complex::NegOp>(op)) {
      collect(op->getOperand(0), !negative);
    } else {
      terms.push_back({value, negative});
    }
  }

  /// The block arguments that a value depends on.
  llvm::SetVector<Value> reads(Value value) {
    llvm::SetVector<Value> arguments;
    (void)acceptsSlice(value, [&](Value at) -> std::optional<bool> {
      if (isa<BlockArgument>(at) && at.getParentBlock() == &block)
        arguments.insert(at);
      return at.getParentBlock() == &block ? std::nullopt : std::optional(true);
    });
    return arguments;
  }

  /// Terms of the same sparse operands stay together.
  bool group() {
    for (const Term &term : terms) {
      std::vector<unsigned> sparse;
      for (Value argument : reads(term.value)) {
        const unsigned number = cast<BlockArgument>(argument).getArgNumber();
        auto type = cast<RankedTensorType>(generic->getOperand(number).getType());
        if (!format::isAllDense(dialect::getEncoding(type).getValue()))
          sparse.push_back(number);
      }
      llvm::sort(sparse);
      groups[sparse].push_back(term);
    }
    return groups.size() > 1 &&
           llvm::all_of(groups, [&](auto &entry) { return coversIndices(entry.second); });
  }

  llvm::SetVector<Value> inputsOf(ArrayRef<Term> members) {
    llvm::SetVector<Value> arguments;
    for (const Term &term : members)
      arguments.insert_range(reads(term.value));
    if (mask)
      arguments.insert_range(reads(mask));
    return arguments;
  }

  /// Whether every index is a subscript of what is left, which says how far it runs.
  bool coversIndices(ArrayRef<Term> members) {
    llvm::SmallDenseSet<unsigned> covered;
    llvm::SetVector<Value> arguments = inputsOf(members);
    arguments.insert(out);
    for (Value argument : arguments) {
      OpOperand &use = generic->getOpOperand(cast<BlockArgument>(argument).getArgNumber());
      for (AffineExpr subscript : generic.getMatchingIndexingMap(&use).getResults())
        if (auto index = dyn_cast<AffineDimExpr>(subscript))
          covered.insert(index.getPosition());
    }
    return covered.size() == generic.getNumLoops();
  }

  GenericOp statementOf(OpBuilder &b, ArrayRef<Term> members, Value init, bool adds) {
    SmallVector<Value> inputs, arguments;
    SmallVector<AffineMap> maps;
    llvm::SetVector<Value> needed = inputsOf(members);
    for (Value argument : block.getArguments().drop_back())
      if (needed.contains(argument)) {
        OpOperand &use = generic->getOpOperand(cast<BlockArgument>(argument).getArgNumber());
        arguments.push_back(argument);
        inputs.push_back(use.get());
        maps.push_back(generic.getMatchingIndexingMap(&use));
      }
    maps.push_back(generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)));
    arguments.push_back(out);
    auto body = [&](OpBuilder &inner, Location loc, ValueRange args) {
      IRMapping mapping;
      mapping.map(arguments, args);
      Value sum = adds ? args.back() : Value();
      for (const Term &term : members)
        sum = add(inner, loc, sum, cloneSlice(inner, term.value, &block, mapping), term.negative);
      if (mask)
        sum = arith::SelectOp::create(inner, loc, cloneSlice(inner, mask, &block, mapping), sum, args.back());
      linalg::YieldOp::create(inner, loc, sum);
    };
    auto made = GenericOp::create(b, generic.getLoc(), generic->getResultTypes(), inputs, init, maps,
                                  generic.getIteratorTypesArray(), body);
    for (NamedAttribute attr : generic->getDiscardableAttrs())
      made->setDiscardableAttr(attr.getName(), attr.getValue());
    return made;
  }

  static Value add(OpBuilder &b, Location loc, Value sum, Value x, bool negative) {
    if (!sum && !negative)
      return x;
    if (!sum)
      sum = dialect::materialize(b, loc, dialect::zeroAttr(x.getType()), x.getType());
    return dialect::add(b, loc, sum, x, negative,
                        arith::FastMathFlags::reassoc | arith::FastMathFlags::contract);
  }

  GenericOp generic;
  Block &block;
  Value out, mask;
  bool accumulates = false;
  SmallVector<Term> terms;
  llvm::MapVector<std::vector<unsigned>, SmallVector<Term>, std::map<std::vector<unsigned>, unsigned>> groups;
};

//===--- The pass ---===//

struct Sparsify : impl::SparsifyBase<Sparsify> {
  using SparsifyBase::SparsifyBase;

  void runOnOperation() override {
    std::optional<dialect::Strategy> named = dialect::symbolizeStrategy(strategy);
    if (!named) {
      getOperation().emitError("strategy '")
          << strategy << "': expected one of " << llvm::join(dialect::strategyNames(), ", ");
      return signalPassFailure();
    }
    chosen = *named;
    SmallVector<GenericOp> generics;
    getOperation()->walk([&](GenericOp op) { generics.push_back(op); });
    for (GenericOp generic : generics)
      if (failed(rewrite(generic)))
        return signalPassFailure();
    eraseUnused();
  }

  dialect::Strategy chosen = dialect::Strategy::Auto;

  /// What only described the statements: users come after what they use.
  void eraseUnused() {
    SmallVector<Operation *> dead;
    getOperation()->walk([&](Operation *op) {
      if (isa<dialect::FillOp, dialect::LikeOp, tensor::EmptyOp, tensor::ExtractSliceOp>(op))
        dead.push_back(op);
    });
    for (Operation *op : llvm::reverse(dead))
      if (op->use_empty())
        op->erase();
  }

  LogicalResult rewrite(GenericOp generic) {
    FailureOr<SparseStatement> statement = SparseStatement::read(generic);
    if (failed(statement))
      return failure();
    OpBuilder b(generic);
    if (std::optional<StorageTraversal> traversal = planStorageTraversal(*statement)) {
      if (!statement->tiles.empty())
        return refuseTiles(*statement, *traversal);
      LoopEmitter emitter(b, *statement, traversal->plan, chosen);
      return replace(emitter, generic, emitter.emit(*traversal));
    }
    auto planned = planLoops(*statement);
    if (auto *conversion = std::get_if<iteration::Conversion>(&planned))
      return generic.emitError("operand ") << conversion->operand << " does not fit the loops of the others ("
                                           << conversion->reason << "); run tulle-resolve-order first";
    if (failed(statement->addTiles(std::get<iteration::Plan>(planned))))
      return failure();
    LoopEmitter emitter(b, *statement, std::get<iteration::Plan>(planned), chosen);
    const dialect::ScheduleAttr schedule = dialect::scheduleOf(generic);
    if (!(schedule && schedule.getStrategy()) && emitter.isOverBudget())
      if (SmallVector<GenericOp> terms = splitThatFits(generic); !terms.empty()) {
        dialect::explainChoice(terms.front(), "the sum is " + std::to_string(terms.size()) +
                                                  " statements, one after the other: with loops that all its "
                                                  "operands meet in it would be over the budget of code");
        generic.getResult(0).replaceAllUsesWith(terms.back().getResult(0));
        generic.erase();
        return success(llvm::all_of(terms, [&](GenericOp term) { return succeeded(rewrite(term)); }));
      }
    explain(*statement, std::get<iteration::Plan>(planned));
    return replace(emitter, generic, emitter.emit());
  }

  static LogicalResult refuseTiles(const SparseStatement &statement, const StorageTraversal &traversal) {
    return mlir::emitError(dialect::derivedLocation(statement.generic))
           << "the loops follow " << nameOfOperand(statement.generic, traversal.operand)
           << " as it is stored, which is no order of indices that could be cut; convert it to a format "
              "whose levels are";
  }

  static std::variant<iteration::Plan, iteration::Conversion> planLoops(SparseStatement &statement) {
    if (std::optional<iteration::Conversion> conversion = conversionToDigits(statement))
      return *conversion;
    return statement.plan();
  }

  /// A statement of the sum may need other conversions than the whole, which tulle-resolve-order has seen:
  /// then there are none.
  static SmallVector<GenericOp> splitThatFits(GenericOp generic) {
    SmallVector<GenericOp> terms = Sum(generic).split();
    const bool fits = llvm::all_of(terms, [](GenericOp term) {
      FailureOr<SparseStatement> statement = SparseStatement::read(term);
      return succeeded(statement) && (planStorageTraversal(*statement) ||
                                      std::holds_alternative<iteration::Plan>(planLoops(*statement)));
    });
    if (fits)
      return terms;
    for (GenericOp term : llvm::reverse(terms))
      term.erase();
    return {};
  }

  static void explain(SparseStatement &statement, const iteration::Plan &plan) {
    GenericOp generic = statement.generic;
    if (!generic.getContext()->getRemarkEngine())
      return;
    std::vector<std::string> names;
    for (unsigned o = 0; o < statement.operands.size(); ++o)
      names.push_back(nameOfOperand(generic, o));
    names.back() = "the result";
    dialect::explainChoice(
        generic, iteration::explainOrder(plan, statement.planOperands(), nameOfIndices(generic), names));
  }

  static LogicalResult replace(const LoopEmitter &emitter, GenericOp generic, Value result) {
    if (!result || failed(emitter.checkSchedule()))
      return failure();
    emitter.listSchedule();
    generic.getResult(0).replaceAllUsesWith(result);
    generic.erase();
    return success();
  }
};

} // namespace
} // namespace tulle::passes
