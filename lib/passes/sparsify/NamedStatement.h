// Functions of one statement each, before they are linked: which makes what another one reads, and the loops
// that they would have.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/sparsify/Statement.h"

namespace tulle::passes {

/// The statement that a function is, if it is one, and its result's name.
struct NamedStatement {
  mlir::linalg::GenericOp generic;
  mlir::StringAttr result;
};
NamedStatement statementOf(mlir::func::FuncOp function);

/// The operand that is the argument of that name; null where there is none.
mlir::OpOperand *operandOf(mlir::func::FuncOp function, mlir::linalg::GenericOp generic,
                           mlir::StringAttr name);

/// The loops of a statement, without tiles; nothing where it has others, or none.
std::optional<iteration::Plan> planOf(const SparseStatement &statement);
/// Whether the loop is over all coordinates of an index, and follows nothing that is stored.
bool isFree(const iteration::Plan &plan, size_t depth);
/// Whether levels are dimensions, all dense.
bool hasDenseDimensions(const format::Encoding &encoding);

} // namespace tulle::passes
