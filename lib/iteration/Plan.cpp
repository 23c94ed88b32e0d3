// A loop order is a topological order of the digits of indices: each operand adds an edge from every loop
// that its outer levels need to the loop over an inner one. Operands are accepted one after the other, the
// result's pattern first; one whose edges close a cycle, or whose blocks clash, is to be converted to the
// order of those accepted. Of the loops that may come next, those over stored coordinates and what they need
// are taken before dense ones, and of these the loop that the most operands traverse with stride 1 comes
// last. Each sparse operand is tried as the first one, and the outcome whose conversions and insertions out
// of order cost least is taken.
#include "iteration/Plan.h"
#include "iteration/CostModel.h"
#include "iteration/Places.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace tulle::iteration {
using format::Encoding;
using format::LevelKind;

bool hasTables(const format::LevelFormat &level) {
  return level.unique && !level.padded &&
         (level.kind == LevelKind::Compressed || level.kind == LevelKind::LooseCompressed);
}

namespace {

/// Where operands that are converted may have loops over a low digit: inside of those over its high one, or
/// anywhere.
enum class LowDigits { Inside, Anywhere };
/// Whether loops that may visit far more than what is stored are accepted.
enum class Visits { FewCoordinates, AnyNumber };

/// The constraints on the order of loops gathered from the operands accepted so far.
class LoopOrder {
public:
  /// `first`: the operand that decides before the others, or -1.
  LoopOrder(const std::vector<bool> &reduction, const std::vector<Operand> &operands,
            const WantedOrder &wanted, int first, LowDigits lowDigits)
      : reduction(reduction), wanted(wanted), first(first), lowDigits(lowDigits), chains(reduction.size()),
        drivenChain(reduction.size(), false), outer(reduction.size(), Outer::None),
        preference(reduction.size()) {
    for (const Operand &op : operands)
      shapes.emplace_back(op);
    std::iota(preference.begin(), preference.end(), 0);
    if (!operands.empty() && operands.back().assembled && wanted.empty())
      followResult(shapes.back());
  }

  std::variant<Plan, Conversion> plan() {
    for (unsigned o : priority()) {
      std::string reason = accept(o);
      const bool keep = shapes[o].operand->keep;
      if (reason.empty() || (keep && wanted.empty()))
        continue;
      Encoding better = target(o);
      if (keep)
        return Conversion{o, better, reason, ""};
      if (shapes[o].operand->fixed)
        better = shapes[o].operand->encoding;
      if (better != shapes[o].operand->encoding)
        return Conversion{o, better, reason, ""};
      // What is stored in the best order already stays, whatever it costs.
      bool fits = accept(o, Visits::AnyNumber).empty();
      if (!fits) {
        // What cannot be stored otherwise decides against the result.
        outer.assign(outer.size(), Outer::None);
        fits = accept(o, Visits::AnyNumber).empty();
      }
      if (!fits)
        return Conversion{o, better, reason, ""};
      anyCost |= !shapes[o].operand->fixed;
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
      if (std::ranges::find(order, result.index(l)) == order.end())
        order.push_back(result.index(l));
    for (unsigned n = 0; n < order.size(); ++n)
      preference[order[n]] = n;
    for (unsigned n = 0; n + 1 < order.size(); ++n)
      outer[order[n]] = Outer::All;
    for (size_t l = 0; l < result.digits.size(); ++l)
      if (result.digits[l].modulus != 0 && outer[result.index(l)] != Outer::None)
        outer[result.index(l)] = Outer::High;
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
      return std::tuple(x.keep, x.fixed || x.split, int(a) == first, x.encoding.order()) >
             std::tuple(y.keep, y.fixed || y.split, int(b) == first, y.encoding.order());
    });
    return result;
  }

