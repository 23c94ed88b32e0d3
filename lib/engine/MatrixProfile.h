// What a matrix looks like to storage formats: how many slots each would have, and in how many loops.
#pragma once
#include "runtime/tensor/Tensor.h"
#include <array>
#include <map>

namespace tulle::engine {

struct MatrixProfile {
  int64_t rows = 0, columns = 0, entries = 0;
  int64_t filledRows = 0; ///< with an entry
  int64_t longestRow = 0;
  int64_t lengthChanges = 0;                 ///< rows that have another length than the row before
  int64_t sellSlots = 0;                     ///< of SELL(8,64)
  int64_t sellColumns = 0;                   ///< the lengths of its slices
  std::map<int64_t, int64_t> diagonals;      ///< entries on each that has some, by column - row
  std::vector<int64_t> fullDiagonals;        ///< those with an entry in at least half of the rows
  int64_t fullEntries = 0, otherChanges = 0; ///< the entries there; lengthChanges without these
  std::map<int64_t, int64_t> blocks;         ///< blocks of n x n with an entry, by n
  /// Rows of at most 1, 2, 4, 8 entries and of more, and their entries.
  std::array<int64_t, 5> bucketRows = {}, bucketEntries = {};
};

/// Throws Error unless the entries are those of a matrix.
MatrixProfile profile(const runtime::Entries &matrix);

} // namespace tulle::engine
