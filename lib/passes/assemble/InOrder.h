// Entries that have to be put in order before the target can take them.
#pragma once
#include "passes/assemble/Target.h"

namespace tulle::assemble {

/// The entries become a COO tensor, in order of the dimensions and once each, and a new assembly of the
/// target takes them from there. Returns what that one makes; the op's region is empty afterwards.
mlir::Value bringInOrder(mlir::OpBuilder &b, Target &target, dialect::AssembleOp op);

} // namespace tulle::assemble
