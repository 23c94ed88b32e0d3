// What the conditions of parts say of what the parts store, whatever the tensor is.
#include "notation/Pattern.h"
#include <algorithm>

namespace tulle::notation {
namespace {

bool dependsOn(const format::Expr &e, unsigned dimension, bool others) {
  if (!e)
    return false;
  if (e->kind == format::ExprKind::Dim)
    return (unsigned(e->value) != dimension) == others;
  return dependsOn(e->lhs, dimension, others) || dependsOn(e->rhs, dimension, others);
}

bool isSame(const Condition &a, const Condition &b) {
  return a.measure == b.measure && (a.measure != Condition::Value || format::equal(a.value, b.value)) &&
         a.blocks == b.blocks && a.comparison == b.comparison && a.bounds == b.bounds &&
         a.divisor == b.divisor;
}

/// Whether a condition says in which block of so many coordinates of the dimension all entries are.
bool namesBlock(const Condition &c, unsigned dimension, int64_t block) {
  return c.measure == Condition::Value && c.comparison == Condition::Equal &&
         c.value->kind == format::ExprKind::FloorDiv && c.value->lhs->kind == format::ExprKind::Dim &&
         c.value->lhs->value == dimension && c.value->rhs->kind == format::ExprKind::Constant &&
         c.value->rhs->value == block;
}

/// Whether what is counted around an entry of the part is known without its coordinate in the dimension.
bool countsAlong(const Part &part, const Condition &c, unsigned dimension) {
  const int64_t block = c.blocks[dimension];
  return block == 0 || std::ranges::any_of(part.conditions, [&](const Condition &other) {
           return namesBlock(other, dimension, block);
         });
}

/// Whether the count is `n` where the condition holds: there is no entry without one.
bool saysCount(const Condition &c, int64_t n) {
  const int64_t bound = c.bounds.empty() ? -1 : c.bounds.front();
  return (c.comparison == Condition::Equal && bound == n) ||
         (n == 1 && ((c.comparison == Condition::LessEqual && bound == 1) ||
                     (c.comparison == Condition::Less && bound == 2)));
}

/// Whether what is counted are the entries that agree in all dimensions but one.
bool countsSegments(const Condition &c, unsigned dimension) {
  if (c.measure != Condition::Count)
    return false;
  for (unsigned d = 0; d < c.blocks.size(); ++d)
    if (d != dimension && c.blocks[d] != 1)
      return false;
  return true;
}

/// The dimension whose entries a `fixed[n]` level holds, below levels that store nothing but coordinates of
/// the other dimensions; nullopt of other formats.
std::optional<unsigned> fixedDimension(const format::Encoding &encoding) {
  std::vector<bool> seen(encoding.order(), false);
  for (const format::Level &level : encoding.levels) {
    const bool last = &level == &encoding.levels.back();
    const format::LevelKind kind = level.format.kind;
    if (level.expr->kind != format::ExprKind::Dim || seen[size_t(level.expr->value)] ||
        (last ? kind != format::LevelKind::Fixed || level.format.n == 0
              : kind != format::LevelKind::Compressed))
      return std::nullopt;
    seen[size_t(level.expr->value)] = true;
  }
  return encoding.levels.size() == encoding.order()
             ? std::optional(unsigned(encoding.levels.back().expr->value))
             : std::nullopt;
}

} // namespace

bool areDisjoint(const Part &earlier, const Part &later, unsigned dimension) {
  // Of entries with one coordinate there, the earlier part takes all that the later one could, or none.
  return std::ranges::all_of(earlier.conditions, [&](const Condition &c) {
    if (c.measure == Condition::Value)
      return !dependsOn(c.value, dimension, /*others=*/true) ||
             std::ranges::any_of(later.conditions, [&](const Condition &other) { return isSame(c, other); });
    for (unsigned d = 0; d < c.blocks.size(); ++d)
      if (d != dimension && !countsAlong(earlier, c, d))
        return false;
    return true;
  });
}

bool hasNoPadding(const Part &part) {
  const std::optional<unsigned> dimension = fixedDimension(part.format);
  if (!dimension)
    return false;
  // A segment holds the entries that differ in that dimension. The part says how many these are, maybe within
  // a block of coordinates, and takes all of them or none.
  const auto counting = std::ranges::find_if(part.conditions, [&](const Condition &c) {
    return countsSegments(c, *dimension) && countsAlong(part, c, *dimension) &&
           saysCount(c, part.format.levels.back().format.n);
  });
  if (counting == part.conditions.end())
    return false;
  const int64_t block = counting->blocks[*dimension];
  return std::ranges::all_of(part.conditions, [&](const Condition &c) {
    return c.measure == Condition::Value
               ? !dependsOn(c.value, *dimension, /*others=*/false) || namesBlock(c, *dimension, block)
               : countsAlong(part, c, *dimension);
  });
}

} // namespace tulle::notation
