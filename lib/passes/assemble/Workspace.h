// WORKSPACE: each group of entries is collected in a dense array, and flushed in order.
#pragma once
#include "passes/assemble/Order.h"
#include "passes/assemble/Target.h"

namespace tulle::assemble {

/// Whether the facts about the stream and the target's levels allow it.
bool fitsWorkspace(const Target &target, dialect::AssembleOp op, const Order &order);
/// The new tensor, made before the op, where the builder stands.
mlir::FailureOr<mlir::Value> lowerByWorkspace(mlir::OpBuilder &b, Target &target, dialect::AssembleOp op,
                                              const Order &order);

} // namespace tulle::assemble
