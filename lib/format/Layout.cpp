// Fields are made level by level in one pass; what a level of the same run has made already is left out.
#include "format/Layout.h"
#include "format/LevelKinds.h"
#include <algorithm>
#include <limits>

namespace tulle::format {
namespace {

/// How many levels have their coordinates in the buffer that begins at level `l`.
unsigned runLength(const Encoding &e, unsigned l) {
  const LevelFormat &first = e.levels[l].format;
  if (!isOneOf(first.kind, {LevelKind::Compressed, LevelKind::LooseCompressed}) || first.unique)
    return 1;
  unsigned end = l + 1;
  while (end < e.levels.size() && e.levels[end].format.kind == LevelKind::Singleton &&
         !e.levels[end].format.soa)
    ++end;
  return end - l;
}

/// Whether the coordinate can be negative: dimensions' coordinates are not, so only a difference is.
bool canBeNegative(const Expr &e) {
  return e && (e->kind == ExprKind::Sub || (e->kind == ExprKind::Constant && e->value < 0) ||
               (e->kind != ExprKind::Mod && (canBeNegative(e->lhs) || canBeNegative(e->rhs))));
}

/// Whether the level's expression has a rank, in it or in a variable.
bool readsRank(const Expr &e) {
  return e && (e->kind == ExprKind::Rank || readsRank(e->lhs) || readsRank(e->rhs) ||
               (e->kind == ExprKind::Variable && contains(e->bound, ExprKind::Rank)));
}

bool hasSize(const Level &level) {
  if (level.format.kind == LevelKind::Dense)
    return level.expr && level.expr->kind == ExprKind::Counter;
  return level.format.kind == LevelKind::Squeezed ||
         (level.format.kind == LevelKind::Fixed && level.format.n == 0) ||
         (level.format.kind == LevelKind::Declared && level.format.declaration->size);
}

} // namespace

Layout layout(const Encoding &encoding) {
  auto bits = [](unsigned width) { return width == 0 ? 64 : width; };
  Layout out;
  for (auto *perLevel : {&out.sizes, &out.permutation, &out.positions, &out.bits})
    perLevel->resize(encoding.levels.size());
  out.coordinates.resize(encoding.levels.size());
  // The number of the field that is made.
  auto add = [&](Field field) {
    out.fields.push_back(field);
    return unsigned(out.fields.size() - 1);
  };
  std::optional<unsigned> permutation;
  for (unsigned l = 0; l < encoding.levels.size(); ++l) {
    const Level &level = encoding.levels[l];
    LevelKind kind = level.format.kind;
    if (hasSize(level))
      out.sizes[l] = add({FieldKind::Sizes, l, 64});
    if (readsRank(level.expr)) {
      if (!permutation)
        permutation = add({FieldKind::Permutation, l, 64});
      out.permutation[l] = permutation;
    }
    if (storesPositions(level.format))
      out.positions[l] = add({FieldKind::Positions, l, bits(encoding.posWidth)});
    if (kind == LevelKind::Bitmap)
      out.bits[l] = add({FieldKind::Bits, l, 8});
    if (!storesCoordinates(level.format) || out.coordinates[l])
      continue;
    unsigned field = unsigned(out.fields.size()), stride = runLength(encoding, l);
    bool isSigned = false; // one coordinate of a run that is makes all of them so
    for (unsigned offset = 0; offset < stride; ++offset) {
      out.coordinates[l + offset] = CoordinateRef{field, stride, offset};
      isSigned |= canBeNegative(encoding.levels[l + offset].expr);
    }
    add({FieldKind::Coordinates, l, bits(encoding.crdWidth), isSigned});
  }
  add({FieldKind::Values, unsigned(encoding.levels.size()), 0, false, encoding.explicitVal.has_value()});
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

Encoding resolveWidths(const Encoding &encoding, const std::vector<int64_t> &dims, int64_t maxPosition) {
  int64_t largest = dims.empty() ? 0 : std::max<int64_t>(0, std::ranges::max(dims));
  const Layout fields = layout(encoding);
  for (unsigned l = 0; l < encoding.levels.size(); ++l)
    if (auto range = levelRange(encoding, l, dims); range && fields.coordinates[l])
      largest = std::max(largest, range->high);
  return resolveWidths(encoding, largest, maxPosition);
}

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
  const bool perPosition = kind == LevelKind::Declared
                               ? encoding.levels[l].format.declaration->storesCoordinates
                               : kind != LevelKind::Squeezed && kind != LevelKind::Banded;
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
