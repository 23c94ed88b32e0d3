// Subscripts that are no sums of indices. Plain ones of a program become `P(i)`, gathers on the right and
// scatters on the left; factors are read at digits of an index.
#include "Case.h"
#include "Formats.h"
#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace tulle::differential {
namespace {

/// The texts of accesses with subscripts, the left side's first.
void collect(Tree &tree, std::vector<std::string *> &accesses) {
  if (tree.kind == Tree::Kind::Leaf && tree.head.find('(') != std::string::npos)
    accesses.push_back(&tree.head);
  for (Tree &arg : tree.args)
    collect(arg, accesses);
}

std::vector<std::string> subscriptsOf(const std::string &access) {
  std::vector<std::string> subscripts;
  const size_t open = access.find('(');
  std::string rest = access.substr(open + 1, access.size() - open - 2);
  for (size_t comma; (comma = rest.find(',')) != std::string::npos; rest.erase(0, comma + 1))
    subscripts.push_back(rest.substr(0, comma));
  if (!rest.empty())
    subscripts.push_back(rest);
  return subscripts;
}

bool isIndex(const std::string &subscript) {
  return subscript.size() == 1 && std::islower(static_cast<unsigned char>(subscript[0])) != 0;
}

/// The sizes of indices, as far as plain subscripts of given tensors, and of results, say them.
std::map<std::string, int64_t> sizesOf(const Case &c, const StatementText &statement) {
  std::map<std::string, int64_t> sizes;
  StatementText copy = statement;
  std::vector<std::string *> accesses{&copy.lhs};
  collect(copy.rhs, accesses);
  for (const std::string *access : accesses) {
    const std::string name = access->substr(0, access->find('('));
    const auto given = c.inputs.find(name);
    const auto result = c.results.find(name);
    if (given == c.inputs.end() && result == c.results.end())
      continue;
    const std::vector<int64_t> &dims = given != c.inputs.end() ? given->second.dims : result->second.dims;
    const std::vector<std::string> subscripts = subscriptsOf(*access);
    for (size_t d = 0; d < std::min(subscripts.size(), dims.size()); ++d)
      if (isIndex(subscripts[d]))
        sizes[subscripts[d]] = dims[d];
  }
  return sizes;
}

/// Gives a share of the elements coordinates.
void fill(Random &random, Given &g, double density) {
  int64_t count = 1;
  for (int64_t d : g.dims)
    count *= d;
  for (int64_t at = 0; at < count; ++at) {
    if (!random.chance(density))
      continue;
    std::vector<int64_t> &coords = g.entries.emplace_back(g.dims.size());
    int64_t rest = at;
    for (size_t d = g.dims.size(); d-- > 0; rest /= g.dims[d])
      coords[d] = rest % g.dims[d];
  }
}

/// Integers below a size, or, where that is asked for, now and then outside.
Given integers(Random &random, const std::vector<int64_t> &dims, int64_t size, bool outside) {
  Given g;
  g.type =
      random.pick({ElementType::I8, ElementType::I16, ElementType::I32, ElementType::I32, ElementType::I64});
  g.dims = dims;
  g.format = random.chance(0.7) ? "dense" : randomFormat(random, unsigned(dims.size()));
  fill(random, g, 0.9); // an integer that is not stored is 0
  for (size_t e = 0; e < g.entries.size(); ++e) {
    const bool out = outside && random.chance(0.3);
    g.values.push_back({out ? random.pick<int64_t>({-1, -2, size, size + 1, 127, -128})
                            : random.below(std::max<int64_t>(size, 1)),
                        0});
  }
  return g;
}

/// All integers become distinct ones below a size, where there are as many, and they are stored densely.
bool makeDistinct(Random &random, Given &g, int64_t size) {
  int64_t count = 1;
  for (int64_t d : g.dims)
    count *= d;
  constexpr int64_t most = 1000; // all of them are shuffled
  if (count > size || size > most)
    return false;
  std::vector<int64_t> values(static_cast<size_t>(size));
  std::iota(values.begin(), values.end(), 0);
  for (size_t k = values.size(); k > 1; --k)
    std::swap(values[k - 1], values[size_t(random.below(int64_t(k)))]);
  g.format = "dense";
  g.entries.clear();
  g.values.clear();
  fill(random, g, 1.1);
  for (size_t e = 0; e < g.entries.size(); ++e)
    g.values.push_back({values[e], 0});
  return true;
}

/// Whether 0 is not what a result leaves out.
bool hasFill(const Case &c, const std::string &name) {
  const auto result = c.results.find(name);
  const std::string &format = result != c.results.end() ? result->second.format : c.inputs.at(name).format;
  return format.find("fill") != std::string::npos;
}

/// A statement that may have one more factor, and the sizes of its indices.
struct Place {
  StatementText *statement;
  std::map<std::string, int64_t> sizes;
};

/// Nothing where the statement that is drawn has fewer indices, or a factor of 0 would be stored.
std::optional<Place> placeForFactor(Case &c, Random &random, size_t indices) {
  StatementText &statement = c.statements[size_t(random.below(int64_t(c.statements.size())))];
  Place place{&statement, sizesOf(c, statement)};
  const std::string name = statement.lhs.substr(0, statement.lhs.find('('));
  const bool may = place.sizes.size() >= indices && !hasFill(c, name) && c.likes.count(name) == 0;
  return may ? std::optional(place) : std::nullopt;
}

/// Of a name that no other tensor has.
void addFactor(Case &c, StatementText &statement, const std::string &name, Given g,
               const std::vector<std::string> &subscripts, const std::vector<int64_t> &dims,
               const std::string &format, Random &random) {
  g.dims = dims;
  g.format = format;
  fill(random, g, 0.4);
  for (size_t e = 0; e < g.entries.size(); ++e) {
    const int64_t value = g.type == ElementType::Bool ? 1 : 1 + random.below(3);
    const bool whole = g.type == ElementType::Bool || isInteger(g.type);
    g.values.push_back(whole ? Scalar{value, 0} : Scalar{0, double(value)});
  }
  c.inputs[name] = std::move(g);
  Tree factor{Tree::Kind::Leaf, fmt::format("{}({})", name, fmt::join(subscripts, ",")), {}};
  statement.rhs = {Tree::Kind::Infix, "*", {statement.rhs, std::move(factor)}};
}

} // namespace

