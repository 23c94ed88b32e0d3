// Statements with an operand that no loop over a dimension can follow: its levels are no digits of dimensions
// (diagonals, padded and ranked rows, Morton blocks), or hold their coordinates in no order (hash tables).
#pragma once
#include "passes/sparsify/Statement.h"

namespace tulle::passes {

/// The loops run over the levels of one operand, as it is stored; the coordinates of its dimensions follow
/// from those of its levels, and the others are located or searched there.
struct StorageTraversal {
  unsigned operand = 0;
  iteration::Plan plan; ///< the operand's indices, then the others
  unsigned bound = 0;   ///< how many loops of the plan the walk stands for
};

/// Possible where nothing changes at coordinates the operand does not store, and it is the only sparse input
/// or the one whose pattern the result has.
std::optional<StorageTraversal> planStorageWalk(const SparseStatement &statement);

/// The first operand that can only be walked as it is stored, with the encoding of digits it is converted to
/// where it cannot be walked so either.
std::optional<iteration::Conversion> conversionToDigits(const SparseStatement &statement);

} // namespace tulle::passes