  /// Adds an operand's constraints; on a clash undoes them and returns the reason.
  std::string accept(unsigned o, Visits visits = Visits::FewCoordinates) {
    auto saved = std::tuple(chains, drivenChain, edges);
    std::string reason = acceptChains(shapes[o]);
    if (reason.empty()) {
      addEdges(shapes[o]);
      if (!order())
        reason = !wanted.empty() ? "its levels are stored in another order"
                 : accepted.empty()
                     ? "its levels are stored in an order in which no row of the result is ever finished"
                     : "its levels are stored in an order that no loop order of the other operands allows";
      else if (visits == Visits::FewCoordinates && wanted.empty() && isInnerProduct(o))
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
      if (!s.operand->subscripts[d].isFollowed())
        continue;
      unsigned index = s.operand->subscripts[d].terms[0].first;
      const std::vector<LoopVar> chain = s.chain(d);
      const bool drives = std::ranges::any_of(s.driven(), [&](size_t l) { return s.digits[l].dim == d; });
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
    for (size_t l : s.driven()) {
      for (size_t k = 0; k < l; ++k)
        for (auto [index, coefficient] : s.subscript(k).terms)
          edges.push_back({s.subscript(k).isFollowed() ? s.loop(k) : LoopVar{index, 0, 0}, s.loop(l)});
      for (size_t k = l + 1; k < s.digits.size(); ++k)
        if (s.digits[k].dim == s.digits[l].dim && s.modes[k] == LevelMode::Locate)
          edges.push_back({s.loop(l), s.loop(k)});
    }
  }

  /// The loops over an index: one where no operand splits it.
  std::vector<LoopVar> chainOf(unsigned index) const {
    return chains[index].empty() ? std::vector<LoopVar>{{index, 1, 0}} : chains[index];
  }

  std::vector<LoopVar> vars() const {
    std::vector<LoopVar> result;
    for (unsigned i = 0; i < chains.size(); ++i)
      std::ranges::copy(chainOf(i), std::back_inserter(result));
    return result;
  }

  /// before[v]: the loops that must be outside loop v.
  std::vector<std::set<unsigned>> predecessors(const std::vector<LoopVar> &all) const {
    std::vector<std::set<unsigned>> before(all.size());
    for (auto &[from, to] : edges)
      for (unsigned v = 0; v < all.size(); ++v) {
        if (!(all[v] == to))
          continue;
        const bool exact = std::ranges::count(all, from) > 0;
        for (unsigned u = 0; u < all.size(); ++u)
          if (u != v && all[u].index == from.index && (!exact || all[u] == from))
            before[v].insert(u);
      }
    for (unsigned v = 0; v < all.size(); ++v)
      for (unsigned u = 0; u < all.size(); ++u)
        if ((reduction[all[v].index] && staysOutside(all[u])) || isWantedOutside(all[u], all[v]))
          before[v].insert(u);
    return before;
  }

  bool isWantedOutside(const LoopVar &u, const LoopVar &v) const {
    const auto place = [&](const LoopVar &loop) {
      return std::ranges::find_if(wanted, [&](const LoopVar &name) { return isMeant(loop, name); }) -
             wanted.begin();
    };
    return place(u) < place(v) && place(v) < std::ssize(wanted);
  }

  std::optional<std::vector<LoopVar>> order() const {
    auto all = vars();
    auto before = predecessors(all);
    const Places places(reduction, shapes, all, before);
    std::vector<bool> done(all.size(), false);
    std::vector<LoopVar> result;
    while (result.size() < all.size()) {
      int best = -1;
      for (unsigned v = 0; v < all.size(); ++v) {
        bool ready =
            !done[v] && std::all_of(before[v].begin(), before[v].end(), [&](unsigned u) { return done[u]; });
        if (ready && (best < 0 || key(all[v], places.of(v)) < key(all[best], places.of(best))))
          best = v;
      }
      if (best < 0)
        return std::nullopt;
      done[best] = true;
      result.push_back(all[best]);
    }
    return result;
  }

  /// Smaller comes first: low unit-stride score before high, result indices before reductions, high digits
  /// before low.
  std::tuple<Place, int, bool, unsigned, int64_t> key(const LoopVar &v, Place place) const {
    const bool dense = place == Place::Outermost || place == Place::Inside;
    return {place, dense ? unitStride(shapes, v) : 0, dense && reduction[v.index], preference[v.index],
            -v.stride};
  }

  /// Intersecting two operands that each have an outer index the other lacks costs the product of the outer
  /// sizes: an order with one of them inside is cheaper even after a conversion.
  bool isInnerProduct(unsigned o) const {
    for (unsigned other : accepted)
      for (size_t l : shapes[o].driven())
        for (size_t k : shapes[other].driven()) {
          if (shapes[o].index(l) != shapes[other].index(k))
            continue;
          const auto mine = outside(shapes[o], l), theirs = outside(shapes[other], k);
          if (!std::ranges::includes(theirs, mine) && !std::ranges::includes(mine, theirs) &&
              !isIndexed(o, l, other, k) && !isIndexed(other, k, o, l))
            return true;
        }
    return false;
  }
  /// Whether level l of operand o is met again and again by the rows of `other` at its level k, which another
  /// operand selects: then a position table can index it (tulle-index-operands), and what is visited is
  /// these rows.
  bool isIndexed(unsigned o, size_t l, unsigned other, size_t k) const {
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
    auto selects = [&](unsigned s) {
      return s != iterated && s != table && std::ranges::any_of(shapes[s].driven(), [&](size_t l) {
               return shapes[s].index(l) == index && !outside(shapes[s], l).empty();
             });
    };
    for (unsigned s = 0; s < shapes.size(); ++s) {
      const auto selecting = double(shapes[s].operand->entries),
                 rows = double(shapes[iterated].operand->entries),
                 tabled = double(shapes[table].operand->entries);
      if (selects(s) && (selecting < 0 || rows < 0 || tabled < 0 ||
                         selecting * rows <= Costs().mergeStep * tabled * (selecting + rows)))
        return true;
    }
    return false;
  }

  static std::set<unsigned> outside(const Shape &s, size_t level) {
    std::set<unsigned> result;
    for (size_t k = 0; k < level; ++k)
      for (auto [index, coefficient] : s.subscript(k).terms)
        result.insert(index);
    result.erase(s.index(level));
    return result;
  }

  /// The level of a dimension that has this digit.
  static format::Level levelOf(unsigned dim, const LoopVar &digit) {
    format::Expr e = format::dim(dim);
    if (digit.stride != 1)
      e = format::binary(format::ExprKind::FloorDiv, e, format::constant(digit.stride));
    if (digit.modulus != 0)
      e = format::binary(format::ExprKind::Mod, e, format::constant(digit.modulus));
    return {"", e, {}};
  }

  /// The last loop over digits of the index; as many as there are where none is.
  static size_t endOf(unsigned index, const std::vector<LoopVar> &loops) {
    for (size_t v = loops.size(); v-- > 0;)
      if (loops[v].index == index)
        return v;
    return loops.size();
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
    const std::vector<LoopVar> loops = *order();
    std::multimap<size_t, format::Level> high, low; // by their loops
    for (unsigned d = 0; d < op.encoding.order(); ++d) {
      const Subscript &subscript = op.subscripts[d];
      const bool plain = subscript.isFollowed();
      // Known once its index is.
      const size_t known = subscript.isShifted() ? endOf(subscript.terms[0].first, loops) : loops.size();
      size_t outside = 0; // padding ends where the high digit's block does: the low one stands inside
      for (const LoopVar &digit : plain ? chainOf(subscript.terms[0].first) : std::vector{LoopVar()}) {
        size_t at = plain ? std::ranges::find(loops, digit) - loops.begin() : known;
        if (lowDigits == LowDigits::Inside)
          outside = at = std::max(at, outside);
        // Without padding every level is iterated, and iteration follows the loops.
        const bool iterated = digit.modulus == 0 || op.exact || lowDigits == LowDigits::Anywhere;
        (iterated ? high : low).emplace(at, levelOf(d, digit));
      }
    }
    for (auto &[at, level] : high) {
      const bool dense = result.levels.empty() && high.size() == 2;
      level.format.kind = dense ? LevelKind::Dense : LevelKind::Compressed;
      result.levels.push_back(level);
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
        LevelPlan level{s.modes[l], 0};
        if (level.mode == LevelMode::Drive)
          level.loop = std::ranges::find(result.order, s.loop(l)) - result.order.begin();
        assert(level.loop < result.order.size() || level.mode != LevelMode::Drive);
        levels.push_back(level);
      }
      result.levels.push_back(levels);
    }
    return result;
  }

