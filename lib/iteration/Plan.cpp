#include "iteration/Plan.h"
#include "iteration/CostModel.h"
#include "iteration/Shape.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace tulle::iteration {
using format::Digit;
using format::Encoding;
using format::LevelKind;

bool hasTables(const format::LevelFormat &level) {
  return level.unique && !level.padded &&
         (level.kind == LevelKind::Compressed || level.kind == LevelKind::LooseCompressed);
}

namespace {

/// The constraints gathered from the operands accepted so far.
class Planner {
public:
  /// `first`: the operand that decides before the others, or -1. `lowOutside`: operands may be converted for
  /// loops over a low digit that stand outside those over its high one.
  Planner(const std::vector<bool> &reduction, const std::vector<Operand> &operands, int first,
          bool lowOutside)
      : reduction(reduction), first(first), lowOutside(lowOutside), chains(reduction.size()),
        drivenChain(reduction.size(), false) {
    for (const Operand &op : operands)
      shapes.emplace_back(op);
    for (unsigned i = 0; i < reduction.size(); ++i)
      rank.push_back(i);
    outer.resize(reduction.size(), Outer::None);
    if (!operands.empty() && operands.back().assembled)
      followResult(shapes.back());
  }

  std::variant<Plan, Conversion> run() {
    for (unsigned o : priority()) {
      std::string reason = accept(o);
      if (reason.empty() || shapes[o].operand->keep)
        continue;
      Encoding better = target(o);
      // What is stored in the best order already stays, whatever it costs.
      if (better == shapes[o].operand->encoding && accept(o, true).empty()) {
        anyCost = true;
        continue;
      }
      // What cannot be stored otherwise decides against the result.
      if (better == shapes[o].operand->encoding) {
        outer.assign(outer.size(), Outer::None);
        if (accept(o, true).empty()) {
          anyCost = true;
          continue;
        }
      }
      return Conversion{o, better, reason, ""};
    }
    splitDense();
    return build();
  }

  /// Loops were accepted that may visit far more than what is stored.
  bool acceptedAnyCost() const { return anyCost; }

private:
  /// Which digits of an index must stand outside the reductions.
  enum class Outer { None, High, All };

  /// The indices of a new tensor come first, in the order of its levels; all but the last stay outside the
  /// reductions (where the tensor is stored by blocks: their blocks do).
  void followResult(const Shape &result) {
    std::vector<unsigned> order;
    for (size_t l = 0; l < result.digits.size(); ++l)
      if (std::find(order.begin(), order.end(), result.index(l)) == order.end())
        order.push_back(result.index(l));
    for (unsigned n = 0; n < order.size(); ++n)
      rank[order[n]] = n;
    for (unsigned n = 0; n + 1 < order.size(); ++n)
      outer[order[n]] = Outer::All;
    for (const Digit &digit : result.digits)
      if (unsigned index = result.operand->subscripts[digit.dim].terms[0].first;
          digit.modulus != 0 && outer[index] != Outer::None)
        outer[index] = Outer::High;
  }
  bool staysOutside(const LoopVar &v) const {
    return outer[v.index] == Outer::All || (outer[v.index] == Outer::High && v.modulus == 0);
  }

  /// An index no sparse operand split is traversed by the blocks of a dense operand, which saves a division
  /// per element.
  void splitDense() {
    for (const Shape &s : shapes)
      for (unsigned d = 0; !s.sparse && d < s.operand->encoding.order(); ++d) {
        if (!s.operand->subscripts[d].isVariable())
          continue;
        auto &chain = chains[s.operand->subscripts[d].terms[0].first];
        if (chain.empty() && s.chain(d).size() > 1)
          chain = s.chain(d);
      }
  }

