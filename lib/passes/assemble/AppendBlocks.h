// Results whose stored coordinates are those of a loop, with a block of values below each.
#pragma once
#include "passes/assemble/Order.h"
#include "passes/assemble/Target.h"

namespace tulle::assemble {

/// `for … for j: for k (reduction): for r: insert at (…, j, r)`, into a tensor whose levels behind j's are
/// full: each pass of the loop over j makes one block, if its loop over k has any pass.
bool fitsBlocks(const Target &target, dialect::AssembleOp op, const Order &order);

/// The block is appended and set to the fill before the loop over k, which adds to it as to a row of a dense
/// result. Returns the new tensor.
mlir::FailureOr<mlir::Value> lowerByBlocks(mlir::OpBuilder &b, Target &target, dialect::AssembleOp op,
                                           const Order &order);

} // namespace tulle::assemble
