#include "notation/Resolve.h"
#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tulle::notation {
namespace {

bool sameSubscripts(const syntax::Access &a, const syntax::Access &b) {
  return std::equal(a.subscripts.begin(), a.subscripts.end(), b.subscripts.begin(), b.subscripts.end(),
                    [](const syntax::Subscript &x, const syntax::Subscript &y) {
                      return x.constant == y.constant && x.limit == y.limit &&
                             std::equal(x.terms.begin(), x.terms.end(), y.terms.begin(), y.terms.end(),
                                        [](const syntax::Term &s, const syntax::Term &t) {
                                          return s.index == t.index && s.coefficient == t.coefficient;
                                        });
                    });
}

class Resolver {
public:
  explicit Resolver(std::string_view text) {
    out.text = text;
    out.statements = syntax::parse(text);
  }

  Resolved run() {
    for (unsigned s = 0; s < out.statements.size(); ++s)
      statement(s);
    for (unsigned t = 0; t < out.tensors.size(); ++t)
      out.dims.emplace_back(out.orders[t], -1);
    return std::move(out);
  }

private:
  Resolved out;
  std::map<std::string, unsigned, std::less<>> tensorNumbers;
  std::vector<SourceRange> firstUse;

  void statement(unsigned number) {
    syntax::Statement &s = out.statements[number];
    out.scopes.emplace_back();
    checkLeft(s.lhs);
    use(number, s.lhs, true);
    std::vector<syntax::Access> reads;
    syntax::forEachAccess(s.rhs, [&](const syntax::Access &a) { reads.push_back(a); });
    for (const syntax::Access &a : reads)
      use(number, a, false);
    if (s.where) {
      s.where = withSubscripts(s.where, s.lhs, reads);
      syntax::forEachAccess(s.where, [&](const syntax::Access &a) {
        reads.push_back(a);
        use(number, a, false);
      });
    }
    for (const syntax::Access &a : reads) {
      if (a.tensor == s.lhs.tensor)
        out.fail(a.range,
                 fmt::format(
                     "'{}' is read by the statement that writes it; use a reduction such as += , or another "
                     "name for the result",
                     a.tensor),
                 {{s.lhs.range, "written here"}});
      if (a.bare && out.scopes[number].count(a.tensor))
        out.fail(
            a.range,
            fmt::format(
                "index '{}' is used as a value; only tensors and numbers have values (give a tensor that "
                "holds 0, 1, 2, …)",
                a.tensor));
    }
  }

  void checkLeft(const syntax::Access &lhs) {
    std::map<std::string, SourceRange> seen;
    for (const syntax::Subscript &s : lhs.subscripts) {
      if (!s.isVariable())
        out.fail(
            s.range,
            fmt::format(
                "a subscript on the left is a single index; write the sum on the right, or {}(i) with an "
                "index of its own",
                lhs.tensor));
      auto [it, isNew] = seen.emplace(s.terms[0].index, s.range);
      if (!isNew)
        out.fail(
            s.range,
            fmt::format("index '{}' is repeated on the left; the indices of a result differ from each other",
                        s.terms[0].index),
            {{it->second, "first used here"}});
    }
  }

  void use(unsigned number, const syntax::Access &access, bool written) {
    auto [it, isNew] = tensorNumbers.emplace(access.tensor, out.tensors.size());
    unsigned order = access.subscripts.size();
    if (isNew) {
      out.tensors.push_back(access.tensor);
      out.orders.push_back(order);
      firstUse.push_back(access.range);
    } else if (out.orders[it->second] != order) {
      unsigned first = out.orders[it->second];
      out.fail(access.range,
               fmt::format("'{}' is used with {} subscript{} here, and with {} elsewhere", access.tensor,
                           order, order == 1 ? "" : "s", first),
               {{firstUse[it->second],
                 fmt::format("used with {} subscript{} here", first, first == 1 ? "" : "s")}});
    }
    auto &scope = out.scopes[number];
    for (const syntax::Subscript &s : access.subscripts)
      for (const syntax::Term &t : s.terms)
        if (scope.emplace(t.index, out.indices.size()).second)
          out.indices.push_back({t.index, -1});
    Use u;
    u.statement = number;
    u.access = out.access(number, access);
    for (const syntax::Subscript &s : access.subscripts) {
      u.subscriptRanges.push_back(s.range);
      u.limits.push_back(s.limit);
    }
    u.written = written;
    out.uses.push_back(std::move(u));
  }

  /// `where A` without subscripts means A as the right side reads it, when that has only indices of the left
  /// side; else A at the left side's indices, when the orders agree; else the one way in which the right side
  /// reads it.
  syntax::Mask withSubscripts(const syntax::Mask &mask, const syntax::Access &lhs,
                              const std::vector<syntax::Access> &reads) {
    if (!mask)
      return mask;
    auto node = std::make_shared<syntax::MaskNode>(*mask);
    if (mask->op != MaskOp::Stored) {
      node->lhs = withSubscripts(mask->lhs, lhs, reads);
      node->rhs = withSubscripts(mask->rhs, lhs, reads);
    } else if (mask->access.bare) {
      node->access.subscripts = maskSubscripts(mask->access, lhs, reads);
      for (syntax::Subscript &s : node->access.subscripts)
        s.range = mask->access.range;
    }
    return node;
  }

  std::vector<syntax::Subscript> maskSubscripts(const syntax::Access &name, const syntax::Access &lhs,
                                                const std::vector<syntax::Access> &reads) {
    std::set<std::string> left;
    for (const syntax::Subscript &s : lhs.subscripts)
      left.insert(s.terms[0].index);
    std::vector<const syntax::Access *> all, inside;
    for (const syntax::Access &a : reads) {
      auto known = [&](const syntax::Access *b) { return sameSubscripts(a, *b); };
      if (a.tensor != name.tensor || std::any_of(all.begin(), all.end(), known))
        continue;
      all.push_back(&a);
      bool onLeft = true;
      for (const syntax::Subscript &s : a.subscripts)
        for (const syntax::Term &t : s.terms)
          onLeft &= left.count(t.index) > 0;
      if (onLeft)
        inside.push_back(&a);
    }
    if (inside.size() == 1)
      return inside[0]->subscripts;
    if (all.empty() || all[0]->subscripts.size() == lhs.subscripts.size())
      return lhs.subscripts;
    if (all.size() == 1)
      return all[0]->subscripts;
    out.fail(name.range,
             fmt::format("'where {}' could mean several accesses; write its subscripts", name.tensor),
             {{all[0]->range, "this one"}, {all[1]->range, "or this one"}});
  }
};

} // namespace

std::optional<unsigned> Resolved::tensor(std::string_view name) const {
  auto it = std::find(tensors.begin(), tensors.end(), name);
  return it == tensors.end() ? std::nullopt : std::optional<unsigned>(it - tensors.begin());
}

Access Resolved::access(unsigned statement, const syntax::Access &source) const {
  Access result;
  result.tensor = *tensor(source.tensor);
  result.range = source.range;
  for (const syntax::Subscript &s : source.subscripts) {
    Affine affine;
    for (const syntax::Term &t : s.terms)
      affine.terms.emplace_back(scopes[statement].at(t.index), t.coefficient);
    affine.constant = s.constant;
    result.subscripts.push_back(std::move(affine));
  }
  return result;
}

Resolved resolve(std::string_view text) { return Resolver(text).run(); }

} // namespace tulle::notation
