// LAYERS: the entries are sorted once, then one level after the other is made from all of them.
#pragma once
#include "passes/assemble/Order.h"
#include "passes/assemble/Target.h"

namespace tulle::assemble {

/// Whether every level can be built by position, whatever stands above it.
bool fitsLayers(const Target &target, dialect::AssembleOp op, const Order &order);
/// The new tensor, made before the op, where the builder stands.
mlir::FailureOr<mlir::Value> lowerByLayers(mlir::OpBuilder &b, Target &target, dialect::AssembleOp op,
                                           const Order &order);

} // namespace tulle::assemble
