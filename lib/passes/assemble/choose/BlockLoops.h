// The loops of a result whose blocks of values are accumulated one at a time.
#pragma once
#include "passes/assemble/choose/Order.h"
#include "passes/assemble/choose/TargetFacts.h"

namespace tulle::assemble {

/// The loops that make one block, from the outermost: over the entries of one level, then over ranges.
using BlockLoops = llvm::SmallVector<dialect::IterateOp>;

/// Those around the op's only insert, up to the loop whose coordinate is the last stored level's. Whether
/// each has an iteration is known before it.
std::optional<BlockLoops> matchBlockLoops(const TargetFacts &target, dialect::AssembleOp op,
                                          const Order &order);
const format::Encoding &encodingOf(dialect::SpaceOp space);

} // namespace tulle::assemble
