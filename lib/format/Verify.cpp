// One function per rule. An explicit inverse is tried at points, which is exact wherever a map can be
// evaluated.
#include "format/LevelKinds.h"
#include <algorithm>
#include <fmt/format.h>

namespace tulle::format {
namespace {

void checkParent(const Encoding &e, unsigned l) {
  const LevelFormat &level = e.levels[l].format;
  const LevelFormat *parent = l > 0 ? &e.levels[l - 1].format : nullptr;
  auto fail = [&](std::string message) {
    throw Violation{Violation::LevelFormatPart, l, std::move(message)};
  };
  if (level.kind == LevelKind::Batch && parent && parent->kind != LevelKind::Batch)
    fail("batch levels come before all others");
  if (level.kind == LevelKind::Singleton && !level.padded &&
      (!parent || isFull(*parent) || parent->kind == LevelKind::Bitmap))
    fail(
        "a singleton level has one coordinate for every position above it, so it follows a level that stores "
        "coordinates; write 'compressed' or 'singleton(padded)'");
  if (level.kind == LevelKind::Offset && !parent)
    fail("an offset level's coordinate follows from the levels above it; it cannot come first");
}

void checkStructured(const Encoding &e, unsigned l) {
  const auto &[name, expr, format] = e.levels[l];
  if (format.kind != LevelKind::Structured)
    return;
  if (expr->kind != ExprKind::Mod || expr->rhs->kind != ExprKind::Constant || expr->rhs->value != format.m)
    throw Violation{
        Violation::LevelExpr, l,
        fmt::format("the coordinates of {0} run from 0 to {1}; write this level as '… mod {2}' below a "
                    "level '… floordiv {2}'",
                    print(format), format.m - 1, format.m)};
}

/// The singletons of one run are in one buffer or have one each.
void checkRuns(const Encoding &e) {
  for (unsigned l = 1; l < e.levels.size(); ++l) {
    const LevelFormat &level = e.levels[l].format, &parent = e.levels[l - 1].format;
    const bool bothSingle = level.kind == LevelKind::Singleton && parent.kind == LevelKind::Singleton;
    if (bothSingle && level.soa != parent.soa)
      throw Violation{Violation::LevelFormatPart, l, "consecutive singleton levels are all 'soa' or none is"};
  }
}

void markDims(const Expr &e, std::vector<bool> &seen) {
  if (!e)
    return;
  if (e->kind == ExprKind::Dim)
    seen[e->value] = true;
  if (e->kind == ExprKind::Rank)
    seen[e->dims[0]] = true;
  markDims(e->lhs, seen);
  markDims(e->rhs, seen);
}

/// Every dimension must reach storage: a counter alone does not say where an entry was.
void checkDims(const Encoding &e) {
  std::vector<bool> seen(e.dims.size());
  for (const Level &level : e.levels)
    markDims(level.expr, seen);
  for (unsigned d = 0; d < seen.size(); ++d)
    if (!seen[d])
      throw Violation{Violation::Inverse, d,
                      fmt::format("no level stores dimension '{}'; add a level for it", e.dims[d].name)};
}

void checkCrdWidth(const Encoding &e) {
  if (e.crdWidth != 2)
    return;
  auto fail = [](std::string message) { throw Violation{Violation::CrdWidth, 0, std::move(message)}; };
  bool any = false;
  for (const Level &level : e.levels) {
    const bool fits = level.format.kind == LevelKind::Structured && level.format.m <= 4;
    if (storesCoordinates(level.format.kind) && !fits)
      fail(fmt::format(
          "2-bit coordinates are for structured[n,m] levels with m up to 4; this encoding also has {}: "
          "write 8, 16, 32 or 64",
          print(level.format)));
    any |= fits;
  }
  if (!any)
    fail("2-bit coordinates are for structured[n,m] levels, and there is none; write 8, 16, 32 or 64");
}

/// Runs points through map and explicit inverse. Exact wherever the map can be evaluated: a wrong
/// coefficient, offset or block size shows at a small coordinate or just beyond a block boundary.
void checkInverse(const Encoding &e) {
  auto any = [](const Dimension &d) { return d.inverse != nullptr; };
  if (std::ranges::none_of(e.dims, any))
    return;
  uint64_t state = 1;
  for (unsigned trial = 0; trial < 64; ++trial) {
    std::vector<int64_t> dims, levels;
    for (unsigned d = 0; d < e.dims.size(); ++d) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      dims.push_back(trial < 8 ? trial * (d + 1) : int64_t(state >> 40) >> (trial % 20));
    }
    Bindings bindings;
    for (const Level &level : e.levels) {
      const auto value = evaluate(level.expr, dims, {}, bindings);
      if (!value)
        return;
      levels.push_back(*value);
    }
    for (unsigned d = 0; d < e.dims.size(); ++d) {
      Bindings local;
      const auto back = any(e.dims[d]) ? evaluate(e.dims[d].inverse, {}, levels, local) : std::nullopt;
      if (back && *back != dims[d])
        throw Violation{
            Violation::Inverse, d,
            fmt::format("this is not the inverse of the map: at coordinate {} of dimension '{}' it gives {}",
                        dims[d], e.dims[d].name, *back)};
    }
  }
}

} // namespace

std::optional<Violation> verify(const Encoding &encoding) {
  try {
    for (unsigned l = 0; l < encoding.levels.size(); ++l)
      for (auto *check : {checkParent, checkStructured})
        check(encoding, l);
    for (auto *check : {checkRuns, checkDims, checkInverse, checkCrdWidth})
      check(encoding);
  } catch (const Violation &violation) {
    return violation;
  }
  return std::nullopt;
}

} // namespace tulle::format
