// The loops around the inserts of a tulle.assemble or a tulle.entries.
#pragma once
#include "passes/assemble/choose/Order.h"
#include "passes/assemble/choose/TargetFacts.h"

namespace tulle::assemble {

/// The inserts of the ops that are not of an assembly, or of entries, inside.
llvm::SmallVector<dialect::InsertOp> insertsIn(llvm::ArrayRef<mlir::Operation *> ops);
llvm::SmallVector<dialect::InsertOp> insertsOf(mlir::Region &loops);
/// The loop, over one space or a set of several, that everything with an effect is in; null without one.
mlir::Operation *outermostLoop(llvm::ArrayRef<mlir::Operation *> ops);
mlir::Operation *outermostLoop(mlir::Region &loops);
/// Whether the region is one loop over one space that can be partitioned into chunks.
bool canPartition(mlir::Region &loops);
/// How many coordinates of that loop the target's first level stores together, where it has one position for
/// each block of them (BCSR): chunks begin at multiples. 1 where it stores them one by one; null where chunks
/// could divide what it stores together.
std::optional<int64_t> alignmentOf(mlir::Region &loops, const format::Encoding &target);
/// The dimension whose coordinates the iterations of the outermost loop are, one each; null without one.
std::optional<unsigned> iterationDimension(mlir::Region &loops);
/// Moves what the loops' bounds are computed from, as far as it is known before them, out of the region: the
/// number of iterations is needed before the region, which assembly erases.
void hoistBounds(dialect::AssembleOp op);

/// The loops that make one block, from the outermost: over the entries of one level, then over ranges.
using BlockLoops = llvm::SmallVector<dialect::IterateOp>;
/// Those around the only insert, up to the loop whose coordinate is the last stored level's. Whether each has
/// an iteration is known before it.
std::optional<BlockLoops> matchBlockLoops(const TargetFacts &target, const Stream &stream);
const format::Encoding &encodingOf(dialect::SpaceOp space);

} // namespace tulle::assemble
