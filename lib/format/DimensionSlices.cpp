// Slices of dimensions: which part of a tensor an encoding shows.
#include "format/Encoding.h"
#include <algorithm>
#include <fmt/format.h>

namespace tulle::format {

bool hasSlices(const Encoding &encoding) {
  return std::any_of(encoding.dims.begin(), encoding.dims.end(),
                     [](const Dimension &dimension) { return dimension.slice.has_value(); });
}

Encoding withoutSlices(Encoding encoding) {
  for (Dimension &dimension : encoding.dims)
    dimension.slice.reset();
  return encoding;
}

std::string whyNotResolved(const Encoding &encoding) {
  for (const Dimension &dimension : encoding.dims) {
    if (!dimension.slice)
      continue;
    const Slice &slice = *dimension.slice;
    const char *unknown = !slice.offset   ? "offset"
                          : !slice.size   ? "size"
                          : !slice.stride ? "stride"
                                          : nullptr;
    if (unknown)
      return fmt::format("the {} of the slice of dimension {} is '?', and nothing says what it is; give a "
                         "number, or use the format of a tensor that was cut, which has all of them",
                         unknown, dimension.name);
  }
  return "";
}

} // namespace tulle::format
