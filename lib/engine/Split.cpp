// Conditions are answered a column at a time, for the entries that are left; then each part is stored by a
// generated conversion, as any list of entries is.
#include "engine/Split.h"
#include "engine/Conversion.h"
#include "support/Errors.h"
#include <algorithm>
#include <cstring>
#include <fmt/ranges.h>
#include <functional>
#include <numeric>
#include <unordered_map>

namespace tulle::engine {

using notation::Condition;
using notation::Part;
using runtime::Entries;
using runtime::Tensor;

namespace {

using Column = std::vector<int64_t>;

/// Entries, some of which are taken.
class Splitter {
public:
  explicit Splitter(const Entries &entries) : entries(entries), left(size_t(entries.count())) {
    std::iota(left.begin(), left.end(), size_t(0));
  }

  std::vector<int> run(const std::vector<Part> &parts) {
    std::vector<int> found(left.size(), -1);
    for (size_t p = 0; p < parts.size(); ++p) {
      std::vector<bool> takes(left.size(), true);
      for (const Condition &condition : parts[p].conditions)
        restrict(takes, condition);
      std::vector<size_t> others;
      for (size_t e = 0; e < left.size(); ++e)
        if (takes[e])
          found[left[e]] = int(p);
        else
          others.push_back(left[e]);
      left = std::move(others);
    }
    return found;
  }

private:
  const Entries &entries;
  std::vector<size_t> left; ///< that no part took yet

  void restrict(std::vector<bool> &takes, const Condition &condition) const {
    const Column values =
        condition.measure == Condition::Value ? column(condition.value) : counts(condition.blocks);
    int64_t scale = 1, volume = 1; // of the count, and of the bound
    if (condition.measure == Condition::Fill) {
      scale = condition.divisor;
      volume =
          std::accumulate(condition.blocks.begin(), condition.blocks.end(), int64_t(1), std::multiplies<>());
    }
    for (size_t e = 0; e < left.size(); ++e)
      takes[e] = takes[e] && holds(condition, values[e] * scale, volume);
  }

  static bool holds(const Condition &condition, int64_t value, int64_t volume) {
    const int64_t bound = condition.bounds.front() * volume;
    switch (condition.comparison) {
    case Condition::Less:
      return value < bound;
    case Condition::LessEqual:
      return value <= bound;
    case Condition::Equal:
      return value == bound;
    case Condition::GreaterEqual:
      return value >= bound;
    case Condition::Greater:
      return value > bound;
    case Condition::OneOf:
      break;
    }
    return std::ranges::count(condition.bounds, value) > 0;
  }

  /// The value at each entry; the parser has seen that it fits 64 bits.
  Column column(const format::Expr &e) const {
    using format::ExprKind;
    if (e->kind == ExprKind::Constant)
      return Column(left.size(), e->value);
    Column a, b;
    if (e->kind == ExprKind::Dim) {
      for (size_t k : left)
        a.push_back(entries.coords[size_t(e->value)][k]);
      return a;
    }
    a = column(e->lhs);
    b = column(e->rhs);
    for (size_t k = 0; k < a.size(); ++k)
      a[k] = apply(e->kind, a[k], b[k]);
    return a;
  }

  static int64_t apply(format::ExprKind kind, int64_t a, int64_t b) {
    using format::ExprKind;
    switch (kind) {
    case ExprKind::Add:
      return a + b;
    case ExprKind::Sub:
      return a - b;
    case ExprKind::Mul:
      return a * b;
    case ExprKind::FloorDiv:
      return a / b - (a % b < 0);
    default: // Mod
      return a % b + (a % b < 0 ? b : 0);
    }
  }

  /// For each entry, how many have the same coordinates, as far as blocks tell them apart.
  Column counts(const std::vector<int64_t> &blocks) const {
    Column groups(left.size(), 0);
    int64_t number = 1;
    for (size_t d = 0; d < blocks.size(); ++d)
      if (blocks[d] > 0)
        number = refine(groups, number, d, blocks[d]);
    Column sizes(size_t(number), 0);
    for (int64_t group : groups)
      ++sizes[size_t(group)];
    for (int64_t &group : groups)
      group = sizes[size_t(group)];
    return groups;
  }

