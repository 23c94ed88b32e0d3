// Inserts conversions where operands' level orders clash.
#include "dialect/Costs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/sparsify/Statement.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_RESOLVEORDER
#include "passes/Passes.h.inc"

namespace {

struct ResolveOrder : impl::ResolveOrderBase<ResolveOrder> {
  void runOnOperation() override {
    auto visit = [&](linalg::GenericOp generic) { return WalkResult(resolve(generic)); };
    if (getOperation()->walk(visit).wasInterrupted())
      signalPassFailure();
  }

  /// Every conversion makes one more operand follow the loops; one that loops over indices cannot follow may
  /// be converted again for these.
  LogicalResult resolve(linalg::GenericOp generic) {
    const unsigned most = 2 * generic->getNumOperands();
    for (unsigned step = 0;; ++step) {
      FailureOr<SparseStatement> statement = SparseStatement::read(generic);
      if (failed(statement))
        return failure();
      if (planStorageTraversal(*statement))
        return success();
      auto planned = iteration::plan(statement->reduction, statement->planOperands());
      auto *conversion = std::get_if<iteration::Conversion>(&planned);
      std::optional<iteration::Conversion> unwalkable = conversionToDigits(*statement);
      if (!conversion && !unwalkable)
        return success();
      if (!conversion)
        conversion = &*unwalkable;
      if (step == most || conversion->target == encodingOf(generic, conversion->operand))
        return refuse(*statement, *conversion);
      convert(generic, *conversion);
    }
  }

  static const format::Encoding &encodingOf(linalg::GenericOp generic, unsigned operand) {
    return dialect::getEncoding(cast<RankedTensorType>(generic->getOperand(operand).getType())).getValue();
  }

  /// Names the operand that no conversion helps, and those that its order clashes with.
  static LogicalResult refuse(const SparseStatement &statement, const iteration::Conversion &conversion) {
    linalg::GenericOp generic = statement.generic;
    auto describe = [&](unsigned operand) {
      return nameOfOperand(generic, operand) + " as " + format::displayName(encodingOf(generic, operand));
    };
    InFlightDiagnostic error = generic.emitError("no loop order follows ");
    error << describe(conversion.operand);
    for (auto [o, operand] : llvm::enumerate(statement.operands))
      if (o != conversion.operand && operand.sparse)
        error << ", " << describe(unsigned(o));
    return error << ": of " << nameOfOperand(generic, conversion.operand) << ", " << conversion.reason
                 << "; store one of them in the order of the others' dimensions, without blocks";
  }

  void convert(linalg::GenericOp generic, const iteration::Conversion &conversion) {
    OpOperand &use = generic->getOpOperand(conversion.operand);
    auto type = cast<RankedTensorType>(use.get().getType());
    generic.emitRemark() << nameOfOperand(generic, conversion.operand) << " is converted from "
                         << format::displayName(encodingOf(generic, conversion.operand)) << " to "
                         << format::displayName(conversion.target)
                         << " before the loops: " << conversion.reason;
    dialect::explainChoice(generic, nameOfOperand(generic, conversion.operand) + " is converted to " +
                                        format::displayName(conversion.target) + ": " + conversion.reason +
                                        (conversion.figures.empty() ? "" : " (" + conversion.figures + ")"));
    OpBuilder b(generic);
    // A conversion that turns out to be the wrong one is replaced, not followed by another.
    Value source = use.get();
    if (auto before = source.getDefiningOp<dialect::ConvertOp>())
      source = before.getSource();
    use.set(dialect::ConvertOp::create(b, generic.getLoc(), dialect::withEncoding(type, conversion.target),
                                       source));
  }
};

} // namespace
} // namespace tulle::passes
