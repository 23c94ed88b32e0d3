#include "iteration/Places.h"

namespace tulle::iteration {

int unitStride(const std::vector<Shape> &shapes, const LoopVar &v) {
  int score = 0;
  for (const Shape &s : shapes) {
    if (s.digits.empty())
      continue;
    for (auto [index, coefficient] : s.subscript(s.digits.size() - 1).terms)
      if (index == v.index && v.stride == 1 && s.modes.back() == LevelMode::Locate)
        ++score;
  }
  return score;
}

/// Loops over stored coordinates and all loops they stand in.
static std::vector<bool> neededBySparse(const std::vector<Shape> &shapes, const std::vector<LoopVar> &loops,
                                        const std::vector<std::set<unsigned>> &before) {
  std::vector<bool> needed;
  for (const LoopVar &v : loops)
    needed.push_back(std::ranges::any_of(shapes, [&](const Shape &s) { return s.drives(v); }));
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned v = 0; v < loops.size(); ++v)
      for (unsigned u : before[v])
        if (needed[v] && !needed[u])
          changed = needed[u] = true;
  }
  return needed;
}

Places::Places(const std::vector<bool> &reduction, const std::vector<Shape> &shapes,
               const std::vector<LoopVar> &loops, const std::vector<std::set<unsigned>> &before)
    : reduction(reduction), shapes(shapes) {
  const std::vector<bool> needed = neededBySparse(shapes, loops, before);
  for (unsigned v = 0; v < loops.size(); ++v)
    places.push_back(needed[v] ? Place::Stored : isOutermost(loops[v]) ? Place::Outermost : Place::Inside);
  const auto isInnermostStored = [&](unsigned loop) {
    for (unsigned v = 0; v < loops.size(); ++v)
      if (needed[v] && before[v].contains(loop))
        return false;
    return bool(needed[loop]);
  };
  for (unsigned rows = 0; rows < loops.size(); ++rows)
    for (unsigned v = 0; v < loops.size(); ++v)
      if (places[v] == Place::Inside && isInnermostStored(rows) &&
          (stridesMore(loops[v], loops[rows]) ||
           (isRowOfBlock(loops[v], loops[rows], loops) && !before[v].contains(rows)))) {
        places[v] = Place::BeforeRows;
        places[rows] = Place::Rows;
      }
}

/// Whether a dense loop would stride through all operands as the innermost one: what is stored is traversed
/// again sooner than that (experiment 095), unless a set operation says which coordinates there are.
bool Places::isOutermost(const LoopVar &v) const {
  return !reduction[v.index] && v.stride == 1 && v.modulus == 0 && unitStride(shapes, v) == 0 &&
         !coiterates();
}

/// Whether the loop of a sum strides through as many operands as it is consecutive in, all of which are
/// consecutive in the loop over `rows`: rows are traversed again sooner than that (experiment 095).
bool Places::stridesMore(const LoopVar &v, const LoopVar &rows) const {
  // A row of a new tensor would be assembled once for each iteration of the sum.
  if (!reduction[v.index] || v.stride != 1 || v.modulus != 0 || coiterates() ||
      shapes.back().operand->assembled)
    return false;
  int strides = 0;
  for (const Shape &s : shapes) {
    const auto has = [&](size_t l, unsigned index) {
      return std::ranges::any_of(s.subscript(l).terms, [&](auto term) { return term.first == index; });
    };
    bool strided = false;
    for (size_t l = 0; l + 1 < s.digits.size(); ++l)
      strided |= has(l, v.index);
    if (!strided)
      continue;
    if (s.sparse || !has(s.digits.size() - 1, rows.index))
      return false;
    ++strides;
  }
  return strides > 0 && strides >= unitStride(shapes, v);
}

/// Whether the loop is over the rows of a block, each entry of which adds to a row of the result (SpMM with
/// groups of rows that share a column): each row is summed on its own then, in registers (experiment 121).
/// Where blocks have columns, too, they are summed together.
bool Places::isRowOfBlock(const LoopVar &v, const LoopVar &rows, const std::vector<LoopVar> &loops) const {
  if (reduction[v.index] || v.modulus == 0 || !reduction[rows.index] || coiterates() ||
      shapes.back().operand->assembled)
    return false;
  const auto isStored = [&](const LoopVar &loop) {
    return std::ranges::any_of(shapes, [&](const Shape &s) { return s.drives(loop); });
  };
  bool hasRow = false;
  for (const LoopVar &loop : loops) {
    if (reduction[loop.index] && loop.modulus != 1 && !isStored(loop))
      return false;
    hasRow |= !reduction[loop.index] && loop.index != v.index && !isStored(loop) &&
              unitStride(shapes, loop) > unitStride(shapes, v);
  }
  return hasRow;
}

/// Whether operands are intersected or united; a result that has the pattern of an operand is not.
bool Places::coiterates() const {
  for (const Shape &s : shapes)
    for (size_t l : s.driven())
      if (std::count_if(shapes.begin(), std::prev(shapes.end()),
                        [&](const Shape &other) { return other.drives(s.loop(l)); }) > 1)
        return true;
  return false;
}

} // namespace tulle::iteration
