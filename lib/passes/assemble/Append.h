// APPEND: the stream arrives in storage order, and one pass makes the levels one after the other.
#pragma once
#include "passes/assemble/Order.h"
#include "passes/assemble/Target.h"

namespace tulle::assemble {

/// Whether the facts about the stream and the target's levels allow it.
bool fitsAppend(const Target &target, dialect::AssembleOp op, const Order &order);
/// The new tensor, made before the op, where the builder stands.
mlir::FailureOr<mlir::Value> lowerByAppend(mlir::OpBuilder &b, Target &target, dialect::AssembleOp op,
                                           const Order &order);

} // namespace tulle::assemble
