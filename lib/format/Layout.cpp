#include "format/Layout.h"
#include "format/LevelKinds.h"
#include <limits>

namespace tulle::format {
namespace {

/// How many levels share the coordinates buffer that begins at level `l`.
unsigned runLength(const Encoding &e, unsigned l) {
  if (!storesPositions(e.levels[l].format.kind) || e.levels[l].format.unique)
    return 1;
  unsigned end = l + 1;
  while (end < e.levels.size() && e.levels[end].format.kind == LevelKind::Singleton &&
         !e.levels[end].format.soa)
    ++end;
  return end - l;
}

} // namespace

Layout layout(const Encoding &encoding) {
  auto bits = [](unsigned width) { return width == 0 ? 64 : width; };
  Layout out;
  out.positions.resize(encoding.levels.size());
  out.coordinates.resize(encoding.levels.size());
  for (unsigned l = 0; l < encoding.levels.size(); ++l) {
    LevelKind kind = encoding.levels[l].format.kind;
    if (storesPositions(kind)) {
      out.positions[l] = unsigned(out.fields.size());
      out.fields.push_back({FieldKind::Positions, l, bits(encoding.posWidth)});
    }
    if (!storesCoordinates(kind) || out.coordinates[l])
      continue;
    unsigned field = unsigned(out.fields.size()), stride = runLength(encoding, l);
    for (unsigned offset = 0; offset < stride; ++offset)
      out.coordinates[l + offset] = CoordinateRef{field, stride, offset};
    out.fields.push_back({FieldKind::Coordinates, l, bits(encoding.crdWidth)});
  }
  out.fields.push_back({FieldKind::Values, unsigned(encoding.levels.size()), 0});
  return out;
}

Encoding resolveWidths(const Encoding &encoding, int64_t maxCoordinate, int64_t maxPosition) {
  auto bits = [](int64_t largest) { return largest <= std::numeric_limits<int32_t>::max() ? 32u : 64u; };
  Encoding out = encoding;
  if (out.posWidth == 0)
    out.posWidth = bits(maxPosition);
  if (out.crdWidth == 0)
    out.crdWidth = bits(maxCoordinate);
  return out;
}

} // namespace tulle::format
