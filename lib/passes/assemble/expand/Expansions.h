// The strategies, each as what makes the new tensor before its op, where the builder stands.
#pragma once
#include "passes/assemble/algorithms/Target.h"
#include "passes/assemble/choose/Order.h"

namespace tulle::assemble {

using Expansion = mlir::FailureOr<mlir::Value>(mlir::OpBuilder &b, Target &target, dialect::AssembleOp op,
                                               const Order &order);

/// Adds entries in storage order to the ends of the levels, on one thread or, in chunks, on several.
Expansion expandAppend;
/// The same for blocks, each of which one iteration of a loop accumulates.
Expansion expandAppendBlocks;
/// Accumulates each fiber in a dense workspace, and appends its entries in order.
Expansion expandWorkspace;
/// Sizes the levels by attribute queries, and stores each entry at its position in a second run of the loops.
Expansion expandScatter;
/// Sorts a list of the entries by level, and appends them.
Expansion expandRadixSort;
/// Sorts the entries, and gives them their positions at one level after the other.
Expansion expandLevelByLevel;

/// The radix sort for at most `inserts` entries, up to the target's buffers.
void sortAndAppend(mlir::OpBuilder &b, Target &target, const Order &order, mlir::Value inserts);
/// Scatter where the stream's order gives no positions: an assembly of the sorted entries, and one of the new
/// tensor from these.
mlir::FailureOr<mlir::Value> sortFirst(mlir::OpBuilder &b, Target &target, dialect::AssembleOp op);

} // namespace tulle::assemble
