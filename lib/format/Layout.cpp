#include "format/Layout.h"
#include "format/Bits.h"
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

/// The names that `let` binds to ranks, in the levels so far.
void bindRanks(const Expr &e, std::vector<std::string> &names) {
  if (!e)
    return;
  if (e->kind == ExprKind::Let && contains(e->lhs, ExprKind::Rank))
    names.push_back(e->name);
  bindRanks(e->lhs, names);
  bindRanks(e->rhs, names);
}

bool readsName(const Expr &e, const std::vector<std::string> &names) {
  return e && ((e->kind == ExprKind::Variable && std::ranges::find(names, e->name) != names.end()) ||
               readsName(e->lhs, names) || readsName(e->rhs, names));
}

bool hasSize(const Level &level) {
  if (level.format.kind == LevelKind::Dense)
    return level.expr && level.expr->kind == ExprKind::Counter;
  return level.format.kind == LevelKind::Squeezed ||
         (level.format.kind == LevelKind::Fixed && level.format.n == 0);
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
  std::vector<std::string> ranks;
  std::optional<unsigned> permutation;
  for (unsigned l = 0; l < encoding.levels.size(); ++l) {
    const Level &level = encoding.levels[l];
    LevelKind kind = level.format.kind;
    if (hasSize(level))
      out.sizes[l] = add({FieldKind::Sizes, l, 64});
    bindRanks(level.expr, ranks);
    if (contains(level.expr, ExprKind::Rank) || readsName(level.expr, ranks)) {
      if (!permutation)
        permutation = add({FieldKind::Permutation, l, 64});
      out.permutation[l] = permutation;
    }
    if (storesPositions(kind))
      out.positions[l] = add({FieldKind::Positions, l, bits(encoding.posWidth)});
    if (kind == LevelKind::Bitmap)
      out.bits[l] = add({FieldKind::Bits, l, 8});
    if (!storesCoordinates(kind) || out.coordinates[l])
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

} // namespace tulle::format
