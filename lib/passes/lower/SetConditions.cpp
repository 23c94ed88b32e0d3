// Only as many operands are asked as decide.
#include "passes/lower/SetConditions.h"
#include <bit>

using namespace mlir;

namespace tulle::lower {

using iteration::Minterm;
using iteration::SetExpression;

SmallVector<unsigned> members(Minterm minterm) {
  SmallVector<unsigned> result;
  for (; minterm; minterm &= minterm - 1)
    result.push_back(unsigned(std::countr_zero(minterm)));
  return result;
}

SmallVector<Minterm> setsWithoutCase(Minterm among, ArrayRef<int64_t> cases, unsigned operands) {
  SmallVector<Minterm> others;
  if (operands <= kFewOperands)
    for (Minterm m = 1; m <= among; ++m)
      if ((m & ~among) == 0 && !llvm::is_contained(cases, int64_t(m)))
        others.push_back(m);
  return others;
}

Value hasExactly(const Emitter &emit, Minterm minterm, std::vector<Minterm> others, ArrayRef<Value> has) {
  const bool few = has.size() <= kFewOperands;
  const Minterm asked = few ? iteration::distinguish(minterm, std::move(others)) : ~Minterm(0);
  Value condition;
  for (auto [k, bit] : llvm::enumerate(has))
    if (bit && asked >> k & 1)
      condition = emit.both(condition, minterm >> k & 1 ? bit : emit.negate(bit));
  return condition;
}

Value evaluate(const Emitter &emit, const SetExpression &set, std::optional<bool> negatedAs,
               function_ref<Value(unsigned)> operand) {
  using Kind = SetExpression::Kind;
  switch (set.kind) {
  case Kind::Operand:
    return operand(set.operand);
  case Kind::Everything:
  case Kind::Nothing:
    return emit.bit(set.kind == Kind::Everything);
  case Kind::Not:
    return negatedAs ? emit.bit(*negatedAs) : emit.negate(evaluate(emit, set.parts[0], negatedAs, operand));
  case Kind::And:
  case Kind::Or:
    break;
  }
  Value result;
  for (const SetExpression &part : set.parts) {
    Value next = evaluate(emit, part, negatedAs, operand);
    result = set.kind == Kind::And ? emit.both(result, next) : emit.either(result, next);
  }
  return result;
}

} // namespace tulle::lower
