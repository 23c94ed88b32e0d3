// The cost model as passes see it: what a module says of its processor, and where reasons go.
#pragma once
#include "iteration/CostModel.h"
#include "mlir/IR/BuiltinOps.h"

namespace tulle::dialect {

/// The model for the processor that the module of `op` names in its attribute `tulle.cpu`, else for a generic
/// one: what passes choose depends on the IR alone.
iteration::CostModel costModel(mlir::Operation *op);
void setCpu(mlir::ModuleOp module, const iteration::Cpu &cpu);

/// Category of the remarks that say why something was chosen (`tulle explain`,
/// `tulle-opt --remarks-filter-passed=tulle-choice`).
inline constexpr llvm::StringLiteral kChoice = "tulle-choice";
/// Leaves a reason as a remark at `op`; costs nothing where nobody listens.
void explainChoice(mlir::Operation *op, llvm::StringRef reason);

} // namespace tulle::dialect
