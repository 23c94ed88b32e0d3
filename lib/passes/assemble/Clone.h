// Copies of the loops of a tulle.assemble.
#pragma once
#include "passes/parallel/SetLoops.h"
#include <optional>

namespace tulle::assemble {

/// What takes the place of an insert: the builder stands before it.
using OnInsert =
    llvm::function_ref<void(mlir::OpBuilder &b, mlir::ValueRange coordinates, mlir::Value value)>;
using OnCoordinates = llvm::function_ref<void(mlir::OpBuilder &b, mlir::ValueRange coordinates)>;

/// Copies the op's region, or of its outermost loop one piece (null: all), to where the builder stands, with
/// `onInsert` in place of every insert. The builder stands behind the copy afterwards. A copy that counts
/// leaves out what only the values needed: its values are null.
void cloneLoops(mlir::OpBuilder &b, dialect::AssembleOp op, const parallel::Chunk *piece, OnInsert onInsert,
                bool counting = false);
/// A copy that counts.
void cloneCounting(mlir::OpBuilder &b, dialect::AssembleOp op, const parallel::Chunk *piece,
                   OnCoordinates onInsert);
/// The loop, over one space or a set of several, that everything the region does is in; null without one.
mlir::Operation *outermostLoop(dialect::AssembleOp op);
/// Whether the region is one loop over one space that can be partitioned into chunks.
bool canPartition(dialect::AssembleOp op);
/// How many coordinates of that loop the target's first level stores together, where it has one position for
/// each block of them (BCSR): chunks begin at multiples. 1 where it stores them one by one; null where chunks
/// could divide what it stores together.
std::optional<int64_t> alignmentOf(dialect::AssembleOp op);

} // namespace tulle::assemble