  /// The pattern first, then operands of high order (likely the large ones), as written.
  std::vector<unsigned> priority() const {
    std::vector<unsigned> result;
    for (unsigned o = 0; o < shapes.size(); ++o)
      if (shapes[o].sparse && shapes[o].operand->follows < 0)
        result.push_back(o);
    std::ranges::stable_sort(result, [&](unsigned a, unsigned b) {
      const Operand &x = *shapes[a].operand, &y = *shapes[b].operand;
      return std::tuple(x.keep, int(a) == first, x.encoding.order()) >
             std::tuple(y.keep, int(b) == first, y.encoding.order());
    });
    return result;
  }

  /// Adds an operand's constraints; on a clash undoes them and returns the reason.
  std::string accept(unsigned o, bool atAnyCost = false) {
    auto saved = std::tuple(chains, drivenChain, edges);
    std::string reason = acceptChains(shapes[o]);
    if (reason.empty()) {
      addEdges(shapes[o]);
      if (!order())
        reason = accepted.empty()
                     ? "its levels are stored in an order in which no row of the result is ever finished"
                     : "its levels are stored in an order that no loop order of the other operands allows";
      else if (!atAnyCost && isInnerProduct(o))
        reason = "iterating it together with the other sparse operand would visit every pair of their outer "
                 "coordinates";
    }
    if (!reason.empty())
      std::tie(chains, drivenChain, edges) = saved;
    else
      accepted.push_back(o);
    return reason;
  }

  std::string acceptChains(const Shape &s) {
    for (unsigned d = 0; d < s.operand->encoding.order(); ++d) {
      if (!s.operand->subscripts[d].isVariable())
        continue;
      unsigned index = s.operand->subscripts[d].terms[0].first;
      auto chain = s.chain(d);
      bool drives = s.drivesDim(d);
      if (chains[index].empty() || (drives && !drivenChain[index])) {
        chains[index] = chain;
        drivenChain[index] = drives;
      } else if (drives && chains[index] != chain) {
        return "its blocks do not match those of another sparse operand";
      }
    }
    return "";
  }

  /// Every digit an earlier level needs comes before an iterated level's digit, and full levels below an
  /// iterated one of their dimension come after it: only there is it known where the last block's padding
  /// begins. Edges are kept as level pairs and read against the chains when ordering, because a later operand
  /// may split an index into digits.
  void addEdges(const Shape &s) {
    for (size_t l = 0; l < s.digits.size(); ++l) {
      if (s.modes[l] != LevelMode::Drive)
        continue;
      LoopVar to{s.index(l), s.digits[l].stride, s.digits[l].modulus};
      for (size_t k = 0; k < l; ++k)
        for (auto [index, coefficient] : s.operand->subscripts[s.digits[k].dim].terms) {
          bool plain = s.operand->subscripts[s.digits[k].dim].isVariable();
          edges.push_back({{index, plain ? s.digits[k].stride : 0, plain ? s.digits[k].modulus : 0}, to});
        }
      for (size_t k = l + 1; k < s.digits.size(); ++k)
        if (s.digits[k].dim == s.digits[l].dim && s.modes[k] == LevelMode::Locate)
          edges.push_back({to, {to.index, s.digits[k].stride, s.digits[k].modulus}});
    }
  }

  std::vector<LoopVar> vars() const {
    std::vector<LoopVar> result;
    for (unsigned i = 0; i < chains.size(); ++i)
      if (chains[i].empty())
        result.push_back({i, 1, 0});
      else
        for (const Digit &d : chains[i])
          result.push_back({i, d.stride, d.modulus});
    return result;
  }

  /// before[v]: the loops that must be outside loop v.
  std::vector<std::set<unsigned>> predecessors(const std::vector<LoopVar> &all) const {
    std::vector<std::set<unsigned>> before(all.size());
    for (auto &[from, to] : edges)
      for (unsigned v = 0; v < all.size(); ++v) {
        if (!(all[v] == to))
          continue;
        bool exact = std::count(all.begin(), all.end(), from) > 0;
        for (unsigned u = 0; u < all.size(); ++u)
          if (u != v && all[u].index == from.index && (exact ? all[u] == from : true))
            before[v].insert(u);
      }
    for (unsigned v = 0; v < all.size(); ++v)
      for (unsigned u = 0; u < all.size(); ++u)
        if (reduction[all[v].index] && staysOutside(all[u]))
          before[v].insert(u);
    return before;
  }

