// What the statements of a compiled program read and write, in public terms.
#include "Impl.h"
#include "engine/Kernel.h"
#include "notation/Arithmetic.h"
#include "notation/Sparsity.h"
#include <algorithm>

namespace tulle::detail {

namespace {

/// Names of the indices that subscripts are; empty where they are more, or where a tensor gives the index.
std::vector<std::string> plainIndices(const notation::Program &program, const notation::Statement &statement,
                                      const notation::Access &access) {
  std::vector<std::string> names;
  for (const notation::Affine &subscript : access.subscripts) {
    const bool plain =
        subscript.isVariable() && std::ranges::none_of(statement.indirections, [&](const auto &given) {
          return given.index == subscript.terms[0].first;
        });
    names.push_back(plain ? program.indices[subscript.terms[0].first].name : "");
  }
  return names;
}

AccessUse useOf(const notation::Program &program, const notation::Statement &statement,
                const notation::Access &access) {
  return {program.tensors[access.tensor].name, plainIndices(program, statement, access)};
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
  const std::vector<const notation::Access *> values = notation::operandsOf(statement);
  for (const notation::Access *access : notation::accesses(statement)) {
    AccessUse &operand = use.operands.emplace_back(useOf(program, statement, *access));
    const auto absent = [&](const notation::Access &other) { return notation::sameAccess(*access, other); };
    operand.restricts = std::ranges::count(values, access) > 0 &&
                        ((statement.where && notation::maskEmpties(statement.where, absent)) ||
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
