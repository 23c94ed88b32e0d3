// Checks every use of a name against its first one, and gives masks without subscripts those they mean.
#include "notation/Resolve.h"
#include "support/Errors.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tulle::notation {
namespace {

bool sameSubscripts(const Access &a, const Access &b) {
  return std::ranges::equal(a.subscripts, b.subscripts, [](const Affine &x, const Affine &y) {
    return x.equals(y) && x.limit == y.limit;
  });
}

class Resolver {
public:
  Resolver(std::string_view text, const Likes &likes) : out{parse(text), {}, {}, {}, {}} {
    out.like.resize(out.tensors.size());
    for (const auto &[name, pattern] : likes)
      addLike(name, pattern);
  }

  ResolvedProgram run() {
    out.orders.resize(out.tensors.size());
    firstUse.resize(out.tensors.size());
    for (unsigned t = 0; t < out.tensors.size(); ++t)
      if (const std::optional<unsigned> order = out.like[t] ? orderOf(*out.like[t], t) : std::nullopt)
        out.orders[*out.like[t]] = *order;
    for (unsigned s = 0; s < out.statements.size(); ++s)
      statement(s);
    for (unsigned order : out.orders)
      out.dims.emplace_back(order, -1);
    return std::move(out);
  }

private:
  ResolvedProgram out;
  std::vector<std::optional<SourceRange>> firstUse;

  /// What lends its structure need not stand in the text.
  void addLike(const std::string &name, const std::string &pattern) {
    const auto tensor = out.tensor(name);
    if (!tensor)
      throwError("'{}' is like '{}', but the program has no tensor '{}'", name, pattern, name);
    if (name == pattern)
      throwError("'{}' cannot be like itself; name the tensor whose structure it has", name);
    if (!out.tensor(pattern)) {
      out.tensors.push_back(pattern);
      out.like.emplace_back();
    }
    out.like[*tensor] = out.tensor(pattern);
  }

  /// The order of a tensor that lends its structure to `borrower`: as the text uses it, else the same;
  /// nothing where both stand without subscripts only.
  std::optional<unsigned> orderOf(unsigned tensor, unsigned borrower) const {
    std::optional<unsigned> own, borrowed;
    auto visit = [&](const Access &a) {
      if (!a.bare && a.tensor == tensor)
        own = own ? own : unsigned(a.subscripts.size());
      if (!a.bare && a.tensor == borrower)
        borrowed = borrowed ? borrowed : unsigned(a.subscripts.size());
    };
    for (const ParsedStatement &s : out.statements) {
      visit(s.lhs);
      forEachAccess(s.rhs, visit);
      forEachAccess(s.where, visit);
    }
    return own ? own : borrowed;
  }

  /// `… where M` of a result like A is `… where M & A`.
  Mask withStructure(const Mask &where, const Access &lhs) {
    const std::optional<unsigned> pattern = out.like[lhs.tensor];
    if (!pattern)
      return where;
    const size_t order = out.orders[*pattern];
    if (order > lhs.subscripts.size()) // the statement reads what has the outer levels (Sparsity.cpp)
      return where;
    ExprNode structure;
    structure.op = Op::Access;
    structure.range = structure.access.range = lhs.range;
    structure.access.tensor = *pattern;
    structure.access.subscripts.assign(lhs.subscripts.begin(), lhs.subscripts.begin() + order);
    if (where && where->op == Op::Access && where->access.tensor == *pattern &&
        sameSubscripts(where->access, structure.access))
      return where;
    const Mask own = std::make_shared<const ExprNode>(structure);
    if (!where)
      return own;
    ExprNode both;
    both.op = Op::And;
    both.range = where->range;
    both.args = {where, own};
    return std::make_shared<const ExprNode>(std::move(both));
  }

  void statement(unsigned number) {
    ParsedStatement &s = out.statements[number];
    checkLeft(s.lhs);
    use(number, s.lhs, /*written=*/true);
    std::vector<Access> reads;
    auto read = [&](const Access &a) {
      reads.push_back(a);
      use(number, a, /*written=*/false);
    };
    for (const Indirection &given : s.indirections)
      read(given.source);
    forEachAccess(s.rhs, read);
    s.where = withStructure(withSubscripts(s.where, s.lhs, std::vector(reads)), s.lhs);
    forEachAccess(s.where, read);
    for (const Access &a : reads) {
      const std::string &name = out.tensors[a.tensor];
      if (s.condition && !a.subscripts.empty())
        out.fail(a.range,
                 fmt::format("'until' compares single values, but '{}' has subscripts; compute one in "
                             "a statement of the loop, as in s = r(i) * r(i)",
                             name));
      if (a.bare && s.scope.contains(name))
        out.fail(
            a.range,
            fmt::format("'{}' is an index of this statement, and no tensor: compare it, as in where ({} > 0)",
                        name, name));
    }
    checkValues(s.rhs);
    checkValues(s.where);
  }

