#include "Case.h"
#include "Formats.h"
#include "Ragged.h"
#include "Structures.h"
#include "interpreter/Interpreter.h"
#include "notation/Sparsity.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <set>

namespace tulle::differential {
namespace {

using enum ElementType;

enum class Class { Bool, Integer, Real, Complex };
Class classOf(ElementType t) {
  return t == ElementType::Bool ? Class::Bool
         : isInteger(t)         ? Class::Integer
         : isComplex(t)         ? Class::Complex
                                : Class::Real;
}

struct Index {
  std::string name;
  int64_t size;
};

class Generator {
public:
  Generator(uint64_t seed, unsigned operands) : random(seed), most(operands) { out.seed = seed; }

  Case run() {
    mixed = random.chance(0.25);
    special = random.chance(0.1);
    tropical = random.chance(0.06);
    base = random.pick({F64, F64, F64, F32, F32, F16, BF16, I8, I16, I32, I64, ElementType::Bool, C64, C128});
    if (tropical)
      base = random.pick({F64, F32});
    makeIndices();
    // Narrow floats round what one statement passes to the next, which would need tolerances of its own.
    bool narrow = base == F16 || base == BF16 || mixed;
    unsigned count = narrow ? 1 : random.chance(0.15) ? 2 : 1;
    for (unsigned s = 0; s < count; ++s)
      statement(s);
    drawLengths(out);
    lendToInputs(out);
    chooseResultFormats();
    lendToResults(out);
    return std::move(out);
  }

private:
  Random random;
  unsigned most; ///< operands of a statement; 0: few, but for a few programs
  Case out;
  ElementType base = F64;
  bool mixed = false;
  bool special = false;  ///< some values are infinite or nan
  bool tropical = false; ///< sums and minima, over infinity where nothing is stored
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<Index> indices;
  Class cls = Class::Real;

  void makeIndices() {
    unsigned count = random.pick({1, 2, 2, 2, 3, 3, 3, 4});
    std::vector<int64_t> sizes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 17};
    if (random.chance(0.1))
      sizes.push_back(0);
    bool equal = random.chance(0.3);
    int64_t common = random.pick(sizes), points = 1;
    for (unsigned n = 0; n < count; ++n) {
      int64_t size = equal ? common : random.pick(sizes);
      while (points * size > 3000)
        size = (size + 1) / 2;
      points *= std::max<int64_t>(size, 1);
      indices.push_back({std::string(1, char('i' + n)), size});
    }
  }

  /// `order` index numbers, distinct except now and then.
  std::vector<unsigned> pickIndices(unsigned order) {
    std::vector<unsigned> all(indices.size()), chosen;
    for (unsigned n = 0; n < all.size(); ++n)
      all[n] = n;
    for (unsigned n = 0; n < order; ++n) {
      if (all.empty())
        break;
      unsigned at = random.below(all.size());
      chosen.push_back(all[at]);
      if (!random.chance(0.03))
        all.erase(all.begin() + at);
    }
    return chosen;
  }

  ElementType operandType() {
    if (!mixed)
      return base;
    return classOf(base) == Class::Complex ? random.pick({base, F64, F32, I16})
                                           : random.pick({base, I8, I32, F32, F64, ElementType::Bool});
  }

  // ---- operands

  struct Operand {
    std::string name;
    std::string access;
    ElementType type;
  };

  Operand operand(bool sparseOnly = false) {
    unsigned order = std::min<unsigned>(random.pick({0, 1, 1, 2, 2, 2, 2, 3, 3, 4}), indices.size());
    if (sparseOnly)
      order = std::max(order, 1u);
    std::vector<unsigned> chosen = pickIndices(order);
    std::vector<std::string> subscripts;
    std::vector<int64_t> dims;
    for (unsigned index : chosen)
      subscript(index, subscripts, dims);
    std::string name = reuse(dims);
    if (name.empty()) {
      name = std::string(1, char('A' + out.inputs.size()));
      out.inputs[name] = data(operandType(), dims);
      if (random.chance(0.1))
        makeExplicit(out.inputs[name]);
    }
    return {name, fmt::format("{}({})", name, fmt::join(subscripts, ",")), out.inputs[name].type};
  }

  /// The same tensor may stand at several places.
  std::string reuse(const std::vector<int64_t> &dims) {
    if (random.chance(0.15))
      for (const auto &[name, given] : out.inputs)
        if (given.dims == dims)
          return name;
    return {};
  }

