// One function per rule, which throws its reason and cure; the first that an encoding breaks is reported.
#include "format/Bits.h"
#include "format/Layout.h"
#include "format/LevelKinds.h"
#include "support/Errors.h"
#include <algorithm>
#include <cmath>
#include <set>

namespace tulle::format {
namespace {

bool countedAbove(const Encoding &e, unsigned l) {
  return std::any_of(e.levels.begin(), e.levels.begin() + l,
                     [](const Level &level) { return contains(level.expr, ExprKind::Counter); });
}

void checkNeighbours(const Encoding &e, unsigned l) {
  const LevelFormat &level = e.levels[l].format;
  if (l + 1 == e.levels.size())
    return;
  const LevelFormat &next = e.levels[l + 1].format;
  bool singletonBelow = next.kind == LevelKind::Singleton;
  // A counter sets the entries of one coordinate apart. Below a level with a position for each coordinate
  // there may be padding, and conversions refuse two entries.
  const bool hasAllCoordinates = !storesCoordinates(level) ||
                                 isOneOf(level.kind, {LevelKind::Squeezed, LevelKind::Banded}) ||
                                 (level.declaration && !level.declaration->storesCoordinates);
  if (singletonBelow && level.unique && !(next.padded && hasAllCoordinates) && !countedAbove(e, l + 1))
    throwError("level {} is unique, so the singleton below it could hold one entry per coordinate only; "
               "write {}(nonunique)",
               l, name(level.kind));
  if (!singletonBelow && !level.unique)
    throwError(
        "level {} is nonunique, and only a singleton level can stand below it yet; leave nonunique out", l);
  if (next.kind == LevelKind::Structured && hasReserve(e, l))
    throwError("below the positions in reserve of a loose_compressed[n], the groups of level {} would have "
               "no entries; leave [n] out",
               l + 1);
}

/// Below batch levels, each batch has its own run of positions: how many parents it has must follow from
/// dense levels, or come out as entries are appended.
void checkBatches(const Encoding &e) {
  if (e.levels.empty() || e.levels.front().format.kind != LevelKind::Batch)
    return;
  std::optional<unsigned> special;
  unsigned stored = 0;
  for (unsigned l = 0; l < e.levels.size(); ++l) {
    const LevelFormat &level = e.levels[l].format;
    if (isFull(level))
      continue;
    ++stored;
    // Entries that are appended leave no positions in reserve.
    const bool appends = isOneOf(level.kind, {LevelKind::Compressed, LevelKind::Structured}) ||
                         (level.kind == LevelKind::LooseCompressed && level.n == 0) ||
                         (level.kind == LevelKind::Singleton && !level.padded);
    if (!appends)
      special = l;
  }
  if (special && stored > 1)
    throwError(
        "below batch levels, the {} level {} can stand with dense levels only; write dense instead of batch",
        print(e.levels[*special].format), *special);
}

/// Whether the least coordinate is below 0 for all sizes but the smallest: that of `3 - i` is 0 for one size,
/// which is known where data meets the format.
bool isNegative(const Expr &low, unsigned order) {
  if (low->kind == ExprKind::Constant)
    return low->value < 0;
  Bindings none;
  return evaluate(low, std::vector<int64_t>(order, 1), {}, none).value_or(0) <= 0;
}

void checkCoordinates(const Encoding &e, unsigned l) {
  const LevelFormat &level = e.levels[l].format;
  const Expr &expr = body(e.levels[l].expr);
  std::optional<LevelBounds> bounds = levelBounds(e, l);
  if (!bounds)
    throwError("the coordinates of level {} have no bounds: its expression may add, subtract and multiply, "
               "and divide, shift and mask by integers",
               l);
  if (startsAtZero(level) && isNegative(bounds->low, e.order()))
    throwError("coordinates of level {} can be negative, and those of a {} level start at 0; write squeezed "
               "or compressed",
               l, print(level));
  if (contains(expr, ExprKind::Counter) && expr->kind != ExprKind::Counter)
    throwError("level {} computes with a counter, which must stand alone", l);
  if (expr->kind == ExprKind::Counter && (level.kind == LevelKind::Batch || level.kind == LevelKind::Bitmap))
    throwError("level {} is a {} level, and how far its counter runs is known to dense levels only", l,
               name(level.kind));
  if (expr->kind == ExprKind::Counter && expr->value > 0 && level.kind != LevelKind::Dense)
    throwError("level {} is a {} level, and a number of slices stands with dense levels only; leave [{}] out",
               l, name(level.kind), expr->value);
  if (level.kind == LevelKind::Offset && !offsetCoordinate(e, l))
    throwError("the levels above the offset level {} do not determine its coordinate", l);
  if (level.padded && !level.unique)
    throwError("level {} is padded and nonunique; leave one of them out", l);
}

/// Whether the expression has a rank that is not `first`, which becomes the first one met.
bool hasOtherRank(const Expr &x, Expr &first) {
  if (x && x->kind == ExprKind::Rank && !first)
    first = x;
  return x && (x->kind == ExprKind::Rank ? !equal(first, x)
                                         : hasOtherRank(x->lhs, first) || hasOtherRank(x->rhs, first));
}

/// All ranks of an encoding are the same: there is one permutation.
void checkRanks(const Encoding &e) {
  Expr first;
  for (const Level &level : e.levels)
    if (hasOtherRank(level.expr, first))
      throwError("it ranks in two ways, and only one permutation can be stored");
}

/// `e` with the body below its leading `let`s replaced.
Expr withBody(const Expr &e, const Expr &body) {
  return e->kind == ExprKind::Let ? let(e->name, e->lhs, withBody(e->rhs, body)) : body;
}

/// Whether the levels without this one, and without those that follow from others, still give every
/// dimension's coordinate back.
bool canDoWithout(Encoding e, unsigned l) {
  for (Dimension &dimension : e.dims)
    dimension.inverse = nullptr;
  for (unsigned k = 0; k < e.levels.size(); ++k)
    if (k == l || e.levels[k].format.kind == LevelKind::Offset)
      e.levels[k].expr = withBody(e.levels[k].expr, constant(0));
  return inverseMap(e).has_value();
}

/// A level that repeats all or some of what others store; null where there is none.
std::optional<unsigned> redundantLevel(const Encoding &e) {
  if (digits(e))
    return std::nullopt;
  std::set<std::pair<unsigned, unsigned>> stored; // bits of dimensions
  for (unsigned l = 0; l < e.levels.size(); ++l) {
    const Expr &expr = body(e.levels[l].expr);
    // An offset level stores nothing of its own, and a counter of all dimensions has one value.
    if (e.levels[l].format.kind == LevelKind::Offset ||
        (expr->kind == ExprKind::Counter && expr->dims.size() == e.order()))
      continue;
    if (canDoWithout(e, l))
      return l;
    std::optional<BitSources> sources = bitSources(expr, 40);
    for (unsigned bit = 0; sources && bit < sources->size(); ++bit)
      if (const BitSource &source = (*sources)[bit];
          source.kind == BitSource::FromDim && !stored.insert({source.dim, source.bit}).second)
        return l;
  }
  return std::nullopt;
}

/// Most coordinates of a redundant level belong to no entry, and those of an entry would be read from several
/// positions: the last level must store entries only.
void checkRedundant(const Encoding &e) {
  unsigned last = unsigned(e.levels.size());
  while (last > 0 && e.levels[last - 1].format.kind == LevelKind::Offset)
    --last;
  if (last == 0)
    return;
  const bool padded = hasUnmarkedPadding(e.levels[--last].format);
  const std::optional<unsigned> again = padded ? redundantLevel(e) : std::nullopt;
  if (again)
    throwError("level {} repeats what other levels say, so that the {} level {} would store positions "
               "without an entry; write compressed for level {}, or leave level {} out",
               *again, name(e.levels[last].format.kind), last, last, *again);
}

/// Whether a coordinate between the first and the last can be that of no dimensions' coordinates, as those
/// between the multiples of a number.
bool leavesGaps(const Expr &x) {
  switch (x->kind) {
  case ExprKind::Variable:
    return leavesGaps(x->bound);
  case ExprKind::Add:
  case ExprKind::Sub: { // what one leaves out the other fills, unless it has one value only
    auto gaps = [](const Expr &side) { return side->kind == ExprKind::Constant || leavesGaps(side); };
    return gaps(x->lhs) && gaps(x->rhs) && (leavesGaps(x->lhs) || leavesGaps(x->rhs));
  }
  case ExprKind::Mul: {
    auto isUnit = [](const Expr &side) {
      return side->kind == ExprKind::Constant && (side->value == 1 || side->value == -1);
    };
    return isUnit(x->lhs) ? leavesGaps(x->rhs) : !isUnit(x->rhs) || leavesGaps(x->lhs);
  }
  case ExprKind::FloorDiv:
  case ExprKind::Mod:
  case ExprKind::Shr:
    return leavesGaps(x->lhs);
  case ExprKind::And:
  case ExprKind::Or:
  case ExprKind::Xor:
  case ExprKind::Shl: {
    const std::optional<BitSources> sources = bitSources(x, 40);
    if (!sources)
      return true;
    const auto end = std::ranges::find(*sources, BitSource::Zero, &BitSource::kind);
    return std::any_of(end, sources->end(), [](const BitSource &s) { return s.kind != BitSource::Zero; });
  }
  default:
    return false;
  }
}

/// Positions of levels that imply their coordinates, below which every position is stored: one without a
/// coordinate would be read as that of another.
void checkGaps(const Encoding &e) {
  for (unsigned l = unsigned(e.levels.size()); l-- > 0;) {
    const LevelKind kind = e.levels[l].format.kind;
    if (kind == LevelKind::Offset || kind == LevelKind::Squeezed)
      continue;
    const bool full = isFull(e.levels[l].format);
    const bool implied = isOneOf(kind, {LevelKind::Ragged, LevelKind::Jagged, LevelKind::Banded}) ||
                         (kind == LevelKind::Declared && hasUnmarkedPadding(e.levels[l].format));
    if (!full && !implied)
      return;
    if (leavesGaps(body(e.levels[l].expr)))
      throwError("the {} level {} would store positions between the coordinates that ({}) has; write "
                 "compressed or squeezed",
                 name(kind), l, printLevel(e, l));
    if (!full)
      return;
  }
}

/// Where every stored value is the same, padding must be known by its coordinate.
void checkExplicit(const Encoding &e) {
  if (!e.explicitVal)
    return;
  if (std::complex<double> value = explicitValue(e, ElementType::C128)->f; value != value)
    throwError("explicitVal = {} equals no value, not even itself; write a number", *e.explicitVal);
  unsigned last = unsigned(e.levels.size());
  auto hasOneEach = [&](const LevelFormat &level) {
    return level.kind == LevelKind::Offset || (level.kind == LevelKind::Singleton && !level.padded);
  };
  while (last > 0 && hasOneEach(e.levels[last - 1].format))
    --last;
  if (last == 0)
    throwError(
        "explicitVal: a tensor without dimensions has one value, and it is always stored; leave it out");
  if (const LevelFormat &level = e.levels[last - 1].format; hasUnmarkedPadding(level))
    throwError("explicitVal: the {} level {} has padding that only its value, the fill, tells from entries; "
               "write compressed for it, or leave explicitVal out",
               name(level.kind), last - 1);
}

/// `complex<f64>` has a name of its own here; `i1` is the IR's word.
ElementType namedType(std::string_view text) {
  return text == "i1" ? ElementType::Bool : parseElementType(text).value();
}

void checkElements(const Encoding &e, ElementType type) {
  if (!e.explicitVal)
    return;
  const std::string &text = *e.explicitVal;
  if (size_t colon = text.find(" : ");
      colon != std::string::npos && namedType(text.substr(colon + 3)) != type)
    throwError("explicitVal = {} is of another type than the elements, {}; write it without its type, or as "
               "one of theirs",
               text, name(type));
  // As the element that it would be in memory.
  auto element = [&](const Scalar &scalar) {
    std::byte bytes[16] = {};
    storeScalar(type, bytes, scalar);
    return loadScalar(type, bytes);
  };
  const Scalar value = element(*explicitValue(e, type)), fill = element(fillValue(e, type));
  const std::complex<double> given = explicitValue(e, ElementType::C128)->f,
                             taken = convertScalar(value, type, ElementType::C128).f;
  const bool rounds = isFloat(type) || isComplex(type);
  const bool overflows = std::isinf(taken.real()) != std::isinf(given.real()) ||
                         (isComplex(type) && std::isinf(taken.imag()) != std::isinf(given.imag()));
  if (rounds ? overflows || (isFloat(type) && given.imag() != 0) : taken != given)
    throwError("explicitVal = {} is no value of type {}; write one that is", text, name(type));
  if (value.i == fill.i && value.f == fill.f)
    throwError("explicitVal = {} is also the fill, so that what is stored could not be told from what is "
               "not; write another value for one of them",
               text);
}

/// Later checks rely on earlier ones.
void checkExecutable(const Encoding &e) {
  for (unsigned l = 0; l < e.levels.size(); ++l)
    checkNeighbours(e, l);
  checkBatches(e);
  if (!e.symbols.empty())
    throwError("it has symbols, whose values nothing gives; write them: [{} = 4, …](…) -> (…)",
               e.symbols.front());
  for (unsigned l = 0; l < e.levels.size(); ++l)
    checkCoordinates(e, l);
  checkRanks(e);
  if (!inverseMap(e))
    throwError("this map cannot be inverted: the levels must together give every dimension's coordinate "
               "back; give the inverse as (i = …, j = …)");
  checkRedundant(e);
  checkGaps(e);
  checkExplicit(e);
}

} // namespace

std::string whyNotExecutable(const Encoding &encoding) {
  if (std::string unknown = whyNotResolved(encoding); !unknown.empty())
    return unknown;
  const std::string reason = reasonOf([&] { checkExecutable(encoding); });
  return reason.empty() ? "" : reason + "; formats that can: all that `tulle formats` lists";
}

std::string whyNotExecutable(const Encoding &encoding, ElementType type) {
  const std::string reason = whyNotExecutable(encoding);
  return reason.empty() ? reasonOf([&] { checkElements(encoding, type); }) : reason;
}

} // namespace tulle::format
