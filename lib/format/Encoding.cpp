// Encodings made from others, and properties that follow from the levels and dimensions one by one: nothing
// here analyses the map.
#include "format/Encoding.h"
#include "format/LevelKinds.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <ranges>
#include <tuple>

namespace tulle::format {

std::string_view name(LevelKind kind) { return info(kind).name; }

bool LevelFormat::operator==(const LevelFormat &other) const {
  auto text = [](const LevelFormat &format) {
    return format.kind == LevelKind::Declared ? std::string_view(format.declaration->text)
                                              : std::string_view();
  };
  auto rest = [](const LevelFormat &f) {
    return std::tuple(f.kind, f.n, f.m, f.unique, f.ordered, f.soa, f.padded);
  };
  return rest(*this) == rest(other) && text(*this) == text(other);
}

Encoding denseEncoding(unsigned order) {
  Encoding out;
  for (const std::string &name : dimensionNames(order)) {
    out.levels.push_back({"", dim(out.order()), {}});
    out.dims.push_back({name, std::nullopt, nullptr});
  }
  return out;
}

Encoding selectionEncoding(unsigned order, unsigned width) {
  Encoding out = denseEncoding(order + 1);
  out.posWidth = out.crdWidth = width;
  out.levels.back().format.kind = LevelKind::Singleton;
  out.levels.back().format.padded = true;
  return out;
}

bool isAllDense(const Encoding &encoding) {
  return std::ranges::all_of(encoding.levels, isFull, &Level::format);
}

bool canBeCut(const LevelFormat &level) {
  using enum LevelKind;
  return level.ordered && (level.kind == Compressed || level.kind == LooseCompressed);
}

bool storesInOrder(const Encoding &encoding, unsigned dim) {
  const std::optional<std::vector<Digit>> own = digits(encoding);
  unsigned levels = 0;
  for (size_t l = 0; own && l < own->size(); ++l)
    if (const Digit &digit = (*own)[l]; digit.dim == dim) {
      ++levels;
      if (!canBeCut(encoding.levels[l].format) || digit.stride != 1 || digit.modulus != 0)
        return false;
    }
  return levels == 1;
}

bool hasSlices(const Encoding &encoding) {
  return std::ranges::any_of(encoding.dims, &std::optional<Slice>::has_value, &Dimension::slice);
}

Encoding withoutSlices(Encoding encoding) {
  for (Dimension &dimension : encoding.dims)
    dimension.slice.reset();
  return encoding;
}

bool storesPadding(const Encoding &encoding) {
  for (const Level &level : std::views::reverse(encoding.levels))
    if (level.format.kind != LevelKind::Singleton && level.format.kind != LevelKind::Offset)
      return hasUnmarkedPadding(level.format);
  return false;
}

bool hasNoPadding(const Encoding &encoding) {
  return !hasSlices(encoding) && std::ranges::all_of(encoding.levels, [](const Level &level) {
    const bool isOfEntries =
        level.format.kind == LevelKind::Compressed || level.format.kind == LevelKind::Singleton;
    return level.expr->kind == ExprKind::Dim && (isFull(level.format) || isOfEntries) && !level.format.padded;
  });
}

std::string whyNotResolved(const Encoding &encoding) {
  for (const Dimension &dimension : encoding.dims) {
    const Slice slice = dimension.slice.value_or(Slice{0, 1, 1});
    if (std::string_view unknown = !slice.offset   ? "offset"
                                   : !slice.size   ? "size"
                                   : !slice.stride ? "stride"
                                                   : "";
        !unknown.empty())
      return fmt::format("the {} of the slice of dimension {} is '?', and nothing says what it is; give a "
                         "number, or use the format of a sliced tensor, which has all of them",
                         unknown, dimension.name);
  }
  return "";
}

/// Levels that store each coordinate hold those of entries only.
static bool readsImplied(const Encoding &encoding, const Expr &e) {
  if (!e)
    return false;
  if (e->kind != ExprKind::Level)
    return readsImplied(encoding, e->lhs) || readsImplied(encoding, e->rhs);
  using enum LevelKind;
  const LevelFormat &level = encoding.levels[e->value].format;
  if (level.kind == Declared)
    return !level.declaration->storesCoordinates;
  return !isOneOf(level.kind, {Compressed, LooseCompressed, Singleton, Fixed, Hashed});
}

bool mayLieOutside(const Encoding &encoding, unsigned dim, const Expr &inverse) {
  if (inverse->kind == ExprKind::Level) {
    const Expr &level = encoding.levels[inverse->value].expr;
    bool isDim = level->kind == ExprKind::Dim && level->value == int64_t(dim);
    if (isDim || level->kind == ExprKind::Rank)
      return false;
  }
  return readsImplied(encoding, inverse);
}

bool hasReserve(const Encoding &encoding, unsigned level) {
  return std::any_of(encoding.levels.begin(), encoding.levels.begin() + level + 1, [](const Level &above) {
    return above.format.kind == LevelKind::LooseCompressed && above.format.n != 0;
  });
}

namespace {

/// Reads one number of a canonical scalar text and what separates it from the next.
double takeNumber(std::string_view &text) {
  while (!text.empty() && (text[0] == ' ' || text[0] == ',' || text[0] == '(' || text[0] == '+'))
    text.remove_prefix(1);
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(end - text.data());
  return error == std::errc() ? value : 0;
}

/// The number of a canonical scalar text; the type the text names is not looked at.
Scalar scalarOf(const std::string &given, ElementType type) {
  Scalar value;
  std::string_view text = std::string_view(given).substr(0, given.find(" :"));
  if (text == "true" || text == "false") {
    value.i = text == "true";
    return convertScalar(value, ElementType::Bool, type);
  }
  // Integers beyond 2^53 would lose digits as doubles.
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value.i);
  if (error == std::errc() && end == text.data() + text.size())
    return convertScalar(value, ElementType::I64, type);
  double re = takeNumber(text), im = takeNumber(text);
  value = {0, {re, im}};
  return convertScalar(value, ElementType::C128, type);
}

} // namespace

