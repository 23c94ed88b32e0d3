// Vectors of integers that give coordinates, and the loops that read each of them once.
#pragma once
#include "dialect/Dialect.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::passes {

/// A check of a vector of integers, what they select, and the loops that read that.
struct CheckedReads {
  dialect::BoundedIndicesOp check;
  mlir::SmallVector<dialect::OneHotOp> selections;
  llvm::SetVector<dialect::IterateOp> loops;
};

/// Nothing unless all that reads the integers are innermost loops over all of them, or a task's chunk of
/// them, which read what is selected at their own coordinate: such a loop may be cut into blocks.
std::optional<CheckedReads> checkedReads(dialect::BoundedIndicesOp check);

} // namespace tulle::passes
