#include "Declared.h"
#include "Formats.h"
#include "engine/Conversion.h"
#include "format/Layout.h"
#include "format/LevelDeclaration.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace tulle::differential {
namespace {

using format::Expr;
using format::ExprKind;
using format::LevelDeclaration;
using format::LevelKind;
using format::LevelQuery;

//===--- Texts ---===//

/// An expression of these names, of any value.
std::string drawExpression(Random &random, const std::vector<std::string> &names, unsigned depth) {
  if (depth == 0 || random.chance(0.4))
    return random.chance(0.7) ? random.pick(names)
                              : std::to_string(random.chance(0.9) ? random.below(6) : int64_t(1) << 31);
  const std::string a = drawExpression(random, names, depth - 1);
  const auto operation = random.below(9);
  if (operation < 2)
    return fmt::format("({} {} {})", a, random.pick<std::string>({"floordiv", "mod", "/", "%"}),
                       1 + random.below(5));
  const std::string b = drawExpression(random, names, depth - 1);
  if (operation < 5)
    return fmt::format("{}({}, {})", operation == 3 ? "min" : "max", a, b);
  return fmt::format("({} {} {})", a, random.pick<std::string>({"+", "+", "-", "*"}), b);
}

/// What a declaration is made of while it is drawn.
struct Parts {
  std::vector<std::string> statements, queries;

