// Copies of the loops of a tulle.assemble.
#pragma once
#include "passes/assemble/choose/InsertLoops.h"
#include "passes/parallel/SetLoops.h"

namespace tulle::assemble {

/// What takes the place of an insert: the builder stands before it.
using OnInsert =
    llvm::function_ref<void(mlir::OpBuilder &b, mlir::ValueRange coordinates, mlir::Value value)>;
using OnCoordinates = llvm::function_ref<void(mlir::OpBuilder &b, mlir::ValueRange coordinates)>;

/// Copies a region of loops, or of its outermost loop one chunk (null: all), to where the builder stands,
/// with `onInsert` in place of every insert. The builder stands behind the copy afterwards. A copy that
/// counts leaves out what only the values needed: its values are null.
void cloneLoops(mlir::OpBuilder &b, mlir::Region &loops, int64_t alignment, const parallel::Chunk *chunk,
                OnInsert onInsert, bool counting = false);
void cloneLoops(mlir::OpBuilder &b, dialect::AssembleOp op, const parallel::Chunk *chunk, OnInsert onInsert,
                bool counting = false);
/// A copy that counts.
void cloneCounting(mlir::OpBuilder &b, dialect::AssembleOp op, const parallel::Chunk *chunk,
                   OnCoordinates onInsert);

} // namespace tulle::assemble
