// CHAIN: the entries are bucketed by one level after the other until they are in storage order.
#pragma once
#include "passes/assemble/Order.h"
#include "passes/assemble/Target.h"

namespace tulle::assemble {

/// Whether the facts about the stream and the target's levels allow it.
bool fitsChain(const Target &target, dialect::AssembleOp op, const Order &order);
/// The new tensor, made before the op, where the builder stands.
mlir::FailureOr<mlir::Value> lowerByChain(mlir::OpBuilder &b, Target &target, dialect::AssembleOp op,
                                          const Order &order);

/// The same for at most `inserts` entries, up to the target's buffers.
void assembleByChain(mlir::OpBuilder &b, Target &target, const Order &order, mlir::Value inserts);

} // namespace tulle::assemble
