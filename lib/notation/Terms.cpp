#include "notation/Terms.h"
#include <algorithm>

namespace tulle::notation {
namespace {

/// More terms than anybody writes: a product of sums this large is left as it is.
constexpr size_t maxTerms = 64;

Expr node(Op op, ElementType type, std::vector<Expr> args, SourceRange range) {
  auto result = std::make_shared<ExprNode>();
  result->op = op;
  result->type = type;
  result->args = std::move(args);
  result->range = range;
  return result;
}

std::vector<Expr> expand(const Expr &e);

/// Applies an operation that distributes over sums to every term of one argument.
std::vector<Expr> each(const Expr &e, const std::vector<Expr> &terms) {
  std::vector<Expr> result;
  for (const Expr &term : terms) {
    std::vector<Expr> args = e->args;
    args[0] = term;
    result.push_back(node(e->op, e->type, std::move(args), e->range));
  }
  return result;
}

std::vector<Expr> products(const Expr &e) {
  std::vector<Expr> left = expand(e->args[0]), right = expand(e->args[1]), result;
  if (left.size() * right.size() > maxTerms)
    return {e};
  for (const Expr &x : left)
    for (const Expr &y : right)
      result.push_back(node(Op::Mul, e->type, {x, y}, e->range));
  return result;
}

/// The expression as a list of terms whose sum it is.
std::vector<Expr> expand(const Expr &e) {
  switch (e->op) {
  case Op::Add:
  case Op::Sub: {
    std::vector<Expr> result = expand(e->args[0]);
    for (const Expr &term : expand(e->args[1]))
      result.push_back(e->op == Op::Add ? term : node(Op::Neg, e->type, {term}, term->range));
    return result.size() > maxTerms ? std::vector<Expr>{e} : result;
  }
  case Op::Neg:
  case Op::Convert:
    return each(e, expand(e->args[0]));
  case Op::Div:
    return isInteger(e->type) ? std::vector<Expr>{e} : each(e, expand(e->args[0]));
  case Op::Mul:
    return products(e);
  default:
    return {e};
  }
}

void addIndices(const Access &access, std::vector<unsigned> &out) {
  for (const Affine &subscript : access.subscripts)
    for (const auto &[index, coefficient] : subscript.terms)
      if (std::find(out.begin(), out.end(), index) == out.end())
        out.push_back(index);
}
void addIndices(const Expr &e, std::vector<unsigned> &out) {
  if (e->op == Op::Access)
    addIndices(e->access, out);
  for (const Expr &arg : e->args)
    addIndices(arg, out);
}
void addIndices(const Mask &m, std::vector<unsigned> &out) {
  if (!m)
    return;
  if (m->op == MaskOp::Stored)
    addIndices(m->access, out);
  addIndices(m->lhs, out);
  addIndices(m->rhs, out);
}

/// Terms summed over the same indices.
struct Group {
  std::vector<unsigned> reductions;
  Expr sum;
};

std::vector<Group> group(const Statement &s, const std::vector<Expr> &terms) {
  std::vector<Group> groups;
  for (const Expr &term : terms) {
    std::vector<unsigned> used, reductions;
    addIndices(term, used);
    addIndices(s.where, used);
    for (unsigned index : s.reductionIndices)
      if (std::find(used.begin(), used.end(), index) != used.end())
        reductions.push_back(index);
    auto same = [&](const Group &g) { return g.reductions == reductions; };
    auto found = std::find_if(groups.begin(), groups.end(), same);
    if (found == groups.end())
      groups.push_back({reductions, term});
    else
      found->sum = node(Op::Add, term->type, {found->sum, term}, s.rhs->range);
  }
  return groups;
}

} // namespace

std::vector<Statement> splitTerms(const Statement &statement) {
  if (statement.reduce != Reduce::Add || statement.reductionIndices.empty())
    return {statement};
  std::vector<Group> groups = group(statement, expand(statement.rhs));
  if (groups.size() == 1)
    return {statement};
  std::vector<Statement> result;
  for (const Group &g : groups) {
    Statement part = statement;
    part.rhs = g.sum;
    part.reductionIndices = g.reductions;
    part.accumulate = statement.accumulate || !result.empty();
    part.assign = !part.accumulate && g.reductions.empty();
    result.push_back(part);
  }
  return result;
}

} // namespace tulle::notation