void addIndirections(Case &c) {
  Random random(c.seed * 16 + 0x1d1c);
  if (!random.chance(0.2))
    return;
  for (unsigned number = 0, count = unsigned(random.pick({1, 1, 2, 3})); number < count; ++number) {
    StatementText &statement = c.statements[size_t(random.below(int64_t(c.statements.size())))];
    const std::map<std::string, int64_t> sizes = sizesOf(c, statement);
    std::vector<std::string *> accesses{&statement.lhs};
    collect(statement.rhs, accesses);
    std::string &access = *accesses[size_t(random.below(int64_t(accesses.size())))];
    const std::string name = access.substr(0, access.find('('));
    std::vector<std::string> subscripts = subscriptsOf(access);
    const std::string result = statement.lhs.substr(0, statement.lhs.find('('));
    if (subscripts.empty() || sizes.empty() || c.likes.count(name) > 0 || c.likes.count(result) > 0)
      continue;
    const auto d = size_t(random.below(int64_t(subscripts.size())));
    const auto given = c.inputs.find(name);
    if (!isIndex(subscripts[d]) || (given == c.inputs.end() && c.results.count(name) == 0))
      continue;
    const std::vector<int64_t> &sizesThere =
        given != c.inputs.end() ? given->second.dims : c.results[name].dims;
    // The parts of a stack have a subscript more than their tensor has dimensions.
    if (d >= sizesThere.size())
      continue;
    const int64_t size = sizesThere[d];
    // Mostly the index that stood there; another one, or two.
    std::vector<std::string> from;
    if (random.chance(0.7) && sizes.count(subscripts[d]))
      from.push_back(subscripts[d]);
    for (const auto &[index, extent] : sizes)
      if (std::ranges::count(from, index) == 0 && random.chance(from.empty() ? 0.5 : 0.15))
        from.push_back(index);
    std::vector<int64_t> dims;
    for (const std::string &index : from)
      dims.push_back(sizes.at(index));
    std::string suffix =
        random.pick<std::string>({"", "", " clamp", &access == &statement.lhs ? " else skip" : " else 0"});
    const std::string integers = fmt::format("P{}", number);
    c.inputs[integers] = differential::integers(random, dims, size, !suffix.empty());
    if (suffix.empty() && random.chance(0.4) && makeDistinct(random, c.inputs[integers], size))
      suffix = " unique";
    const int64_t shift =
        suffix.empty() || suffix == " unique" || !random.chance(0.4) ? 0 : random.below(5) - 2;
    subscripts[d] = fmt::format("{}({}){}{}", integers, fmt::join(from, ","),
                                shift ? fmt::format("{:+}", shift) : std::string(), suffix);
    access = fmt::format("{}({})", name, fmt::join(subscripts, ","));
  }
}

