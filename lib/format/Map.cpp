// A map is inverted by the mixed-radix digits of its dimensions, else bit by bit, else by solving levels that
// have one unknown dimension each until nothing changes.
#include "format/Bits.h"
#include "format/Encoding.h"
#include "format/Layout.h"
#include <algorithm>
#include <limits>

namespace tulle::format {
namespace {

/// `e` as `(dim / stride) % modulus`, if it is that. The rank of a dimension counts as one more dimension,
/// with a number after those of the `order` real ones.
std::optional<Digit> digitOf(const Expr &e, unsigned order) {
  if (e->kind == ExprKind::Dim)
    return Digit{unsigned(e->value), 1, 0};
  if (e->kind == ExprKind::Rank)
    return Digit{order + e->dims[0], 1, 0};
  if (e->kind == ExprKind::Variable)
    return digitOf(e->bound, order);
  bool division = e->kind == ExprKind::FloorDiv || e->kind == ExprKind::Mod;
  if (!division || e->rhs->kind != ExprKind::Constant || e->rhs->value < 1)
    return std::nullopt;
  std::optional<Digit> digit = digitOf(e->lhs, order);
  int64_t n = e->rhs->value;
  if (!digit)
    return std::nullopt;
  if (e->kind == ExprKind::Mod) {
    if (digit->modulus == 0 || digit->modulus % n == 0)
      digit->modulus = n;
    else if (n < digit->modulus)
      return std::nullopt;
    return digit;
  }
  if (__builtin_mul_overflow(digit->stride, n, &digit->stride) || digit->modulus % n != 0)
    return std::nullopt;
  digit->modulus /= n;
  return digit;
}

/// Whether the digits of one dimension, finest first, are a complete mixed-radix system.
bool isComplete(std::vector<Digit> digits) {
  std::sort(digits.begin(), digits.end(), [](const Digit &a, const Digit &b) {
    uint64_t am = uint64_t(a.modulus) - 1, bm = uint64_t(b.modulus) - 1; // 0, no modulus, is the greatest
    return std::pair(a.stride, am) < std::pair(b.stride, bm);
  });
  int64_t expected = 1;
  for (const Digit &digit : digits) {
    if (expected == 0 || digit.stride != expected)
      return false;
    if (__builtin_mul_overflow(expected, digit.modulus, &expected))
      return false;
  }
  return !digits.empty() && expected == 0;
}

class Inverter {
public:
  /// By the levels before `end`; `stored`: without those whose coordinate is itself derived from others.
  Inverter(const Encoding &e, unsigned end, bool stored = false)
      : e(e), found(e.order()), sizes(e.order(), 1) {
    for (unsigned l = 0; l < end; ++l) {
      bool derived = stored && e.levels[l].format.kind == LevelKind::Offset;
      levels.push_back(derived ? constant(0) : body(e.levels[l].expr));
      digits.push_back(digitOf(levels.back(), e.order()));
    }
  }

  std::optional<std::vector<Expr>> run(bool useExplicit) {
    for (unsigned d = 0; d < e.order(); ++d)
      found[d] = useExplicit && e.dims[d].inverse ? e.dims[d].inverse : fromDigits(d);
    for (unsigned d = 0; d < e.order(); ++d)
      if (unsigned bits = found[d] ? 0 : keptBits(d))
        found[d] = fromBits(d, bits);
    // Each iteration may leave another level's expression with one unknown only.
    for (unsigned iteration = 0; iteration < e.order(); ++iteration)
      for (unsigned l = 0; l < levels.size(); ++l)
        solve(l);
    if (std::ranges::find(found, nullptr) != found.end())
      return std::nullopt;
    return found;
  }

  /// An expression over dimensions as one over level variables; null where these do not determine it.
  Expr substitute(const Expr &x) {
    size = 0;
    return known(body(x));
  }

  /// How many low bits of the dimension are kept; 0 where it is not given by its bits.
  unsigned keptBits(unsigned d) const {
    if (e.dims[d].inverse || fromDigits(d))
      return 0;
    // A map that keeps only a few bits of a dimension is no inverse, whatever the sizes.
    constexpr unsigned few = 7;
    unsigned low = few, high = 64;
    while (high - low > 1) {
      unsigned middle = (low + high) / 2;
      (fromBits(d, middle) ? low : high) = middle;
    }
    return low == few ? 0 : low;
  }

private:
  Expr fromDigits(unsigned d) const {
    if (Expr plain = sumOfDigits(d))
      return plain;
    Expr ranked = sumOfDigits(e.order() + d);
    return ranked ? unrank(ranked) : nullptr;
  }

  Expr fromBits(unsigned d, unsigned bits) const {
    std::vector<std::optional<BitSources>> sources;
    for (const Expr &level : levels)
      sources.push_back(bitSources(level, bits));
    return invertBits(sources, d, bits);
  }

