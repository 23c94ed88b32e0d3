// Interval arithmetic in 128 bits over everything that maps compute: it must fit 64 bits, since generated
// code does not look.
#include "format/Checks.h"
#include "format/Layout.h"
#include "format/LevelKinds.h"
#include "format/LinearForms.h"
#include "support/Errors.h"
#include <algorithm>
#include <bit>
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

/// Of a division by what may be 0, or a shift by more than a word: fits nowhere.
constexpr Interval undefined = {-(Wide(1) << 100), Wide(1) << 100};
constexpr Interval anything = {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};

Wide floorDiv(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

Interval product(const Interval &a, const Interval &b) {
  const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
  return {low, high};
}

/// 2^n - 1, the largest value with the bits that either operand can have.
Wide allBits(Wide high) { return (Wide(1) << std::bit_width(uint64_t(high))) - 1; }

Interval apply(ExprKind kind, const Interval &a, const Interval &b) {
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
      return undefined;
    const auto [low, high] = std::minmax(
        {floorDiv(a.low, b.low), floorDiv(a.low, b.high), floorDiv(a.high, b.low), floorDiv(a.high, b.high)});
    return Interval{low, high};
  }
  case ExprKind::Mod:
    return b.low < 1 ? undefined : Interval{0, b.high - 1};
  case ExprKind::And:
    if (!positive) // what one of them cannot have, the result has not
      return a.low >= 0 ? Interval{0, a.high} : b.low >= 0 ? Interval{0, b.high} : anything;
    return Interval{0, std::min(a.high, b.high)};
  case ExprKind::Or:
  case ExprKind::Xor:
    return positive ? Interval{0, allBits(std::max(a.high, b.high))} : anything;
  case ExprKind::Shl:
    if (b.low < 0 || b.high > 63)
      return undefined;
    return product(a, {Wide(1) << int(b.low), Wide(1) << int(b.high)});
  case ExprKind::Shr:
    if (b.low < 0 || b.high > 63)
      return undefined;
    return Interval{std::min(a.low, a.low >> int(b.high)), std::max(a.high, Wide(0))};
  default:
    return anything;
  }
}

/// Expressions over dimensions, or over levels, by interval arithmetic.
class Evaluation {
public:
  Evaluation(const std::vector<int64_t> &sizes, std::vector<Interval> levels = {})
      : sizes(sizes), levels(std::move(levels)) {}

  /// The values of `e`; nullopt where one of these, or of those on the way to them, may leave 64 bits.
  std::optional<Interval> operator()(const Expr &e) {
    const Interval result = value(e);
    return fits ? std::optional(result) : std::nullopt;
  }

private:
  /// Of a size of 0, what code computes before it knows that there is nothing to do.
  static Interval coordinates(int64_t size) {
    return {std::min<Wide>(size - 1, 0), std::max<Wide>(size - 1, 0)};
  }

  Interval value(const Expr &e) {
    if (!fits)
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
    default:
      return isBinary(e) ? binary(e) : anything;
    }
  }

  Interval binary(const Expr &e) {
    const Interval a = value(e->lhs), b = value(e->rhs), result = apply(e->kind, a, b);
    fits &= result.fits();
    return fits ? result : anything;
  }

  const std::vector<int64_t> &sizes;
  std::vector<Interval> levels;
  std::map<std::string, Interval> lets;
  bool fits = true;
};

std::string sizesText(const std::vector<int64_t> &sizes) {
  return fmt::format("{}", fmt::join(sizes, " x "));
}

constexpr std::string_view cure = "; choose another format, or smaller sizes";

/// How many entries a counter counts at most: those that differ in the dimensions it does not name.
bool countsTooFar(const Encoding &encoding, const Expr &counter, const std::vector<int64_t> &sizes) {
  int64_t product = 1;
  for (unsigned d = 0; d < encoding.order(); ++d)
    if (std::ranges::find(counter->dims, d) == counter->dims.end() &&
        __builtin_mul_overflow(product, std::max<int64_t>(sizes[d], 1), &product))
      return true;
  return false;
}