Scalar fillValue(const Encoding &encoding, ElementType type) {
  const std::optional<std::string> &given = encoding.fill ? encoding.fill : encoding.implicitVal;
  return given ? scalarOf(*given, type) : Scalar();
}

std::optional<Scalar> explicitValue(const Encoding &encoding, ElementType type) {
  return encoding.explicitVal ? std::optional(scalarOf(*encoding.explicitVal, type)) : std::nullopt;
}

Encoding withStoredValues(Encoding encoding) {
  encoding.explicitVal.reset();
  return encoding;
}

bool hasZeroFill(const Encoding &encoding) {
  return fillValue(encoding, ElementType::C128).f == std::complex<double>(0, 0);
}

/// Whether the two have equal parts: then their texts are equal, too.
static bool haveEqualParts(const Encoding &a, const Encoding &b) {
  auto sameDimension = [](const Dimension &x, const Dimension &y) {
    return x.name == y.name && x.slice == y.slice && equal(x.inverse, y.inverse);
  };
  auto sameLevel = [](const Level &x, const Level &y) {
    return x.name == y.name && x.format == y.format && equal(x.expr, y.expr);
  };
  return a.posWidth == b.posWidth && a.crdWidth == b.crdWidth && a.symbols == b.symbols && a.fill == b.fill &&
         a.explicitVal == b.explicitVal && a.implicitVal == b.implicitVal &&
         std::ranges::equal(a.dims, b.dims, sameDimension) &&
         std::ranges::equal(a.levels, b.levels, sameLevel);
}

// Each call of a kernel compares its operands' encodings, and printing one takes a microsecond.
bool Encoding::operator==(const Encoding &other) const {
  return haveEqualParts(*this, other) || print(*this) == print(other);
}

} // namespace tulle::format
