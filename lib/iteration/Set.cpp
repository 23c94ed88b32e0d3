#include "iteration/Set.h"
#include <algorithm>
#include <bit>

namespace tulle::iteration {
namespace {

/// Every minterm is enumerated, so the number of operands that a text may name is bounded.
constexpr unsigned maxOperands = 16;

/// A set as its truth table: element m says whether minterm m is in the set.
using Table = std::vector<bool>;

/// Recursive descent over `union := product ('|' product)*`, `product := factor (('&' | '\') factor)*`.
class Parser {
public:
  Parser(std::string_view text, unsigned operands) : text(text), operands(operands) {}

  std::optional<Table> parse() {
    std::optional<Table> table = parseUnion(0);
    skipSpace();
    if (table && at != text.size())
      return fail("expected '&', '|' or '\\'");
    return table;
  }
  std::string error;

private:
  /// Deep nesting comes only from hostile input; the bound keeps the stack safe.
  static constexpr unsigned maxDepth = 200;

  std::nullopt_t fail(std::string message) {
    if (error.empty())
      error = std::move(message) + " at character " + std::to_string(at + 1);
    return std::nullopt;
  }
  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n'))
      ++at;
  }
  bool consume(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  template <typename Fn> static void combine(Table &into, const Table &other, Fn fn) {
    for (size_t m = 0; m < into.size(); ++m)
      into[m] = fn(into[m], other[m]);
  }
  std::optional<Table> parseUnion(unsigned depth) {
    std::optional<Table> left = parseProduct(depth);
    while (left && consume('|')) {
      std::optional<Table> right = parseProduct(depth);
      if (!right)
        return std::nullopt;
      combine(*left, *right, [](bool a, bool b) { return a || b; });
    }
    return left;
  }
  std::optional<Table> parseProduct(unsigned depth) {
    std::optional<Table> left = parseFactor(depth);
    while (left) {
      bool difference = false;
      if (consume('\\'))
        difference = true;
      else if (!consume('&'))
        break;
      std::optional<Table> right = parseFactor(depth);
      if (!right)
        return std::nullopt;
      combine(*left, *right, [&](bool a, bool b) { return a && (b != difference); });
    }
    return left;
  }
  std::optional<Table> parseFactor(unsigned depth) {
    if (depth > maxDepth)
      return fail("the set is nested too deeply");
    if (consume('~')) {
      std::optional<Table> table = parseFactor(depth + 1);
      if (table)
        table->flip();
      return table;
    }
    if (consume('(')) {
      std::optional<Table> table = parseUnion(depth + 1);
      if (table && !consume(')'))
        return fail("expected ')'");
      return table;
    }
    size_t minterms = size_t(1) << operands;
    if (consume('1'))
      return Table(minterms, true);
    if (consume('0'))
      return Table(minterms, false);
    skipSpace();
    if (at >= text.size())
      return fail("expected an operand, '~' or '('");
    unsigned operand = unsigned(text[at] - 'a');
    if (text[at] < 'a' || text[at] > 'z')
      return fail("expected an operand, '~' or '('");
    if (operand >= operands)
      return fail(std::string("operand '") + text[at] + "' is not one of the " + std::to_string(operands) +
                  " given");
    ++at;
    Table table(minterms);
    for (size_t m = 0; m < minterms; ++m)
      table[m] = m >> operand & 1;
    return table;
  }

  std::string_view text;
  unsigned operands;
  size_t at = 0;
};

/// A product term: operands in `care` have the value of their bit in `value`, the others do not matter.
struct Product {
  Minterm care, value;
  bool covers(Minterm m) const { return (m & care) == value; }
};

/// All products with only visited minterms, those with the fewest literals first. A product is dropped when a
/// shorter one covers it, so what remains are the prime implicants.
std::vector<Product> primeImplicants(const CoordinateSet &set) {
  Minterm all = (Minterm(1) << set.operands()) - 1;
  std::vector<bool> in(size_t(all) + 1);
  for (Minterm m : set.minterms())
    in[m] = true;
  std::vector<Minterm> masks(size_t(all) + 1);
  for (Minterm care = 0; care <= all; ++care)
    masks[care] = care;
  std::sort(masks.begin(), masks.end(), [](Minterm a, Minterm b) {
    return std::popcount(a) != std::popcount(b) ? std::popcount(a) < std::popcount(b) : a < b;
  });
  std::vector<Product> primes;
  for (Minterm care : masks) {
    for (Minterm value = care;; value = (value - 1) & care) {
      Product product{care, value};
      bool visited = true;
      for (Minterm m = 0; m <= all && visited; ++m)
        visited = !product.covers(m) || in[m];
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
  std::sort(chosen.begin(), chosen.end(), [](const Product &a, const Product &b) {
    return std::countr_zero(a.care) != std::countr_zero(b.care)
               ? std::countr_zero(a.care) < std::countr_zero(b.care)
               : a.care < b.care;
  });
  return chosen;
}

std::string print(const Product &product, unsigned operands) {
  std::string text;
  for (unsigned k = 0; k < operands; ++k)
    if (product.value >> k & 1)
      text += (text.empty() ? "" : " & ") + std::string(1, char('a' + k));
  bool anyPositive = !text.empty();
  for (unsigned k = 0; k < operands; ++k)
    if ((product.care & ~product.value) >> k & 1)
      text += (anyPositive ? " \\ " : text.empty() ? "~" : " & ~") + std::string(1, char('a' + k));
  return text;
}

} // namespace

CoordinateSet::CoordinateSet(unsigned operands, std::vector<Minterm> minterms)
    : count(operands), sorted(std::move(minterms)) {
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
}

std::optional<CoordinateSet> CoordinateSet::parse(std::string_view text, unsigned operands,
                                                  std::string *error) {
  if (operands > maxOperands) {
    if (error)
      *error =
          "a set has at most " + std::to_string(maxOperands) + " operands, got " + std::to_string(operands);
    return std::nullopt;
  }
  Parser parser(text, operands);
  std::optional<Table> table = parser.parse();
  if (!table) {
    if (error)
      *error = parser.error;
    return std::nullopt;
  }
  std::vector<Minterm> minterms;
  for (size_t m = 0; m < table->size(); ++m)
    if ((*table)[m])
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

Minterm CoordinateSet::required() const {
  if (sorted.empty())
    return 0;
  Minterm common = ~Minterm(0);
  for (Minterm m : sorted)
    common &= m;
  return common;
}

} // namespace tulle::iteration
