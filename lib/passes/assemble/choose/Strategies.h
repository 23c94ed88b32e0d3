// The strategies of tulle.assemble: which fit a tensor, and which is taken.
#pragma once
#include "passes/assemble/choose/Order.h"
#include "passes/assemble/choose/TargetFacts.h"

namespace tulle::assemble {

/// Whether the order of the entries and the target's levels allow the strategy.
bool fits(dialect::AssemblyStrategy strategy, const TargetFacts &target, const Stream &stream);
bool fitsAppendBlocks(const TargetFacts &target, const Stream &stream);
bool fitsWorkspace(const TargetFacts &target, const Stream &stream);
/// Sets the op's strategy to the cheapest that fits, with a remark; a strategy that it has must fit.
mlir::LogicalResult chooseStrategy(dialect::AssembleOp op);

/// Whether positions can be added to all stored levels at their ends.
bool growsAtEnds(const TargetFacts &target);
/// The values below one coordinate of a workspace's level; nullopt where that is not known or too many.
std::optional<int64_t> workspaceBlock(const TargetFacts &target);

} // namespace tulle::assemble
