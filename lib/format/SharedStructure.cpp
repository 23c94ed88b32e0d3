// Tensors that have levels in common: one has those of another and dense ones below, or its outer levels.
#include "format/Encoding.h"
#include <algorithm>
#include <fmt/format.h>

namespace tulle::format {

bool haveEqualLevels(const Encoding &a, const Encoding &b, size_t count) {
  auto same = [](const Level &x, const Level &y) { return x.format == y.format && equal(x.expr, y.expr); };
  return a.levels.size() >= count && b.levels.size() >= count &&
         std::equal(a.levels.begin(), a.levels.begin() + count, b.levels.begin(), same);
}

namespace {

/// Whether the expression depends on a dimension from `order` on.
bool dependsFrom(const Expr &e, unsigned order) {
  if (!e)
    return false;
  return (e->kind == ExprKind::Dim && e->value >= int64_t(order)) ||
         std::ranges::any_of(e->dims, [&](unsigned d) { return d >= order; }) || dependsFrom(e->lhs, order) ||
         dependsFrom(e->rhs, order) || dependsFrom(e->bound, order);
}

/// Whether the inverse expression has a level from `count` on.
bool readsLevel(const Expr &e, size_t count) {
  return e && ((e->kind == ExprKind::Level && size_t(e->value) >= count) || readsLevel(e->lhs, count) ||
               readsLevel(e->rhs, count));
}

/// The levels without values and fill.
Encoding structureOf(const Encoding &encoding) {
  Encoding made = withoutSlices(encoding);
  made.fill.reset();
  made.implicitVal.reset();
  made.explicitVal.reset();
  return made;
}

/// The levels that the first `order` dimensions have, where they can hold a tensor of these dimensions.
std::optional<Encoding> outerEncoding(const Encoding &encoding, unsigned order) {
  Encoding outer = structureOf(encoding);
  size_t count = 0;
  while (count < outer.levels.size() && !dependsFrom(outer.levels[count].expr, order))
    ++count;
  outer.dims.resize(order);
  outer.levels.resize(count);
  // A counter, or a level that repeats a coordinate, tells entries apart that differ in other dimensions.
  auto counts = [](const Level &level) { return contains(level.expr, ExprKind::Counter); };
  auto isRead = [&](const Dimension &dimension) { return readsLevel(dimension.inverse, count); };
  if (count == 0 || !outer.levels.back().format.unique || std::ranges::any_of(outer.levels, counts) ||
      std::ranges::any_of(outer.dims, isRead) || verify(outer) || !inverseMap(outer) ||
      !whyNotExecutable(outer).empty())
    return std::nullopt;
  return outer;
}

/// A name that nothing in the encoding has.
std::string unusedName(const Encoding &encoding, char first) {
  for (unsigned n = 0;; ++n) {
    const std::string name = fmt::format("{}{}", first, n);
    const std::string text = print(encoding);
    if (text.find(name) == std::string::npos)
      return name;
  }
}

/// The levels with a dense one for each further dimension.
Encoding withDenseLevels(Encoding made, unsigned order) {
  const bool named = std::ranges::any_of(made.levels, [](const Level &level) { return !level.name.empty(); });
  const bool inverted = std::ranges::any_of(made.dims, [](const Dimension &d) { return bool(d.inverse); });
  for (unsigned d = made.order(); d < order; ++d) {
    const std::string level = named ? unusedName(made, 'l') : "";
    made.dims.push_back(
        {unusedName(made, 'd'), std::nullopt, inverted ? levelVar(unsigned(made.levels.size())) : nullptr});
    made.levels.push_back({level, dim(d), {}});
  }
  return made;
}

} // namespace

std::optional<size_t> outerLevels(const Encoding &encoding, unsigned order) {
  if (order >= encoding.order())
    return encoding.levels.size();
  const std::optional<Encoding> outer = outerEncoding(encoding, order);
  return outer ? std::optional(outer->levels.size()) : std::nullopt;
}

std::string whyNotLike(const Encoding &pattern, unsigned order) {
  if (outerLevels(pattern, order))
    return "";
  return fmt::format("the outer levels of {} do not store each coordinate of the first {} dimension{} once, "
                     "by {}",
                     printBody(pattern), order, order == 1 ? "" : "s", order == 1 ? "itself" : "themselves");
}

Encoding likeEncoding(const Encoding &pattern, unsigned order) {
  const Encoding made = order < pattern.order() ? outerEncoding(pattern, order).value()
                                                : withDenseLevels(structureOf(pattern), order);
  return parseEncoding(print(made)); // names dimensions as in any text
}

bool sharesStructure(const Encoding &encoding, const Encoding &pattern) {
  if (hasSlices(encoding) || hasSlices(pattern) || encoding.posWidth != pattern.posWidth ||
      encoding.crdWidth != pattern.crdWidth)
    return false;
  const unsigned order = std::min(encoding.order(), pattern.order());
  const std::optional<size_t> own = outerLevels(pattern, order);
  if (!own || encoding.levels.size() != *own + (encoding.order() - order) ||
      !haveEqualLevels(encoding, pattern, *own))
    return false;
  for (unsigned d = order; d < encoding.order(); ++d) {
    const Level &level = encoding.levels[*own + d - order];
    if (level.format.kind != LevelKind::Dense || !equal(level.expr, dim(d)))
      return false;
  }
  return true;
}

} // namespace tulle::format