  Expr sumOfDigits(unsigned d) const {
    std::vector<Digit> mine;
    Expr sum;
    for (unsigned l = 0; l < digits.size(); ++l)
      if (digits[l] && digits[l]->dim == d) {
        int64_t stride = digits[l]->stride;
        Expr term = levelVar(l);
        if (stride != 1)
          term = binary(ExprKind::Mul, term, constant(stride));
        sum = sum ? binary(ExprKind::Add, sum, term) : term;
        mine.push_back(*digits[l]);
      }
    return isComplete(mine) ? sum : nullptr;
  }

  /// The expression with dimensions replaced by their inverses; null where it has an unknown one, or anything
  /// that the level's own coordinate does not determine.
  Expr known(const Expr &x) const {
    switch (x->kind) {
    case ExprKind::Constant:
      return x;
    case ExprKind::Dim:
      size += sizes[x->value];
      return size < maxSize ? found[x->value] : nullptr;
    case ExprKind::Variable:
      return ++size < maxSize ? known(x->bound) : nullptr;
    default: {
      Expr lhs = isBinary(x) ? known(x->lhs) : nullptr, rhs = lhs ? known(x->rhs) : nullptr;
      return rhs && ++size < maxSize ? binary(x->kind, lhs, rhs) : nullptr;
    }
    }
  }

  void solve(unsigned l) {
    Expr x = levels[l], value = levelVar(l);
    size = 0;
    while (value && x->kind != ExprKind::Dim) {
      if (!x->lhs || x->kind == ExprKind::Let)
        return;
      Expr lhs = known(x->lhs), rhs = known(x->rhs);
      if (bool(lhs) == bool(rhs))
        return;
      value = undo(x, value, lhs, rhs);
      x = lhs ? x->rhs : x->lhs;
      ++size;
    }
    if (!value || found[x->value])
      return;
    found[x->value] = value;
    sizes[x->value] = size + 1;
  }

  /// `value` is that of `x`; returns that of its unknown side. One of `lhs` and `rhs` is null: the unknown
  /// one.
  static Expr undo(const Expr &x, Expr value, const Expr &lhs, const Expr &rhs) {
    const Expr &other = lhs ? lhs : rhs;
    switch (x->kind) {
    case ExprKind::Add:
      return binary(ExprKind::Sub, value, other);
    case ExprKind::Sub:
      return lhs ? binary(ExprKind::Sub, other, value) : binary(ExprKind::Add, value, other);
    case ExprKind::Xor:
      return binary(ExprKind::Xor, value, other);
    case ExprKind::Shl:
      return rhs ? binary(ExprKind::Shr, value, other) : nullptr;
    case ExprKind::Mul:
      if (other->kind != ExprKind::Constant || other->value == 0)
        return nullptr;
      if (other->value == -1)
        return binary(ExprKind::Sub, constant(0), value);
      return other->value > 0 ? binary(ExprKind::FloorDiv, value, other) : nullptr;
    default:
      return nullptr;
    }
  }

  // Inverses are substituted by reference: written out, a few lines of text could grow beyond all memory.
  static constexpr size_t maxSize = 4000;
  const Encoding &e;
  std::vector<Expr> found, levels;
  std::vector<std::optional<Digit>> digits;
  std::vector<size_t> sizes; ///< of each dimension's inverse, written out
  mutable size_t size = 0;   ///< of what the current level's solution substitutes
};

} // namespace

std::optional<std::vector<Digit>> digits(const Encoding &encoding) {
  std::vector<Digit> out;
  std::vector<std::vector<Digit>> perDim(encoding.order());
  for (const Level &level : encoding.levels) {
    std::optional<Digit> digit = digitOf(body(level.expr), encoding.order());
    if (!digit || digit->dim >= encoding.order())
      return std::nullopt;
    out.push_back(*digit);
    perDim[digit->dim].push_back(*digit);
  }
  return std::ranges::all_of(perDim, isComplete) ? std::optional(out) : std::nullopt;
}

std::optional<std::vector<Expr>> inverseMap(const Encoding &encoding) {
  return Inverter(encoding, unsigned(encoding.levels.size())).run(true);
}

Expr offsetCoordinate(const Encoding &encoding, unsigned level) {
  Inverter above(encoding, level, true);
  above.run(false);
  return above.substitute(encoding.levels[level].expr);
}

std::optional<unsigned> separatedDimension(const Encoding &encoding, unsigned level) {
  std::optional<Digit> digit = digitOf(body(encoding.levels[level].expr), encoding.order());
  return digit ? std::optional(digit->dim % encoding.order()) : std::nullopt;
}

int64_t largestSize(const Encoding &encoding, unsigned dim) {
  unsigned bits = Inverter(encoding, unsigned(encoding.levels.size())).keptBits(dim);
  return bits == 0 || bits >= 63 ? std::numeric_limits<int64_t>::max() : int64_t(1) << bits;
}

int64_t levelSize(const Digit &digit, const std::vector<int64_t> &dims) {
  if (digit.modulus != 0)
    return digit.modulus;
  int64_t size = dims[digit.dim];
  return size == 0 ? 0 : (size - 1) / digit.stride + 1;
}

} // namespace tulle::format
