// Canonical text of encodings.
#include "format/PrintEncoding.h"
#include "format/LevelKinds.h"
#include <algorithm>

namespace tulle::format {
namespace {

struct Spelling {
  std::string_view text;
  int precedence;
};

// As in ExprParser.cpp; what is not listed there binds tightest.
Spelling spelling(ExprKind kind) {
  switch (kind) {
  case ExprKind::Or:
    return {" | ", 0};
  case ExprKind::Xor:
    return {" ^ ", 1};
  case ExprKind::And:
    return {" & ", 2};
  case ExprKind::Shl:
    return {" shl ", 3};
  case ExprKind::Shr:
    return {" shr ", 3};
  case ExprKind::Add:
    return {" + ", 4};
  case ExprKind::Sub:
    return {" - ", 4};
  case ExprKind::Mul:
    return {" * ", 5};
  case ExprKind::FloorDiv:
    return {" floordiv ", 5};
  case ExprKind::Mod:
    return {" mod ", 5};
  default:
    return {"", 6};
  }
}

std::string joined(const std::vector<std::string> &parts) {
  std::string out;
  for (const std::string &part : parts)
    out += (out.empty() ? "" : ", ") + part;
  return out;
}

class Printer {
public:
  explicit Printer(const Encoding &encoding) : encoding(encoding) {
    for (const Dimension &d : encoding.dims) {
      dims.push_back(d.name.empty() ? "d" + std::to_string(dims.size()) : d.name);
      explicitInverse |= d.inverse != nullptr;
    }
    for (const Level &level : encoding.levels)
      levels.push_back(level.name.empty() && explicitInverse ? "l" + std::to_string(levels.size())
                                                             : level.name);
  }

  std::string map() const {
    std::vector<std::string> dimSpecs, levelSpecs;
    for (unsigned d = 0; d < encoding.dims.size(); ++d)
      dimSpecs.push_back(dimSpec(d));
    for (unsigned l = 0; l < levels.size(); ++l)
      levelSpecs.push_back((levels[l].empty() ? "" : levels[l] + " = ") + level(l) + " : " +
                           print(encoding.levels[l].format));
    std::string out;
    if (!encoding.symbols.empty())
      out += "[" + joined(encoding.symbols) + "]";
    if (explicitInverse)
      out += "{" + joined(levels) + "} ";
    return out + "(" + joined(dimSpecs) + ") -> (" + joined(levelSpecs) + ")";
  }

  std::string level(unsigned l) const { return expr(encoding.levels[l].expr, -1); }

  std::string remapping() const {
    std::vector<std::string> exprs;
    for (unsigned l = 0; l < encoding.levels.size(); ++l)
      exprs.push_back(level(l));
    return "(" + joined(dims) + ") -> (" + joined(exprs) + ")";
  }

private:
  static std::string number(const std::optional<int64_t> &value) {
    return value ? std::to_string(*value) : "?";
  }

  std::string dimSpec(unsigned d) const {
    const Dimension &dimension = encoding.dims[d];
    std::string out = dims[d];
    if (const std::optional<Slice> &s = dimension.slice)
      out +=
          " : #tulle<slice(" + number(s->offset) + ", " + number(s->size) + ", " + number(s->stride) + ")>";
    if (dimension.inverse)
      out += " = " + expr(dimension.inverse, -1);
    return out;
  }

  // `context`: the loosest precedence that needs no parentheses here; -1 where even `let` stands free.
  std::string expr(const Expr &e, int context) const {
    switch (e->kind) {
    case ExprKind::Constant:
      return std::to_string(e->value);
    case ExprKind::Dim:
      return dims[e->value];
    case ExprKind::Level:
      return levels[e->value];
    case ExprKind::Symbol:
      return encoding.symbols[e->value];
    case ExprKind::Variable:
      return e->name;
    case ExprKind::Counter:
      return counter(*e);
    case ExprKind::Rank: {
      std::string within = e->value < 0 ? "" : " within " + std::to_string(e->value);
      return "rank(" + dims[e->dims[0]] + " by count(" + dims[e->dims[1]] + ")" + within + ")";
    }
    case ExprKind::Unrank:
      return "unrank(" + expr(e->lhs, 0) + ")";
    case ExprKind::Let: {
      std::string out = "let " + e->name + " = " + expr(e->lhs, 0) + " in " + expr(e->rhs, -1);
      return context < 0 ? out : "(" + out + ")";
    }
    default: {
      auto [text, precedence] = spelling(e->kind);
      std::string out = expr(e->lhs, precedence) + std::string(text) + expr(e->rhs, precedence + 1);
      return precedence < context ? "(" + out + ")" : out;
    }
    }
  }

  std::string counter(const ExprNode &e) const {
    if (e.dims.size() == 1)
      return "#" + dims[e.dims[0]];
    std::vector<std::string> names;
    for (unsigned d : e.dims)
      names.push_back(dims[d]);
    return "#(" + joined(names) + ")";
  }

  const Encoding &encoding;
  std::vector<std::string> dims, levels;
  bool explicitInverse = false;
};

} // namespace

std::string print(const LevelFormat &format) {
  std::string out(name(format.kind));
  unsigned integers = format.m != 0 ? 2 : format.n != 0 ? 1 : 0;
  if (integers == 2)
    out += "[" + std::to_string(format.n) + "," + std::to_string(format.m) + "]";
  else if (integers == 1)
    out += "[" + std::to_string(format.n) + "]";
  std::vector<std::string> properties;
  if (!format.unique)
    properties.push_back("nonunique");
  // A hash table is never ordered.
  if (!format.ordered && format.kind != LevelKind::Hashed)
    properties.push_back("nonordered");
  if (format.padded)
    properties.push_back("padded");
  if (format.soa)
    properties.push_back("soa");
  return properties.empty() ? out : out + "(" + joined(properties) + ")";
}

std::string printBody(const Encoding &encoding) {
  std::string out = "map = " + Printer(encoding).map();
  if (encoding.posWidth)
    out += ", posWidth = " + std::to_string(encoding.posWidth);
  if (encoding.crdWidth)
    out += ", crdWidth = " + std::to_string(encoding.crdWidth);
  if (encoding.fill)
    out += ", fill = " + *encoding.fill;
  if (encoding.explicitVal)
    out += ", explicitVal = " + *encoding.explicitVal;
  if (encoding.implicitVal)
    out += ", implicitVal = " + *encoding.implicitVal;
  return out;
}

std::string print(const Encoding &encoding) { return "#tulle.encoding<{ " + printBody(encoding) + " }>"; }

std::string printLevel(const Encoding &encoding, unsigned level) {
  return Printer(encoding).level(level) + " : " + print(encoding.levels[level].format);
}

std::string printRemapping(const Encoding &encoding) { return Printer(encoding).remapping(); }

/// Whether the two are put together alike: then their texts are equal, too.
static bool alike(const Encoding &a, const Encoding &b) {
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
  return alike(*this, other) || print(*this) == print(other);
}

} // namespace tulle::format
