#include "format/Capacity.h"
#include <algorithm>
#include <cstdint>

namespace tulle::format {

Large Capacity::positions() const { return std::min(parents * each, Large(INT64_MAX)); }

/// How many positions of level `l` each parent has; nullopt where that does not follow from the sizes.
static std::optional<uint64_t> positionsOfEach(const Encoding &encoding, const Layout &layout,
                                               const std::vector<int64_t> &dims, size_t l) {
  const LevelFormat &format = encoding.levels[l].format;
  switch (format.kind) {
  case LevelKind::Singleton:
  case LevelKind::Offset:
    return 1;
  case LevelKind::Structured:
    return uint64_t(format.n);
  case LevelKind::Fixed:
    return format.n ? std::optional(uint64_t(format.n)) : std::nullopt;
  case LevelKind::Dense:
  case LevelKind::Batch:
  case LevelKind::Bitmap:
    if (std::optional<CoordinateRange> range = levelRange(encoding, unsigned(l), dims);
        range && !layout.sizes[l])
      return uint64_t(range->size());
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

/// Bytes of a level's own fields that have an element for each of its positions.
static Large ownBytes(const Encoding &encoding, const Layout &layout, size_t l, Large positions) {
  const LevelKind kind = encoding.levels[l].format.kind;
  const auto &coordinates = layout.coordinates[l];
  const bool perPosition = kind != LevelKind::Squeezed && kind != LevelKind::Banded;
  Large bytes = 0;
  if (coordinates && perPosition && layout.fields[coordinates->field].level == l)
    bytes += (positions * coordinates->stride * layout.fields[coordinates->field].width + 7) / 8;
  if (layout.bits[l])
    bytes += (positions + 63) / 64 * 8;
  return bytes;
}

Capacity capacityFor(const Encoding &encoding, const std::vector<int64_t> &dims, unsigned valueBytes,
                     size_t level, int64_t parents, int64_t each) {
  const Layout fields = layout(encoding);
  Capacity total{level, uint64_t(parents), uint64_t(each)};
  for (size_t l = level; l < encoding.levels.size(); ++l) {
    if (l > level) {
      std::optional<uint64_t> below = positionsOfEach(encoding, fields, dims, l);
      total.exact = total.exact && below;
      if (!below) {
        if (fields.positions[l])
          total.bytes += total.positions() * fields.fields[*fields.positions[l]].width / 8;
        return total;
      }
      if (*below != 1)
        total = {l, total.positions(), *below, total.bytes};
    }
    total.bytes += ownBytes(encoding, fields, l, total.positions());
  }
  total.bytes += total.positions() * valueBytes;
  return total;
}

} // namespace tulle::format
