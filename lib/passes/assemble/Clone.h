// Copies of the loops of a tulle.assemble.
#pragma once
#include "dialect/Dialect.h"
#include <optional>

namespace tulle::assemble {

/// What takes the place of an insert: the builder stands before it.
using OnInsert =
    llvm::function_ref<void(mlir::OpBuilder &b, mlir::ValueRange coordinates, mlir::Value value)>;
using OnCoordinates = llvm::function_ref<void(mlir::OpBuilder &b, mlir::ValueRange coordinates)>;

/// A consecutive piece of what the outermost loop goes through, as tulle.partition cuts it.
struct Piece {
  mlir::Value part, parts;
};
/// Copies the op's region, or of its outermost loop one piece (null: all), to where the builder stands, with
/// `onInsert` in place of every insert. The builder stands behind the copy afterwards. A copy that counts
/// leaves out what only the values needed: its values are null.
void cloneLoops(mlir::OpBuilder &b, dialect::AssembleOp op, const Piece *piece, OnInsert onInsert,
                bool counting = false);
/// A copy that counts.
void cloneCounting(mlir::OpBuilder &b, dialect::AssembleOp op, const Piece *piece, OnCoordinates onInsert);
/// The loop, over one space or a set of several, that everything the region does is in; null without one.
mlir::Operation *outermostLoop(dialect::AssembleOp op);
/// Whether the region is one loop over one space that can be cut into pieces.
bool canCut(dialect::AssembleOp op);
/// How many coordinates of that loop the target's first level stores together, where it has one position for
/// each block of them (BCSR): pieces begin at multiples. 1 where it stores them one by one; null where pieces
/// could cut what it stores together.
std::optional<int64_t> grainOf(dialect::AssembleOp op);
/// Has a tulle.partition of that loop's coordinates cut so.
void setGrain(mlir::Value piece, dialect::AssembleOp op);

} // namespace tulle::assemble
