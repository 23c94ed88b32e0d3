// A plan's loops, and why a loop order needs a conversion, as text.
#include "iteration/Shape.h"
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tulle::iteration {

std::string nameOf(const LoopVar &loop, const std::vector<std::string> &indices) {
  std::string text = indices[loop.index];
  if (loop.stride != 1)
    text += "/" + std::to_string(loop.stride);
  if (loop.modulus != 0)
    text += "%" + std::to_string(loop.modulus);
  return text;
}

std::string nameOfLoop(const Plan &plan, size_t depth, const std::vector<std::string> &indices) {
  return plan.names.empty() ? nameOf(plan.order[depth], indices) : plan.names[depth];
}

bool isMeant(const LoopVar &loop, const LoopVar &name) {
  return name.stride == 0 ? loop.index == name.index && !loop.isOverTiles : loop == name;
}

std::optional<LoopVar> loopNamed(std::string_view name, const std::vector<std::string> &indices) {
  const std::string_view index = name.substr(0, name.find_first_of("/%"));
  const auto found = std::ranges::find(indices, index);
  if (found == indices.end())
    return std::nullopt;
  LoopVar loop{unsigned(found - indices.begin()), 0, 0};
  name.remove_prefix(index.size());
  if (name.empty())
    return loop;
  loop.stride = 1;
  auto number = [&](char sign, int64_t &value) {
    if (!name.starts_with(sign))
      return true;
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), value);
    name.remove_prefix(size_t(end - name.data()));
    return error == std::errc() && value > 1;
  };
  const bool fits = number('/', loop.stride) && number('%', loop.modulus);
  return fits && name.empty() ? std::optional(loop) : std::nullopt;
}

/// Whether an operand that does not store all coordinates has the index.
static bool storedSparsely(unsigned index, const Plan &plan, const std::vector<Operand> &operands) {
  for (size_t o = 0; o < operands.size(); ++o)
    if (!plan.levels[o].empty() && Shape(operands[o]).sparse)
      for (const Subscript &s : operands[o].subscripts)
        for (auto [other, coefficient] : s.terms)
          if (other == index)
            return true;
  return false;
}

std::string explainOrder(const Plan &plan, const std::vector<Operand> &operands,
                         const std::vector<std::string> &indices, const std::vector<std::string> &names) {
  std::vector<std::string> loops, reasons;
  for (size_t depth = 0; depth < plan.order.size(); ++depth)
    loops.push_back(nameOfLoop(plan, depth, indices));
  std::vector<bool> iterated(plan.order.size(), false);
  for (size_t o = 0; o < operands.size(); ++o) {
    if (plan.levels[o].empty()) // its map may be none of digits
      continue;
    const Shape shape(operands[o]);
    std::vector<std::string> order;
    bool searched = false, drives = false;
    for (size_t l = 0; l < plan.levels[o].size(); ++l) {
      const LevelPlan &level = plan.levels[o][l];
      if (shape.subscript(l).isFollowed())
        order.push_back(nameOf(shape.loop(l), indices));
      searched |= level.mode == LevelMode::Search;
      if (level.mode == LevelMode::Drive)
        drives = iterated[level.loop] = true;
    }
    if (drives)
      reasons.push_back(fmt::format("{} is stored by {}", names[o], fmt::join(order, ", then ")));
    if (searched)
      reasons.push_back(names[o] + " is searched");
  }
  if (operands.back().assembled)
    reasons.push_back("rows of " + names.back() +
                      " are finished one after the other where the order allows it");
  const auto consecutive = [&](unsigned index) {
    std::vector<std::string> unit;
    for (size_t o = 0; o < operands.size(); ++o)
      if (const format::Encoding &encoding = operands[o].encoding; !encoding.levels.empty())
        if (auto digits = format::digits(encoding))
          if (const Subscript &s = operands[o].subscripts[digits->back().dim];
              s.isVariable() && s.terms[0].first == index)
            unit.push_back(names[o]);
    return unit;
  };
  if (!plan.order.empty() && !storedSparsely(plan.order.front().index, plan, operands) &&
      std::ranges::count(iterated, true) > 0)
    reasons.push_back(loops.front() + " outermost: no operand is consecutive in it");
  if (!plan.order.empty() && !iterated.back()) {
    const std::vector<std::string> unit = consecutive(plan.order.back().index);
    reasons.push_back(
        loops.back() + " innermost: " +
        (unit.empty() ? "no operand stores it" : fmt::format("consecutive in {}", fmt::join(unit, ", "))));
  }
  if (loops.empty())
    loops.push_back("(none)");
  return fmt::format("loop order {}{}{}", fmt::join(loops, ", "), reasons.empty() ? "" : ": ",
                     fmt::join(reasons, "; "));
}

} // namespace tulle::iteration
