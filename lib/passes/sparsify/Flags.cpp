// Loops whose body stands in the code once, whatever operands have the coordinate: each comes with a presence
// flag.
#include "dialect/Scalars.h"
#include "passes/sparsify/Emitter.h"

namespace tulle::passes {
using namespace mlir;

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
  if (who.size() < 2 || (depth >= flagged && who.size() <= most))
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
  for (unsigned p = o; p + 1 < statement.operands.size(); ++p)
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
