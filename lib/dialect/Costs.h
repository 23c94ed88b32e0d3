// The cost model as passes see it: what a module says of its processor, and where reasons go.
#pragma once
#include "iteration/CostModel.h"
#include "mlir/IR/BuiltinOps.h"

namespace tulle::dialect {

/// The model for the processor that the module of `op` names in its attribute `tulle.cpu`, else for a common
/// one: what passes choose depends on the IR alone.
iteration::CostModel costModel(mlir::Operation *op);
void setCpu(mlir::ModuleOp module, const iteration::Cpu &cpu);

/// Argument attribute: how many entries the tensor stores, where the caller knows (i64).
inline constexpr llvm::StringLiteral kEntriesAttr = "tulle.entries";
/// Attribute of a function whose loops load lanes one by one on purpose: LLVM's SLP vectorizer would bring
/// the gathers back that they avoid.
inline constexpr llvm::StringLiteral kScalarLanesAttr = "tulle.scalar_lanes";
/// Attribute of a tulle.iterate: the places that its rounds look up and store to are in the cache, so that
/// fetching them ahead would be work for nothing.
inline constexpr llvm::StringLiteral kStoresNearAttr = "tulle.stores_near";
/// Attribute of linalg.generic: what its indices are called.
inline constexpr llvm::StringLiteral kIndicesAttr = "tulle.indices";

/// Category of the remarks that say why something was chosen (`tulle explain`,
/// `tulle-opt --remarks-filter-passed=tulle-choice`).
inline constexpr llvm::StringLiteral kChoice = "tulle-choice";
/// Leaves a reason as a remark at `op`; costs nothing where nobody listens.
void explainChoice(mlir::Operation *op, llvm::StringRef reason);

} // namespace tulle::dialect
