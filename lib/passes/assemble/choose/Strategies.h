// The strategies of tulle.assemble: which fit a tensor, and which is taken.
#pragma once
#include "levels/LevelFormat.h"
#include "passes/assemble/choose/Order.h"
#include "passes/assemble/choose/TargetFacts.h"

namespace tulle::assemble {

/// Whether the order of the entries and the target's levels allow the strategy.
bool fits(dialect::AssemblyStrategy strategy, const TargetFacts &target, const Stream &stream);
bool fitsAppendBlocks(const TargetFacts &target, const Stream &stream);
bool fitsWorkspace(const TargetFacts &target, const Stream &stream);
/// A row of one iteration: one level, whose entries are listed.
bool fitsRow(const TargetFacts &target, const Stream &stream);
/// Sets the op's strategy to the cheapest that fits, with a remark; a strategy that it has must fit.
mlir::LogicalResult chooseStrategy(dialect::AssembleOp op);

/// Whether positions can be added to all stored levels at their ends.
bool growsAtEnds(const TargetFacts &target);
/// The values below one coordinate of a workspace's level; nullopt where that is not known or too many.
std::optional<int64_t> workspaceBlock(const TargetFacts &target);

//===--- Assembly by position ---===//

/// How entries get their positions at the level.
levels::Insertion insertionOf(const format::Level &level);
/// The first level whose positions are handed out one by one; null without one.
std::optional<unsigned> bucketLevel(const format::Encoding &encoding);
/// Whether every entry has a position of its own at the level: below it there is one each.
bool isLeaf(const format::Encoding &encoding, unsigned level);
/// Whether one of the stream's levels has a part of this kind.
bool has(const Order &order, format::ExprKind kind);
/// The rank of the map; null without one.
const format::ExprNode *rankOf(const Order &order);
/// Whether the target's levels can be built by position.
bool isBuildable(const format::Encoding &encoding, const Order &order);
/// Whether what arrives below one parent of the level arrives in storage order.
bool arrivesInOrder(const Order &order, unsigned level);
/// Whether segments can be sorted after the entries are stored: nothing but values goes along with a
/// coordinate.
bool sortsSegments(const format::Encoding &encoding, unsigned level);
/// Whether entries that arrive like this can be stored where they belong at once.
bool isReady(const TargetFacts &target, const Order &order);
/// Whether a stream in this order numbers entries as their coordinates ascend.
bool countersAscend(const Order &order, unsigned dims);

} // namespace tulle::assemble