  void say(const std::string &part, const std::string &what) {
    statements.push_back(fmt::format("{} {};", part, what));
  }
  std::string ask(Random &random, const std::string &kind, const std::string &name) {
    if (std::ranges::find(queries, name) == queries.end()) {
      statements.insert(statements.begin(), fmt::format("query select [p] -> {}(c) as {};", kind, name));
      queries.push_back(name);
    }
    return name + "[p]";
  }
};

/// The number of positions of a parent that has at least so many, or of all parents.
std::string drawMore(Random &random, const std::string &least) {
  switch (random.below(6)) {
  case 0:
    return fmt::format("{} + {}", least, random.below(3));
  case 1:
    return fmt::format("({} + {}) / {} * {}", least, 3, 4, 4);
  case 2:
    return fmt::format("max({}, {})", least, random.below(4));
  case 3:
    return fmt::format("min(N, {} * 2)", least);
  default:
    return least;
  }
}

void drawAppended(Random &random, Parts &parts) {
  const bool padded = random.chance(0.8);
  if (padded)
    parts.say("properties", "padded");
  const std::string counted = parts.ask(random, "count", "nz");
  const auto other = random.pick<std::string>({"", "", "max", "min"});
  const std::string most = other.empty() ? "" : parts.ask(random, other, "end");
  parts.say("coordinates", "crd[q] = c");
  if (random.chance(0.5)) {
    std::string length = padded ? drawMore(random, counted) : counted;
    if (!most.empty())
      length = fmt::format("max({}, {})", length, most);
    parts.say("edges", fmt::format("pos[p + 1] = pos[p] + {}", length));
    parts.say("positions(p) =", "pos[p] to pos[p + 1]");
  } else if (random.chance(0.7)) {
    std::string size = drawMore(random, "max(nz)");
    if (!most.empty())
      size = fmt::format("max({}, max(end))", size);
    parts.say("size", "K = " + size);
    parts.say("positions(p) =", "p * K to p * K + K");
  } else {
    const std::string slots = random.pick<std::string>({"N", "N + 1", "3", "(N + 1) / 2"});
    parts.say("positions(p) =", fmt::format("p * ({0}) to p * ({0}) + ({0})", slots));
  }
  parts.say("coordinate(p, q) =", "crd[q]");
  parts.say("insert", "append");
}

void drawComputed(Random &random, Parts &parts) {
  std::string begin = "pos[p]", first = "0";
  const bool starts = random.chance(0.5);
  if (starts) {
    const std::string least = parts.ask(random, "min", "first");
    const int64_t step = 1 + random.below(3);
    const std::string from = step == 1 ? least : fmt::format("{} / {} * {}", least, step, step);
    parts.say("coordinates", "crd[p] = " + from);
    first = "crd[p]";
  }
  const auto form = random.below(3);
  if (form == 0) {
    std::string last = parts.ask(random, "max", "last") + " + 1";
    if (random.chance(0.4))
      last = fmt::format("min({}, N)", drawMore(random, last));
    const std::string from = starts ? "min(first[p], " + last + ")" : "";
    parts.say("edges", fmt::format("pos[p + 1] = pos[p] + {}{}", last, starts ? " - " + from : ""));
    parts.say("positions(p) =", "pos[p] to pos[p + 1]");
  } else {
    std::string slots = "N";
    if (form == 1) {
      parts.ask(random, "max", "last");
      parts.say("size", "K = min(N, " + drawMore(random, "max(last) + 1") + ")");
      slots = "K";
    }
    parts.say("positions(p) =", fmt::format("p * {0} to p * {0} + {0}", slots));
    begin = "p * " + slots;
  }
  parts.say("coordinate(p, q) =", fmt::format("{} + (q - {})", first, begin));
  parts.say("insert(p, c) =", fmt::format("{} + (c - {})", begin, first));
}

void drawTable(Random &random, Parts &parts) {
  parts.statements = {"query select [c] -> id() as used;",  "size K = count(used);",
                      "coordinates crd[k] = nth(used, k);", "positions(p) = p * K to p * K + K;",
                      "coordinate(p, q) = crd[q - p * K];", "insert(p, c) = p * K + rank(used, c);"};
}

/// Another expression behind the last '=' of a part, or none.
void damage(Random &random, Parts &parts) {
  std::string &part = parts.statements[size_t(random.below(int64_t(parts.statements.size())))];
  const size_t sign = part.rfind("= ");
  if (sign == std::string::npos || part.starts_with("positions"))
    return void(parts.statements.erase(parts.statements.begin() + (&part - parts.statements.data())));
  std::vector<std::string> names{"N"};
  for (const std::string &query : parts.queries)
    names.push_back(part.starts_with("size") ? "max(" + query + ")" : query + "[p]");
  if (part.starts_with("coordinate(") || part.starts_with("insert"))
    names = {"N", "pos[p]", "p", "crd[p]", part.starts_with("insert") ? "c" : "q", "K"};
  // In place of what stands there, or added to it.
  std::string drawn = drawExpression(random, names, 2);
  if (random.chance(0.5))
    drawn = fmt::format("{} {} ({})", part.substr(sign + 2, part.size() - sign - 3),
                        random.pick<std::string>({"+", "-", "*"}), drawn);
  part = part.substr(0, sign + 2) + (part.starts_with("edges") ? "pos[p] + " : "") + drawn + ";";
}

//===--- Meaning ---===//

/// Entries below one position: which of those given; none at padding.
using Slot = std::vector<size_t>;

/// What is refused where tensors are stored.
struct Refused {};
/// More than a position by position answer should take.
struct TooLarge {};

constexpr int64_t mostPositions = 1 << 14;

int64_t wrapped(ExprKind kind, int64_t a, int64_t b) {
  const auto x = uint64_t(a), y = uint64_t(b);
  switch (kind) {
  case ExprKind::Add:
    return int64_t(x + y);
  case ExprKind::Sub:
    return int64_t(x - y);
  case ExprKind::Mul:
    return int64_t(x * y);
  case ExprKind::Min:
    return std::min(a, b);
  case ExprKind::Max:
    return std::max(a, b);
  case ExprKind::Mod:
    return (a % b + b) % b;
  default:
    return a / b - (a % b < 0 ? 1 : 0);
  }
}

/// In 64 bits, which may wrap.
int64_t value(const Expr &e, const format::LevelVariables &variables) {
  if (e->kind == ExprKind::Constant)
    return e->value;
  if (e->kind == ExprKind::Level)
    return variables[size_t(e->value)];
  return wrapped(e->kind, value(e->lhs, variables), value(e->rhs, variables));
}

/// A declared level of size `n` that is filled: what its parents hold, by coordinates.
class DeclaredModel {
public:
  DeclaredModel(const LevelDeclaration &declaration, int64_t n,
                const std::vector<std::map<int64_t, Slot>> &parents)
      : declaration(declaration), parents(parents), variables(format::kVariables, 0) {
    variables[format::kLevelSize] = n;
  }

