// How much memory the positions of a level take, with what lies below them.
#pragma once
#include "format/Layout.h"

namespace tulle::format {

using Large = unsigned __int128;

/// What a tensor stores for positions of a level and those below, and the lowest level that has several for
/// each parent, parents * each in all.
struct Capacity {
  size_t level;
  Large parents, each;
  Large bytes = 0;
  bool exact = true; ///< else there are levels below whose positions do not follow from the sizes

  /// No more than a signed 64-bit integer holds, which is beyond any memory.
  Large positions() const;
};

/// Of `parents * each` positions of a level, where a value takes `valueBytes`. The encoding is executable,
/// its widths resolved; `dims`: the dimensions' sizes.
Capacity capacityFor(const Encoding &encoding, const std::vector<int64_t> &dims, unsigned valueBytes,
                     size_t level, int64_t parents, int64_t each);

} // namespace tulle::format