/// A factor at the digits of an index, or one of two: of any format where the digits are its dimensions, else
/// a dense one that may be larger, or repeat.
void addDigits(Case &c) {
  Random random(c.seed * 16 + 0xd161);
  if (!random.chance(0.08))
    return;
  const std::optional<Place> place = placeForFactor(c, random, 1);
  if (!place)
    return;
  const auto &[statement, sizes] = *place;
  const auto &[index, size] = *std::next(sizes.begin(), random.below(int64_t(sizes.size())));
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= std::max<int64_t>(size, 1); ++d)
    if (size % d == 0)
      divisors.push_back(d);
  Given g;
  for (const auto &[name, given] : c.inputs)
    g.type = given.type;
  int64_t step = random.pick(divisors);
  if (random.chance(0.3)) {
    step = 1 + random.below(5);
    const int64_t most = 1 + random.below(3);
    const std::string high = fmt::format("{} / {} % {}", index, step, most),
                      low = fmt::format("{} % {}", index, step);
    addFactor(c, *statement, "Digits", g, {high, low}, {most + random.below(2), step + random.below(3)},
              "dense", random);
    return;
  }
  std::vector<std::string> subscripts{fmt::format("{}/{}", index, step), fmt::format("{}%{}", index, step)};
  std::vector<int64_t> dims{size / step, step};
  if (random.chance(0.4)) {
    std::swap(subscripts[0], subscripts[1]);
    std::swap(dims[0], dims[1]);
  }
  std::string format = randomFormat(random, 2);
  // By a generator of its own: the other programs stay those that their seeds had.
  if (Random part(c.seed * 16 + 0xd162); part.chance(0.3)) {
    subscripts.pop_back();
    dims.pop_back();
    format = randomFormat(part, 1);
  }
  addFactor(c, *statement, "Digits", g, subscripts, dims, format, random);
}

/// A factor at a sum of two indices, which counts through all of its dimension, or not.
void addSum(Case &c) {
  Random random(c.seed * 16 + 0x5a3d);
  if (!random.chance(0.08))
    return;
  const std::optional<Place> place = placeForFactor(c, random, 2);
  if (!place)
    return;
  const auto &[statement, sizes] = *place;
  const auto first = sizes.begin(), second = std::next(first, 1 + random.below(int64_t(sizes.size()) - 1));
  const auto &[high, count] = random.chance(0.5) ? *first : *second;
  const auto &[low, step] = high == first->first ? *second : *first;
  const int64_t factor = std::max<int64_t>(step, 1) + (random.chance(0.2) ? 1 : 0);
  const int64_t size = std::max<int64_t>(count - 1, 0) * factor + std::max<int64_t>(step, 1);
  Given g;
  for (const auto &[input, given] : c.inputs)
    g.type = given.type;
  std::vector<std::string> subscripts{fmt::format("{}*{} + {}", factor, high, low)};
  std::vector<int64_t> dims{size + (random.chance(0.2) ? 2 : 0)};
  if (random.chance(0.4)) {
    subscripts.push_back(low);
    dims.push_back(step);
  }
  const auto order = unsigned(dims.size());
  addFactor(c, *statement, "Sums", g, subscripts, dims, randomFormat(random, order), random);
}

/// What a mask says of an index: a range, or a comparison.
static std::string restriction(Random &random, const std::string &index, int64_t size) {
  const int64_t low = random.below(size + 2), end = random.below(size + 2), step = 1 + random.below(3);
  return random.pick<std::string>({fmt::format("{} in {}:{}:{}", index, low, end, step),
                                   fmt::format("{} in :{}", index, end),
                                   fmt::format("~({} in {}:)", index, low),
                                   fmt::format("({} % {} != {})", index, step + 1, low % (step + 1))});
}

static bool isDenseResult(const Case &c, const std::string &name) {
  const auto made = c.results.find(name);
  if (made == c.results.end() || c.likes.count(name) > 0)
    return false;
  const auto order = unsigned(made->second.dims.size());
  return made->second.format.empty() || format::isAllDense(format::parseFormat(made->second.format, order));
}

void addIndexValues(Case &c) {
  Random random(c.seed * 16 + 0x1d0a);
  if (!random.chance(0.12))
    return;
  StatementText &statement = c.statements[size_t(random.below(int64_t(c.statements.size())))];
  const std::map<std::string, int64_t> sizes = sizesOf(c, statement);
  if (sizes.empty())
    return;
  const auto &[index, size] = *std::next(sizes.begin(), random.below(int64_t(sizes.size())));
  const std::string other = std::next(sizes.begin(), random.below(int64_t(sizes.size())))->first;
  if (random.chance(0.5)) {
    const std::string compared =
        fmt::format("({} {} {})", index, random.pick<std::string>({"<", ">=", "=="}), other);
    const std::string mask = random.chance(0.3) ? compared : restriction(random, index, size);
    statement.where = statement.where.empty() ? mask : fmt::format("({}) & {}", statement.where, mask);
  }
  const std::string name = statement.lhs.substr(0, statement.lhs.find('('));
  if (random.chance(0.6) && !hasFill(c, name)) {
    // A sum makes a result dense.
    const std::string sign = isDenseResult(c, name) ? random.pick<std::string>({"*", "*", "+"}) : "*";
    Tree value{Tree::Kind::Leaf, random.chance(0.5) ? index : fmt::format("({} - {} + 1)", index, other), {}};
    statement.rhs = {Tree::Kind::Infix, sign, {statement.rhs, std::move(value)}};
  }
}

} // namespace tulle::differential
