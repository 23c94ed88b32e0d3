// tulle-align-loops: loops that make a dense tensor begin with the dimension that those of its reader begin
// with, so that both are one loop, and the tensor needs memory for a part of it.
#include "dialect/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/sparsify/Statement.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_ALIGNLOOPS
#include "passes/Passes.h.inc"

namespace {

using iteration::LoopVar;

/// The statement that a function is, if it is one, and its result's name.
struct NamedStatement {
  linalg::GenericOp generic;
  StringAttr result;
};

NamedStatement statementOf(func::FuncOp function) {
  if (function.isExternal() || function.getNumResults() != 1)
    return {};
  auto generics = function.getOps<linalg::GenericOp>();
  auto name = function.getResultAttrOfType<StringAttr>(0, dialect::kNameAttr);
  return llvm::hasSingleElement(generics) ? NamedStatement{*generics.begin(), name} : NamedStatement{};
}

/// The operand that is the argument of that name.
OpOperand *operandOf(func::FuncOp function, linalg::GenericOp generic, StringAttr name) {
  for (OpOperand *use : generic.getDpsInputOperands())
    if (auto arg = dyn_cast<BlockArgument>(use->get());
        arg && arg.getOwner() == &function.getBody().front() &&
        function.getArgAttr(arg.getArgNumber(), dialect::kNameAttr) == name)
      return use;
  return nullptr;
}

std::optional<iteration::Plan> planOf(const SparseStatement &statement) {
  if (planStorageTraversal(statement) || conversionToDigits(statement))
    return std::nullopt;
  auto planned = statement.plan();
  auto *plan = std::get_if<iteration::Plan>(&planned);
  return plan && !plan->order.empty() ? std::optional(std::move(*plan)) : std::nullopt;
}

bool isDense(const format::Encoding &encoding) {
  return llvm::all_of(encoding.levels, [](const format::Level &level) {
    return level.format.kind == format::LevelKind::Dense && level.expr->kind == format::ExprKind::Dim;
  });
}

/// Whether the loop is over all coordinates of an index, and follows nothing that is stored.
bool isFree(const iteration::Plan &plan, size_t depth) {
  return plan.order[depth].stride == 1 && plan.order[depth].modulus == 0 &&
         llvm::none_of(plan.levels, [&](const std::vector<iteration::LevelPlan> &levels) {
           return llvm::any_of(levels, [&](const iteration::LevelPlan &level) {
             return level.mode == iteration::LevelMode::Drive && level.loop == depth;
           });
         });
}

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

void setOrder(linalg::GenericOp generic, const iteration::WantedOrder &order) {
  const std::vector<std::string> indices = nameOfIndices(generic);
  SmallVector<std::string> names;
  for (const LoopVar &loop : order)
    names.push_back(iteration::nameOf(loop, indices));
  Builder b(generic.getContext());
  dialect::SchedulePrimitives all;
  all.reorder = b.getStrArrayAttr(SmallVector<StringRef>(names.begin(), names.end()));
  if (dialect::ScheduleAttr said = dialect::scheduleOf(generic)) {
    all.bound = said.getBound();
    all.strategy = said.getStrategy();
    all.loops = said.getLoops();
    all.computeAt = said.getComputeAt();
    all.assemble = said.getAssemble();
  }
  generic->setAttr(dialect::kScheduleAttr, dialect::ScheduleAttr::get(b.getContext(), all));
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
        !isDense(dialect::getEncoding(cast<RankedTensorType>(maker.getResult(0).getType())).getValue()))
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
