// Canonical text: parentheses only where precedence needs them, fields in a fixed order.
#include "format/ExprParser.h"
#include "format/LevelKinds.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tulle::format {
namespace {

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
      out += fmt::format("[{}]", fmt::join(encoding.symbols, ", "));
    if (explicitInverse)
      out += fmt::format("{{{}}} ", fmt::join(levels, ", "));
    return out + fmt::format("({}) -> ({})", fmt::join(dimSpecs, ", "), fmt::join(levelSpecs, ", "));
  }

  std::string level(unsigned l) const { return expr(encoding.levels[l].expr, -1); }

  std::string remapping() const {
    std::vector<std::string> exprs;
    for (unsigned l = 0; l < encoding.levels.size(); ++l)
      exprs.push_back(level(l));
    return fmt::format("({}) -> ({})", fmt::join(dims, ", "), fmt::join(exprs, ", "));
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
          fmt::format(" : #tulle<slice({}, {}, {})>", number(s->offset), number(s->size), number(s->stride));
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
      std::string within = e->value < 0 ? "" : fmt::format(" within {}", e->value);
      return fmt::format("rank({} by count({}){})", dims[e->dims[0]], dims[e->dims[1]], within);
    }
    case ExprKind::Unrank:
      return "unrank(" + expr(e->lhs, 0) + ")";
    case ExprKind::Let: {
      std::string out = fmt::format("let {} = {} in {}", e->name, expr(e->lhs, 0), expr(e->rhs, -1));
      return context < 0 ? out : "(" + out + ")";
    }
    default: {
      const Operator &op = *std::ranges::find(operators, e->kind, &Operator::kind);
      const int precedence = int(op.precedence);
      std::string out =
          fmt::format("{} {} {}", expr(e->lhs, precedence), op.text, expr(e->rhs, precedence + 1));
      return precedence < context ? "(" + out + ")" : out;
    }
    }
  }

  std::string counter(const ExprNode &e) const {
    std::vector<std::string> names;
    for (unsigned d : e.dims)
      names.push_back(dims[d]);
    const std::string counted = names.size() == 1 ? names[0] : fmt::format("({})", fmt::join(names, ", "));
    return e.value == 0 ? "#" + counted : fmt::format("#{}[{}]", counted, e.value);
  }

  const Encoding &encoding;
  std::vector<std::string> dims, levels;
  bool explicitInverse = false;
};

} // namespace

std::string print(const LevelFormat &format) {
  if (format.kind == LevelKind::Declared)
    return format.declaration->name;
  std::string out(name(format.kind));
  if (format.m != 0)
    out += fmt::format("[{},{}]", format.n, format.m);
  else if (format.n != 0)
    out += fmt::format("[{}]", format.n);
  std::vector<std::string_view> properties;
  for (const Property &property : levelProperties) {
    // A hash table is never ordered.
    const bool implied = format.kind == LevelKind::Hashed && property.field == &LevelFormat::ordered;
    if (format.*property.field == property.value && !implied)
      properties.push_back(property.name);
  }
  return properties.empty() ? out : fmt::format("{}({})", out, fmt::join(properties, ", "));
}

std::string printBody(const Encoding &encoding) {
  std::string out = "map = " + Printer(encoding).map();
  auto width = [](unsigned bits) { return bits ? std::optional(std::to_string(bits)) : std::nullopt; };
  const std::pair<std::string_view, std::optional<std::string>> fields[] = {
      {"posWidth", width(encoding.posWidth)},
      {"crdWidth", width(encoding.crdWidth)},
      {"fill", encoding.fill},
      {"explicitVal", encoding.explicitVal},
      {"implicitVal", encoding.implicitVal}};
  for (const auto &[name, value] : fields)
    if (value)
      out += fmt::format(", {} = {}", name, *value);
  std::vector<std::string> declared;
  for (const Level &level : encoding.levels)
    if (level.format.kind == LevelKind::Declared &&
        std::ranges::find(declared, level.format.declaration->text) == declared.end())
      declared.push_back(level.format.declaration->text);
  if (!declared.empty())
    out += fmt::format(", levels = {{ {} }}", fmt::join(declared, " "));
  return out;
}

std::string print(const Encoding &encoding) { return "#tulle.encoding<{ " + printBody(encoding) + " }>"; }

std::string print(const Expr &expr, unsigned order) {
  Encoding encoding = denseEncoding(order);
  encoding.levels = {{"", expr, {}}};
  return Printer(encoding).level(0);
}

std::string printLevel(const Encoding &encoding, unsigned level) {
  return Printer(encoding).level(level) + " : " + print(encoding.levels[level].format);
}

std::string printRemapping(const Encoding &encoding) { return Printer(encoding).remapping(); }

} // namespace tulle::format