  /// How good the digit is as the innermost dense loop: operands it traverses with stride 1.
  int unitStride(const LoopVar &v) const {
    int score = 0;
    for (const Shape &s : shapes) {
      if (s.digits.empty())
        continue;
      const Digit &last = s.digits.back();
      for (auto [index, coefficient] : s.operand->subscripts[last.dim].terms)
        if (index == v.index && v.stride == 1 && s.modes.back() == LevelMode::Locate)
          ++score;
    }
    return score;
  }

  std::optional<std::vector<LoopVar>> order() const {
    auto all = vars();
    auto before = predecessors(all);
    std::vector<bool> needed = neededBySparse(all, before);
    std::vector<bool> done(all.size(), false);
    std::vector<LoopVar> result;
    while (result.size() < all.size()) {
      int best = -1;
      for (unsigned v = 0; v < all.size(); ++v) {
        bool ready =
            !done[v] && std::all_of(before[v].begin(), before[v].end(), [&](unsigned u) { return done[u]; });
        if (ready && (best < 0 || key(all[v], needed[v]) < key(all[best], needed[best])))
          best = v;
      }
      if (best < 0)
        return std::nullopt;
      done[best] = true;
      result.push_back(all[best]);
    }
    return result;
  }

  /// Loops over stored coordinates and all loops they stand in.
  std::vector<bool> neededBySparse(const std::vector<LoopVar> &all,
                                   const std::vector<std::set<unsigned>> &before) const {
    std::vector<bool> needed(all.size(), false);
    for (const Shape &s : shapes)
      for (size_t l = 0; l < s.digits.size(); ++l)
        if (s.modes[l] == LevelMode::Drive)
          for (unsigned v = 0; v < all.size(); ++v)
            needed[v] = needed[v] || all[v] == LoopVar{s.index(l), s.digits[l].stride, s.digits[l].modulus};
    for (bool changed = true; changed;) {
      changed = false;
      for (unsigned v = 0; v < all.size(); ++v)
        for (unsigned u : before[v])
          if (needed[v] && !needed[u])
            changed = needed[u] = true;
    }
    return needed;
  }

  /// Smaller comes first: sparse before dense, low unit-stride score before high, result indices before
  /// reductions, high digits before low.
  std::tuple<bool, int, bool, unsigned, int64_t> key(const LoopVar &v, bool needed) const {
    return {!needed, needed ? 0 : unitStride(v), needed ? false : bool(reduction[v.index]), rank[v.index],
            -v.stride};
  }

  /// Intersecting two operands that each have an outer index the other lacks costs the product of the outer
  /// sizes: an order with one of them inside is cheaper even after a conversion.
  bool isInnerProduct(unsigned o) const {
    for (unsigned other : accepted)
      for (size_t l = 0; l < shapes[o].digits.size(); ++l)
        for (size_t k = 0; k < shapes[other].digits.size(); ++k) {
          if (shapes[o].modes[l] != LevelMode::Drive || shapes[other].modes[k] != LevelMode::Drive ||
              shapes[o].index(l) != shapes[other].index(k))
            continue;
          auto mine = outside(shapes[o], l), theirs = outside(shapes[other], k);
          if (!std::includes(theirs.begin(), theirs.end(), mine.begin(), mine.end()) &&
              !std::includes(mine.begin(), mine.end(), theirs.begin(), theirs.end()) &&
              !isLookedUp(o, l, other, k) && !isLookedUp(other, k, o, l))
            return true;
        }
    return false;
  }
  /// Whether level l of operand o is met again and again by the rows of `other` at its level k, which another
  /// operand selects: then it can be looked up in a table (tulle-index-operands), and what is visited is
  /// these rows.
  bool isLookedUp(unsigned o, size_t l, unsigned other, size_t k) const {
    if (!hasTables(shapes[o].operand->encoding.levels[l].format))
      return false;
    const auto mine = outside(shapes[o], l), theirs = outside(shapes[other], k);
    std::set<unsigned> others;
    std::ranges::set_difference(theirs, mine, std::inserter(others, others.end()));
    bool inIteration = false;
    const std::vector<LoopVar> loops = *order();
    for (const LoopVar &v : loops) {
      if (others.count(v.index))
        inIteration = true;
      else if (inIteration && mine.count(v.index))
        return false;
    }
    return std::ranges::all_of(others, [&](unsigned index) { return isSelected(index, o, other); });
  }

