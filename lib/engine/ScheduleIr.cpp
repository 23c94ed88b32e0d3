// A schedule as the text of a transform.named_sequence: what tulle-opt applies to the module of stage linalg.
#include "engine/Engine.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tulle::engine {
namespace {

using notation::LoopSchedule;
using notation::Statement;

std::string quoted(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", name);
  return "[" + text + "]";
}

std::string print(const notation::Program &program, const LoopSchedule::Directive &d,
                  const std::string &target) {
  const std::string_view name = notation::nameOf(d.kind);
  switch (d.kind) {
  case LoopSchedule::Directive::Parallelize:
    return fmt::format("{} {} over \"{}\" {}", name, target, d.loop, notation::nameOf(d.threads));
  case LoopSchedule::Directive::Prefetch:
    return fmt::format("{} {} operand \"{}\" over \"{}\" by {}", name, target, program.tensors[d.tensor].name,
                       d.loop, d.count);
  case LoopSchedule::Directive::Cache:
    return fmt::format("{} {} operand \"{}\" over \"{}\" in {}", name, target, program.tensors[d.tensor].name,
                       d.loop, notation::nameOf(d.place));
  case LoopSchedule::Directive::Rfactor:
    return fmt::format("{} {} over \"{}\" into \"{}\"", name, target, d.loop, d.partials);
  case LoopSchedule::Directive::Vectorize:
  case LoopSchedule::Directive::Unroll:
  case LoopSchedule::Directive::Jam:
    break;
  }
  return fmt::format("{} {} over \"{}\" by {}", name, target, d.loop, d.count);
}

std::string print(const notation::Program &program, const LoopSchedule::Derived &derived,
                  const std::string &target) {
  const std::string_view name = notation::nameOf(derived.kind);
  switch (derived.kind) {
  case LoopSchedule::Derived::Split:
  case LoopSchedule::Derived::Divide:
    break;
  case LoopSchedule::Derived::Position:
    return fmt::format("{} {} operand \"{}\" over \"{}\" as \"{}\"", name, target,
                       program.tensors[derived.tensor].name, derived.from[0], derived.into[0]);
  case LoopSchedule::Derived::Fuse:
    return fmt::format("{} {} {} as \"{}\"", name, target, quoted(derived.from), derived.into[0]);
  }
  return fmt::format("{} {} over \"{}\" into {} by {}", name, target, derived.from[0], quoted(derived.into),
                     derived.size);
}

/// The primitives of a statement, without what they have in common.
std::vector<std::string> primitives(const notation::Program &program, const Statement &s,
                                    const std::string &target) {
  std::vector<std::string> list;
  for (const LoopSchedule::Conversion &c : s.loops.conversions)
    list.push_back(fmt::format("convert {} operand \"{}\" to ({})", target, program.tensors[c.tensor].name,
                               format::print(conversionTarget(program, c))));
  for (const LoopSchedule::Bound &b : s.loops.bounds)
    list.push_back(fmt::format("bound {} over \"{}\" by {}", target, b.index, b.size));
  for (const LoopSchedule::Derived &derived : s.loops.derived)
    list.push_back(print(program, derived, target));
  if (!s.loops.order.empty())
    list.push_back(fmt::format("reorder {} {}", target, quoted(s.loops.order)));
  for (const LoopSchedule::Strategy &chosen : s.loops.strategies)
    list.push_back(fmt::format("strategy {} over \"{}\" {}", target, chosen.loop, chosen.strategy));
  for (const LoopSchedule::Directive &directive : s.loops.directives)
    list.push_back(print(program, directive, target));
  if (s.loops.place)
    list.push_back(s.loops.place->loops.empty()
                       ? fmt::format("compute_root {}", target)
                       : fmt::format("compute_at {} {}", target, quoted(s.loops.place->loops)));
  if (s.loops.workspace != notation::WorkspaceKind::Dense)
    list.push_back(fmt::format("workspace {} {}", target, notation::nameOf(s.loops.workspace)));
  if (s.plan != notation::AssemblyPlan::Auto)
    list.push_back(fmt::format("assemble {} {}", target, notation::nameOf(s.plan)));
  return list;
}

} // namespace

std::string scheduleIr(const notation::Program &program) {
  std::string text =
      "module attributes {transform.with_named_sequence} {\n"
      "  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {\n";
  for (size_t number = 0; number < program.statements.size(); ++number) {
    const Statement &s = program.statements[number];
    const std::string target = fmt::format("%s{}", number);
    const std::vector<std::string> all = primitives(program, s, target);
    if (all.empty())
      continue;
    const std::string which =
        program.statements.size() > 1
            ? fmt::format(" attributes {{tulle.name = \"{}\"}}", nameOf(program, number))
            : "";
    text += fmt::format("    {} = transform.structured.match ops{{[\"linalg.generic\"]}}{} in %module : "
                        "(!transform.any_op) -> !transform.any_op\n",
                        target, which);
    for (const std::string &primitive : all)
      text += fmt::format("    transform.tulle.{} : !transform.any_op\n", primitive);
  }
  return text + "    transform.yield\n  }\n}\n";
}

} // namespace tulle::engine
