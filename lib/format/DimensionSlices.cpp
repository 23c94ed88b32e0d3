// Slices of dimensions.
#include "format/Encoding.h"
#include <algorithm>
#include <fmt/format.h>

namespace tulle::format {

bool hasSlices(const Encoding &encoding) {
  return std::ranges::any_of(encoding.dims,
                             [](const Dimension &dimension) { return dimension.slice.has_value(); });
}

Encoding withoutSlices(Encoding encoding) {
  for (Dimension &dimension : encoding.dims)
    dimension.slice.reset();
  return encoding;
}

std::string whyNotResolved(const Encoding &encoding) {
  for (const Dimension &dimension : encoding.dims) {
    const Slice slice = dimension.slice.value_or(Slice{0, 1, 1});
    const char *unknown = !slice.offset   ? "offset"
                          : !slice.size   ? "size"
                          : !slice.stride ? "stride"
                                          : nullptr;
    if (unknown)
      return fmt::format("the {} of the slice of dimension {} is '?', and nothing says what it is; give a "
                         "number, or use the format of a sliced tensor, which has all of them",
                         unknown, dimension.name);
  }
  return "";
}

} // namespace tulle::format