  /// Whether an operand besides `iterated` says which coordinates of the index there are for those of
  /// `table`, and the traversal is profitable: against a merge of a row of either for every entry of the
  /// table's operand, where the numbers of entries are known, as if all dimensions had one size.
  bool isSelected(unsigned index, unsigned table, unsigned iterated) const {
    for (unsigned s = 0; s < shapes.size(); ++s) {
      if (s == iterated || s == table)
        continue;
      for (size_t l = 0; l < shapes[s].digits.size(); ++l) {
        if (shapes[s].modes[l] != LevelMode::Drive || shapes[s].index(l) != index ||
            outside(shapes[s], l).empty())
          continue;
        const double selecting = double(shapes[s].operand->entries),
                     rows = double(shapes[iterated].operand->entries),
                     tabled = double(shapes[table].operand->entries);
        if (selecting < 0 || rows < 0 || tabled < 0 ||
            selecting * rows <= Costs().mergeStep * tabled * (selecting + rows))
          return true;
      }
    }
    return false;
  }

  static std::set<unsigned> outside(const Shape &s, size_t level) {
    std::set<unsigned> result;
    for (size_t k = 0; k < level; ++k)
      for (auto [index, coefficient] : s.operand->subscripts[s.digits[k].dim].terms)
        result.insert(index);
    result.erase(s.index(level));
    return result;
  }

  /// An encoding for operand o that follows the loops of those accepted: its dimensions in loop order, split
  /// as they are, the first high digit dense, the others compressed, low digits dense inside (compressed
  /// where padding would be seen, or where the loops may have them outside).
  Encoding target(unsigned o) const {
    const Operand &op = *shapes[o].operand;
    Encoding result;
    for (const auto &d : op.encoding.dims)
      result.dims.push_back({d.name, std::nullopt, nullptr});
    result.posWidth = op.encoding.posWidth;
    result.crdWidth = op.encoding.crdWidth == 2 ? 32 : op.encoding.crdWidth;
    result.fill = op.encoding.fill;
    std::vector<LoopVar> loops = *order();
    std::vector<std::pair<size_t, format::Level>> high, low;
    for (unsigned d = 0; d < op.encoding.order(); ++d) {
      const Subscript &s = op.subscripts[d];
      std::vector<Digit> chain{{d, 1, 0}};
      if (s.isVariable() && !chains[s.terms[0].first].empty())
        chain = chains[s.terms[0].first];
      size_t outside = 0; // padding ends where the high digit's block does: the low one stands inside
      for (const Digit &digit : chain) {
        size_t at = loops.size();
        if (s.isVariable())
          at = std::find(loops.begin(), loops.end(), LoopVar{s.terms[0].first, digit.stride, digit.modulus}) -
               loops.begin();
        if (!lowOutside)
          outside = at = std::max(at, outside);
        format::Expr e = format::dim(d);
        if (digit.stride != 1)
          e = format::binary(format::ExprKind::FloorDiv, e, format::constant(digit.stride));
        if (digit.modulus != 0)
          e = format::binary(format::ExprKind::Mod, e, format::constant(digit.modulus));
        format::Level level{"", e, {}};
        // Without padding every level is iterated, and iteration follows the loops.
        (digit.modulus == 0 || op.exact || lowOutside ? high : low).push_back({at, level});
      }
    }
    auto byLoop = [](auto &a, auto &b) { return a.first < b.first; };
    std::ranges::stable_sort(high, byLoop);
    std::ranges::stable_sort(low, byLoop);
    for (size_t h = 0; h < high.size(); ++h) {
      high[h].second.format.kind = h == 0 && high.size() == 2 ? LevelKind::Dense : LevelKind::Compressed;
      result.levels.push_back(high[h].second);
    }
    for (auto &[at, level] : low)
      result.levels.push_back(level);
    return result;
  }