  /// An index by itself is a value, and a tensor of that name is another.
  void checkValues(const Expr &expr) const {
    if (!expr)
      return;
    if (expr->op == Op::Index)
      if (const std::string &name = out.indices[expr->access.subscripts[0].terms[0].first].name;
          out.tensor(name))
        out.fail(expr->range, fmt::format("'{0}' is an index of this statement, and the name of a tensor: "
                                          "rename the index, or write {0}() for the tensor",
                                          name));
    for (const Expr &arg : expr->args)
      checkValues(arg);
  }

  void checkLeft(const Access &lhs) {
    std::map<unsigned, SourceRange> seen;
    for (const Affine &s : lhs.subscripts) {
      if (!s.isVariable())
        out.fail(
            s.range,
            fmt::format(
                "a subscript on the left is a single index; write the sum on the right, or {}(i) with an "
                "index of its own",
                out.tensors[lhs.tensor]));
      auto [first, isNew] = seen.emplace(s.terms[0].first, s.range);
      if (!isNew)
        out.fail(
            s.range,
            fmt::format("index '{}' is repeated on the left; the indices of a result differ from each other",
                        out.indices[s.terms[0].first].name),
            {{first->second, "first used here"}});
    }
  }

  void use(unsigned number, const Access &access, bool written) {
    const auto order = unsigned(access.subscripts.size());
    std::optional<SourceRange> &first = firstUse[access.tensor];
    unsigned &known = out.orders[access.tensor];
    auto subscripts = [](unsigned count) {
      return fmt::format("{} subscript{}", count, count == 1 ? "" : "s");
    };
    if (!first) {
      first = access.range;
      known = order;
    } else if (known != order) {
      out.fail(access.range,
               fmt::format("'{}' is used with {} here, and with {} elsewhere", out.tensors[access.tensor],
                           subscripts(order), known),
               {{*first, fmt::format("used with {} here", subscripts(known))}});
    }
    out.uses.push_back({number, access, written});
  }

  /// `where A` without subscripts means A as the right side reads it, when that has only indices of the left
  /// side; else A at the left side's indices, when the orders agree; else the one way in which the right side
  /// reads it.
  Mask withSubscripts(const Mask &mask, const Access &lhs, const std::vector<Access> &reads) {
    if (!mask || isCondition(mask))
      return mask;
    ExprNode node = *mask;
    for (Mask &arg : node.args)
      arg = withSubscripts(arg, lhs, reads);
    if (mask->op == Op::Access && mask->access.bare) {
      node.access.subscripts = maskSubscripts(mask->access, lhs, reads);
      for (Affine &s : node.access.subscripts)
        s.range = mask->access.range;
    }
    return std::make_shared<const ExprNode>(std::move(node));
  }

  std::vector<Affine> maskSubscripts(const Access &name, const Access &lhs,
                                     const std::vector<Access> &reads) {
    std::set<unsigned> left;
    for (const Affine &s : lhs.subscripts)
      left.insert(s.terms[0].first);
    std::vector<const Access *> all, inside;
    for (const Access &a : reads) {
      auto known = [&](const Access *b) { return sameSubscripts(a, *b); };
      if (a.tensor != name.tensor || std::ranges::any_of(all, known))
        continue;
      all.push_back(&a);
      bool onLeft = true;
      for (const Affine &s : a.subscripts)
        for (const auto &[index, coefficient] : s.terms)
          onLeft &= left.contains(index);
      if (onLeft)
        inside.push_back(&a);
    }
    if (inside.size() == 1)
      return inside[0]->subscripts;
    if (all.empty() || all[0]->subscripts.size() == lhs.subscripts.size())
      return lhs.subscripts;
    if (all.size() == 1)
      return all[0]->subscripts;
    out.fail(
        name.range,
        fmt::format("'where {}' could mean several accesses; write its subscripts", out.tensors[name.tensor]),
        {{all[0]->range, "this one"}, {all[1]->range, "or this one"}});
  }
};

} // namespace

ResolvedProgram resolve(std::string_view text, const Likes &likes) { return Resolver(text, likes).run(); }

} // namespace tulle::notation
