// Each primitive is checked against the statements that make its tensor as it is read.
#include "format/ExprParser.h"
#include "notation/Sparsity.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace tulle::notation {

using support::Cursor;
using support::Token;

namespace {

constexpr support::Language language = {format::signs, "this character has no meaning in a schedule"};

struct PlanName {
  std::string_view name;
  AssemblyPlan plan;
};
constexpr PlanName planNames[] = {
    {"count", AssemblyPlan::Count}, {"bound", AssemblyPlan::Bound}, {"grow", AssemblyPlan::Grow}};

AssemblyPlan takePlan(Cursor &cursor) {
  const Token token = cursor.expectWord("count, bound or grow");
  const auto *known = std::ranges::find(planNames, token.text, &PlanName::name);
  if (known != std::end(planNames))
    return known->plan;
  cursor.fail(token.range,
              fmt::format("unknown plan '{}': expected count (the entries are counted first), bound "
                          "(memory for the most there can be) or grow (that while there is memory)",
                          token.text));
}

/// Puts the plan on the statements that make the tensor.
void assemble(Program &program, const Cursor &cursor, const Token &tensor, AssemblyPlan wanted,
              std::set<std::string> &planned) {
  std::vector<std::string> results;
  for (const TensorDecl &t : program.tensors)
    if (t.written)
      results.push_back(t.name);
  if (std::ranges::count(results, tensor.text) == 0)
    cursor.fail(tensor.range, fmt::format("'{}' is no result of the program, which computes {}", tensor.text,
                                          fmt::join(results, ", ")));
  if (!planned.emplace(tensor.text).second)
    cursor.fail(tensor.range, fmt::format("'{}' has a plan already; keep one of them", tensor.text));
  const TensorDecl &decl = *std::ranges::find(program.tensors, tensor.text, &TensorDecl::name);
  bool assembled = false;
  for (Statement &s : program.statements) {
    if (&program.tensors[s.lhs.tensor] != &decl || isDense(decl) ||
        resultPattern(program, s).kind != PatternKind::Computed)
      continue;
    s.plan = wanted;
    assembled = true;
  }
  if (!assembled)
    cursor.fail(tensor.range, fmt::format("'{}' is {}, and nothing is assembled", decl.name,
                                          isDense(decl) ? "dense: its size is known"
                                                        : "stored where an operand is stored"));
}

} // namespace

void applySchedule(Program &program, std::string_view text, std::string_view name) {
  Cursor cursor(language, text, name);
  std::set<std::string> planned;
  while (!cursor.atEnd()) {
    const Token primitive = cursor.expectWord("a primitive such as assemble(C, count)");
    if (!primitive.is("assemble"))
      cursor.fail(primitive.range, fmt::format("unknown primitive '{}': expected assemble", primitive.text));
    cursor.expect("(", "after assemble");
    const Token tensor = cursor.expectWord("the name of a result");
    cursor.expect(",", "after the result, and count, bound or grow");
    const AssemblyPlan wanted = takePlan(cursor);
    cursor.expect(")", "after the plan");
    assemble(program, cursor, tensor, wanted, planned);
    if (!cursor.atEnd())
      cursor.expect(";", "between two primitives");
  }
}

std::string printSchedule(const Program &program) {
  std::string text;
  std::set<unsigned> printed;
  for (const Statement &s : program.statements)
    for (const PlanName &known : planNames)
      if (s.plan == known.plan && printed.insert(s.lhs.tensor).second)
        text += fmt::format("{}assemble({}, {})", text.empty() ? "" : "; ",
                            program.tensors[s.lhs.tensor].name, known.name);
  return text;
}

} // namespace tulle::notation
