// One function per rule. An explicit inverse is tried at points, which is exact wherever a map can be
// evaluated.
#include "format/Checks.h"
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
    if (storesCoordinates(level.format) && !fits)
      fail(fmt::format(
          "2-bit coordinates are for structured[n,m] levels with m up to 4; this encoding also has {}: "
          "write 8, 16, 32 or 64",
          print(level.format)));
    any |= fits;
  }
  if (!any)
    fail("2-bit coordinates are for structured[n,m] levels, and there is none; write 8, 16, 32 or 64");
}

bool isGiven(const Dimension &dimension) { return dimension.inverse != nullptr; }

/// Sizes at which the given inverse has to be right: those of the inverse that can be inferred, else as far
/// as it is right along each dimension. Two coordinates at least: of one dimension anything is an inverse.
std::vector<int64_t> checkedSizes(const Encoding &e) {
  Encoding inferred = e;
  for (Dimension &dimension : inferred.dims)
    dimension.inverse = nullptr;
  constexpr int64_t far = int64_t(1) << 24, near = 1000;
  std::vector<int64_t> sizes(e.order(), far);
  const bool isInferred = inverseMap(inferred).has_value();
  for (unsigned d = 0; d < e.order(); ++d) {
    if (isInferred) {
      sizes[d] = std::min(far, largestSize(inferred, d));
      continue;
    }
    std::vector<int64_t> point(e.order());
    while (point[d] < near && !wrongInverse(e, {point}))
      ++point[d];
    if (point[d] < near)
      sizes[d] = std::max<int64_t>(point[d], 2);
  }
  return sizes;
}

/// Points through map and explicit inverse. Exact wherever the map can be evaluated: a wrong coefficient,
/// offset or block size shows at a small coordinate or just beyond a block boundary. Sizes that are known
/// later are checked then.
void checkInverse(const Encoding &e) {
  if (std::ranges::none_of(e.dims, isGiven))
    return;
  const std::vector<int64_t> sizes = checkedSizes(e);
  std::vector<std::vector<int64_t>> points;
  uint64_t state = 1;
  for (unsigned trial = 0; trial < 64; ++trial) {
    std::vector<int64_t> &point = points.emplace_back();
    for (unsigned d = 0; d < e.order(); ++d) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      point.push_back((trial < 8 ? trial * (d + 1) : int64_t(state >> 40) >> (trial % 20)) % sizes[d]);
    }
  }
  if (std::optional<Violation> wrong = wrongInverse(e, points))
    throw *wrong;
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

std::optional<Violation> wrongInverse(const Encoding &e, const std::vector<std::vector<int64_t>> &points) {
  for (const std::vector<int64_t> &dims : points) {
    std::vector<int64_t> levels;
    Bindings bindings;
    for (const Level &level : e.levels)
      if (const auto value = evaluate(level.expr, dims, {}, bindings))
        levels.push_back(*value);
    if (levels.size() < e.levels.size())
      continue;
    for (unsigned d = 0; d < e.order(); ++d) {
      Bindings local;
      const auto back = isGiven(e.dims[d]) ? evaluate(e.dims[d].inverse, {}, levels, local) : std::nullopt;
      if (back && *back != dims[d])
        return Violation{
            Violation::Inverse, d,
            fmt::format("this is not the inverse of the map: at coordinate {} of dimension '{}' it gives {}",
                        dims[d], e.dims[d].name, *back)};
    }
  }
  return std::nullopt;
}

std::vector<std::vector<int64_t>> samplePoints(const std::vector<int64_t> &sizes) {
  constexpr int64_t most = 1024;
  int64_t all = 1;
  for (int64_t size : sizes)
    if (size <= 0 || __builtin_mul_overflow(all, std::min(size, most + 1), &all) || all > most)
      all = size <= 0 ? 0 : most + 1;
  std::vector<std::vector<int64_t>> points;
  uint64_t state = 1;
  for (int64_t p = 0; p < std::min(all, most); ++p) {
    std::vector<int64_t> &point = points.emplace_back();
    int64_t rest = p;
    for (int64_t size : sizes) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const int64_t any = int64_t(state >> 1) % size;
      // The first points beyond a few are corners.
      const bool isCorner = p < most / 2;
      point.push_back(all <= most ? rest % size : isCorner ? (rest % 2 ? size - 1 : 0) : any);
      rest /= all <= most ? size : 2;
    }
  }
  return points;
}

} // namespace tulle::format
