// Questions about which operands of a set have a coordinate, as bits at run time.
#pragma once
#include "passes/lower/Space.h"

namespace tulle::lower {

/// Up to so many operands, the sets without a case are listed.
inline constexpr unsigned kFewOperands = 6;

/// The operands of a minterm.
llvm::SmallVector<unsigned> members(iteration::Minterm minterm);

/// The nonempty sets of operands of `among` that are none of the cases; none where they are too many.
llvm::SmallVector<iteration::Minterm> setsWithoutCase(iteration::Minterm among, llvm::ArrayRef<int64_t> cases,
                                                      unsigned operands);

/// Whether the operands that have the coordinate (`has`; null: not among those at hand) are exactly those of
/// the minterm. `others`: the sets that it can be else, all of them for few operands; null where there is
/// none.
Value hasExactly(const Emitter &emit, iteration::Minterm minterm, std::vector<iteration::Minterm> others,
                 llvm::ArrayRef<Value> has);

/// The set with a bit for each operand. `negatedAs`: what stands for every negation.
Value evaluate(const Emitter &emit, const iteration::SetExpression &set, std::optional<bool> negatedAs,
               llvm::function_ref<Value(unsigned)> operand);

} // namespace tulle::lower
