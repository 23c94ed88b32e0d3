// Sets are written by a greedy cover of their minterms with prime implicants, as in two-level minimization.
#include "iteration/Set.h"
#include "tulle/error.h"
#include <algorithm>
#include <bit>
#include <numeric>

namespace tulle::iteration {
namespace {

using Kind = SetExpression::Kind;

constexpr unsigned letters = 26;

/// Recursive descent over `union := product ('|' product)*`, `product := factor (('&' | '\\') factor)*`.
class Parser {
public:
  Parser(std::string_view text, unsigned operands) : text(text), operands(operands) {}

  /// Throws Error.
  SetExpression parse() {
    SetExpression set = parseUnion(0);
    skipSpace();
    if (at != text.size())
      fail("expected '&', '|' or '\\'");
    return set;
  }

private:
  /// Deep nesting comes only from hostile input; the bound keeps the stack safe.
  static constexpr unsigned maxDepth = 200;

  [[noreturn]] void fail(const std::string &message) const {
    throw Error(message + " at character " + std::to_string(at + 1));
  }
  void skipSpace() { at = std::min(text.find_first_not_of(" \t\n", at), text.size()); }
  bool consume(char c) {
    skipSpace();
    const bool found = at < text.size() && text[at] == c;
    at += found;
    return found;
  }
  static SetExpression join(Kind kind, std::vector<SetExpression> parts) {
    return parts.size() == 1 ? std::move(parts.front()) : SetExpression{kind, 0, std::move(parts)};
  }
  static SetExpression negated(SetExpression set) {
    std::vector<SetExpression> parts;
    parts.push_back(std::move(set));
    return {Kind::Not, 0, std::move(parts)};
  }
  SetExpression parseUnion(unsigned depth) {
    std::vector<SetExpression> parts;
    do
      parts.push_back(parseProduct(depth));
    while (consume('|'));
    return join(Kind::Or, std::move(parts));
  }
  SetExpression parseProduct(unsigned depth) {
    std::vector<SetExpression> parts{parseFactor(depth)};
    for (bool difference; (difference = consume('\\')) || consume('&');) {
      SetExpression factor = parseFactor(depth);
      parts.push_back(difference ? negated(std::move(factor)) : std::move(factor));
    }
    return join(Kind::And, std::move(parts));
  }
  SetExpression parseFactor(unsigned depth) {
    if (depth > maxDepth)
      fail("the set is nested too deeply");
    if (consume('~'))
      return negated(parseFactor(depth + 1));
    if (consume('(')) {
      SetExpression set = parseUnion(depth + 1);
      if (!consume(')'))
        fail("expected ')'");
      return set;
    }
    if (consume('1'))
      return {Kind::Everything};
    if (consume('0'))
      return {Kind::Nothing};
    return parseOperand();
  }
  SetExpression parseOperand() {
    if (at >= text.size() || text[at] < 'a' || text[at] > 'z')
      fail("expected an operand, '~' or '('");
    size_t end = at + 1;
    unsigned row = 0;
    for (; end < text.size() && text[end] >= '0' && text[end] <= '9'; ++end)
      row = std::min(row * 10 + unsigned(text[end] - '0'), operands);
    const unsigned operand = row * letters + unsigned(text[at] - 'a');
    const std::string name(text.substr(at, end - at));
    if (operand >= operands || name != operandName(operand))
      fail("operand '" + name + "' is not one of the " + std::to_string(operands) + " given");
    at = end;
    return {Kind::Operand, operand};
  }

