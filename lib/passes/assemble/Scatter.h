// SCATTER: attribute queries give every level's sizes, then each entry is stored at its computed position.
#pragma once
#include "passes/assemble/Order.h"
#include "passes/assemble/Target.h"

namespace tulle::assemble {

/// Whether the facts about the stream and the target's levels allow it.
bool fitsScatter(const Target &target, dialect::AssembleOp op, const Order &order);
/// The new tensor, made before the op, where the builder stands.
mlir::FailureOr<mlir::Value> lowerByScatter(mlir::OpBuilder &b, Target &target, dialect::AssembleOp op,
                                            const Order &order);

} // namespace tulle::assemble