  const std::vector<bool> &reduction;
  const WantedOrder &wanted;
  int first;
  LowDigits lowDigits;
  bool anyCost = false;
  std::vector<Shape> shapes;
  std::vector<std::vector<LoopVar>> chains; ///< per index, high digit first; empty: nobody said
  std::vector<bool> drivenChain;            ///< the chain comes from an iterated level: it cannot change
  std::vector<std::pair<LoopVar, LoopVar>> edges;
  std::vector<unsigned> accepted;
  std::vector<Outer> outer;         ///< per index
  std::vector<unsigned> preference; ///< per index: which of two loops that may both come next does
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
  const Shape shape(result);
  for (size_t l = 0; l < shape.digits.size(); ++l) {
    const LoopsOf loops = loopsOf(shape.loop(l), plan.order);
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

std::string describeCost(int64_t entries, double cost, double worst) {
  const bool comparable = std::isfinite(cost) && cost > 0 && worst > cost;
  return fmt::format(
      "{} entries{}", entries,
      comparable ? fmt::format("; what else would fit costs up to {:.2g} times as much", worst / cost) : "");
}

/// The candidates of a statement.
class Candidates {
public:
  Candidates(const std::vector<bool> &reduction, const std::vector<Operand> &operands,
             const WantedOrder &wanted)
      : reduction(reduction), operands(operands), wanted(wanted) {
    for (size_t o = 0; o < operands.size(); ++o)
      if (operands[o].follows < 0 && Shape(operands[o]).sparse) {
        sparse.push_back(int(o));
        known = known && operands[o].entries >= 0;
      }
    // As if all had as many where not every number is known.
    std::vector<int64_t> counts;
    for (const Operand &operand : operands)
      counts.push_back(known ? operand.entries : 1);
    entries = relativeEntries(counts);
  }

  /// What the candidate that costs least begins with.
  std::variant<Plan, Conversion> cheapest() const {
    // Loops over blocks are best outside of those inside a block. An operand that has to stay as it is may
    // have them in the opposite order.
    const Candidate best = cheapest(LowDigits::Inside);
    return best.possible ? best.outcome : cheapest(LowDigits::Anywhere).outcome;
  }

private:
  Candidate cheapest(LowDigits lowDigits) const {
    Candidate best = evaluate(-1, lowDigits);
    if (sparse.size() < 2)
      return best;
    double worst = best.possible ? best.cost : 0;
    for (int first : sparse) {
      if (best.possible && best.cost == 0)
        break;
      Candidate other = evaluate(first, lowDigits);
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
  Candidate evaluate(int first, LowDigits lowDigits) const {
    const Costs costs;
    std::vector<Operand> stored = operands;
    Candidate result;
    for (size_t attempt = 0; attempt <= operands.size() + 1; ++attempt) {
      LoopOrder order(reduction, stored, wanted, first, lowDigits);
      auto outcome = order.plan();
      if (attempt == 0)
        result.outcome = outcome;
      if (order.acceptedAnyCost()) // others may still have to be converted, and not be able to
        result.cost = std::numeric_limits<double>::infinity();
      if (auto *done = std::get_if<Plan>(&outcome)) {
        if (stored.back().assembled && !insertsInOrder(*done, reduction, stored.back()))
          result.cost += costs.insertOutOfOrder * std::accumulate(entries.begin(), entries.end(), 0.0);
        return result;
      }
      const Conversion &conversion = std::get<Conversion>(outcome);
      result.cost += costs.convert * entries[conversion.operand];
      convert(stored[conversion.operand], conversion.target);
    }
    result.possible = false;
    return result;
  }

  /// Other parts of its dimensions are followed then.
  static void convert(Operand &operand, const Encoding &target) {
    operand.encoding = target;
    for (unsigned d = 0; d < operand.subscripts.size(); ++d)
      operand.subscripts[d].isPart = operand.subscripts[d].isInterval && format::storesInOrder(target, d);
  }

  const std::vector<bool> &reduction;
  const std::vector<Operand> &operands;
  const WantedOrder &wanted;
  std::vector<int> sparse;
  bool known = true;           ///< how many entries each of these has
  std::vector<double> entries; ///< relative to each other
};

} // namespace

std::variant<Plan, Conversion> plan(const std::vector<bool> &reduction, const std::vector<Operand> &operands,
                                    const WantedOrder &wanted) {
  return Candidates(reduction, operands, wanted).cheapest();
}

} // namespace tulle::iteration
