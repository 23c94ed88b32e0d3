// Which coordinates a loop must visit, the lattice of the statement at one loop; how much code the loops of a
// statement would be, and which of them have presence flags therefore: loops whose body stands in the code
// once, whatever operands have the coordinate.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "dialect/Scalars.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/sparsify/Emitter.h"
#include <bit>

namespace tulle::passes {
using namespace mlir;
using iteration::LevelMode;

/// Present: nothing is left that could miss, as dense levels never do.
Presence LoopEmitter::presence(const LoopState &s) const {
  Presence result;
  for (size_t o = 0; o + 1 < statement.operands.size(); ++o) {
    uint64_t bit = uint64_t(1) << o;
    bool sure = true;
    const unsigned leader = statement.leaderOf(unsigned(o));
    for (size_t l = s.operands[leader].iterators.size(); l < plan.levels[leader].size(); ++l)
      sure &= plan.levels[leader][l].mode == LevelMode::Locate;
    if (s.operands[leader].absent)
      result.absent |= bit;
    else if (sure && !s.operands[leader].uncertain)
      result.present |= bit;
  }
  return result;
}

Presence LoopEmitter::presence(const LoopState &s, ArrayRef<unsigned> who, uint64_t minterm) const {
  return presence(inCase(s, who, minterm));
}

/// As the case of a minterm sees the operands; iterators are only counted.
LoopState LoopEmitter::inCase(const LoopState &s, ArrayRef<unsigned> who, uint64_t minterm) const {
  LoopState inside = withMinterm(s, who, minterm);
  for (auto [k, o] : llvm::enumerate(who)) {
    if (!(minterm >> k & 1))
      continue;
    size_t level = s.operands[o].iterators.size();
    while (plan.levels[o][level].mode != LevelMode::Drive)
      ++level;
    inside.operands[o].iterators.resize(level + 1);
    inside.operands[o].uncertain = false;
  }
  return inside;
}

/// Whether what the input stores matters, or what one that it leads stores.
bool LoopEmitter::isIterated(unsigned input) const {
  for (unsigned o = 0; o + 1 < statement.operands.size(); ++o)
    if (statement.leaderOf(o) == input && (readByBody[o] || testedByBody[o] || statement.pattern == o))
      return true;
  return false;
}

SmallVector<unsigned> LoopEmitter::openInputs(const LoopState &s) const {
  SmallVector<unsigned> result;
  for (unsigned o = 0; o + 1 < statement.operands.size(); ++o)
    if (!s.operands[o].absent && !statement.operands[o].leader && isIterated(o))
      result.push_back(o);
  return result;
}

/// Inputs whose next level this loop iterates.
SmallVector<unsigned> LoopEmitter::participants(const LoopState &s, unsigned depth) const {
  return llvm::filter_to_vector(openInputs(s), [&](unsigned o) {
    return llvm::any_of(plan.levels[o], [&](const iteration::LevelPlan &level) {
      return level.mode == LevelMode::Drive && level.loop == depth;
    });
  });
}

LoopState LoopEmitter::withMinterm(LoopState s, ArrayRef<unsigned> who, uint64_t minterm) const {
  for (auto [k, o] : llvm::enumerate(who))
    if (!(minterm >> k & 1))
      s.operands[o].absent = true;
  return s;
}

/// The minterms whose coordinates change something, ascending.
SmallVector<unsigned> LoopEmitter::visited(const LoopState &s, unsigned depth, ArrayRef<unsigned> who) {
  SmallVector<unsigned> result;
  unsigned required = 0; // without these nothing changes
  for (unsigned k = 0; k < who.size(); ++k)
    if (algebra.isNoOp(presence(withMinterm(s, who[k], 0))))
      required |= 1u << k;
  for (unsigned minterm = 0; minterm < 1u << who.size(); ++minterm)
    if ((minterm & required) == required && !algebra.isNoOp(presence(s, who, minterm)))
      result.push_back(minterm);
  return result;
}

bool LoopEmitter::isGiven(unsigned depth, const VisitedSet &set) const {
  const unsigned index = plan.order[depth].index;
  return givers[index] && !statement.tiles.areOf(index) && !set.flags &&
         set.participants == ArrayRef<unsigned>{*givers[index]} && set.minterms == ArrayRef<unsigned>{1};
}

/// A reduction over a level that stores a coordinate again for each entry below it takes the entries one by
/// one: segments of a few would be found only to be left again. Only where entries alone contribute, and
/// nothing else is iterated down to them.
bool LoopEmitter::visitsEach(const LoopState &s, unsigned depth, ArrayRef<unsigned> who) {
  if (who.size() != 1 || !isReduction(depth) || !algebra.isNoOp(presence(s, who, 0)))
    return false;
  const unsigned own = who[0];
  const size_t level = s.operands[own].iterators.size(), levels = plan.levels[own].size();
  if (level == 0 || statement.operands[own].encoding.getValue().levels[level].format.unique)
    return false;
  for (unsigned o = 0; o + 1 < statement.operands.size(); ++o)
    for (const iteration::LevelPlan &other : plan.levels[o])
      if (o != own && !statement.operands[o].leader && other.mode == LevelMode::Drive && other.loop > depth &&
          other.loop < depth + (levels - level))
        return false;
  for (size_t l = level + 1; l < levels; ++l)
    if (plan.levels[own][l].mode != LevelMode::Drive || plan.levels[own][l].loop != depth + (l - level))
      return false;
  return true;
}

/// The number of loops up to the result's last one.
unsigned LoopEmitter::resultDepth() const {
  unsigned last = 0;
  for (unsigned d = 0; d < plan.order.size(); ++d)
    if (!isReduction(d))
      last = d + 1;
  return last;
}

/// The loops store to every slot of the result from the start value: filling it first would be wasted.
bool LoopEmitter::writesEverySlot(LoopState s, unsigned depth) {
  dropUnread(s); // as the loops do: what is left may change nothing, and then stores nothing
  if (depth == 0)
    for (const format::Digit &digit : statement.result().digits)
      if (!(onceEach || sumsWide()) || digit.modulus != 0 || digit.stride != 1)
        return false; // padding is nobody's coordinate
  if (depth == resultDepth() || (sumsWide() && depth == workspaceDepth()))
    return true;
  SmallVector<unsigned> who = participants(s, depth);
  if (usesFlags(s, depth, who)) {
    const FlaggedSet set = flaggedSet(s, who);
    return !statement.pattern && set.universe && writesEverySlot(withFlags(s, who, set), depth + 1);
  }
  SmallVector<unsigned> minterms = visited(s, depth, who);
  // One coordinate of the result's own is not all of them.
  if (isReduction(depth) && isGiven(depth, {who, minterms}) && statement.operands[who[0]].total)
    return writesEverySlot(inCase(s, who, 1), depth + 1);
  for (unsigned minterm = 0; minterm < 1u << who.size(); ++minterm) {
    bool hasSlots = true;
    for (auto [k, o] : llvm::enumerate(who))
      hasSlots &= !statement.pattern || statement.leaderOf(*statement.pattern) != o || (minterm >> k & 1);
    if (!hasSlots)
      continue;
    if (!llvm::is_contained(minterms, minterm) || !writesEverySlot(inCase(s, who, minterm), depth + 1))
      return false;
  }
  return true;
}

//===--- How much code the loops are ---===//

iteration::Choice<unsigned> LoopEmitter::chooseFlags(const LoopState &s, unsigned depth) {
  const iteration::CostModel model = dialect::costModel(statement.generic);
  // The loops of a new tensor run to count and to store.
  const int64_t copies = statement.assembled ? model.costs.assemblyCopies : 1;
  auto size = [&](unsigned outer) {
    flagged = outer;
    int64_t result = 0;
    measure(s, depth, copies, 4 * model.costs.codeBudget, result);
    return result;
  };
  // Several copies of what two lists have in common are the first to go: it costs least.
  compact = false;
  compact = size(0) > model.costs.codeBudget;
  iteration::Choice<unsigned> choice = model.flaggedLoops(unsigned(plan.order.size()), size);
  large = size(choice.value) > copies * model.costs.largeStatement;
  flagged = choice.value;
  return choice;
}

bool LoopEmitter::isOverBudget() { return !chooseFlags(outermost(), 0).reason.empty(); }

void LoopEmitter::useFlags(const LoopState &s, unsigned depth) {
  const std::string reason = chooseFlags(s, depth).reason;
  if (!reason.empty())
    dialect::explainChoice(statement.generic, reason);
  if (large)
    statement.generic->getParentOfType<func::FuncOp>()->setAttr(dialect::kLargeAttr, b.getUnitAttr());
}

/// What it takes to follow a level in a merge.
static int64_t stepSize(const format::LevelFormat &level) {
  constexpr int64_t plain = 2, segment = 16;
  return plain + (level.unique ? 0 : segment);
}

int64_t LoopEmitter::leafSize(const LoopState &s) {
  constexpr int64_t access = 2, search = 24, guarded = 4;
  Presence at = presence(s);
  BodyAlgebra::Reads reads = algebra.reads(algebra.yieldOperand(), at);
  const bool once = flagged > plan.order.size() || isUncertain(s);
  int64_t size = int64_t(reads.values) + access * std::popcount(reads.inputs), bodies = 1, searches = 0;
  for (unsigned o : openInputs(s)) {
    if (!(reads.inputs >> o & 1))
      continue;
    bool searched = false;
    for (size_t l = s.operands[o].iterators.size(); l < plan.levels[o].size(); ++l)
      searched |= plan.levels[o][l].mode == iteration::LevelMode::Search;
    if (s.operands[o].uncertain || (once && searched))
      size += guarded;
    if (!searched)
      continue;
    searches += search * bodies;
    if (!once)
      bodies *= 2;
  }
  return size * bodies + searches;
}

void LoopEmitter::measure(LoopState s, unsigned depth, int64_t copies, int64_t enough, int64_t &size) {
  constexpr int64_t loop = 6, choose = 4;
  if (size > enough)
    return;
  dropUnread(s);
  if (depth == plan.order.size()) {
    size += copies * leafSize(s);
    return;
  }
  SmallVector<unsigned> who = participants(s, depth);
  auto step = [&](unsigned o) {
    size_t level = s.operands[o].iterators.size();
    while (plan.levels[o][level].mode != iteration::LevelMode::Drive)
      ++level;
    return stepSize(statement.operands[o].encoding.getValue().levels[level].format);
  };
  size += copies * loop;
  if (usesFlags(s, depth, who)) {
    if (depth >= flagged) // cases would not fit any budget
      size = enough + 1;
    for (unsigned o : who)
      size += copies * (2 * step(o));
    return measure(withFlags(s, who, flaggedSet(s, who)), depth + 1, copies, enough, size);
  }
  // A merge goes on as a loop over the gaps that are left, one of two as a loop over what is left of one.
  const SmallVector<unsigned> minterms = visited(s, depth, who);
  const bool two = who.size() == 2, tails = two && minterms.size() > 1;
  // An innermost loop over what two lists share has its body this often, and as much else.
  const bool shared = two && minterms == ArrayRef<unsigned>{3} && depth + 1 == plan.order.size();
  const int64_t bodies = compact ? 2 : 5, steps = compact ? 40 : 120;
  size += shared ? copies * steps : 0;
  for (unsigned minterm : minterms) {
    const bool again = minterm == 0 ? !who.empty() : tails && minterm != 3;
    const int64_t each = copies * (shared ? bodies : again ? 2 : 1);
    size += each * choose;
    for (auto [k, o] : llvm::enumerate(who))
      size += minterm >> k & 1 ? each * step(o) : 0;
    measure(inCase(s, who, minterm), depth + 1, each, enough, size);
  }
}

//===--- Loops with a presence flag for each operand ---===//

std::string FlaggedSet::print() const {
  if (universe)
    return "1";
  std::string all, others;
  unsigned optional = 0;
  for (auto [k, needed] : llvm::enumerate(required)) {
    std::string &text = needed ? all : others;
    optional += !needed;
    if (needed || oneOf)
      text += (text.empty() ? "" : needed ? " & " : " | ") + iteration::operandName(unsigned(k));
  }
  if (others.empty() || all.empty())
    return all + others;
  return all + " & " + (optional > 1 ? "(" + others + ")" : others);
}

FlaggedSet LoopEmitter::flaggedSet(const LoopState &s, ArrayRef<unsigned> who) {
  FlaggedSet set;
  LoopState least = s;
  for (unsigned o : who) {
    LoopState missing = s;
    missing.operands[o].absent = true;
    set.required.push_back(algebra.isNoOp(presence(missing)));
    if (set.required.back())
      least = inCase(least, o, 1);
    else
      least.operands[o].absent = true;
  }
  set.oneOf = algebra.isNoOp(presence(least));
  set.universe = !set.oneOf && llvm::none_of(set.required, [](bool needed) { return needed; });
  return set;
}

bool LoopEmitter::usesFlags(const LoopState &s, unsigned depth, ArrayRef<unsigned> who) {
  // Telling the sets of more operands apart takes longer than their loops are worth: 256 would be tested
  // here.
  constexpr size_t most = 8;
  if (who.empty() || (depth >= flagged && who.size() <= most))
    return false;
  FlaggedSet set = flaggedSet(s, who);
  const auto optional = size_t(llvm::count(set.required, false));
  // A result with the pattern of an operand has no slot where that one has no entry.
  for (auto [o, needed] : llvm::zip(who, set.required))
    if (statement.pattern && statement.leaderOf(*statement.pattern) == o && !needed)
      return false;
  const bool fits = who.size() <= iteration::CoordinateSet::mostOperands;
  return !fits || optional > most || (depth < flagged && optional > 0);
}

LoopState LoopEmitter::withFlags(const LoopState &s, ArrayRef<unsigned> who, const FlaggedSet &set) const {
  LoopState inside = s;
  for (auto [o, needed] : llvm::zip(who, set.required)) {
    inside = inCase(inside, o, 1);
    inside.operands[o].uncertain = !needed;
  }
  return inside;
}

LoopEmitter::Carried LoopEmitter::flaggedLeaf(LoopState s) {
  advance(s);
  while (std::optional<unsigned> o = nextSearch(s))
    search(s, *o);
  if (statement.assembled && algebra.isNoOp(presence(s)))
    return s.carried;
  uint64_t uncertain = 0, tested = 0;
  SmallVector<Value> present;
  for (unsigned o = 0; o + 1 < statement.operands.size(); ++o) {
    const OperandState &leader = s.operands[statement.leaderOf(o)];
    s.operands[o].present = leader.present;
    present.push_back(leader.present);
    uncertain |= uint64_t(leader.uncertain && !leader.absent) << o;
    tested |= uint64_t(testedByBody[o]) << o;
  }
  FlagAlgebra algebraOfFlags(b, loc, algebra, presence(s), uncertain, tested, present);
  flags = &algebraOfFlags;
  Carried result = body(s);
  flags = nullptr;
  return result;
}

/// Searches for the operand's entry, and with it those that it leads: a flag says whether it has an entry,
/// and values that it does not have are the fill.
void LoopEmitter::search(LoopState &s, unsigned o) {
  SmallVector<unsigned> group;
  for (unsigned p = 0; p + 1 < statement.operands.size(); ++p)
    if (statement.leaderOf(p) == o && readByBody[p])
      group.push_back(p);
  SmallVector<Type> types{b.getI1Type()};
  for (unsigned p : group)
    types.push_back(getElementTypeOrSelf(statement.operands[p].tensor.getType()));
  auto missing = [&] {
    Carried results{boolean(false)};
    llvm::append_range(results, fills(group));
    return results;
  };
  std::function<Carried(LoopState)> reach = [&](LoopState at) -> Carried {
    advance(at);
    if (at.operands[o].iterators.size() == statement.operands[o].digits.size()) {
      Carried results{boolean(true)};
      for (unsigned p : group)
        results.push_back(at.operands[p].value);
      return results;
    }
    Value isFound = searchNext(at, o).getFound();
    return levels::ifElse(b, loc, isFound, types, [&] { return reach(at); }, missing);
  };
  OperandState &state = s.operands[o];
  LoopState there = s;
  there.operands[o].uncertain = false;
  Carried results = state.uncertain ? levels::ifElse(
                                          b, loc, state.present, types, [&] { return reach(there); }, missing)
                                    : reach(there);
  for (auto [p, value] : llvm::zip(group, ArrayRef(results).drop_front()))
    s.operands[p].value = value;
  state.uncertain = true;
  state.present = results[0];
  state.iterators.resize(statement.operands[o].digits.size());
}

/// A space is empty where its parent is no entry, and where what is read of it does not matter because
/// another operand has no entry: a row of B in `A(i,k) * B(k,j)`.
Value LoopEmitter::condition(const LoopState &s, unsigned operand) {
  Value result;
  for (unsigned p = 0; p + 1 < statement.operands.size(); ++p) {
    if (!s.operands[p].uncertain || s.operands[p].absent || statement.operands[p].leader)
      continue;
    LoopState missing = s;
    missing.operands[p].absent = true;
    if (p == operand || !isRead(missing, operand))
      result = result == s.operands[p].present ? result : both(result, s.operands[p].present);
  }
  return result;
}

LoopEmitter::Carried LoopEmitter::fills(ArrayRef<unsigned> operands) {
  Carried values;
  for (unsigned o : operands) {
    auto type = cast<RankedTensorType>(statement.operands[o].tensor.getType());
    values.push_back(dialect::materialize(b, loc, dialect::fillAttr(type), type.getElementType()));
  }
  return values;
}

bool LoopEmitter::isUncertain(const LoopState &s) const {
  return llvm::any_of(s.operands, [](const OperandState &o) { return o.uncertain && !o.absent; });
}

/// Whether what the operand stores, or one that it leads, still matters.
bool LoopEmitter::isRead(const LoopState &s, unsigned operand) {
  const uint64_t inputs = algebra.reads(algebra.yieldOperand(), presence(s)).inputs;
  for (unsigned o = operand; o + 1 < statement.operands.size(); ++o)
    if (statement.leaderOf(o) == operand && (inputs >> o & 1 || statement.pattern == o))
      return true;
  return false;
}

/// What does not matter any more is not iterated: a row of B where A has no entry, in `A(i,k) * B(k,j) + …`.
void LoopEmitter::dropUnread(LoopState &s) {
  for (unsigned o : openInputs(s)) {
    auto left = ArrayRef(plan.levels[o]).drop_front(s.operands[o].iterators.size());
    bool iterates = llvm::any_of(
        left, [](const iteration::LevelPlan &level) { return level.mode != iteration::LevelMode::Locate; });
    if (!statement.operands[o].extent && iterates && !isRead(s, o))
      s.operands[o].absent = true;
  }
}

} // namespace tulle::passes
