// How much code the loops of a statement would be, and which of them have presence flags therefore.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/sparsify/Emitter.h"
#include <bit>

namespace tulle::passes {
using namespace mlir;

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
  for (unsigned o = 0; o + 1 < statement.operands.size(); ++o) {
    if (s.operands[o].absent || statement.operands[o].leader || !isWalked(o) || !(reads.inputs >> o & 1))
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
  // A merge of two goes on as a loop over what is left of one.
  const SmallVector<unsigned> minterms = visited(s, depth, who);
  const bool tails = who.size() == 2 && minterms.size() > 1;
  for (unsigned minterm : minterms) {
    const int64_t each = tails && minterm != 3 && minterm != 0 ? 2 * copies : copies;
    size += each * choose;
    for (auto [k, o] : llvm::enumerate(who))
      size += minterm >> k & 1 ? each * step(o) : 0;
    measure(inCase(s, who, minterm), depth + 1, each, enough, size);
  }
}

} // namespace tulle::passes
