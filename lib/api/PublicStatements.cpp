// What the statements of a compiled program read and write, in public terms.
#include "Impl.h"
#include "engine/Kernel.h"
#include "notation/Arithmetic.h"
#include "notation/Resolve.h"
#include "notation/Sparsity.h"
#include <algorithm>

namespace tulle::detail {

namespace {

std::vector<std::string> subscriptsOf(const notation::Program &program, const notation::Statement &statement,
                                      const notation::Access &access) {
  std::vector<std::string> texts;
  for (const notation::Affine &subscript : access.subscripts) {
    const bool isGiven = std::ranges::any_of(statement.indirections, [&](const notation::Indirection &given) {
      return std::ranges::any_of(subscript.terms, [&](auto term) { return term.first == given.index; });
    });
    texts.push_back(isGiven ? "" : notation::print(subscript, program.indices));
  }
  return texts;
}

/// The indices of Index nodes.
void addIndexValues(const notation::Program &program, const notation::Expr &expr,
                    std::vector<std::string> &names) {
  if (!expr)
    return;
  if (expr->op == notation::Op::Index)
    for (auto [index, factor] : expr->access.subscripts[0].terms)
      names.push_back(program.indices[index].name);
  for (const notation::Expr &arg : expr->args)
    addIndexValues(program, arg, names);
}

AccessUse useOf(const notation::Program &program, const notation::Statement &statement,
                const notation::Access &access) {
  return {program.tensors[access.tensor].name, subscriptsOf(program, statement, access)};
}

StatementUse useOf(const notation::Program &program, unsigned number) {
  const notation::Statement &statement = program.statements[number];
  StatementUse use;
  use.result = useOf(program, statement, statement.lhs);
  if (!statement.assign)
    use.reduction = notation::monoid(statement.reduce).assignment;
  use.accumulates = statement.accumulate;
  use.inLoop = std::ranges::any_of(
      program.loops, [&](const notation::Loop &loop) { return loop.begin <= number && number < loop.end; });
  if (const std::optional<unsigned> pattern = engine::operandWithPattern(program, number))
    use.pattern = program.tensors[*pattern].name;
  addIndexValues(program, statement.rhs, use.indexValues);
  addIndexValues(program, statement.where, use.indexValues);
  const std::vector<const notation::Access *> values = notation::operandsOf(statement);
  for (const notation::Access *access : notation::accesses(statement)) {
    AccessUse &operand = use.operands.emplace_back(useOf(program, statement, *access));
    const auto absent = [&](const notation::Access &other) { return notation::sameAccess(*access, other); };
    operand.restricts = std::ranges::count(values, access) > 0 &&
                        ((statement.where && notation::maskEmpties(program, statement.where, absent)) ||
                         notation::isNeutral(program, statement, absent));
  }
  return use;
}

} // namespace

std::vector<StatementUse> statementUses(const notation::Program &program) {
  std::vector<StatementUse> uses;
  for (unsigned number = 0; number < program.statements.size(); ++number)
    uses.push_back(useOf(program, number));
  return uses;
}

} // namespace tulle::detail
