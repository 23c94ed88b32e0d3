// One function per rule. An explicit inverse is tried at points, which is exact wherever a map can be
// evaluated.
#include "format/LevelKinds.h"
#include <algorithm>
#include <fmt/format.h>

namespace tulle::format {
namespace {

using Found = std::optional<Violation>;

Found format(unsigned level, std::string message) {
  return Violation{Violation::LevelFormatPart, level, std::move(message)};
}

Found checkParent(const Encoding &e, unsigned l) {
  const LevelFormat &level = e.levels[l].format;
  const LevelFormat *parent = l > 0 ? &e.levels[l - 1].format : nullptr;
  if (level.kind == LevelKind::Batch && parent && parent->kind != LevelKind::Batch)
    return format(l, "batch levels come before all others");
  if (level.kind == LevelKind::Singleton && !level.padded) {
    if (!parent || isOneOf(parent->kind, {LevelKind::Dense, LevelKind::Batch, LevelKind::Bitmap}))
      return format(l,
                    "a singleton level has one coordinate for every position above it, so it follows a level "
                    "that stores coordinates; write 'compressed' or 'singleton(padded)'");
  }
  if (level.kind == LevelKind::Offset && !parent)
    return format(l, "an offset level's coordinate follows from the levels above it; it cannot come first");
  return std::nullopt;
}

Found checkStructured(const Encoding &e, unsigned l) {
  const Level &level = e.levels[l];
  if (level.format.kind != LevelKind::Structured)
    return std::nullopt;
  const Expr &expr = level.expr;
  if (expr->kind == ExprKind::Mod && expr->rhs->kind == ExprKind::Constant &&
      expr->rhs->value == level.format.m)
    return std::nullopt;
  return Violation(
      Violation::LevelExpr, l,
      fmt::format("the coordinates of {} run from 0 to {}; write this level as '… mod {}' below a "
                  "level '… floordiv {}'",
                  print(level.format), level.format.m - 1, level.format.m, level.format.m));
}

/// The singletons of one run are in one buffer or have one each.
Found checkRuns(const Encoding &e) {
  for (unsigned l = 1; l < e.levels.size(); ++l) {
    const LevelFormat &level = e.levels[l].format, &parent = e.levels[l - 1].format;
    bool bothSingle = level.kind == LevelKind::Singleton && parent.kind == LevelKind::Singleton;
    if (bothSingle && level.soa != parent.soa)
      return format(l, "consecutive singleton levels are all 'soa' or none is");
  }
  return std::nullopt;
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
Found checkDims(const Encoding &e) {
  std::vector<bool> seen(e.dims.size());
  for (const Level &level : e.levels)
    markDims(level.expr, seen);
  for (unsigned d = 0; d < seen.size(); ++d)
    if (!seen[d])
      return Violation(Violation::Inverse, d,
                       fmt::format("no level stores dimension '{}'; add a level for it", e.dims[d].name));
  return std::nullopt;
}

Found checkCrdWidth(const Encoding &e) {
  if (e.crdWidth != 2)
    return std::nullopt;
  bool any = false;
  for (const Level &level : e.levels) {
    bool fits = level.format.kind == LevelKind::Structured && level.format.m <= 4;
    if (storesCoordinates(level.format.kind) && !fits)
      return Violation(Violation::CrdWidth, 0,
                       fmt::format("2-bit coordinates are for structured[n,m] levels with m up to 4; this "
                                   "encoding also has {}: write 8, 16, 32 or 64",
                                   print(level.format)));
    any |= fits;
  }
  if (any)
    return std::nullopt;
  return Violation(
      Violation::CrdWidth, 0,
      "2-bit coordinates are for structured[n,m] levels, and there is none; write 8, 16, 32 or 64");
}

/// Runs points through map and explicit inverse. Exact wherever the map can be evaluated: a wrong
/// coefficient, offset or block size shows at a small coordinate or just beyond a block boundary.
Found checkInverse(const Encoding &e) {
  auto any = [](const Dimension &d) { return d.inverse != nullptr; };
  if (std::none_of(e.dims.begin(), e.dims.end(), any))
    return std::nullopt;
  uint64_t state = 1;
  for (unsigned trial = 0; trial < 64; ++trial) {
    std::vector<int64_t> dims, levels;
    for (unsigned d = 0; d < e.dims.size(); ++d) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      dims.push_back(trial < 8 ? trial * (d + 1) : int64_t(state >> 40) >> (trial % 20));
    }
    Bindings bindings;
    for (const Level &level : e.levels) {
      auto value = evaluate(level.expr, dims, {}, bindings);
      if (!value)
        return std::nullopt;
      levels.push_back(*value);
    }
    for (unsigned d = 0; d < e.dims.size(); ++d) {
      Bindings local;
      auto back = any(e.dims[d]) ? evaluate(e.dims[d].inverse, {}, levels, local) : std::nullopt;
      if (back && *back != dims[d])
        return Violation(
            Violation::Inverse, d,
            fmt::format("this is not the inverse of the map: at coordinate {} of dimension '{}' it "
                        "gives {}",
                        dims[d], e.dims[d].name, *back));
    }
  }
  return std::nullopt;
}

} // namespace

std::optional<Violation> verify(const Encoding &encoding) {
  for (unsigned l = 0; l < encoding.levels.size(); ++l)
    for (auto *check : {checkParent, checkStructured})
      if (Found found = check(encoding, l))
        return found;
  for (auto *check : {checkRuns, checkDims, checkInverse, checkCrdWidth})
    if (Found found = check(encoding))
      return found;
  return std::nullopt;
}

} // namespace tulle::format
