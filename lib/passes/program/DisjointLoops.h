// Loops that store to rows of one tensor which no two of them have in common.
#pragma once
#include "dialect/Dialect.h"

namespace tulle::program {

/// Loops of one block, in order. Each carries one tensor, which the one before it left and nothing else
/// reads, and accesses it at its own coordinate only; arguments' facts say that no other of the loops visits
/// that one (`tulle.disjoint`). The loops may run in any order, or at the same time.
using DisjointLoops = llvm::SmallVector<dialect::IterateOp>;

/// All of a block that are at least two.
llvm::SmallVector<DisjointLoops> disjointLoops(mlir::Block &block);

/// The level at which the loop's coordinate selects all that it accesses of the one tensor that it carries;
/// nullopt where it accesses others, or iterations depend on each other.
std::optional<uint64_t> ownLevel(dialect::IterateOp loop);

/// Moves what a loop, or a parallel region, needs of the ops between `first` and it in front of `first`; what
/// the operand `except` needs stays. False if some of that depends on `first`.
bool hoistNeeds(mlir::Operation *op, mlir::Operation *first, mlir::OpOperand &except);

} // namespace tulle::program
