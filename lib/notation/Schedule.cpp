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

class ScheduleParser {
public:
  ScheduleParser(Program &program, std::string_view text, std::string_view name)
      : program(program), cursor(language, text, name) {}

  void run() {
    while (!cursor.atEnd()) {
      primitive();
      if (!cursor.atEnd())
        cursor.expect(";", "between two primitives");
    }
  }

private:
  void primitive() {
    Token name = cursor.expectWord("a primitive such as assemble(C, count)");
    if (!name.is("assemble"))
      cursor.fail(name.range, fmt::format("unknown primitive '{}': expected assemble", name.text));
    cursor.expect("(", "after assemble");
    Token tensor = cursor.expectWord("the name of a result");
    cursor.expect(",", "after the result, and count, bound or grow");
    AssemblyPlan wanted = plan();
    cursor.expect(")", "after the plan");
    assemble(tensor, wanted);
  }

  AssemblyPlan plan() {
    Token token = cursor.expectWord("count, bound or grow");
    for (const PlanName &known : planNames)
      if (token.is(known.name))
        return known.plan;
    cursor.fail(token.range,
                fmt::format("unknown plan '{}': expected count (the entries are counted first), bound "
                            "(memory for the most there can be) or grow (that while there is memory)",
                            token.text));
  }

  void assemble(const Token &tensor, AssemblyPlan wanted) {
    auto decl = std::ranges::find_if(program.tensors,
                                     [&](const TensorDecl &t) { return t.name == tensor.text && t.written; });
    if (decl == program.tensors.end()) {
      std::vector<std::string> results;
      for (const TensorDecl &t : program.tensors)
        if (t.written)
          results.push_back(t.name);
      cursor.fail(tensor.range, fmt::format("'{}' is no result of the program, which computes {}",
                                            tensor.text, fmt::join(results, ", ")));
    }
    if (!planned.insert(decl->name).second)
      cursor.fail(tensor.range, fmt::format("'{}' has a plan already; keep one of them", decl->name));
    bool assembled = false;
    for (Statement &s : program.statements) {
      if (&program.tensors[s.lhs.tensor] != &*decl || isDense(*decl) ||
          resultPattern(program, s).kind != PatternKind::Computed)
        continue;
      s.plan = wanted;
      assembled = true;
    }
    if (!assembled)
      cursor.fail(tensor.range,
                  isDense(*decl)
                      ? fmt::format("'{}' is dense: its size is known, and nothing is assembled", decl->name)
                      : fmt::format("'{}' is stored where an operand is stored, and nothing is assembled",
                                    decl->name));
  }

  Program &program;
  Cursor cursor;
  std::set<std::string> planned;
};

} // namespace

void applySchedule(Program &program, std::string_view text, std::string_view name) {
  ScheduleParser(program, text, name).run();
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
