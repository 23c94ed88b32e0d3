// A map is inverted by the mixed-radix digits of its dimensions, by solving levels that have one unknown
// dimension each until nothing changes, by taking linear forms apart, and bit by bit: in this order, since
// the last two bound the sizes of dimensions.
#include "format/Bits.h"
#include "format/Layout.h"
#include "format/LinearForms.h"
#include <algorithm>
#include <limits>

namespace tulle::format {
namespace {

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

constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();

class Inverter {
public:
  /// By the levels before `end`; `stored`: without those whose coordinate is itself derived from others.
  Inverter(const Encoding &e, unsigned end, bool stored = false)
      : e(e), digitOf(e.order(), /*readsForms=*/true), found(e.order()), sizes(e.order(), 1),
        limits(e.order(), unlimited) {
    for (unsigned l = 0; l < end; ++l) {
      bool derived = stored && e.levels[l].format.kind == LevelKind::Offset;
      levels.push_back(derived ? constant(0) : body(e.levels[l].expr));
      if (const std::optional<Digit> digit = digitOf(levels.back()))
        parts.push_back({*digit, levelVar(l), 1});
    }
  }

  std::optional<std::vector<Expr>> run(bool useExplicit) {
    for (unsigned d = 0; useExplicit && d < e.order(); ++d)
      found[d] = e.dims[d].inverse;
    takeDigits();
    solveAll();
    if (isMissing() && !digitOf.forms.empty()) {
      takeFormsApart();
      takeDigits();
      solveAll();
    }
    for (unsigned d = 0; d < e.order(); ++d)
      if (unsigned bits = found[d] ? 0 : keptBits(d)) {
        found[d] = fromBits(d, bits);
        limits[d] = bits >= 63 ? unlimited : std::min(limits[d], int64_t(1) << bits);
      }
    solveAll();
    return isMissing() ? std::nullopt : std::optional(found);
  }

  /// After `run`: the size that a dimension can have.
  int64_t limit(unsigned dim) const { return limits[dim]; }

  /// An expression over dimensions as one over level variables; null where these do not determine it.
  Expr substitute(const Expr &x) {
    size = 0;
    return known(body(x));
  }

private:
  /// A digit, and its value from those of the levels, which has that size written out.
  struct Part {
    Digit digit;
    Expr value;
    size_t size;
  };

  bool isMissing() const { return std::ranges::find(found, nullptr) != found.end(); }

  void takeDigits() {
    for (unsigned d = 0; d < e.order(); ++d) {
      if (found[d])
        continue;
      Part sum = sumOfDigits(d);
      if (!sum.value)
        if (sum = sumOfDigits(e.order() + d); sum.value)
          sum.value = unrank(sum.value);
      found[d] = sum.value;
      sizes[d] = sum.size;
    }
  }

  /// Each solution may leave another level's expression with one unknown only.
  void solveAll() {
    for (unsigned iteration = 0; isMissing() && iteration < e.order(); ++iteration)
      for (unsigned l = 0; l < levels.size(); ++l)
        solve(l);
  }

  /// The terms of forms whose digits are all there become parts. Forms have terms of earlier ones.
  void takeFormsApart() {
    std::vector<int64_t> ends(digitOf.forms.size(), unlimited);
    for (size_t f = digitOf.forms.size(); f-- > 0;) {
      const LinearForm &form = digitOf.forms[f];
      const Part whole = sumOfDigits(digitOf.numberOf(f));
      if (!whole.value)
        continue;
      for (const LinearForm::Term &term : form.terms) {
        parts.push_back(
            {term.digit, form.valueOf(term, whole.value), whole.size + 2 * form.terms.size() + 4});
        limit(term, form, ends[f], ends);
      }
    }
  }

  /// Where the form stays below `end`, what the term is a digit of has an end, too.
  void limit(const LinearForm::Term &term, const LinearForm &form, int64_t end, std::vector<int64_t> &ends) {
    int64_t count = term.count, most = unlimited;
    if (count == 0 && end != unlimited)
      count = std::max<int64_t>((end - std::max<int64_t>(form.offset, 0)) / term.stride, 0);
    const bool isBounded = term.count != 0 || end != unlimited;
    if (!isBounded || term.digit.modulus != 0 || __builtin_mul_overflow(count, term.digit.stride, &most))
      return;
    const unsigned base = term.digit.dim;
    int64_t &known = base < digitOf.numberOf(0) ? limits[base % e.order()] : ends[base - digitOf.numberOf(0)];
    known = std::min(known, most);
  }

  /// How many low bits of the dimension are kept; 0 where it is not given by its bits.
  unsigned keptBits(unsigned d) const {
    // A map that keeps only a few bits of a dimension is no inverse, whatever the sizes.
    constexpr unsigned few = 7;
    unsigned low = few, high = 64;
    while (high - low > 1) {
      unsigned middle = (low + high) / 2;
      (fromBits(d, middle) ? low : high) = middle;
    }
    return low == few ? 0 : low;
  }

  Expr fromBits(unsigned d, unsigned bits) const {
    std::vector<std::optional<BitSources>> sources;
    for (const Expr &level : levels)
      sources.push_back(bitSources(level, bits));
    return invertBits(sources, d, bits);
  }

  /// A dimension's or a form's value; without one where its digits are not all there.
  Part sumOfDigits(unsigned number) const {
    std::vector<Digit> mine;
    Part sum{Digit{number, 1, 0}, nullptr, 0};
    for (const Part &part : parts)
      if (part.digit.dim == number) {
        const int64_t stride = part.digit.stride;
        const Expr term = stride == 1 ? part.value : binary(ExprKind::Mul, part.value, constant(stride));
        sum.value = sum.value ? binary(ExprKind::Add, sum.value, term) : term;
        sum.size += part.size + (stride == 1 ? 0 : 2) + (mine.empty() ? 0 : 1);
        mine.push_back(part.digit);
      }
    if (!isComplete(mine) || sum.size > maxSize)
      sum.value = nullptr;
    return sum;
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
  DigitReader digitOf;
  std::vector<Expr> found, levels;
  std::vector<Part> parts;
  std::vector<size_t> sizes; ///< of each dimension's inverse, written out
  std::vector<int64_t> limits;
  mutable size_t size = 0; ///< of what the current level's solution substitutes
};

} // namespace

std::optional<std::vector<Digit>> digits(const Encoding &encoding) {
  std::vector<Digit> out;
  std::vector<std::vector<Digit>> perDim(encoding.order());
  for (const Level &level : encoding.levels) {
    std::optional<Digit> digit = DigitReader(encoding.order())(body(level.expr));
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
  std::optional<Digit> digit = DigitReader(encoding.order())(body(encoding.levels[level].expr));
  return digit ? std::optional(digit->dim % encoding.order()) : std::nullopt;
}

int64_t largestSize(const Encoding &encoding, unsigned dim) {
  Inverter inverter(encoding, unsigned(encoding.levels.size()));
  inverter.run(true);
  return inverter.limit(dim);
}

int64_t levelSize(const Digit &digit, const std::vector<int64_t> &dims) {
  if (digit.modulus != 0)
    return digit.modulus;
  int64_t size = dims[digit.dim];
  return size == 0 ? 0 : (size - 1) / digit.stride + 1;
}

} // namespace tulle::format
