// Inserts conversions where operands' level orders clash.
#include "dialect/Costs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/sparsify/StorageWalk.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_RESOLVEORDER
#include "passes/Passes.h.inc"

namespace {

struct ResolveOrder : impl::ResolveOrderBase<ResolveOrder> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([&](linalg::GenericOp generic) {
      return failed(resolve(generic)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  /// Every conversion makes one more operand follow the loops, so there are at most as many as operands.
  LogicalResult resolve(linalg::GenericOp generic) {
    for (unsigned round = 0; round <= generic->getNumOperands(); ++round) {
      FailureOr<SparseStatement> statement = SparseStatement::read(generic);
      if (failed(statement))
        return failure();
      if (planStorageWalk(*statement))
        return success();
      auto planned = iteration::plan(statement->reduction, statement->planOperands());
      auto *conversion = std::get_if<iteration::Conversion>(&planned);
      std::optional<iteration::Conversion> unwalkable = conversionToDigits(*statement);
      if (!conversion && !unwalkable)
        return success();
      if (!conversion)
        conversion = &*unwalkable;
      convert(generic, *conversion);
    }
    return generic.emitError("no loop order found");
  }

  void convert(linalg::GenericOp generic, const iteration::Conversion &conversion) {
    OpOperand &use = generic->getOpOperand(conversion.operand);
    auto type = cast<RankedTensorType>(use.get().getType());
    generic.emitRemark() << nameOfOperand(generic, conversion.operand) << " is converted from "
                         << format::displayName(dialect::getEncoding(type).getValue()) << " to "
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
