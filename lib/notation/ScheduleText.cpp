// A schedule as canonical text, and the names that it uses.
#include "notation/Program.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace tulle::notation {

std::string nameOf(const Program &program, size_t number) {
  const unsigned tensor = program.statements[number].lhs.tensor;
  size_t same = 1;
  for (size_t k = 0; k < number; ++k)
    same += program.statements[k].lhs.tensor == tensor;
  const std::string &result = program.tensors[tensor].name;
  return same == 1 ? result : fmt::format("{}#{}", result, same);
}

format::Encoding conversionTarget(const Program &program, const LoopSchedule::Conversion &conversion) {
  format::Encoding target = conversion.format;
  // Widths that are not named are those of the operand, of which two bits do for its own format only; a
  // dense one has none.
  const format::Encoding &own = program.tensors[conversion.tensor].encoding;
  const unsigned coordinates = own.crdWidth == 2 ? 32 : own.crdWidth;
  target.posWidth = target.posWidth ? target.posWidth : own.posWidth ? own.posWidth : 64;
  target.crdWidth = target.crdWidth ? target.crdWidth : coordinates ? coordinates : 64;
  return target;
}

std::string_view nameOf(AssemblyPlan plan) {
  constexpr std::string_view names[] = {"", "count", "bound", "grow"};
  return names[size_t(plan)];
}

std::string_view nameOf(Threads threads) {
  constexpr std::string_view names[] = {"auto",   "none",    "entries",    "disjoint",
                                        "reduce", "private", "destination"};
  return names[size_t(threads)];
}

std::string_view nameOf(CachePlace place) {
  constexpr std::string_view names[] = {"stack", "registers"};
  return names[size_t(place)];
}

std::string_view nameOf(WorkspaceKind kind) {
  constexpr std::string_view names[] = {"dense", "bitmap", "hashed"};
  return names[size_t(kind)];
}

std::string_view nameOf(LoopSchedule::Directive::Kind kind) {
  constexpr std::string_view names[] = {"parallelize", "vectorize", "unroll", "jam",
                                        "prefetch",    "cache",     "rfactor"};
  return names[size_t(kind)];
}

std::string_view nameOf(LoopSchedule::Derived::Kind kind) {
  constexpr std::string_view names[] = {"split", "divide", "pos", "fuse"};
  return names[size_t(kind)];
}

static std::string print(const Program &program, const LoopSchedule::Directive &d) {
  switch (d.kind) {
  case LoopSchedule::Directive::Parallelize:
    return d.threads == Threads::Auto ? fmt::format("parallelize({})", d.loop)
                                      : fmt::format("parallelize({}, {})", d.loop, nameOf(d.threads));
  case LoopSchedule::Directive::Prefetch:
    return fmt::format("prefetch({}, {}, {})", program.tensors[d.tensor].name, d.loop, d.count);
  case LoopSchedule::Directive::Cache:
    return fmt::format("cache({}, {}, {})", program.tensors[d.tensor].name, d.loop, nameOf(d.place));
  case LoopSchedule::Directive::Rfactor:
    return fmt::format("rfactor({}, {})", d.loop, d.partials);
  case LoopSchedule::Directive::Vectorize:
  case LoopSchedule::Directive::Unroll:
  case LoopSchedule::Directive::Jam:
    break;
  }
  return fmt::format("{}({}, {})", nameOf(d.kind), d.loop, d.count);
}

static std::string print(const Program &program, const LoopSchedule::Derived &derived) {
  std::string text = fmt::format("{}({}, {}", nameOf(derived.kind), fmt::join(derived.from, ", "),
                                 fmt::join(derived.into, ", "));
  switch (derived.kind) {
  case LoopSchedule::Derived::Split:
  case LoopSchedule::Derived::Divide:
    return fmt::format("{}, {})", text, derived.size);
  case LoopSchedule::Derived::Position:
    return fmt::format("{}, {})", text, program.tensors[derived.tensor].name);
  case LoopSchedule::Derived::Fuse:
    break;
  }
  return text + ")";
}

static std::string print(const std::string &statement, const LoopSchedule::Place &place) {
  return place.loops.empty() ? fmt::format("compute_root({})", statement)
                             : fmt::format("compute_at({}, {})", statement, fmt::join(place.loops, ", "));
}

static std::string targetOf(const Program &program, size_t number) {
  return program.statements.size() > 1 ? nameOf(program, number) + ": " : std::string();
}

std::vector<std::string> primitivesOfLoops(const Program &program) {
  std::vector<std::string> primitives = program.rewrites;
  for (size_t number = 0; number < program.statements.size(); ++number) {
    const Statement &s = program.statements[number];
    const std::string target = targetOf(program, number);
    for (const LoopSchedule::Bound &b : s.loops.bounds)
      primitives.push_back(fmt::format("{}bound({}, {})", target, b.index, b.size));
    for (const LoopSchedule::Derived &derived : s.loops.derived)
      primitives.push_back(target + print(program, derived));
    for (const LoopSchedule::Directive &directive : s.loops.directives)
      if (directive.kind != LoopSchedule::Directive::Parallelize)
        primitives.push_back(target + print(program, directive));
  }
  return primitives;
}

std::vector<std::string> reasonsOfDigits(const Program &given, const Program &split) {
  std::vector<std::string> reasons;
  for (size_t number = 0; number < given.statements.size(); ++number)
    for (const LoopSchedule::Derived &derived : given.statements[number].loops.derived)
      if (std::ranges::count(split.statements[number].loops.derived, derived.into,
                             &LoopSchedule::Derived::into) == 0)
        reasons.push_back(
            fmt::format("{}{}: tiles of so few elements are done by rows of what they read, in registers",
                        targetOf(given, number), print(given, derived)));
  return reasons;
}

std::string printSchedule(const Program &program) {
  std::vector<std::string> primitives = program.rewrites;
  std::set<unsigned> assembled;
  for (size_t number = 0; number < program.statements.size(); ++number) {
    const Statement &s = program.statements[number];
    const std::string target = targetOf(program, number);
    for (const LoopSchedule::Conversion &c : s.loops.conversions)
      primitives.push_back(fmt::format("{}convert({}, {{ {} }})", target, program.tensors[c.tensor].name,
                                       format::printBody(c.format)));
    for (const LoopSchedule::Bound &b : s.loops.bounds)
      primitives.push_back(fmt::format("{}bound({}, {})", target, b.index, b.size));
    for (const LoopSchedule::Derived &derived : s.loops.derived)
      primitives.push_back(target + print(program, derived));
    if (!s.loops.order.empty())
      primitives.push_back(fmt::format("{}reorder({})", target, fmt::join(s.loops.order, ", ")));
    for (const LoopSchedule::Strategy &chosen : s.loops.strategies)
      primitives.push_back(fmt::format("{}strategy({}, {})", target, chosen.loop, chosen.strategy));
    for (const LoopSchedule::Directive &directive : s.loops.directives)
      primitives.push_back(target + print(program, directive));
    if (s.loops.place && !s.loops.precomputes)
      primitives.push_back(print(nameOf(program, number), *s.loops.place));
    if (s.plan != AssemblyPlan::Auto && assembled.insert(s.lhs.tensor).second)
      primitives.push_back(
          fmt::format("assemble({}, {})", program.tensors[s.lhs.tensor].name, nameOf(s.plan)));
  }
  return fmt::format("{}", fmt::join(primitives, "; "));
}

} // namespace tulle::notation