  void subscript(unsigned index, std::vector<std::string> &subscripts, std::vector<int64_t> &dims) {
    const Index &i = indices[index];
    if (!random.chance(0.06)) {
      subscripts.push_back(i.name);
      dims.push_back(i.size);
      return;
    }
    int64_t factor = random.pick({1, 1, 2}), shift = random.below(3), spare = random.below(3);
    int64_t reach = factor * std::max<int64_t>(i.size - 1, 0) + shift;
    std::string text = factor == 1 ? i.name : fmt::format("{}*{}", factor, i.name);
    const Index &second = indices[random.below(indices.size())];
    if (second.name != i.name && random.chance(0.5)) {
      text += "+" + second.name;
      reach += std::max<int64_t>(second.size - 1, 0);
    }
    if (shift || text == i.name) // by itself, the index would run over what is spare
      text += fmt::format("+{}", shift);
    subscripts.push_back(text);
    dims.push_back(reach + 1 + spare);
  }

  Scalar value(ElementType type) {
    Scalar s;
    switch (classOf(type)) {
    case Class::Bool:
      s.i = random.chance(0.7);
      break;
    case Class::Integer:
      s.i = random.below(9) - 4;
      if (random.chance(0.03))
        s = convertScalar(
            {random.pick({INT64_MIN, INT64_MAX, INT64_MIN + 1, int64_t(127), int64_t(-128), int64_t(-32768)}),
             0},
            I64, type);
      break;
    case Class::Real:
      s.f = double(random.below(17) - 8) / 2;
      // Not in every program: where they are, they soon are everywhere.
      if (special && random.chance(0.1))
        s.f = random.pick<double>({infinity, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()});
      break;
    case Class::Complex:
      s.f = {double(random.below(9) - 4) / 2, double(random.below(9) - 4) / 2};
      break;
    }
    return interpreterRounded(s, type);
  }
  static Scalar interpreterRounded(const Scalar &s, ElementType type) {
    alignas(16) unsigned char element[16];
    storeScalar(type, element, s);
    return loadScalar(type, element);
  }

  /// What is not stored may be worth something else than 0.
  std::string withFill(const std::string &text, ElementType type, unsigned order) {
    format::Encoding encoding = format::parseFormat(text, order);
    if (format::isAllDense(encoding) || classOf(type) == Class::Complex || text == "NV24")
      return text;
    std::string fill = classOf(type) == Class::Bool ? "true"
                       : tropical && classOf(type) == Class::Real
                           ? "inf"
                           : random.pick<std::string>({"1", "-2", "3"});
    std::string filled = fmt::format("{{ {}, fill = {} }}", format::printBody(encoding), fill);
    return executable(filled, order) ? filled : text;
  }

  /// All that is stored may have one value, which then is no data but part of the format.
  void makeExplicit(Given &g) {
    format::Encoding encoding = format::parseFormat(g.format, g.dims.size());
    const std::string text = classOf(g.type) == Class::Bool ? "true"
                             : classOf(g.type) == Class::Complex
                                 ? "(0.5, -1.5)"
                                 : random.pick<std::string>({"1", "1", "-3", "2"});
    encoding.explicitVal = text;
    if (!format::whyNotExecutable(encoding, g.type).empty())
      return;
    g.format = fmt::format("{{ {} }}", format::printBody(encoding));
    std::fill(g.values.begin(), g.values.end(), *format::explicitValue(encoding, g.type));
  }

  Given data(ElementType type, const std::vector<int64_t> &dims) {
    Given g;
    g.type = type;
    g.dims = dims;
    g.format = randomFormat(random, dims.size());
    // By a generator of its own, so that programs stay those that their seeds had.
    Random shared(out.seed * 16 + out.inputs.size() + 0x11ea);
    if (dims.size() > 1 && shared.chance(0.08))
      if (std::string text = linearFormat(shared, unsigned(dims.size())); executable(text, dims.size()))
        g.format = text;
    bool structured = dims.size() == 2 && dims[1] % 4 == 0 && random.chance(0.2);
    if (structured)
      g.format = "NV24";
    if (tropical || random.chance(0.06))
      g.format = withFill(g.format, type, dims.size());
    double density = random.pick({0.0, 0.1, 0.3, 0.3, 0.6, 1.0});
    int64_t count = 1;
    for (int64_t d : dims)
      count *= d;
    unsigned first = 0, second = 0;
    // By a generator of its own, so that programs stay those that their seeds had: groups with fewer entries.
    Random own(out.seed * 16 + out.inputs.size() + 0x24);
    const bool full = own.chance(0.5);
    for (int64_t at = 0; at < count; ++at) {
      bool stored = dims.empty() || random.chance(density);
      if (structured) { // two of every four at most
        if (at % 4 == 0) {
          first = random.below(4);
          second = (first + 1 + random.below(3)) % 4;
        }
        stored = (at % 4 == first || at % 4 == second) && (full || own.chance(0.6));
      }
      if (!stored)
        continue;
      std::vector<int64_t> coords(dims.size());
      int64_t rest = at;
      for (size_t d = dims.size(); d-- > 0;) {
        coords[d] = rest % dims[d];
        rest /= dims[d];
      }
      g.entries.push_back(std::move(coords));
      g.values.push_back(value(type));
    }
    if (!structured && count > 0)
      g.slices = slices(dims);
    return g;
  }