  std::string_view text;
  unsigned operands;
  size_t at = 0;
};

/// A set as its truth table: element m says whether minterm m is in the set.
using Table = std::vector<bool>;

Table tableOf(const SetExpression &set, unsigned operands) {
  const size_t minterms = size_t(1) << operands;
  Table table(minterms, set.kind == Kind::Everything || set.kind == Kind::And);
  if (set.kind == Kind::Operand)
    for (size_t m = 0; m < minterms; ++m)
      table[m] = m >> set.operand & 1;
  for (const SetExpression &part : set.parts) {
    Table other = tableOf(part, operands);
    for (size_t m = 0; m < minterms; ++m)
      table[m] = set.kind == Kind::Not   ? !other[m]
                 : set.kind == Kind::And ? table[m] && other[m]
                                         : table[m] || other[m];
  }
  return table;
}

/// A product term: operands in `care` have the value of their bit in `value`, the others do not matter.
struct Product {
  Minterm care, value;
  bool covers(Minterm m) const { return (m & care) == value; }
};

/// All products with only visited minterms, those with the fewest literals first. A product is dropped when a
/// shorter one covers it, so what remains are the prime implicants.
std::vector<Product> primeImplicants(const CoordinateSet &set) {
  const Minterm all = (Minterm(1) << set.operands()) - 1;
  std::vector<Minterm> masks(size_t(all) + 1);
  std::iota(masks.begin(), masks.end(), 0);
  std::ranges::stable_sort(masks, std::less(), [](Minterm mask) { return std::popcount(mask); });
  std::vector<Product> primes;
  for (Minterm care : masks) {
    for (Minterm value = care;; value = (value - 1) & care) {
      Product product{care, value};
      bool visited = true;
      for (Minterm m = 0; m <= all && visited; ++m)
        visited = !product.covers(m) || set.contains(m);
      bool implied = std::any_of(primes.begin(), primes.end(), [&](const Product &p) {
        return (p.care & care) == p.care && (value & p.care) == p.value;
      });
      if (visited && !implied)
        primes.push_back(product);
      if (value == 0)
        break;
    }
  }
  return primes;
}

/// Greedy cover: the product that adds most minterms next.
std::vector<Product> cover(const CoordinateSet &set) {
  std::vector<Product> primes = primeImplicants(set), chosen;
  std::vector<Minterm> left = set.minterms();
  while (!left.empty()) {
    auto gain = [&](const Product &p) {
      return std::count_if(left.begin(), left.end(), [&](Minterm m) { return p.covers(m); });
    };
    auto best = std::max_element(primes.begin(), primes.end(),
                                 [&](const Product &a, const Product &b) { return gain(a) < gain(b); });
    chosen.push_back(*best);
    std::erase_if(left, [&](Minterm m) { return best->covers(m); });
  }
  std::ranges::sort(chosen, std::less(),
                    [](const Product &p) { return std::pair(std::countr_zero(p.care), p.care); });
  return chosen;
}

std::string print(const Product &product, unsigned operands) {
  std::string text;
  for (unsigned k = 0; k < operands; ++k)
    if (product.value >> k & 1)
      text += (text.empty() ? "" : " & ") + operandName(k);
  bool anyPositive = !text.empty();
  for (unsigned k = 0; k < operands; ++k)
    if ((product.care & ~product.value) >> k & 1)
      text += (anyPositive ? " \\ " : text.empty() ? "~" : " & ~") + operandName(k);
  return text;
}

} // namespace

std::string operandName(unsigned operand) {
  const unsigned row = operand / letters;
  return char('a' + operand % letters) + (row ? std::to_string(row) : std::string());
}

std::optional<SetExpression> SetExpression::parse(std::string_view text, unsigned operands,
                                                  std::string *error) {
  try {
    return Parser(text, operands).parse();
  } catch (const Error &wrong) {
    if (error)
      *error = wrong.what();
    return std::nullopt;
  }
}

bool SetExpression::needsUniverse() const {
  if (kind == Kind::Not)
    return !parts.front().needsUniverse();
  if (kind == Kind::Or)
    return std::ranges::any_of(parts, &SetExpression::needsUniverse);
  return kind == Kind::Everything ||
         (kind == Kind::And && std::ranges::all_of(parts, &SetExpression::needsUniverse));
}

bool SetExpression::isWithin(unsigned which) const {
  auto within = [&](const SetExpression &part) { return part.isWithin(which); };
  if (kind == Kind::And)
    return std::ranges::any_of(parts, within);
  if (kind == Kind::Or)
    return std::ranges::all_of(parts, within);
  return kind == Kind::Nothing || (kind == Kind::Operand && operand == which);
}

bool SetExpression::isUnion(unsigned operands) const {
  if (kind == Kind::Everything)
    return true;
  std::vector<bool> named(operands);
  auto name = [&](const SetExpression &part) {
    if (part.kind == Kind::Operand)
      named[part.operand] = true;
  };
  name(*this);
  if (kind == Kind::Or)
    std::ranges::for_each(parts, name);
  return std::ranges::count(named, false) == 0;
}

std::vector<Minterm> minimalOf(const std::vector<Minterm> &minterms) {
  std::vector<Minterm> minimal;
  std::ranges::copy_if(minterms, std::back_inserter(minimal), [&](Minterm m) {
    return std::ranges::none_of(minterms, [&](Minterm other) { return other != m && (other & m) == other; });
  });
  return minimal;
}

Minterm distinguish(Minterm minterm, std::vector<Minterm> others) {
  Minterm asked = 0;
  for (Minterm bit = 1; bit != 0 && !others.empty(); bit <<= 1)
    if (std::erase_if(others, [&](Minterm other) { return ((other ^ minterm) & bit) != 0; }) > 0)
      asked |= bit;
  return asked;
}

CoordinateSet::CoordinateSet(unsigned operands, std::vector<Minterm> minterms)
    : count(operands), sorted(std::move(minterms)) {
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
}

std::optional<CoordinateSet> CoordinateSet::parse(std::string_view text, unsigned operands,
                                                  std::string *error) {
  if (operands > mostOperands) {
    if (error)
      *error =
          "a set has at most " + std::to_string(mostOperands) + " operands, got " + std::to_string(operands);
    return std::nullopt;
  }
  std::optional<SetExpression> set = SetExpression::parse(text, operands, error);
  if (!set)
    return std::nullopt;
  Table table = tableOf(*set, operands);
  std::vector<Minterm> minterms;
  for (size_t m = 0; m < table.size(); ++m)
    if (table[m])
      minterms.push_back(Minterm(m));
  return CoordinateSet(operands, std::move(minterms));
}

std::string CoordinateSet::print() const {
  if (sorted.empty())
    return "0";
  if (sorted.size() == size_t(1) << count)
    return "1";
  // Finding the prime implicants takes 6^operands steps: beyond this the plain union of minterms is printed.
  constexpr unsigned simplified = 6;
  Minterm all = (Minterm(1) << count) - 1;
  std::vector<Product> products;
  if (count <= simplified)
    products = cover(*this);
  else
    for (Minterm m : sorted)
      products.push_back({all, m});
  std::string text;
  for (const Product &product : products)
    text += (text.empty() ? "" : " | ") + iteration::print(product, count);
  return text;
}

bool CoordinateSet::contains(Minterm m) const { return std::binary_search(sorted.begin(), sorted.end(), m); }

} // namespace tulle::iteration
