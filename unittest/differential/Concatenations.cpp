// Inputs that the program makes of several parts.
#include "Case.h"
#include "Formats.h"
#include "interpreter/Interpreter.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tulle::differential {
namespace {

using Cuts = std::vector<std::vector<int64_t>>; ///< by dimension, where parts begin, and the end of the last

bool knowsWhatIsStored(const std::string &format, unsigned order) {
  return interpreter::knowsWhatIsStored(format::parseFormat(format, order));
}

bool canBeMade(const Case &c, const std::string &name, const Given &given) {
  const bool hasLike = std::ranges::any_of(
      c.likes, [&](const auto &like) { return like.first == name || like.second == name; });
  return !given.dims.empty() && given.slices.empty() && given.lengths.empty() && !hasLike &&
         c.results.count(name) == 0 &&
         (!readsInMask(c, name) || knowsWhatIsStored(given.format, unsigned(given.dims.size()))) &&
         given.format.find("fill") == std::string::npos && given.format.find("Val") == std::string::npos;
}

Cuts randomCuts(Random &random, const std::vector<int64_t> &dims, const std::vector<unsigned> &along,
                size_t parts) {
  Cuts cuts;
  for (int64_t size : dims)
    cuts.push_back({0, size});
  for (unsigned d : along) {
    while (cuts[d].size() < parts + 1)
      cuts[d].push_back(random.below(dims[d] + 1));
    std::ranges::sort(cuts[d]);
  }
  return cuts;
}

/// Moves the entries of a box to a tensor of their own.
Given cut(Given &from, const std::vector<int64_t> &begin, const std::vector<int64_t> &end) {
  Given part;
  part.type = from.type;
  for (size_t d = 0; d < begin.size(); ++d)
    part.dims.push_back(end[d] - begin[d]);
  for (size_t e = 0; e < from.entries.size(); ++e) {
    std::vector<int64_t> own = from.entries[e];
    bool inside = true;
    for (size_t d = 0; d < own.size(); ++d) {
      inside &= own[d] >= begin[d] && own[d] < end[d];
      own[d] -= begin[d];
    }
    if (!inside)
      continue;
    part.entries.push_back(own);
    part.values.push_back(from.values[e]);
  }
  return part;
}

/// The tensor in another type, and its values as they are there, where these are as exact.
void retype(Random &random, Given &part) {
  const ElementType type =
      random.pick({ElementType::I8, ElementType::I32, ElementType::F32, ElementType::F64});
  if (promote(type, part.type) != part.type)
    return;
  for (Scalar &value : part.values)
    value = convertScalar(value, part.type, type);
  part.type = type;
}

/// A tensor that has one coordinate in a dimension, without it.
void dropDim(Given &part, unsigned dim) {
  part.dims.erase(part.dims.begin() + dim);
  for (std::vector<int64_t> &entry : part.entries)
    entry.erase(entry.begin() + dim);
}

} // namespace

void addConcatenation(Case &c) {
  Random random(c.seed * 16 + 0xc0ca);
  if (!random.chance(0.15))
    return;
  std::vector<std::string> names;
  for (const auto &[name, given] : c.inputs)
    if (canBeMade(c, name, given))
      names.push_back(name);
  if (names.empty())
    return;
  const std::string name = random.pick(names);
  Given whole = c.inputs.at(name);
  const auto order = unsigned(whole.dims.size());
  std::vector<unsigned> along{unsigned(random.below(order))};
  for (unsigned d = 0; d < order; ++d)
    if (d != along[0] && random.chance(0.2))
      along.push_back(d);
  auto count = size_t(random.pick({1, 2, 2, 2, 3, 4}));
  Cuts cuts = randomCuts(random, whole.dims, along, count);
  const int64_t depth = whole.dims[along[0]];
  const bool isStack = order > 1 && depth > 0 && depth <= 6 && random.chance(0.5);
  if (isStack) {
    along.resize(1);
    count = size_t(depth);
    cuts[along[0]].clear();
    for (int64_t p = 0; p <= depth; ++p)
      cuts[along[0]].push_back(p);
  }
  std::vector<std::string> parts, indices;
  for (size_t p = 0; p < count; ++p) {
    std::vector<int64_t> begin(order, 0), end = whole.dims;
    for (unsigned d : along) {
      begin[d] = cuts[d][p];
      end[d] = cuts[d][p + 1];
    }
    Given part = cut(whole, begin, end);
    if (isStack)
      dropDim(part, along[0]);
    if (random.chance(0.3))
      retype(random, part);
    const bool same = !isStack && random.chance(0.3);
    part.format = same ? whole.format : randomFormat(random, unsigned(part.dims.size()));
    parts.push_back(fmt::format("{}part{}", name, p));
    c.inputs[parts.back()] = std::move(part);
  }
  for (unsigned d = 0; d < order; ++d)
    indices.push_back(std::string(1, char('i' + d)));
  const std::string concat =
      fmt::format("{}({}; {})", isStack ? "stack" : "concat", fmt::join(parts, ", "), fmt::join(along, ", "));
  for (LoopText &loop : c.loops) {
    ++loop.begin;
    ++loop.end;
  }
  auto isWritten = [&](const StatementText &s) { return s.lhs.substr(0, s.lhs.find('(')) == name; };
  bool keeps = std::ranges::any_of(c.statements, isWritten) || random.chance(0.6);
  c.statements.insert(
      c.statements.begin(),
      {fmt::format("{}({})", name, fmt::join(indices, ",")), "=", {Tree::Kind::Leaf, concat, {}}, ""});
  const std::string other = randomFormat(random, order);
  // What reads it may be sparse only where it is.
  const bool isDense = format::isAllDense(format::parseFormat(other, order));
  keeps |= readsInMask(c, name) && !knowsWhatIsStored(other, order);
  c.results[name] = {whole.type, whole.dims, keeps || isDense ? whole.format : other};
  c.inputs.erase(name);
}

} // namespace tulle::differential