  /// By a generator of its own: programs stay those that their seeds had before there were slices.
  std::vector<std::optional<format::Slice>> slices(const std::vector<int64_t> &dims) const {
    Random own(out.seed * 16 + out.inputs.size() + 0x51ce);
    std::vector<std::optional<format::Slice>> result;
    if (!dims.empty() && own.chance(0.15))
      for (int64_t size : dims) {
        auto &slice = result.emplace_back();
        if (own.chance(0.7))
          slice = format::Slice{own.below(4), size, own.pick({1, 1, 2, 3})};
      }
    return result;
  }

  // ---- expressions

  static Tree leaf(std::string text) { return {Tree::Kind::Leaf, std::move(text), {}}; }
  static Tree call(std::string name, std::vector<Tree> args) {
    return {Tree::Kind::Call, std::move(name), std::move(args)};
  }
  static Tree infix(Tree a, std::string op, Tree b) {
    return {Tree::Kind::Infix, std::move(op), {std::move(a), std::move(b)}};
  }
  static Tree prefix(std::string op, Tree a) { return {Tree::Kind::Prefix, std::move(op), {std::move(a)}}; }

  Tree decorated(const Operand &o) {
    Tree access = leaf(o.access);
    if (tropical || !random.chance(0.3))
      return access;
    switch (cls) {
    case Class::Bool:
      return prefix("~", access);
    case Class::Integer:
      switch (random.below(5)) {
      case 0:
        return prefix("-", access);
      case 1:
        return call("abs", {access});
      case 2:
        return call("relu", {call("i32", {access})});
      case 3:
        return infix(leaf(fmt::format("{}", random.below(7) - 3)), random.pick<std::string>({"*", "+"}),
                     access);
      default:
        return classOf(o.type) == Class::Integer ? prefix("~", access) : access;
      }
    case Class::Real: {
      bool real = classOf(o.type) == Class::Real;
      switch (random.below(real ? 9 : 2)) {
      case 0:
        return infix(leaf(random.pick<std::string>({"2", "0.5", "-1.5"})), "*", access);
      case 1:
        return infix(access, "+", leaf(random.pick<std::string>({"1", "0.5", "0"})));
      case 2:
        return call(random.pick<std::string>({"sin", "cos", "tanh"}), {access});
      case 3:
        return call("exp", {access});
      case 4:
        return call("sqrt", {call("abs", {access})});
      case 5:
        return call("relu", {access});
      case 6:
        return infix(access, "**", leaf("2"));
      case 7:
        return call("log", {infix(call("abs", {access}), "+", leaf("1"))});
      default:
        return prefix("-", access);
      }
    }
    case Class::Complex:
      if (classOf(o.type) != Class::Complex)
        return access;
      return random.chance(0.5)   ? prefix("-", access)
             : random.chance(0.5) ? call("conj", {access})
                                  : infix(leaf("2i"), "*", access);
    }
    return access;
  }

  Tree combine(Tree a, Tree b) {
    double p = double(random.below(1000)) / 1000;
    if (tropical && cls == Class::Real)
      return p < 0.8 ? infix(a, "+", b) : call("min", {a, b});
    switch (cls) {
    case Class::Bool:
      return infix(a, random.pick<std::string>({"&", "&", "|", "^", "*", "+", "!=", "<="}), b);
    case Class::Integer:
      if (p < 0.4)
        return infix(a, "*", b);
      if (p < 0.6)
        return infix(a, random.pick<std::string>({"+", "-"}), b);
      if (p < 0.75)
        return call(random.pick<std::string>({"min", "max"}), {a, b});
      if (p < 0.8)
        return call("select", {infix(a, random.pick<std::string>({"<", ">=", "==", "!="}), leaf("1")), b, a});
      return infix(a, random.pick<std::string>({"/", "%", "&", "|", "^", "<<", ">>", "**"}), b);
    case Class::Real:
      if (p < 0.5)
        return infix(a, "*", b);
      if (p < 0.8)
        return infix(a, random.pick<std::string>({"+", "-"}), b);
      if (p < 0.9)
        return call(random.pick<std::string>({"min", "max"}), {a, b});
      if (p < 0.95)
        return infix(a, "/", infix(call("abs", {b}), "+", leaf("1")));
      // Only exact values are compared: rounding must not flip the choice.
      if (a.kind == Tree::Kind::Leaf && b.kind == Tree::Kind::Leaf)
        return random.chance(0.5)
                   ? call("select", {infix(a, random.pick<std::string>({"<", ">", "<="}), b), a, b})
                   : infix(a, "%", infix(call("abs", {b}), "+", leaf("1")));
      return infix(a, "*", b);
    case Class::Complex:
      return infix(a, p < 0.6 ? "*" : p < 0.85 ? "+" : "-", b);
    }
    return a;
  }

