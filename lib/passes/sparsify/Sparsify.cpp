// Stage 1 to stage 2: linalg.generic on tensors with encodings becomes loops over sets of coordinates.
#include "dialect/Costs.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/sparsify/Emitter.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_SPARSIFY
#include "passes/Passes.h.inc"

namespace {

struct Sparsify : impl::SparsifyBase<Sparsify> {
  using SparsifyBase::SparsifyBase;

  void runOnOperation() override {
    std::optional<dialect::Strategy> named = dialect::symbolizeStrategy(strategy);
    if (!named) {
      getOperation().emitError("strategy '") << strategy << "': expected auto, merge, gallop or blocks";
      return signalPassFailure();
    }
    chosen = *named;
    SmallVector<linalg::GenericOp> generics;
    getOperation()->walk([&](linalg::GenericOp op) { generics.push_back(op); });
    for (linalg::GenericOp generic : generics)
      if (failed(rewrite(generic)))
        return signalPassFailure();
    eraseUnused();
  }

  dialect::Strategy chosen = dialect::Strategy::Auto;

  /// What only described the statements: users come after what they use.
  void eraseUnused() {
    SmallVector<Operation *> dead;
    getOperation()->walk([&](Operation *op) {
      if (isa<dialect::FillOp, dialect::LikeOp, tensor::EmptyOp>(op))
        dead.push_back(op);
    });
    for (Operation *op : llvm::reverse(dead))
      if (op->use_empty())
        op->erase();
  }

  LogicalResult rewrite(linalg::GenericOp generic) {
    FailureOr<SparseStatement> statement = SparseStatement::read(generic);
    if (failed(statement))
      return failure();
    OpBuilder b(generic);
    if (std::optional<StorageTraversal> traversal = planStorageTraversal(*statement))
      return replace(generic, LoopEmitter(b, *statement, traversal->plan, chosen).emit(*traversal));
    auto planned = planLoops(*statement);
    if (auto *conversion = std::get_if<iteration::Conversion>(&planned))
      return generic.emitError("operand ") << conversion->operand << " does not fit the loops of the others ("
                                           << conversion->reason << "); run tulle-resolve-order first";
    LoopEmitter emitter(b, *statement, std::get<iteration::Plan>(planned), chosen);
    if (emitter.isOverBudget())
      if (SmallVector<linalg::GenericOp> terms = splitThatFits(generic); !terms.empty()) {
        dialect::explainChoice(terms.front(), "the sum is " + std::to_string(terms.size()) +
                                                  " statements, one after the other: with loops that all its "
                                                  "operands meet in it would be over the budget of code");
        (void)replace(generic, terms.back().getResult(0));
        return success(llvm::all_of(terms, [&](linalg::GenericOp term) { return succeeded(rewrite(term)); }));
      }
    explain(*statement, std::get<iteration::Plan>(planned));
    return replace(generic, emitter.emit());
  }

  static std::variant<iteration::Plan, iteration::Conversion> planLoops(SparseStatement &statement) {
    if (std::optional<iteration::Conversion> conversion = conversionToDigits(statement))
      return *conversion;
    return iteration::plan(statement.reduction, statement.planOperands());
  }

  /// A statement of the sum may need other conversions than the whole, which tulle-resolve-order has seen:
  /// then there are none.
  static SmallVector<linalg::GenericOp> splitThatFits(linalg::GenericOp generic) {
    SmallVector<linalg::GenericOp> terms = splitSum(generic);
    const bool fits = llvm::all_of(terms, [](linalg::GenericOp term) {
      FailureOr<SparseStatement> statement = SparseStatement::read(term);
      return succeeded(statement) && (planStorageTraversal(*statement) ||
                                      std::holds_alternative<iteration::Plan>(planLoops(*statement)));
    });
    if (fits)
      return terms;
    for (linalg::GenericOp term : llvm::reverse(terms))
      term.erase();
    return {};
  }

  static void explain(SparseStatement &statement, const iteration::Plan &plan) {
    linalg::GenericOp generic = statement.generic;
    if (!generic.getContext()->getRemarkEngine())
      return;
    std::vector<std::string> names;
    for (unsigned o = 0; o < statement.operands.size(); ++o)
      names.push_back(nameOfOperand(generic, o));
    names.back() = "the result";
    dialect::explainChoice(
        generic, iteration::explainOrder(plan, statement.planOperands(), nameOfIndices(generic), names));
  }

  static LogicalResult replace(linalg::GenericOp generic, Value result) {
    if (!result)
      return failure();
    generic.getResult(0).replaceAllUsesWith(result);
    generic.erase();
    return success();
  }
};

} // namespace
} // namespace tulle::passes