  Plan build() const {
    Plan result;
    result.order = *order();
    for (const Shape &s : shapes) {
      std::vector<LevelPlan> levels;
      for (size_t l = 0; l < s.digits.size(); ++l) {
        LevelPlan p{s.modes[l], 0};
        if (p.mode == LevelMode::Drive)
          p.loop = std::find(result.order.begin(), result.order.end(),
                             LoopVar{s.index(l), s.digits[l].stride, s.digits[l].modulus}) -
                   result.order.begin();
        assert(p.loop < result.order.size() || p.mode != LevelMode::Drive);
        levels.push_back(p);
      }
      result.levels.push_back(levels);
    }
    return result;
  }

  const std::vector<bool> &reduction;
  int first;
  bool lowOutside;
  bool anyCost = false;
  std::vector<Shape> shapes;
  std::vector<std::vector<Digit>> chains; ///< per index, high digit first; empty: nobody said
  std::vector<bool> drivenChain;          ///< the chain comes from an iterated level: it cannot change
  std::vector<std::pair<LoopVar, LoopVar>> edges;
  std::vector<unsigned> accepted;
  std::vector<Outer> outer;   ///< per index
  std::vector<unsigned> rank; ///< per index: which of two loops that may both come next does
};

} // namespace

/// The first and the last of the loops over a digit, which they may split; they are in its order where the
/// highest comes first.
struct LoopsOf {
  size_t first = 0, last = 0;
  bool ordered = true;
};

static LoopsOf loopsOf(const LoopVar &digit, const std::vector<LoopVar> &order) {
  const size_t own = std::find(order.begin(), order.end(), digit) - order.begin();
  LoopsOf result{own, own};
  int64_t before = std::numeric_limits<int64_t>::max();
  for (size_t at = 0; at < order.size() && own == order.size() && digit.modulus == 0; ++at)
    if (const LoopVar &loop = order[at]; loop.index == digit.index && loop.stride >= digit.stride) {
      result.first = std::min(result.first, at);
      result.last = at;
      result.ordered &= loop.stride < before;
      before = loop.stride;
    }
  return result;
}

/// Whether loops in this order insert the entries of a new tensor one row after the other.
static bool insertsInOrder(const Plan &plan, const std::vector<bool> &reduction, const Operand &result) {
  size_t last = 0, row = 0; // of the levels so far, and of those above the last
  const std::vector<Digit> digits = *format::digits(result.encoding);
  for (const Digit &digit : digits) {
    const LoopsOf loops =
        loopsOf({result.subscripts[digit.dim].terms[0].first, digit.stride, digit.modulus}, plan.order);
    if (loops.first < last || !loops.ordered)
      return false;
    row = last;
    last = loops.last;
  }
  return std::none_of(plan.order.begin(), plan.order.begin() + std::min(row, plan.order.size()),
                      [&](const LoopVar &loop) { return reduction[loop.index]; });
}

namespace {

/// Where planning begins with one operand, and what that costs in all.
struct Candidate {
  double cost = 0;
  std::variant<Plan, Conversion> outcome;
  bool possible = true; ///< the conversions come to an end

