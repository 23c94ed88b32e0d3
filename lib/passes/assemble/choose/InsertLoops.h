// The loops around the inserts of a tulle.assemble.
#pragma once
#include "dialect/Dialect.h"
#include <optional>

namespace tulle::assemble {

/// The inserts of the ops that are not of an assembly, or of entries, inside.
llvm::SmallVector<dialect::InsertOp> insertsIn(llvm::ArrayRef<mlir::Operation *> ops);
/// The op's own inserts.
llvm::SmallVector<dialect::InsertOp> insertsOf(dialect::AssembleOp op);
/// The loop, over one space or a set of several, that everything with an effect is in; null without one.
mlir::Operation *outermostLoop(dialect::AssembleOp op);
mlir::Operation *outermostLoop(llvm::ArrayRef<mlir::Operation *> ops);
/// Whether the region is one loop over one space that can be partitioned into chunks.
bool canPartition(dialect::AssembleOp op);
/// How many coordinates of that loop the target's first level stores together, where it has one position for
/// each block of them (BCSR): chunks begin at multiples. 1 where it stores them one by one; null where chunks
/// could divide what it stores together.
std::optional<int64_t> alignmentOf(dialect::AssembleOp op);
/// The dimension whose coordinates the iterations of the outermost loop are, one each; null without one.
std::optional<unsigned> iterationDimension(dialect::AssembleOp op);
/// Moves what the loops' bounds are computed from, as far as it is known before them, out of the region: the
/// number of iterations is needed before the region, which assembly erases.
void hoistBounds(dialect::AssembleOp op);

} // namespace tulle::assemble