  std::vector<Slot> slots() {
    for (unsigned q = 0; q < declaration.queries.size(); ++q)
      variables[format::kLargest + q] = answer(declaration.queries[q].kind, nullptr);
    if (declaration.size)
      variables[format::kStoredSize] = size(value(declaration.size, variables));
    int64_t end = 0, each = declaration.slots ? size(value(declaration.slots, variables)) : 0;
    std::vector<int64_t> begins;
    for (const auto &parent : parents) {
      ask(parent);
      begins.push_back(end);
      end += declaration.length ? size(value(declaration.length, variables)) : each;
      if (end > mostPositions)
        throw TooLarge();
    }
    begins.push_back(end);
    std::vector<Slot> made(static_cast<size_t>(end));
    for (size_t p = 0; p < parents.size(); ++p)
      fill(int64_t(p), begins, made);
    return made;
  }

private:
  int64_t answer(LevelQuery::Kind kind, const std::map<int64_t, Slot> *one) const {
    const auto of = [&](const std::map<int64_t, Slot> &parent) {
      if (kind == LevelQuery::Count)
        return int64_t(parent.size());
      if (parent.empty())
        return int64_t(kind == LevelQuery::Max ? -1 : 0);
      return kind == LevelQuery::Max ? parent.rbegin()->first : parent.begin()->first;
    };
    if (one)
      return of(*one);
    int64_t largest = kind == LevelQuery::Max ? -1 : 0;
    for (const auto &parent : parents)
      largest = std::max(largest, of(parent));
    return largest;
  }
  void ask(const std::map<int64_t, Slot> &parent) {
    for (unsigned q = 0; q < declaration.queries.size(); ++q)
      variables[format::kQuery + q] = answer(declaration.queries[q].kind, &parent);
  }

  static int64_t size(int64_t value) {
    if (value < 0 || value > int64_t(1) << 58)
      throw Refused();
    if (value > mostPositions)
      throw TooLarge();
    return value;
  }

  void fill(int64_t p, const std::vector<int64_t> &begins, std::vector<Slot> &made) {
    const auto &parent = parents[size_t(p)];
    const int64_t begin = begins[size_t(p)], end = begins[size_t(p) + 1];
    ask(parent);
    variables[format::kParent] = p;
    variables[format::kBegin] = begin;
    variables[format::kEnd] = end;
    if (declaration.firstCoordinate) {
      variables[format::kParentCoordinate] = value(declaration.firstCoordinate, variables);
      // Narrow ones have to fit the width, which is 64 bits only where they do not.
      if (variables[format::kParentCoordinate] < 0 ||
          variables[format::kParentCoordinate] > (int64_t(1) << 31))
        throw TooLarge();
    }
    int64_t next = begin;
    for (const auto &[coordinate, entries] : parent) {
      variables[format::kCoordinate] = coordinate;
      const int64_t at = declaration.position ? value(declaration.position, variables) : next++;
      if (at < begin || at >= end || !made[size_t(at)].empty() ||
          (!declaration.storesCoordinates && coordinateAt(at) != coordinate))
        throw Refused();
      made[size_t(at)] = entries;
    }
    if (declaration.padded)
      return;
    if (declaration.storesCoordinates && next != end)
      throw Refused();
    int64_t before = -1;
    for (int64_t q = begin; q < end && !declaration.storesCoordinates; ++q) {
      const int64_t c = coordinateAt(q);
      if (c <= before || c >= variables[format::kLevelSize])
        throw Refused();
      before = c;
    }
  }

  int64_t coordinateAt(int64_t position) {
    variables[format::kPosition] = position;
    return value(declaration.coordinate, variables);
  }

  const LevelDeclaration &declaration;
  const std::vector<std::map<int64_t, Slot>> &parents;
  format::LevelVariables variables;
};

/// Throws Refused where some level cannot hold the entries.
void requireStorable(const runtime::Entries &entries, const format::Encoding &encoding) {
  const auto digits = *format::digits(encoding);
  std::vector<Slot> slots(1);
  for (size_t e = 0; e < size_t(entries.count()); ++e)
    slots[0].push_back(e);
  for (unsigned l = 0; l < encoding.levels.size(); ++l) {
    const int64_t n = format::levelSize(digits[l], entries.dims);
    std::vector<std::map<int64_t, Slot>> groups;
    for (const Slot &slot : slots) {
      groups.emplace_back();
      for (size_t e : slot) {
        const int64_t c = entries.coords[digits[l].dim][e] / digits[l].stride;
        groups.back()[digits[l].modulus ? c % digits[l].modulus : c].push_back(e);
      }
    }
    if (const auto &declaration = encoding.levels[l].format.declaration) {
      slots = DeclaredModel(*declaration, n, groups).slots();
      continue;
    }
    // Of built-in formats, all that are not compressed can have a position for each coordinate.
    slots.clear();
    const bool packs = encoding.levels[l].format.kind == LevelKind::Compressed;
    for (auto &group : groups)
      for (int64_t c = 0; c < n; ++c)
        if (group.contains(c) || !packs)
          slots.push_back(group[c]);
    if (int64_t(slots.size()) > mostPositions)
      throw TooLarge();
  }
}

/// Whether the entries can be stored; nullopt where nobody should try.
std::optional<bool> isStorable(const Storing &storing) {
  try {
    const auto order = unsigned(storing.entries.dims.size());
    requireStorable(storing.entries, format::parseFormat(storing.format, order));
    return true;
  } catch (const Refused &) {
    return false;
  } catch (const TooLarge &) {
    return std::nullopt;
  }
}

} // namespace