  bool isBetterThan(const Candidate &other) const {
    return std::tuple(!possible, cost) < std::tuple(!other.possible, other.cost);
  }
};

/// Of entries; all the same where not every sparse operand's number is known.
std::vector<double> weightsOf(const std::vector<Operand> &operands, bool known) {
  if (!known)
    return std::vector<double>(operands.size(), 1);
  std::vector<int64_t> entries;
  for (const Operand &operand : operands)
    entries.push_back(operand.entries);
  return relativeEntries(entries);
}

std::string describeCost(int64_t entries, double cost, double worst) {
  std::string text = std::to_string(entries) + " entries";
  if (std::isfinite(cost) && cost > 0 && worst > cost) {
    char ratio[32];
    std::snprintf(ratio, sizeof(ratio), "%.2g", worst / cost);
    text += "; what else would fit costs up to " + std::string(ratio) + " times as much";
  }
  return text;
}

/// Finds the candidate that costs least.
class Search {
public:
  Search(const std::vector<bool> &reduction, const std::vector<Operand> &operands)
      : reduction(reduction), operands(operands) {
    for (size_t o = 0; o < operands.size(); ++o)
      if (operands[o].follows < 0 && Shape(operands[o]).sparse) {
        sparse.push_back(int(o));
        known = known && operands[o].entries >= 0;
      }
    entries = weightsOf(operands, known);
  }

  std::variant<Plan, Conversion> run() {
    // Loops over blocks are best outside of those inside a block. An operand that has to stay as it is may
    // have them in the opposite order.
    Candidate best = cheapest(/*lowOutside=*/false);
    if (!best.possible)
      best = cheapest(/*lowOutside=*/true);
    return best.outcome;
  }

private:
  Candidate cheapest(bool lowOutside) const {
    Candidate best = evaluate(-1, lowOutside);
    if (sparse.size() < 2)
      return best;
    double worst = best.possible ? best.cost : 0;
    for (int first : sparse) {
      if (best.possible && best.cost == 0)
        break;
      Candidate other = evaluate(first, lowOutside);
      if (other.possible && std::isfinite(other.cost))
        worst = std::max(worst, other.cost);
      if (other.isBetterThan(best))
        best = std::move(other);
    }
    if (auto *conversion = std::get_if<Conversion>(&best.outcome); conversion && known)
      conversion->figures = describeCost(operands[conversion->operand].entries, best.cost, worst);
    return best;
  }

  /// Everything that has to be converted when planning begins with `first`.
  Candidate evaluate(int first, bool lowOutside) const {
    const Costs costs;
    std::vector<Operand> stored = operands;
    Candidate result;
    for (size_t attempt = 0; attempt <= operands.size() + 1; ++attempt) {
      Planner planner(reduction, stored, first, lowOutside);
      auto outcome = planner.run();
      if (attempt == 0)
        result.outcome = outcome;
      if (planner.acceptedAnyCost()) {
        result.cost = std::numeric_limits<double>::infinity();
        return result;
      }
      if (auto *done = std::get_if<Plan>(&outcome)) {
        if (stored.back().assembled && !insertsInOrder(*done, reduction, stored.back()))
          result.cost += costs.insertOutOfOrder * std::accumulate(entries.begin(), entries.end(), 0.0);
        return result;
      }
      const Conversion &conversion = std::get<Conversion>(outcome);
      result.cost += costs.convert * entries[conversion.operand];
      stored[conversion.operand].encoding = conversion.target;
    }
    result.possible = false;
    return result;
  }

  const std::vector<bool> &reduction;
  const std::vector<Operand> &operands;
  std::vector<int> sparse;
  bool known = true;           ///< how many entries each of these has
  std::vector<double> entries; ///< relative to each other
};

} // namespace

std::variant<Plan, Conversion> plan(const std::vector<bool> &reduction,
                                    const std::vector<Operand> &operands) {
  return Search(reduction, operands).run();
}

} // namespace tulle::iteration
