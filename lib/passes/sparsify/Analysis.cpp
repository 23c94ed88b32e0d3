// Which coordinates a loop must visit: the lattice of the statement at one loop.
#include "passes/sparsify/Emitter.h"

namespace tulle::passes {
using namespace mlir;
using iteration::LevelMode;

/// Present: nothing is left that could miss, as dense levels never do.
Presence LoopEmitter::presence(const LoopState &s) const {
  Presence result;
  for (size_t o = 0; o + 1 < statement.operands.size(); ++o) {
    uint64_t bit = uint64_t(1) << o;
    bool sure = true;
    const unsigned walked = statement.leaderOf(unsigned(o));
    for (size_t l = s.operands[walked].iterators.size(); l < plan.levels[walked].size(); ++l)
      sure &= plan.levels[walked][l].mode == LevelMode::Locate;
    if (s.operands[walked].absent)
      result.absent |= bit;
    else if (sure && !s.operands[walked].uncertain)
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
bool LoopEmitter::isWalked(unsigned input) const {
  for (unsigned o = input; o + 1 < statement.operands.size(); ++o)
    if (statement.leaderOf(o) == input && (readByBody[o] || testedByBody[o] || statement.pattern == o))
      return true;
  return false;
}

/// Inputs whose next level this loop walks.
SmallVector<unsigned> LoopEmitter::participants(const LoopState &s, unsigned depth) const {
  SmallVector<unsigned> result;
  for (unsigned o = 0; o + 1 < statement.operands.size(); ++o) {
    if (s.operands[o].absent || statement.operands[o].leader || !isWalked(o))
      continue;
    for (const iteration::LevelPlan &level : plan.levels[o])
      if (level.mode == LevelMode::Drive && level.loop == depth)
        result.push_back(o);
  }
  return result;
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

/// A reduction over a level that stores a coordinate again for each entry below it takes the entries one by
/// one: segments of a few would be found only to be left again. Only where entries alone contribute, and
/// nothing else is walked down to them.
bool LoopEmitter::visitsEach(const LoopState &s, unsigned depth, ArrayRef<unsigned> who) {
  if (who.size() != 1 || !isReduction(depth) || !algebra.isNoOp(presence(s, who, 0)))
    return false;
  const unsigned walked = who[0];
  const size_t level = s.operands[walked].iterators.size(), levels = plan.levels[walked].size();
  if (level == 0 || statement.operands[walked].encoding.getValue().levels[level].format.unique)
    return false;
  for (unsigned o = 0; o + 1 < statement.operands.size(); ++o)
    for (const iteration::LevelPlan &other : plan.levels[o])
      if (o != walked && !statement.operands[o].leader && other.mode == LevelMode::Drive &&
          other.loop > depth && other.loop < depth + (levels - level))
        return false;
  for (size_t l = level + 1; l < levels; ++l)
    if (plan.levels[walked][l].mode != LevelMode::Drive || plan.levels[walked][l].loop != depth + (l - level))
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
bool LoopEmitter::writesEverySlot(const LoopState &s, unsigned depth) {
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

} // namespace tulle::passes
