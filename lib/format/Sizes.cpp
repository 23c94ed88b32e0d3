// Whether a tensor of given sizes can be stored: everything that maps compute must fit 64 bits, since
// generated code does not look.
#include "format/Bits.h"
#include "format/Layout.h"
#include "format/Print.h"
#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace tulle::format {
namespace {

using Wide = __int128;

/// The values an expression can have; of operands that fit 64 bits none leaves 128.
struct Interval {
  Wide low = 0, high = 0;

  bool fits() const {
    return low >= std::numeric_limits<int64_t>::min() && high <= std::numeric_limits<int64_t>::max();
  }
};

constexpr Interval anything = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};

Wide floorDiv(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

Interval product(const Interval &a, const Interval &b) {
  const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return {low, high};
}

/// 2^n - 1, the largest value with the bits that either operand can have.
Wide allBits(Wide high) { return (Wide(1) << std::bit_width(uint64_t(high))) - 1; }

/// Nullopt where the operation is not defined for all operands: a divisor that may be 0, a shift by more than
/// a word.
std::optional<Interval> apply(ExprKind kind, const Interval &a, const Interval &b) {
  const bool positive = a.low >= 0 && b.low >= 0;
  switch (kind) {
  case ExprKind::Add:
    return Interval{a.low + b.low, a.high + b.high};
  case ExprKind::Sub:
    return Interval{a.low - b.high, a.high - b.low};
  case ExprKind::Mul:
    return product(a, b);
  case ExprKind::FloorDiv: {
    if (b.low < 1)
      return std::nullopt;
    const auto [low, high] = std::minmax(
        {floorDiv(a.low, b.low), floorDiv(a.low, b.high), floorDiv(a.high, b.low), floorDiv(a.high, b.high)});
    return Interval{low, high};
  }
  case ExprKind::Mod:
    return b.low < 1 ? std::nullopt : std::optional(Interval{0, b.high - 1});
  case ExprKind::And:
    if (!positive) // what one of them cannot have, the result has not
      return a.low >= 0 ? Interval{0, a.high} : b.low >= 0 ? Interval{0, b.high} : anything;
    return Interval{0, std::min(a.high, b.high)};
  case ExprKind::Or:
  case ExprKind::Xor:
    return positive ? Interval{0, allBits(std::max(a.high, b.high))} : anything;
  case ExprKind::Shl:
    if (b.low < 0 || b.high > 63)
      return std::nullopt;
    return product(a, {Wide(1) << int(b.low), Wide(1) << int(b.high)});
  case ExprKind::Shr:
    if (b.low < 0 || b.high > 63)
      return std::nullopt;
    return Interval{std::min(a.low, a.low >> int(b.high)), std::max(a.high, Wide(0))};
  default:
    return anything;
  }
}

/// Expressions over dimensions, or over levels, by interval arithmetic; the first that leaves 64 bits ends
/// it.
class Evaluation {
public:
  Evaluation(const std::vector<int64_t> &sizes, std::vector<Interval> levels = {})
      : sizes(sizes), levels(std::move(levels)) {}

  /// Empty, or what is wrong with a value on the way to that of `e`.
  std::string check(const Expr &e) {
    value(e);
    return why;
  }

private:
  /// Of a size of 0, what code computes before it knows that there is nothing to do.
  static Interval coordinates(int64_t size) {
    return {std::min<Wide>(size - 1, 0), std::max<Wide>(size - 1, 0)};
  }

  Interval value(const Expr &e) {
    if (!why.empty())
      return anything;
    switch (e->kind) {
    case ExprKind::Constant:
      return {e->value, e->value};
    case ExprKind::Dim:
      return coordinates(sizes[size_t(e->value)]);
    case ExprKind::Level:
      return levels[size_t(e->value)];
    case ExprKind::Variable: {
      auto bound = lets.find(e->name);
      return bound == lets.end() ? anything : bound->second;
    }
    case ExprKind::Let: {
      const Interval bound = value(e->lhs);
      lets[e->name] = bound;
      return value(e->rhs);
    }
    case ExprKind::Rank:
      return coordinates(sizes[e->dims[0]]);
    case ExprKind::Unrank:
      value(e->lhs);
      return anything; // a coordinate that the permutation holds
    case ExprKind::Symbol:
    case ExprKind::Counter:
      return anything;
    default:
      return binary(e);
    }
  }

  Interval binary(const Expr &e) {
    const Interval a = value(e->lhs), b = value(e->rhs);
    if (!why.empty())
      return anything;
    const std::optional<Interval> result = apply(e->kind, a, b);
    if (!result)
      why = "divides by what can be 0, or shifts by what can be outside of 0..63";
    else if (!result->fits())
      why = "leaves 64 bits";
    return result && result->fits() ? *result : anything;
  }

  const std::vector<int64_t> &sizes;
  std::vector<Interval> levels;
  std::map<std::string, Interval> lets;
  std::string why;
};

std::string sizesText(const std::vector<int64_t> &sizes) {
  return fmt::format("{}", fmt::join(sizes, " x "));
}

constexpr std::string_view cure = "; choose another format, or smaller sizes";

/// How many entries a counter counts at most: those that differ in the dimensions it does not name.
bool countsTooFar(const Encoding &encoding, const Expr &counter, const std::vector<int64_t> &sizes) {
  int64_t product = 1;
  for (unsigned d = 0; d < encoding.order(); ++d)
    if (std::find(counter->dims.begin(), counter->dims.end(), d) == counter->dims.end() &&
        __builtin_mul_overflow(product, std::max<int64_t>(sizes[d], 1), &product))
      return true;
  return false;
}

/// What is wrong with the coordinates of level `l`, and how many there are.
std::string whyNotLevel(const Encoding &encoding, unsigned l, const Expr &body,
                        const std::vector<int64_t> &sizes) {
  auto refuse = [&](std::string_view what) {
    return fmt::format("the coordinates of level {} ({}): {} for sizes {}{}", l, printLevel(encoding, l),
                       what, sizesText(sizes), cure);
  };
  if (body->kind == ExprKind::Counter) {
    // How far a dense level's counter runs is stored.
    const bool isStored = encoding.levels[l].format.kind == LevelKind::Dense;
    return !isStored && countsTooFar(encoding, body, sizes) ? refuse("the counter can leave 64 bits") : "";
  }
  std::optional<CoordinateRange> range = levelRange(encoding, l, sizes);
  int64_t size = 0, end = 0;
  if (!range || __builtin_sub_overflow(range->high, range->low, &size) ||
      __builtin_add_overflow(size, 1, &size) || __builtin_add_overflow(range->high, 1, &end))
    return refuse("there are more than 64 bits can count");
  return "";
}

/// Where a dimension is cut into blocks, its size is rounded up.
std::string whyNotBlocks(const Encoding &encoding, const std::vector<int64_t> &sizes) {
  const std::optional<std::vector<Digit>> all = digits(encoding);
  for (size_t l = 0; all && l < all->size(); ++l)
    if (int64_t rounded; __builtin_add_overflow(sizes[(*all)[l].dim], (*all)[l].stride - 1, &rounded))
      return fmt::format("dimension {} has size {}, and in blocks of {} it would leave 64 bits{}",
                         (*all)[l].dim, sizes[(*all)[l].dim], (*all)[l].stride, cure);
  return "";
}

std::string whyNotDimension(const Encoding &encoding, unsigned d, int64_t size) {
  if (size < 0)
    return fmt::format("dimension {} has size {}; sizes must not be negative", d, size);
  if (const int64_t largest = largestSize(encoding, d); size > largest)
    return fmt::format("dimension {} has size {}, and {} holds at most {}; choose another format", d, size,
                       displayName(encoding), largest);
  return "";
}

/// What reading coordinates back computes, at any coordinates of the levels, padding included.
std::string whyNotInverse(const Encoding &encoding, const std::vector<int64_t> &sizes) {
  std::vector<Interval> levels;
  for (unsigned l = 0; l < encoding.levels.size(); ++l) {
    const std::optional<CoordinateRange> range = levelRange(encoding, l, sizes);
    levels.push_back(range ? Interval{std::min<Wide>(range->low, 0), std::max<Wide>(range->high, 0)}
                           : anything);
  }
  auto check = [&](const Expr &e, const std::string &what) {
    const std::string why = e ? Evaluation(sizes, levels).check(e) : "";
    return why.empty()
               ? ""
               : fmt::format("{}: its expression {} for sizes {}{}", what, why, sizesText(sizes), cure);
  };
  const std::optional<std::vector<Expr>> inverse = inverseMap(encoding);
  for (unsigned d = 0; inverse && d < encoding.order(); ++d)
    if (std::string why =
            check((*inverse)[d], fmt::format("the coordinate of dimension {}, computed from those "
                                             "of the levels of {}",
                                             d, displayName(encoding)));
        !why.empty())
      return why;
  for (unsigned l = 0; l < encoding.levels.size(); ++l)
    if (encoding.levels[l].format.kind == LevelKind::Offset)
      if (std::string why =
              check(offsetCoordinate(encoding, l), fmt::format("the coordinate of level {}", l));
          !why.empty())
        return why;
  return "";
}

} // namespace

std::string whyNotSizes(const Encoding &encoding, const std::vector<int64_t> &sizes) {
  if (encoding.order() != sizes.size())
    return fmt::format("the format {} has {} dimensions, the tensor {} has {}; choose a format of that order",
                       displayName(encoding), encoding.order(), sizes.empty() ? "scalar" : sizesText(sizes),
                       sizes.size());
  for (unsigned d = 0; d < encoding.order(); ++d)
    if (std::string why = whyNotDimension(encoding, d, sizes[d]); !why.empty())
      return why;
  if (std::string why = whyNotBlocks(encoding, sizes); !why.empty())
    return why;
  Evaluation expressions(sizes); // what `let` binds holds in later levels
  Lets lets;
  for (unsigned l = 0; l < encoding.levels.size(); ++l) {
    const Expr &e = encoding.levels[l].expr;
    if (std::string why = expressions.check(e); !why.empty())
      return fmt::format("the coordinates of level {} ({}): the expression {} for sizes {}{}", l,
                         printLevel(encoding, l), why, sizesText(sizes), cure);
    if (std::string why = whyNotLevel(encoding, l, enterLets(e, lets), sizes); !why.empty())
      return why;
  }
  return whyNotInverse(encoding, sizes);
}

} // namespace tulle::format
