// Loops are planned as tulle-sparsify will: what follows an operand as it is stored has no plan here.
#include "passes/sparsify/NamedStatement.h"
#include "dialect/Attributes.h"

namespace tulle::passes {
using namespace mlir;

NamedStatement statementOf(func::FuncOp function) {
  if (function.isExternal() || function.getNumResults() != 1)
    return {};
  auto generics = function.getOps<linalg::GenericOp>();
  auto name = function.getResultAttrOfType<StringAttr>(0, dialect::kNameAttr);
  return llvm::hasSingleElement(generics) ? NamedStatement{*generics.begin(), name} : NamedStatement{};
}

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

bool isFree(const iteration::Plan &plan, size_t depth) {
  return plan.order[depth].stride == 1 && plan.order[depth].modulus == 0 &&
         llvm::none_of(plan.levels, [&](const std::vector<iteration::LevelPlan> &levels) {
           return llvm::any_of(levels, [&](const iteration::LevelPlan &level) {
             return level.mode == iteration::LevelMode::Drive && level.loop == depth;
           });
         });
}

bool hasDenseDimensions(const format::Encoding &encoding) {
  return llvm::all_of(encoding.levels, [](const format::Level &level) {
    return level.format.kind == format::LevelKind::Dense && level.expr->kind == format::ExprKind::Dim;
  });
}

} // namespace tulle::passes
