// A right side is expanded into the terms whose sum it is, and these are grouped by their reduction indices.
#include "notation/Resolve.h"
#include <algorithm>
#include <ranges>
#include <set>

namespace tulle::notation {
namespace {

/// More terms than anybody writes: a product of sums this large is left as it is.
constexpr size_t maxTerms = 64;

Expr node(Op op, ElementType type, std::vector<Expr> args, SourceRange range) {
  return std::make_shared<const ExprNode>(
      ExprNode{.op = op, .type = type, .args = std::move(args), .range = range});
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

/// Terms summed over the same indices.
struct Group {
  std::vector<unsigned> reductions;
  Expr sum;
  std::vector<Indirection> indirections; ///< of these indices
};

std::vector<Group> group(const Statement &s, const std::vector<Expr> &terms) {
  std::vector<Group> groups;
  for (const Expr &term : terms) {
    std::set<unsigned> used;
    auto addIndices = [&](const Affine &subscript) {
      for (const auto &[index, coefficient] : subscript.terms)
        used.insert(index);
    };
    forEachSubscript(term, addIndices);
    forEachSubscript(s.where, addIndices);
    std::ranges::for_each(s.lhs.subscripts, addIndices);
    for (const Indirection &given : s.indirections | std::views::reverse)
      if (used.contains(given.index))
        std::ranges::for_each(given.source.subscripts, addIndices);
    std::vector<unsigned> reductions;
    std::ranges::copy_if(s.reductionIndices, std::back_inserter(reductions),
                         [&](unsigned index) { return used.contains(index); });
    auto found = std::ranges::find(groups, reductions, &Group::reductions);
    if (found == groups.end())
      found = groups.insert(found, {reductions, term, {}});
    else
      found->sum = node(Op::Add, term->type, {found->sum, term}, s.rhs->range);
    for (const Indirection &given : s.indirections)
      if (used.contains(given.index) &&
          std::ranges::count(found->indirections, given.index, &Indirection::index) == 0)
        found->indirections.push_back(given);
  }
  auto readsResult = [&](const Group &group) {
    bool reads = false;
    forEachAccess(group.sum, [&](const Access &access) { reads |= access.tensor == s.lhs.tensor; });
    return reads;
  };
  std::ranges::stable_partition(groups, readsResult);
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
    Statement sum = statement;
    sum.rhs = g.sum;
    sum.reductionIndices = g.reductions;
    sum.indirections = g.indirections;
    sum.accumulate = statement.accumulate || !result.empty();
    sum.assign = !sum.accumulate && g.reductions.empty();
    result.push_back(sum);
  }
  return result;
}

} // namespace tulle::notation
