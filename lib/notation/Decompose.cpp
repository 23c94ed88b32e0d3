// decompose: a statement becomes one for each part of an operand, which together reduce over what the operand
// stores. Parts are disjoint, so that it is right wherever what the operand does not store contributes
// nothing.
#include "notation/Arithmetic.h"
#include "notation/Sparsity.h"
#include <algorithm>
#include <fmt/format.h>

namespace tulle::notation {
namespace {

bool reads(const Statement &s, unsigned tensor) {
  return std::ranges::any_of(accesses(s), [&](const Access *a) { return a->tensor == tensor; });
}

std::string nameFor(const Program &program, const std::string &tensor, unsigned number) {
  std::string name = fmt::format("{}_{}", tensor, number);
  while (std::ranges::count(program.tensors, name, &TensorDecl::name) > 0)
    name += "_";
  return name;
}

/// How values of one statement and of those behind it meet.
Reduce combination(const Program &program, const Statement &s) {
  if (!s.assign)
    return s.reduce;
  return program.tensors[s.lhs.tensor].type == ElementType::Bool ? Reduce::Or : Reduce::Add;
}

std::string whyNotTensor(const Program &program, const Statement &s, unsigned tensor) {
  const TensorDecl &decl = program.tensors[tensor];
  if (!s.concat.isNone())
    return "it is a part of a concatenation";
  if (!decl.input || decl.written)
    return fmt::format("'{}' is computed by the program: only what is given is split", decl.name);
  if (std::ranges::count(s.loops.conversions, tensor, &LoopSchedule::Conversion::tensor) > 0)
    return fmt::format("'{}' has a format already; each part has its own", decl.name);
  for (const Indirection &given : s.indirections)
    if (given.source.tensor == tensor)
      return fmt::format("'{}' gives indices", decl.name);
  const Access *first = nullptr;
  for (const Access *access : accesses(s))
    if (access->tensor == tensor && first && !sameAccess(*access, *first))
      return fmt::format(
          "it reads '{0}' at different coordinates, {1} and {2}; give one of them another name", decl.name,
          print(program, *first), print(program, *access));
    else if (access->tensor == tensor)
      first = access;
  return "";
}

/// Whether the points at which the tensor stores nothing contribute nothing.
bool isNeutralElsewhere(const Program &program, const Statement &s, unsigned tensor) {
  auto absent = [&](const Access &access) { return access.tensor == tensor; };
  Statement reduction = s;
  reduction.reduce = combination(program, s);
  reduction.assign = false;
  return (s.where && maskEmpties(program, s.where, absent)) || isNeutral(program, reduction, absent);
}

std::string whyNotStatement(const Program &program, const Statement &s, unsigned tensor) {
  const TensorDecl &decl = program.tensors[tensor], &result = program.tensors[s.lhs.tensor];
  if (reads(s, s.lhs.tensor))
    return "it reads its own old value, which the first part would change";
  if (s.loops.place)
    return "a primitive before this one says where it is computed; name its statements after this one";
  if (!isNeutralElsewhere(program, s, tensor))
    return fmt::format("it has a value where '{}' stores nothing, which each part would contribute",
                       decl.name);
  if (isDense(result))
    return "";
  if (const ResultPattern pattern = resultPattern(program, s); pattern.kind == PatternKind::Operand)
    return fmt::format(
        "'{}' is stored where '{}' is, and a part contributes to some of its entries only; give "
        "'{}' another format",
        result.name, program.tensors[pattern.operand->tensor].name, result.name);
  const ElementType type = s.rhs->type;
  const bool startsAtFill =
      sameValue(type, identity(combination(program, s), type), format::fillValue(result.encoding, type));
  return startsAtFill ? ""
                      : fmt::format("what '{}' does not store is not what its sums start from", result.name);
}

std::string whyNotParts(const Program &program, const Statement &s, unsigned tensor,
                        const std::vector<unsigned> &parts) {
  auto pads = [&](unsigned t) { return format::storesPadding(program.tensors[t].encoding); };
  if (showsPattern(program, s, tensor) && (pads(tensor) || std::ranges::any_of(parts, pads)))
    return fmt::format("'{}' would store other coordinates, and it depends on what is stored",
                       program.tensors[tensor].name);
  return "";
}

Expr withPart(const Expr &expr, unsigned tensor, unsigned part) {
  if (!expr)
    return expr;
  ExprNode node = *expr;
  if (node.op == Op::Access && node.access.tensor == tensor)
    node.access.tensor = part;
  for (Expr &arg : node.args)
    arg = withPart(arg, tensor, part);
  return std::make_shared<const ExprNode>(std::move(node));
}

} // namespace

std::vector<unsigned> declareParts(Program &program, unsigned tensor, std::vector<Part> parts,
                                   SourceRange range) {
  for (const Decomposition &known : program.decompositions)
    if (known.tensor == tensor && print(known.parts) == print(parts))
      return known.tensors;
  Decomposition &made =
      program.decompositions.emplace_back(Decomposition{tensor, std::move(parts), {}, range});
  for (const Part &part : made.parts) {
    TensorDecl decl = program.tensors[tensor];
    decl.name = nameFor(program, decl.name, unsigned(made.tensors.size()) + 1);
    decl.encoding = part.format;
    decl.entries = -1;
    decl.like.reset();
    made.tensors.push_back(unsigned(program.tensors.size()));
    program.tensors.push_back(std::move(decl));
  }
  return made.tensors;
}

std::string decomposeStatement(Program &program, size_t number, unsigned tensor,
                               const std::vector<unsigned> &parts) {
  const Statement whole = program.statements[number];
  for (std::string why : {whyNotTensor(program, whole, tensor), whyNotStatement(program, whole, tensor),
                          whyNotParts(program, whole, tensor, parts)})
    if (!why.empty())
      return why;
  std::vector<Statement> sums;
  for (unsigned part : parts) {
    Statement &sum = sums.emplace_back(whole);
    sum.rhs = withPart(whole.rhs, tensor, part);
    sum.where = withPart(whole.where, tensor, part);
    if (sums.size() == 1)
      continue;
    sum.reduce = combination(program, whole);
    sum.accumulate = true;
    sum.assign = false;
  }
  const auto at = program.statements.begin() + ptrdiff_t(number);
  program.statements.insert(program.statements.erase(at), sums.begin(), sums.end());
  for (Loop &loop : program.loops) {
    loop.begin += loop.begin > number ? unsigned(parts.size()) - 1 : 0;
    loop.end += loop.end > number ? unsigned(parts.size()) - 1 : 0;
  }
  return "";
}

} // namespace tulle::notation
