// Greedy: every way to make the case smaller is tried until none keeps the failure.
#include "Case.h"
#include <functional>

namespace tulle::differential {
namespace {

using Try = std::function<bool(const Case &)>;

/// Every tree that is `tree` with one node replaced by one of its operands.
void smaller(const Tree &tree, const std::function<void(Tree)> &visit) {
  for (const Tree &arg : tree.args)
    visit(arg);
  for (size_t i = 0; i < tree.args.size(); ++i)
    smaller(tree.args[i], [&](Tree part) {
      Tree copy = tree;
      copy.args[i] = std::move(part);
      visit(copy);
    });
}

/// Without a statement, and without the loops around it alone.
Case withoutStatement(Case c, unsigned statement) {
  c.statements.erase(c.statements.begin() + statement);
  for (LoopText &loop : c.loops) {
    loop.begin -= loop.begin > statement;
    loop.end -= loop.end > statement;
  }
  std::erase_if(c.loops, [](const LoopText &loop) { return loop.begin == loop.end; });
  return c;
}

bool shrinkLoops(Case &c, const Try &fails) {
  for (size_t l = 0; l < c.loops.size(); ++l) {
    Case less = c;
    less.loops.erase(less.loops.begin() + std::ptrdiff_t(l));
    Case fewer = c;
    --fewer.loops[l].rounds;
    Case always = c;
    always.loops[l].until.clear();
    for (const Case &next : {less, fewer, always})
      if ((next.loops.size() < c.loops.size() || next.loops[l].rounds > 0) && next.text() != c.text() &&
          fails(next)) {
        c = next;
        return true;
      }
  }
  return false;
}

bool shrinkStatements(Case &c, const Try &fails) {
  for (size_t s = 0; s < c.statements.size(); ++s) {
    Case next = withoutStatement(c, unsigned(s));
    if (!next.statements.empty() && fails(next)) {
      c = next;
      return true;
    }
    if (!c.statements[s].where.empty()) {
      next = c;
      next.statements[s].where.clear();
      if (fails(next)) {
        c = next;
        return true;
      }
    }
    bool found = false;
    smaller(c.statements[s].rhs, [&](Tree tree) {
      if (found)
        return;
      next = c;
      next.statements[s].rhs = std::move(tree);
      found = fails(next);
    });
    if (found) {
      c = next;
      return true;
    }
    if (c.statements[s].assign != "=") {
      next = c;
      next.statements[s].assign = "=";
      if (fails(next)) {
        c = next;
        return true;
      }
    }
  }
  return false;
}

bool shrinkTensors(Case &c, const Try &fails) {
  for (const auto &[name, pattern] : c.likes) {
    Case next = c;
    next.likes.erase(name);
    if (fails(next)) {
      c = next;
      return true;
    }
  }
  for (auto &[name, given] : c.inputs) {
    Case next = c;
    Given &g = next.inputs[name];
    if (g.format != "dense") {
      g.format = "dense";
      if (fails(next)) {
        c = next;
        return true;
      }
      g = given;
    }
    if (!given.slices.empty()) {
      g.slices.clear();
      if (fails(next)) {
        c = next;
        return true;
      }
      g = given;
    }
    if (!given.lengths.empty()) {
      g.lengths.clear();
      if (fails(next)) {
        c = next;
        return true;
      }
      g = given;
    }
    if (given.type != ElementType::F64 && !isComplex(given.type)) {
      for (Scalar &v : g.values)
        v = convertScalar(v, given.type, ElementType::F64);
      g.type = ElementType::F64;
      if (fails(next)) {
        c = next;
        return true;
      }
      g = given;
    }
    // Halves first, then single entries.
    for (size_t part = std::max<size_t>(given.entries.size() / 2, 1); part > 0; part /= 2)
      for (size_t at = 0; at + part <= given.entries.size(); at += part) {
        g = given;
        g.entries.erase(g.entries.begin() + at, g.entries.begin() + at + part);
        g.values.erase(g.values.begin() + at, g.values.begin() + at + part);
        if (fails(next)) {
          c = next;
          return true;
        }
      }
  }
  for (auto &[name, result] : c.results)
    if (!result.format.empty() && result.format != "dense") {
      Case next = c;
      next.results[name].format = "dense";
      if (fails(next)) {
        c = next;
        return true;
      }
    }
  return false;
}

} // namespace

Case shrink(const Case &c) {
  Verdict first = judge(c);
  // The same complaint: a smaller case may be refused for a reason of its own.
  auto same = [&](const Verdict &v) {
    bool refused = v.kind == Verdict::Kind::Refused;
    return v.kind == first.kind && (!refused || v.message.substr(0, 24) == first.message.substr(0, 24));
  };
  Case best = c;
  int budget = 400; // each try compiles
  Try fails = [&](const Case &next) { return budget-- > 0 && same(judge(next)); };
  while (budget > 0 &&
         (shrinkLoops(best, fails) || shrinkStatements(best, fails) || shrinkTensors(best, fails)))
    ;
  // Only what is still used.
  std::string text = best.text();
  auto isUnused = [&](const auto &tensor) { return text.find(tensor.first + "(") == std::string::npos; };
  std::erase_if(best.likes, isUnused);
  std::erase_if(best.inputs, [&](const auto &input) {
    auto isPattern = [&](const auto &like) { return like.second == input.first; };
    return isUnused(input) && std::ranges::none_of(best.likes, isPattern);
  });
  std::erase_if(best.results, isUnused);
  return best;
}

} // namespace tulle::differential
