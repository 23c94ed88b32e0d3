// The least and the largest coordinate of each level, by interval arithmetic on the map: ends are expressions
// over the sizes of the dimensions, and constants are folded.
#include "format/Bits.h"
#include "format/Layout.h"
#include "format/LevelKinds.h"
#include <algorithm>
#include <bit>
#include <limits>

namespace tulle::format {
namespace {

using Bounds = std::optional<LevelBounds>;

bool isConstant(const Expr &e) { return e->kind == ExprKind::Constant; }
bool isZero(const Expr &e) { return isConstant(e) && e->value == 0; }

/// Builds the operation; what is constant or changes nothing is left out.
Expr make(ExprKind kind, const Expr &a, const Expr &b) {
  if (isConstant(a) && isConstant(b)) {
    Bindings none;
    if (auto value = evaluate(binary(kind, a, b), {}, {}, none))
      return constant(*value);
  }
  bool additive = kind == ExprKind::Add || kind == ExprKind::Sub;
  if (additive && isZero(b))
    return a;
  if (kind == ExprKind::Add && isZero(a))
    return b;
  // (x - c) + d and the like: one constant is enough.
  bool nested = additive && isConstant(b) && (a->kind == ExprKind::Add || a->kind == ExprKind::Sub) &&
                isConstant(a->rhs);
  if (nested) {
    const __int128 inner = a->rhs->value, outer = b->value;
    const __int128 sum =
        (a->kind == ExprKind::Add ? inner : -inner) + (kind == ExprKind::Add ? outer : -outer);
    const __int128 size = sum >= 0 ? sum : -sum;
    if (size <= std::numeric_limits<int64_t>::max())
      return make(sum >= 0 ? ExprKind::Add : ExprKind::Sub, a->lhs, constant(int64_t(size)));
  }
  return binary(kind, a, b);
}

LevelBounds upTo(Expr high) { return {constant(0), std::move(high)}; }
bool isNonnegative(const LevelBounds &b) { return isConstant(b.low) && b.low->value >= 0; }
bool isFixed(const LevelBounds &b) {
  return isConstant(b.low) && isConstant(b.high) && b.low->value == b.high->value;
}

Bounds ofBinary(ExprKind kind, const LevelBounds &a, const LevelBounds &b) {
  const bool byConstant = isFixed(b), nonnegative = isNonnegative(a) && isNonnegative(b);
  const int64_t n = byConstant ? b.low->value : 0;
  switch (kind) {
  case ExprKind::Add:
    return LevelBounds{make(kind, a.low, b.low), make(kind, a.high, b.high)};
  case ExprKind::Sub:
    return LevelBounds{make(kind, a.low, b.high), make(kind, a.high, b.low)};
  case ExprKind::Mul:
    if (!byConstant && isFixed(a))
      return ofBinary(kind, b, a);
    if (byConstant)
      return n >= 0 ? LevelBounds{make(kind, a.low, b.low), make(kind, a.high, b.low)}
                    : LevelBounds{make(kind, a.high, b.low), make(kind, a.low, b.low)};
    return nonnegative ? Bounds(upTo(make(kind, a.high, b.high))) : std::nullopt;
  case ExprKind::FloorDiv:
  case ExprKind::Shr:
  case ExprKind::Shl:
    if (!byConstant || (kind == ExprKind::FloorDiv ? n < 1 : n < 0 || n > 62))
      return std::nullopt;
    return LevelBounds{make(kind, a.low, b.low), make(kind, a.high, b.low)};
  case ExprKind::Mod:
    return byConstant && n > 0 ? Bounds(upTo(constant(n - 1))) : std::nullopt;
  case ExprKind::And:
    if (byConstant && n >= 0)
      return upTo(constant(n));
    return nonnegative || (isConstant(a.high) && isNonnegative(a)) ? Bounds(upTo(a.high)) : std::nullopt;
  case ExprKind::Or:
  case ExprKind::Xor: // neither has a bit that the sum would not
    return nonnegative ? Bounds(upTo(make(ExprKind::Add, a.high, b.high))) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// `size`: of the expressions so far: a `let` may double what it binds, again and again.
Bounds boundsOf(const Expr &x, unsigned order, size_t &size) {
  if (++size > 4000)
    return std::nullopt;
  switch (x->kind) {
  case ExprKind::Constant:
    return LevelBounds{x, x};
  case ExprKind::Dim:
    return upTo(make(ExprKind::Sub, x, constant(1)));
  case ExprKind::Rank:
    return upTo(make(ExprKind::Sub, dim(x->dims[0]), constant(1)));
  case ExprKind::Counter: {
    if (x->value > 0)
      return upTo(constant(x->value - 1));
    Expr product = constant(1);
    for (unsigned d = 0; d < order; ++d)
      if (std::ranges::find(x->dims, d) == x->dims.end())
        product = isConstant(product) ? dim(d) : binary(ExprKind::Mul, product, dim(d));
    return upTo(make(ExprKind::Sub, product, constant(1)));
  }
  case ExprKind::Variable:
    return boundsOf(x->bound, order, size);
  default: {
    const Bounds a = isBinary(x) ? boundsOf(x->lhs, order, size) : std::nullopt,
                 b = a ? boundsOf(x->rhs, order, size) : std::nullopt;
    return b ? ofBinary(x->kind, *a, *b) : std::nullopt;
  }
  }
}

/// The largest coordinate with bits only where those of the dimensions' coordinates can get to.
std::optional<int64_t> largestByBits(const Expr &e, const std::vector<int64_t> &dims) {
  std::vector<unsigned> dimBits;
  for (int64_t size : dims)
    dimBits.push_back(size > 0 ? unsigned(std::bit_width(uint64_t(size) - 1)) : 0);
  std::optional<BitSources> bits = bitSources(e, dimBits);
  if (!bits)
    return std::nullopt;
  uint64_t out = 0;
  for (unsigned b = 0; b < bits->size(); ++b)
    out |= uint64_t((*bits)[b].kind != BitSource::Zero) << b;
  return int64_t(out);
}

} // namespace

std::optional<LevelBounds> levelBounds(const Encoding &encoding, unsigned level) {
  size_t size = 0;
  Bounds bounds = boundsOf(body(encoding.levels[level].expr), encoding.order(), size);
  // Positions below the least coordinate have no entry, as padding.
  const LevelFormat &format = encoding.levels[level].format;
  if (bounds && startsAtZero(format) && isConstant(bounds->low) && bounds->low->value > 0)
    bounds->low = constant(0);
  return bounds;
}

std::optional<CoordinateRange> levelRange(const Encoding &encoding, unsigned level,
                                          const std::vector<int64_t> &dims) {
  std::optional<LevelBounds> bounds = levelBounds(encoding, level);
  if (!bounds)
    return std::nullopt;
  const Expr &expr = body(encoding.levels[level].expr);
  Bindings none;
  auto low = evaluate(bounds->low, dims, {}, none), high = evaluate(bounds->high, dims, {}, none);
  if (!high && expr->kind == ExprKind::Counter) // an upper bound, which no tensor reaches
    high = std::numeric_limits<int64_t>::max() - 1;
  if (!low || !high)
    return std::nullopt;
  CoordinateRange range{*low, *high};
  if (std::optional<int64_t> bits = largestByBits(expr, dims); bits && range.low == 0)
    range.high = std::min(range.high, *bits);
  return range;
}

} // namespace tulle::format
