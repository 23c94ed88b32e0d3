// Loops over rows that are done a few rows at a time: an operand that is the same for all rows is loaded once
// for each group of them.
#pragma once
#include "passes/analysis/LoopUtils.h"
#include "passes/analysis/VectorizationLegality.h"

namespace tulle::passes {

/// Whether the iterations of the loop may be done in groups, and the schedule says nothing else of them.
bool canGroup(mlir::scf::ForOp rows);

/// Whether the value is the same for all rows, in the same iterations of the loops inside.
bool isSameForAll(mlir::Value value, mlir::scf::ForOp rows);
/// Whether a vector of some operand of the innermost loop is the same for all rows, but for `except`: else
/// nothing is loaded less often.
bool sharesOperand(const VectorizationLegality &inner, mlir::scf::ForOp rows, mlir::memref::LoadOp except);

/// The row behind all whole groups of so many rows.
mlir::Value behindGroups(levels::Indices &indices, mlir::scf::ForOp rows, int64_t size);
/// A loop over groups of rows before the loop over rows, which goes on behind them; `emit(group)` for each.
void forGroups(levels::Indices &indices, mlir::scf::ForOp rows, mlir::Value behind, mlir::Value step,
               llvm::function_ref<void(mlir::Value)> emit);

} // namespace tulle::passes