  // ---- statements

  /// By a generator of its own: the other programs stay those that their seeds had.
  unsigned operandCount() {
    constexpr unsigned many = 8;
    Random own(out.seed * 16 + out.statements.size() + 0xa88);
    if (most != 0 || own.chance(0.04))
      return 1 + unsigned(own.below(most != 0 ? most : many));
    return random.pick({1, 1, 2, 2, 2, 3, 3, 4});
  }

  void statement(unsigned number) {
    std::vector<Operand> operands;
    for (unsigned n = 0, count = operandCount(); n < count; ++n)
      operands.push_back(operand());
    if (number > 0)
      operands.push_back(earlier());
    ElementType type = operands[0].type;
    for (const Operand &o : operands)
      type = promote(type, o.type);
    cls = classOf(type);
    std::vector<Tree> trees;
    for (const Operand &o : operands)
      trees.push_back(decorated(o));
    while (trees.size() > 1) {
      unsigned at = random.below(trees.size() - 1);
      trees[at] = combine(trees[at], trees[at + 1]);
      trees.erase(trees.begin() + at + 1);
    }
    StatementText s;
    s.rhs = trees[0];
    left(number, s, type, operands);
    if (random.chance(0.2))
      s.where = mask(operands);
    out.statements.push_back(std::move(s));
  }

  std::vector<unsigned> firstLeft; ///< the indices of the first result, for statements that read it

  Operand earlier() {
    std::vector<std::string> names;
    for (unsigned index : firstLeft)
      names.push_back(indices[index].name);
    return {"y", fmt::format("y({})", fmt::join(names, ",")), base};
  }

  void left(unsigned number, StatementText &s, ElementType type, const std::vector<Operand> &operands) {
    std::string used;
    for (const Operand &o : operands)
      used += o.access.substr(o.access.find('('));
    std::vector<std::string> names;
    std::vector<int64_t> dims;
    std::vector<unsigned> candidates;
    for (unsigned n = 0; n < indices.size(); ++n)
      if (used.find(indices[n].name) != std::string::npos || random.chance(0.05))
        candidates.push_back(n);
    std::vector<unsigned> chosen;
    double keep = random.pick({0.3, 0.6, 0.8, 1.0});
    while (!candidates.empty()) {
      unsigned at = random.chance(0.6) ? 0 : random.below(candidates.size());
      if (random.chance(keep))
        chosen.push_back(candidates[at]);
      candidates.erase(candidates.begin() + at);
    }
    for (unsigned index : chosen) {
      names.push_back(indices[index].name);
      dims.push_back(indices[index].size);
    }
    if (number == 0)
      firstLeft = chosen;
    std::string name = number == 0 ? "y" : "z";
    s.lhs = fmt::format("{}({})", name, fmt::join(names, ","));
    s.assign = assignment(type);
    out.results[name] = {std::nullopt, dims, ""};
    if (s.assign != "=" && random.chance(0.3)) {
      // The result continues from a value it is given, which must have its type.
      Given start = data(type, dims);
      if (random.chance(0.5))
        start.format = randomDenseFormat(random, dims.size());
      else if (start.format == "NV24")
        start.format = "CSR"; // what masks let through need not be two of every four
      start.slices.clear();   // a result has storage of its own
      out.inputs[name] = start;
      out.results.erase(name);
    }
  }

  std::string assignment(ElementType type) {
    if (tropical && cls == Class::Real)
      return random.chance(0.8) ? "min=" : "=";
    if (random.chance(0.6))
      return "=";
    switch (cls) {
    case Class::Bool:
      return random.pick<std::string>({"|=", "&=", "^=", "+="});
    case Class::Integer:
      return random.pick<std::string>({"+=", "*=", "min=", "max=", "|=", "&=", "^="});
    case Class::Real:
      // Products of many factors overflow what is not f64, in an order-dependent way.
      return type == F64 && random.chance(0.1) ? "*=" : random.pick<std::string>({"+=", "min=", "max="});
    case Class::Complex:
      return "+=";
    }
    return "=";
  }