/// The coordinates of level `l`, and how many there are. `expr`: its expression below the `let`s.
void checkLevel(const Encoding &encoding, unsigned l, const Expr &expr, const std::vector<int64_t> &sizes) {
  auto refuse = [&](std::string_view what) {
    throwError("the coordinates of level {} ({}): {} for sizes {}{}", l, printLevel(encoding, l), what,
               sizesText(sizes), cure);
  };
  if (expr->kind == ExprKind::Counter) {
    // How far a dense level's counter runs is stored.
    if (encoding.levels[l].format.kind != LevelKind::Dense && countsTooFar(encoding, expr, sizes))
      refuse("the counter can leave 64 bits");
    return;
  }
  const std::optional<CoordinateRange> range = levelRange(encoding, l, sizes);
  int64_t size = 0, end = 0;
  if (!range || __builtin_sub_overflow(range->high, range->low, &size) ||
      __builtin_add_overflow(size, 1, &size) || __builtin_add_overflow(range->high, 1, &end))
    refuse("there are more than 64 bits can count");
  if (startsAtZero(encoding.levels[l].format) && range->low != 0)
    throwError(
        "the coordinates of level {} ({}) are {} to {} for sizes {}, and those of a {} level start at 0; "
        "count from the dimension's last coordinate, or write compressed",
        l, printLevel(encoding, l), range->low, range->high, sizesText(sizes),
        name(encoding.levels[l].format.kind));
}

/// Blocks of a dimension round its size up.
void checkBlocks(const Encoding &encoding, const std::vector<int64_t> &sizes) {
  for (const Digit &digit : digits(encoding).value_or(std::vector<Digit>()))
    if (int64_t rounded; __builtin_add_overflow(sizes[digit.dim], digit.stride - 1, &rounded))
      throwError("dimension {} has size {}, and in blocks of {} it would leave 64 bits{}", digit.dim,
                 sizes[digit.dim], digit.stride, cure);
}

void checkDimension(const Encoding &encoding, unsigned d, int64_t size) {
  if (size < 0)
    throwError("dimension {} has size {}; sizes must not be negative", d, size);
}

/// The linear form that keeps dimension `d` below `size`, as that of its level.
std::optional<Violation> tooSmallStride(const Encoding &encoding, unsigned d, int64_t size) {
  for (unsigned l = 0; l < encoding.levels.size(); ++l) {
    DigitReader reader(encoding.order(), /*readsForms=*/true);
    reader(body(encoding.levels[l].expr));
    for (const LinearForm &form : reader.forms)
      for (size_t t = 1; t < form.terms.size(); ++t) {
        const LinearForm::Term &term = form.terms[t];
        const int64_t coordinates = (size - 1) / term.digit.stride + 1;
        if (term.digit.dim % encoding.order() != d || term.digit.dim >= reader.numberOf(0) ||
            term.digit.modulus != 0 || coordinates <= term.count)
          continue;
        const int64_t stride = form.terms[t - 1].stride;
        const Wide least = Wide(term.stride) * coordinates;
        return Violation{Violation::LevelExpr, l,
                         fmt::format("dimension {} has size {}, and in level {} ({}) two coordinates become "
                                     "one from {} on; the factor {} has to be at least {}",
                                     d, size, l, printLevel(encoding, l), term.count * term.digit.stride,
                                     stride, Interval{least, least}.fits() ? int64_t(least) : stride)};
      }
  }
  return std::nullopt;
}

/// What reading coordinates back computes, at any coordinates of the levels, padding included.
void checkInverse(const Encoding &encoding, const std::vector<int64_t> &sizes) {
  std::vector<Interval> levels;
  for (unsigned l = 0; l < encoding.levels.size(); ++l) {
    const std::optional<CoordinateRange> range = levelRange(encoding, l, sizes);
    levels.push_back(range ? Interval{std::min<Wide>(range->low, 0), std::max<Wide>(range->high, 0)}
                           : anything);
  }
  auto check = [&](const Expr &e, std::string_view what, unsigned number) {
    if (e && !Evaluation(sizes, levels)(e))
      throwError(
          "the coordinate of {} {}, computed from those of the levels of {}, leaves 64 bits for sizes {}{}",
          what, number, displayName(encoding), sizesText(sizes), cure);
  };
  const std::optional<std::vector<Expr>> inverse = inverseMap(encoding);
  for (unsigned d = 0; inverse && d < encoding.order(); ++d)
    check((*inverse)[d], "dimension", d);
  for (unsigned l = 0; l < encoding.levels.size(); ++l)
    if (encoding.levels[l].format.kind == LevelKind::Offset)
      check(offsetCoordinate(encoding, l), "level", l);
}

