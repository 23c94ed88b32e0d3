// Which structures the tensors of a program can have in common.
#include "Structures.h"
#include "Random.h"
#include "notation/Sparsity.h"
#include "tulle/error.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tulle::differential {

/// Whether an input can lend its structure, or the outer levels of it, to a tensor of these sizes.
static bool lends(const Case &c, const std::string &name, const std::vector<int64_t> &sizes) {
  const Given &given = c.inputs.at(name);
  const std::vector<int64_t> &dims = given.dims;
  const auto common = std::ptrdiff_t(std::min(dims.size(), sizes.size()));
  if (name >= "y" || !given.slices.empty() || common == 0 || c.likes.count(name) ||
      !std::equal(dims.begin(), dims.begin() + common, sizes.begin()))
    return false;
  const format::Encoding encoding = format::parseFormat(given.format, unsigned(dims.size()));
  return format::whyNotLike(encoding, unsigned(sizes.size())).empty() &&
         !format::isAllDense(format::likeEncoding(encoding, unsigned(sizes.size())));
}

void lendToInputs(Case &c) {
  Random own(c.seed * 16 + 0x11ce);
  std::set<std::string> lent;
  for (const auto &[pattern, given] : c.inputs)
    for (const auto &[name, other] : c.inputs)
      if (name != pattern && !lent.count(name) && other.slices.empty() && lends(c, pattern, other.dims) &&
          own.chance(0.3) && c.likes.emplace(name, pattern).second) {
        // What has outer levels is not written where these store nothing.
        if (name >= "y" && other.dims.size() < given.dims.size() && formatOfPattern(c, name) == "dense")
          c.likes.erase(name);
        else
          lent.insert(pattern);
      }
}

/// Named, or found by the compiler; where neither can be the result keeps its format.
static void lendOuterLevels(Case &c, Random &own, const std::string &name, const std::string &pattern) {
  const Given &given = c.inputs.at(pattern);
  ResultChoice &result = c.results.at(name);
  const std::string before = result.format;
  const format::Encoding encoding = format::parseFormat(given.format, unsigned(given.dims.size()));
  if (own.chance(0.5))
    c.likes.emplace(name, pattern);
  else
    result.format = fmt::format(
        "{{ {} }}", format::printBody(format::likeEncoding(encoding, unsigned(result.dims.size()))));
  if (formatOfPattern(c, name) == "dense") {
    result.format = before;
    c.likes.erase(name);
  }
}

/// The results that would be dense.
static std::set<std::string> denseResults(const Case &c) {
  std::set<std::string> found;
  for (const auto &[name, result] : c.results)
    if (formatOfPattern(c, name) == "dense")
      found.insert(name);
  return found;
}

void lendToResults(Case &c) {
  Random own(c.seed * 16 + 0x11cf);
  for (const auto &[pattern, given] : c.inputs)
    for (auto &[name, result] : c.results)
      if (lends(c, pattern, result.dims)) {
        const bool outer = result.dims.size() < given.dims.size();
        if (!own.chance(outer ? 0.6 : 0.15))
          continue;
        if (outer)
          lendOuterLevels(c, own, name, pattern);
        else {
          const std::set<std::string> before = denseResults(c);
          const bool isNew = c.likes.emplace(name, pattern).second;
          // Where a result is not stored, another one that a mask restricts to that may be stored everywhere.
          if (isNew && denseResults(c) != before)
            c.likes.erase(name);
        }
      }
}

/// What is computed has values of its own, and may have outer levels only, or dense ones below.
static std::string formatOfResult(const Given &given, size_t order) {
  format::Encoding encoding = format::parseFormat(given.format, given.dims.size());
  if (order != given.dims.size())
    return fmt::format("{{ {} }}", format::printBody(format::likeEncoding(encoding, unsigned(order))));
  return encoding.explicitVal ? fmt::format("{{ {} }}", format::printBody(format::withStoredValues(encoding)))
                              : given.format;
}

std::string formatOfPattern(const Case &c, const std::string &name) {
  try {
    auto inputs = pack(c);
    notation::Program program = checked(c, inputs);
    std::string found;
    for (const notation::Statement &s : program.statements) {
      if (program.tensors[s.lhs.tensor].name != name || isDense(program.tensors[s.lhs.tensor]))
        continue;
      notation::ResultPattern pattern = resultPattern(program, s);
      if (pattern.kind == notation::PatternKind::Dense)
        return "dense";
      if (pattern.kind != notation::PatternKind::Operand)
        continue;
      // The format of a tensor that is like another is that one's.
      const std::string &operand = program.tensors[pattern.operand->tensor].name;
      const auto like = c.likes.find(operand);
      const auto owner = c.inputs.find(like == c.likes.end() ? operand : like->second);
      if (owner != c.inputs.end())
        found = formatOfResult(owner->second, s.lhs.subscripts.size());
    }
    return found;
  } catch (const Error &) {
    return "dense";
  }
}

} // namespace tulle::differential
