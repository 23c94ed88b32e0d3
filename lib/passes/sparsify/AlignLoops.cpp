// tulle-align-loops: loops that make a dense tensor begin with the dimension that those of its reader begin
// with, so that both are one loop, and the tensor needs memory for a part of it.
#include "dialect/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/sparsify/NamedStatement.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_ALIGNLOOPS
#include "passes/Passes.h.inc"

namespace {

using iteration::LoopVar;

/// The order in which the loop over that index is the outermost one; nothing where it is already, or the
/// loops that it would leave are not over all coordinates.
std::optional<iteration::WantedOrder> beginningWith(unsigned index, const iteration::Plan &plan) {
  iteration::WantedOrder order = plan.order;
  auto place = llvm::find_if(order, [&](const LoopVar &loop) { return loop.index == index; });
  if (place == order.begin() || place == order.end())
    return std::nullopt;
  for (size_t depth = 0; depth <= size_t(place - order.begin()); ++depth)
    if (!isFree(plan, depth))
      return std::nullopt;
  std::rotate(order.begin(), place, place + 1);
  return order;
}

struct AlignLoops : impl::AlignLoopsBase<AlignLoops> {
  void runOnOperation() override {
    // What is no statement is reported by the passes that need one.
    ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &) { return success(); });
    auto functions = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (size_t k = 0; k < functions.size(); ++k) {
      const NamedStatement maker = statementOf(functions[k]);
      if (!maker.generic || !maker.result || !wantedLoops(maker.generic).empty())
        continue;
      for (func::FuncOp later : ArrayRef(functions).drop_front(k + 1)) {
        const NamedStatement reader = statementOf(later);
        OpOperand *read = reader.generic ? operandOf(later, reader.generic, maker.result) : nullptr;
        if (read)
          align(maker.generic, reader.generic, read->getOperandNumber());
        if (read || reader.result == maker.result)
          break;
      }
    }
  }

  static void align(linalg::GenericOp maker, linalg::GenericOp reader, unsigned operand) {
    FailureOr<SparseStatement> making = SparseStatement::read(maker), reading = SparseStatement::read(reader);
    if (failed(making) || failed(reading) || making->assembled ||
        (dialect::scheduleOf(maker) && dialect::scheduleOf(maker).getDerived()) ||
        !hasDenseDimensions(
            dialect::getEncoding(cast<RankedTensorType>(maker.getResult(0).getType())).getValue()))
      return;
    const std::optional<iteration::Plan> from = planOf(*making), to = planOf(*reading);
    if (!from || !to)
      return;
    const auto &subscripts = reading->operands[operand].subscripts;
    for (auto [read, made] : llvm::zip_equal(subscripts, making->result().subscripts)) {
      if (!read.isVariable() || made.terms.empty() || read.terms[0].first != to->order[0].index ||
          !isFree(*to, 0))
        continue;
      std::optional<iteration::WantedOrder> order = beginningWith(made.terms[0].first, *from);
      if (!order)
        return;
      making->wanted = *order;
      if (planOf(*making))
        setOrder(maker, *order);
      return;
    }
  }
};

} // namespace
} // namespace tulle::passes