/// Where a given inverse is wrong at these sizes.
std::optional<Violation> wrongAtSizes(const Encoding &encoding, const std::vector<int64_t> &sizes) {
  const bool isGiven =
      std::ranges::any_of(encoding.dims, [](const Dimension &dim) { return dim.inverse != nullptr; });
  if (!isGiven || std::ranges::any_of(sizes, [](int64_t size) { return size < 0; }))
    return std::nullopt;
  std::optional<Violation> wrong = wrongInverse(encoding, samplePoints(sizes));
  if (wrong)
    wrong->message +=
        fmt::format(" for sizes {}; correct the inverse, or a factor of the map", sizesText(sizes));
  return wrong;
}

void checkSizes(const Encoding &encoding, const std::vector<int64_t> &sizes) {
  if (encoding.order() != sizes.size())
    throwError("the format {} has {} dimensions, the tensor {} has {}; choose a format of that order",
               displayName(encoding), encoding.order(), sizes.empty() ? "scalar" : sizesText(sizes),
               sizes.size());
  for (unsigned d = 0; d < encoding.order(); ++d)
    checkDimension(encoding, d, sizes[d]);
  if (std::optional<Violation> found = notInvertible(encoding, sizes))
    throwError("{}", found->message);
  checkBlocks(encoding, sizes);
  Evaluation expressions(sizes); // what `let` binds holds in later levels
  for (unsigned l = 0; l < encoding.levels.size(); ++l) {
    const Expr &e = encoding.levels[l].expr;
    if (!expressions(e))
      throwError("the coordinates of level {} ({}): the expression leaves 64 bits for sizes {}{}", l,
                 printLevel(encoding, l), sizesText(sizes), cure);
    checkLevel(encoding, l, body(e), sizes);
  }
  checkInverse(encoding, sizes);
}

} // namespace

std::optional<Violation> notInvertible(const Encoding &encoding, const std::vector<int64_t> &sizes) {
  for (unsigned d = 0; d < encoding.order(); ++d)
    if (const int64_t largest = largestSize(encoding, d); sizes[d] > largest) {
      if (std::optional<Violation> found = tooSmallStride(encoding, d, sizes[d]))
        return found;
      return Violation{Violation::Inverse, d,
                       fmt::format("dimension {} has size {}, and {} holds at most {}; choose another format",
                                   d, sizes[d], displayName(encoding), largest)};
    }
  return wrongAtSizes(encoding, sizes);
}

std::optional<CoordinateRange> valueRange(const Expr &expr, const std::vector<int64_t> &sizes) {
  const std::optional<Interval> values = Evaluation(sizes)(expr);
  return values ? std::optional(CoordinateRange{int64_t(values->low), int64_t(values->high)}) : std::nullopt;
}

/// Whether each level has the coordinates of another dimension, as they are.
static bool levelsAreDimensions(const Encoding &encoding) {
  uint64_t seen = 0;
  for (const Level &level : encoding.levels) {
    if (level.expr->kind != ExprKind::Dim || level.expr->value >= 64 ||
        level.format.kind == LevelKind::Offset || (seen >> level.expr->value & 1))
      return false;
    seen |= uint64_t(1) << level.expr->value;
  }
  return encoding.levels.size() == encoding.order() &&
         std::ranges::none_of(encoding.dims, [](const Dimension &dim) { return dim.inverse || dim.slice; });
}

std::string whyNotSizes(const Encoding &encoding, const std::vector<int64_t> &sizes) {
  // Of most formats all that follows is the sizes themselves, and tensors of a few entries are borrowed, too.
  if (levelsAreDimensions(encoding) && sizes.size() == encoding.order() &&
      std::ranges::all_of(sizes, [](int64_t size) { return size >= 0; }))
    return "";
  return reasonOf([&] { checkSizes(encoding, sizes); });
}

} // namespace tulle::format
