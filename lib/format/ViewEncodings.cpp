// Encodings of views: the same buffers over dimensions in another order, counted from the other end, that are
// digits of others; and rows that lie anywhere. (RFC on structured codegen beyond rectangular arrays: a view
// changes the map, not the data.)
#include "format/Encoding.h"
#include "format/LevelKinds.h"
#include <algorithm>
#include <functional>

namespace tulle::format {

namespace {

using ReplaceDim = std::function<Expr(unsigned)>;

/// `e` with every dimension variable replaced, and the numbers of dimensions in counters and ranks.
Expr replaceDims(const Expr &e, const ReplaceDim &replace, const std::vector<unsigned> &numbers) {
  if (!e)
    return e;
  if (e->kind == ExprKind::Dim)
    return replace(unsigned(e->value));
  ExprNode made = *e;
  for (unsigned &dim : made.dims)
    dim = numbers[dim];
  made.lhs = replaceDims(e->lhs, replace, numbers);
  made.rhs = replaceDims(e->rhs, replace, numbers);
  made.bound = replaceDims(e->bound, replace, numbers);
  return std::make_shared<const ExprNode>(std::move(made));
}

bool isFirstDimension(const Level &level) {
  return level.expr->kind == ExprKind::Dim && level.expr->value == 0;
}

} // namespace

Encoding permuted(const Encoding &encoding, const std::vector<unsigned> &order) {
  std::vector<unsigned> numbers(order.size());
  for (unsigned d = 0; d < order.size(); ++d)
    numbers[order[d]] = d;
  Encoding made = encoding;
  const std::vector<Dimension> plain = denseEncoding(unsigned(order.size())).dims;
  for (unsigned d = 0; d < order.size(); ++d) {
    made.dims[d] = encoding.dims[order[d]];
    made.dims[d].name = plain[d].name;
  }
  for (Level &level : made.levels)
    level.expr = replaceDims(level.expr, [&](unsigned d) { return dim(numbers[d]); }, numbers);
  return made;
}

std::optional<Encoding> mirrored(const Encoding &encoding, unsigned dimension, int64_t size) {
  // A coordinate at a distance from the end has no digits, and the rank of one is not stored.
  auto reads = [&](const Level &level) {
    return find(level.expr, ExprKind::Counter) || find(level.expr, ExprKind::Rank) || !level.format.ordered;
  };
  if (encoding.dims[dimension].slice || encoding.dims[dimension].inverse ||
      std::ranges::any_of(encoding.levels, reads))
    return std::nullopt;
  Encoding made = encoding;
  std::vector<unsigned> same(encoding.order());
  for (unsigned d = 0; d < same.size(); ++d)
    same[d] = d;
  const Expr fromEnd = binary(ExprKind::Sub, constant(size - 1), dim(dimension));
  for (Level &level : made.levels)
    level.expr = replaceDims(level.expr, [&](unsigned d) { return d == dimension ? fromEnd : dim(d); }, same);
  return whyNotExecutable(made).empty() ? std::optional(made) : std::nullopt;
}

std::optional<Encoding> withRowsAnywhere(const Encoding &encoding) {
  using enum LevelKind;
  if (encoding.levels.size() < 2 || encoding.levels[0].format.kind != Dense ||
      !isFirstDimension(encoding.levels[0]) || hasSlices(encoding) || !digits(encoding))
    return std::nullopt;
  Encoding made = encoding;
  LevelFormat &rows = made.levels[1].format;
  if (isOneOf(rows.kind, {Dense, Ragged, Jagged}) && !rows.padded)
    rows = {.kind = Jagged};
  else if (isOneOf(rows.kind, {Compressed, LooseCompressed}))
    rows.kind = LooseCompressed, rows.n = 0;
  else
    return std::nullopt;
  return whyNotExecutable(made).empty() ? std::optional(made) : std::nullopt;
}

//===--- Digits of other dimensions ---===//

/// A digit of an expression.
static Expr digitExpr(Expr of, const Digit &digit) {
  if (digit.stride != 1)
    of = binary(ExprKind::FloorDiv, of, constant(digit.stride));
  return digit.modulus == 0 ? of : binary(ExprKind::Mod, of, constant(digit.modulus));
}

/// The last two levels as one where both store every coordinate in one way, and the digit of one follows on
/// that of the other. Blocks of one dimension (`sources`) end behind it where its size is no multiple of
/// theirs: below other levels, they have more positions than the one level would.
static void mergeFull(std::vector<Level> &levels, std::vector<Digit> &digits,
                      std::vector<unsigned> &sources) {
  const size_t last = levels.size() - 1;
  if (last == 0 || !isFull(levels[last].format) || levels[last - 1].format.kind != levels[last].format.kind)
    return;
  const Digit &high = digits[last - 1], &low = digits[last];
  if (high.dim != low.dim || low.modulus == 0 || high.stride != low.stride * low.modulus)
    return;
  if (last > 1 && high.modulus == 0 && sources[last - 1] == sources[last])
    return;
  digits[last - 1] = {low.dim, low.stride, high.modulus * low.modulus};
  levels.pop_back();
  digits.pop_back();
  sources.pop_back();
}

std::optional<Encoding> reshaped(const Encoding &encoding, const std::vector<Digit> &outer, unsigned order) {
  const std::optional<std::vector<Digit>> inner = digits(encoding);
  auto isOrdered = [](const Level &level) { return level.format.ordered; };
  if (!inner || hasSlices(encoding) || !std::ranges::all_of(encoding.levels, isOrdered))
    return std::nullopt;
  Encoding made = encoding;
  made.dims = denseEncoding(order).dims;
  for (size_t l = 0; l < made.levels.size(); ++l) {
    const Digit &whole = outer[(*inner)[l].dim];
    made.levels[l].name.clear();
    made.levels[l].expr = digitExpr(digitExpr(dim(whole.dim), whole), (*inner)[l]);
  }
  const std::optional<std::vector<Digit>> all = digits(made);
  if (!all)
    return std::nullopt;
  // A level of one coordinate stands between digits of its dimension without being one.
  const bool isMerged = std::ranges::count(*all, 1, &Digit::modulus) == 0;
  std::vector<Digit> kept;
  std::vector<Level> levels;
  std::vector<unsigned> sources;
  for (size_t l = 0; l < made.levels.size(); ++l) {
    levels.push_back(made.levels[l]);
    kept.push_back((*all)[l]);
    sources.push_back((*inner)[l].dim);
    if (isMerged)
      mergeFull(levels, kept, sources);
    levels.back().expr = digitExpr(dim(kept.back().dim), kept.back());
  }
  made.levels = std::move(levels);
  return made;
}

/// The dimension, and the digit of it, that is a digit of the whole; nullopt where it is of no single one.
/// `before` so many of that digit were asked for before: dimensions of size 1 can be the same one.
static std::optional<Digit> digitWithin(const Digit &digit, const std::vector<Digit> &outer, size_t before) {
  // One of size 1 lies within others, too.
  for (unsigned d = 0; d < outer.size(); ++d)
    if (outer[d] == digit && before-- == 0)
      return Digit{d, 1, 0};
  for (unsigned d = 0; d < outer.size(); ++d) {
    const Digit &own = outer[d];
    const __int128 end = __int128(own.stride) * own.modulus, reached = __int128(digit.stride) * digit.modulus;
    const bool inside = own.modulus == 0 || (digit.modulus != 0 && reached <= end);
    if (own.dim == digit.dim && digit.stride >= own.stride && digit.stride % own.stride == 0 && inside)
      return Digit{d, digit.stride / own.stride, own.modulus != 0 && reached == end ? 0 : digit.modulus};
  }
  return std::nullopt;
}

std::optional<Encoding> unreshaped(const Encoding &encoding, const std::vector<Digit> &outer) {
  const std::optional<std::vector<Digit>> whole = digits(encoding);
  if (!whole)
    return std::nullopt;
  Encoding made = encoding;
  made.dims = denseEncoding(unsigned(outer.size())).dims;
  for (size_t l = 0; l < made.levels.size(); ++l) {
    const auto own = whole->begin() + ptrdiff_t(l);
    const std::optional<Digit> inner =
        digitWithin(*own, outer, size_t(std::count(whole->begin(), own, *own)));
    if (!inner)
      return std::nullopt;
    made.levels[l].name.clear();
    made.levels[l].expr = digitExpr(dim(inner->dim), *inner);
  }
  return digits(made) ? std::optional(made) : std::nullopt;
}

/// Whether one digit is a digit of another.
static bool isPartOf(const Digit &part, const Digit &whole) {
  const __int128 end = __int128(part.stride) * part.modulus, last = __int128(whole.stride) * whole.modulus;
  const bool ends = whole.modulus == 0 || (part.modulus != 0 && end <= last);
  return part.dim == whole.dim && part.stride >= whole.stride && part.stride % whole.stride == 0 && ends;
}

std::optional<Encoding> expanded(const Encoding &encoding, const std::vector<Digit> &parts) {
  const std::optional<std::vector<Digit>> whole = digits(encoding);
  if (!whole || hasSlices(encoding))
    return std::nullopt;
  std::vector<Digit> coarsestFirst = parts;
  std::ranges::stable_sort(coarsestFirst, std::greater(), &Digit::stride);
  Encoding split = encoding;
  split.levels.clear();
  for (size_t l = 0; l < encoding.levels.size(); ++l) {
    const Level &level = encoding.levels[l];
    const Digit &own = (*whole)[l];
    // One of size 1 that has a level of its own is a digit of every other level, too.
    auto isOther = [&](const Digit &part) { return part != own && std::ranges::count(*whole, part) > 0; };
    std::vector<Digit> inside;
    std::ranges::copy_if(coarsestFirst, std::back_inserter(inside),
                         [&](const Digit &part) { return isPartOf(part, own) && !isOther(part); });
    if (!isFull(level.format) || inside.empty())
      inside = {own};
    for (const Digit &part : inside) {
      split.levels.push_back(level);
      split.levels.back().expr = digitExpr(dim(own.dim), part);
    }
  }
  return unreshaped(split, parts);
}

std::optional<Encoding> linearized(const Encoding &encoding, const std::vector<Digit> &parts) {
  const std::optional<std::vector<Digit>> whole = digits(encoding);
  if (!whole || hasSlices(encoding))
    return std::nullopt;
  Encoding made = encoding;
  made.dims = denseEncoding(unsigned(parts.size())).dims;
  for (size_t l = 0; l < made.levels.size(); ++l) {
    const Digit &own = (*whole)[l];
    Expr sum;
    for (unsigned d = 0; d < parts.size(); ++d) {
      if (parts[d].dim != own.dim)
        continue;
      const Expr term =
          parts[d].stride == 1 ? dim(d) : binary(ExprKind::Mul, dim(d), constant(parts[d].stride));
      sum = sum ? binary(ExprKind::Add, sum, term) : term;
    }
    made.levels[l].name.clear();
    made.levels[l].expr = digitExpr(sum, own);
  }
  return whyNotExecutable(made).empty() ? std::optional(made) : std::nullopt;
}

} // namespace tulle::format