  /// Divides groups, which have consecutive numbers, by one more coordinate. Returns how many there are.
  int64_t refine(Column &groups, int64_t number, size_t d, int64_t block) const {
    const int64_t size = std::max<int64_t>(1, (entries.dims[d] + block - 1) / block);
    const bool few = number <= (8 * int64_t(left.size()) + 1024) / size;
    std::vector<int64_t> table(few ? size_t(number * size) : 0, -1);
    std::unordered_map<int64_t, std::unordered_map<int64_t, int64_t>> map;
    int64_t made = 0;
    for (size_t e = 0; e < left.size(); ++e) {
      const int64_t at = entries.coords[d][left[e]] / block;
      int64_t &known =
          few ? table[size_t(groups[e] * size + at)] : map[groups[e]].try_emplace(at, -1).first->second;
      groups[e] = known = known < 0 ? made++ : known;
    }
    return made;
  }
};

/// What is stored, each coordinate once.
Entries entriesOf(const Tensor &tensor, const Options &options) {
  if (!format::isAllDense(tensor.encoding))
    return runtime::unpack(tensor);
  format::Encoding sparse = format::parseFormat("COO", unsigned(tensor.dims.size()));
  sparse.fill = tensor.encoding->fill;
  sparse.implicitVal = tensor.encoding->implicitVal;
  return runtime::unpack(convert(tensor, sparse, options));
}

std::vector<Entries> distribute(const Entries &entries, const std::vector<int> &numbers, size_t parts) {
  std::vector<Entries> made(parts);
  const size_t width = byteWidth(entries.type);
  std::vector<size_t> sizes(parts, 0);
  for (int number : numbers)
    ++sizes[size_t(number)];
  for (size_t p = 0; p < parts; ++p) {
    made[p].type = entries.type;
    made[p].dims = entries.dims;
    made[p].coords.resize(entries.dims.size());
    for (Column &coords : made[p].coords)
      coords.reserve(sizes[p]);
    made[p].values.resize(sizes[p] * width);
  }
  std::vector<size_t> next(parts, 0);
  for (size_t e = 0; e < numbers.size(); ++e) {
    Entries &part = made[size_t(numbers[e])];
    for (size_t d = 0; d < part.coords.size(); ++d)
      part.coords[d].push_back(entries.coords[d][e]);
    std::memcpy(part.values.data() + next[size_t(numbers[e])]++ * width, entries.values.data() + e * width,
                width);
  }
  return made;
}

} // namespace

std::vector<int> partsOf(const Entries &entries, const std::vector<Part> &parts) {
  return Splitter(entries).run(parts);
}

std::vector<Tensor> split(const Tensor &tensor, const notation::Decomposition &decomposition,
                          const PartsText &source, const std::string &name, const Options &options) {
  const Entries entries = entriesOf(tensor, options);
  const std::vector<int> numbers = partsOf(entries, decomposition.parts);
  if (const auto none = std::ranges::find(numbers, -1); none != numbers.end()) {
    std::vector<int64_t> at;
    for (const Column &coords : entries.coords)
      at.push_back(coords[size_t(none - numbers.begin())]);
    throw support::SyntaxError(
        source.name, source.text, decomposition.range,
        fmt::format("the entry of '{}' at ({}) is in none of these parts; end the list "
                    "with FORMAT @ rest",
                    name, fmt::join(at, ", ")));
  }
  std::vector<Entries> lists = distribute(entries, numbers, decomposition.parts.size());
  std::vector<Tensor> made;
  for (size_t p = 0; p < lists.size(); ++p)
    try {
      made.push_back(store(std::move(lists[p]), decomposition.parts[p].format, options));
    } catch (const Error &error) {
      throw support::SyntaxError(source.name, source.text, decomposition.parts[p].range,
                                 fmt::format("the entries of '{}' that are here: {}", name, error.what()));
    }
  return made;
}

} // namespace tulle::engine