  std::string mask(const std::vector<Operand> &operands) {
    std::string text = maskTerm(operands);
    while (random.chance(0.35))
      text = fmt::format("({}) {} {}", text, random.pick<std::string>({"&", "|", "\\"}), maskTerm(operands));
    return text;
  }
  std::string maskTerm(const std::vector<Operand> &operands) {
    const Operand o = random.chance(0.6) ? random.pick(operands) : operand(true);
    // What rounding may turn decides nothing.
    const std::string term = o.name < "y" && random.chance(0.25) ? comparison(o) : o.access;
    return (random.chance(0.2) ? "~" : "") + term;
  }
  std::string comparison(const Operand &o) {
    const bool isOrdered = classOf(o.type) != Class::Complex;
    return fmt::format("({} {} {})", o.access,
                       isOrdered ? random.pick<std::string>({"<", "<=", ">", ">=", "==", "!="})
                                 : random.pick<std::string>({"==", "!="}),
                       random.pick<std::string>({"0", "1", "0.5"}));
  }

  // ---- results

  void chooseResultFormats() {
    for (auto &[name, result] : out.results)
      result.format = randomDenseFormat(random, result.dims.size());
    // Results that continue from a value: what the next statement stores depends on their formats.
    for (auto &[name, given] : out.inputs)
      if (name >= "y" && formatOfPattern(out, name) == "dense")
        given.format = randomDenseFormat(random, given.dims.size());
    for (auto &[name, result] : out.results) {
      if (result.dims.empty() || random.chance(0.4))
        continue;
      std::string dense = result.format;
      result.format = randomFormat(random, result.dims.size());
      Random shared(out.seed * 16 + name.back() + 0x11eb);
      if (result.dims.size() > 1 && shared.chance(0.08))
        if (std::string text = linearFormat(shared, unsigned(result.dims.size()));
            executable(text, result.dims.size()))
          result.format = text;
      if (tropical || random.chance(0.06))
        result.format = withFill(result.format, base, result.dims.size());
      std::string operand = formatOfPattern(out, name);
      if (random.chance(0.5) && !operand.empty() && operand != "dense")
        result.format = operand;
      if (formatOfPattern(out, name) == "dense")
        result.format = dense;
    }
  }
};

} // namespace

static bool isFinite(const Given &given) {
  return std::ranges::all_of(given.values, [](const Scalar &s) { return std::isfinite(std::abs(s.f)); });
}

static bool isRead(const Case &made, const std::string &name) {
  return std::ranges::any_of(made.statements, [&](const StatementText &s) {
    return s.text().find(name + "(", s.lhs.size()) != std::string::npos;
  });
}

static bool isWritten(const Case &made, const std::string &name) {
  return std::ranges::any_of(made.statements,
                             [&](const StatementText &s) { return s.lhs.starts_with(name + "("); });
}

/// Infinity times the zeros that a format stores besides the entries is nan, and a mask takes what is stored:
/// what is read again so is stored in formats of which the interpreter knows where these zeros are.
static void avoidPadding(Case &made) {
  const bool finite =
      std::ranges::all_of(made.inputs, [](const auto &input) { return isFinite(input.second); });
  for (auto &[name, result] : made.results) {
    const auto order = unsigned(result.dims.size());
    if (order != 0 && result.format != "dense" && (finite ? readsInMask(made, name) : isRead(made, name)) &&
        !interpreter::knowsWhatIsStored(format::parseFormat(result.format, order)))
      result.format = "CSF";
  }
}

/// What has been added may leave results no pattern, also those that continue from a value, and inputs that a
/// loop writes.
static void fitFormats(Case &made) {
  for (auto &[name, result] : made.results)
    if (!result.dims.empty() && formatOfPattern(made, name) == "dense")
      result.format = "dense";
  for (auto &[name, given] : made.inputs)
    if (isWritten(made, name) && !given.dims.empty() && !made.likes.count(name) &&
        formatOfPattern(made, name) == "dense")
      given.format = "dense";
}

Case generate(uint64_t seed, unsigned operands) {
  Case made = Generator(seed, operands).run();
  addDigits(made);
  addSum(made);
  addIndexValues(made);
  addIndirections(made);
  fitFormats(made);
  addLoops(made);
  addConcatenation(made);
  avoidPadding(made);
  fitFormats(made);
  return made;
}

} // namespace tulle::differential