std::string drawDeclaration(Random &random) {
  Parts parts;
  const auto form = random.below(10);
  form < 4 ? drawAppended(random, parts) : form < 9 ? drawComputed(random, parts) : drawTable(random, parts);
  for (unsigned times = random.chance(0.4) ? 1 + unsigned(random.below(3)) : 0;
       times > 0 && !parts.statements.empty(); --times)
    damage(random, parts);
  return fmt::format("level l {{ {} }}", fmt::join(parts.statements, " "));
}

std::optional<Storing> drawDeclared(Random &random, const std::string &declaration) {
  const auto map = random.pick<std::string>(
      {"(i, j) -> (i : dense, j : l)", "(i, j) -> (i : dense, j : l)", "(i, j) -> (j : dense, i : l)",
       "(i, j) -> (i : l, j : compressed)", "(i, j) -> (j : l, i : dense)", "(i, j) -> (i : l, j : l)",
       "(i, j) -> (i : compressed, j : l)", "(i, j) -> (i : batch, j : l)",
       "(i, j) -> (i : batch, j : l, i floordiv 4 : dense)", "(i) -> (i : l)",
       "(i, j) -> (j floordiv 2 : dense, i : l, j mod 2 : dense)",
       "(i, j, k) -> (k : batch, i : dense, j : l)", "(i, j, k) -> (i : dense, j : l, k : l)"});
  Storing storing;
  storing.format = fmt::format("{{ map = {}, levels = {{ {} }} }}", map, declaration);
  storing.other = "COO";
  const unsigned order = map.starts_with("(i)") ? 1 : map.starts_with("(i, j)") ? 2 : 3;
  if (!executable(storing.format, order))
    return std::nullopt;
  runtime::Entries &entries = storing.entries;
  entries.type = ElementType::I64;
  entries.coords.resize(order);
  bool empty = false;
  for (unsigned d = 0; d < order; ++d) {
    entries.dims.push_back(random.below(10));
    empty = empty || entries.dims.back() == 0;
  }
  std::set<std::vector<int64_t>> taken;
  for (int64_t e = empty ? 0 : random.below(12); e > 0; --e) {
    std::vector<int64_t> at;
    for (unsigned d = 0; d < order; ++d)
      at.push_back(random.below(entries.dims[d]));
    if (!taken.insert(at).second)
      continue;
    for (unsigned d = 0; d < order; ++d)
      entries.coords[d].push_back(at[d]);
    const int64_t value = 1 + random.below(100);
    const auto *bytes = reinterpret_cast<const std::byte *>(&value);
    entries.values.insert(entries.values.end(), bytes, bytes + sizeof value);
  }
  return isStorable(storing) ? std::optional(std::move(storing)) : std::nullopt;
}

std::string judgeDeclared(const Storing &storing, bool &refused) {
  const auto order = unsigned(storing.entries.dims.size());
  const format::Encoding encoding = format::parseFormat(storing.format, order);
  if (!(format::parseEncoding(format::print(encoding)) == encoding))
    return "it does not print to a text that gives it back: " + format::print(encoding);
  const bool storable = isStorable(storing).value_or(false);
  Storing back = storing;
  std::swap(back.format, back.other);
  for (const Storing *way : {&storing, static_cast<const Storing *>(&back)}) {
    if (std::string wrong = judgeStoring(*way, refused); !wrong.empty())
      return way->format + " first: " + wrong;
    if (refused != !storable)
      return fmt::format("{} first: it is {}, and should not be", way->format,
                         refused ? "refused" : "stored");
  }
  return "";
}

} // namespace tulle::differential
