// Copies of the loops of a stream.
#pragma once
#include "passes/assemble/algorithms/Target.h"
#include "passes/assemble/choose/InsertLoops.h"
#include "passes/parallel/SetLoops.h"

namespace tulle::assemble {

/// What takes the place of an insert: the builder stands before it.
using OnInsert = llvm::function_ref<void(mlir::ValueRange coordinates, mlir::Value value)>;
using OnCoordinates = llvm::function_ref<void(mlir::ValueRange coordinates)>;

/// What a chunk of loops one behind the other has of each: the loops have chunks in proportion to their work,
/// those of each behind those of the one before.
llvm::SmallVector<parallel::Chunk> chunksOf(mlir::OpBuilder &b, llvm::ArrayRef<mlir::Operation *> loops,
                                            const parallel::Chunk &chunk);
/// Copies a stream's loops, or a chunk of the outermost ones (null: all), to where the builder stands, with
/// `onInsert` in place of every insert. The builder stands behind the copy afterwards. A copy that counts
/// leaves out what only the values needed: its values are null.
/// Returns the copy of the outermost loop, if all is in one.
mlir::Operation *cloneLoops(mlir::OpBuilder &b, const Stream &stream, const parallel::Chunk *chunk,
                            OnInsert onInsert, bool counting = false);
/// A copy that counts.
mlir::Operation *cloneCounting(mlir::OpBuilder &b, const Stream &stream, const parallel::Chunk *chunk,
                               OnCoordinates onInsert);

/// Clones the body of a loop that inserts once, for one of its positions, to where the builder stands; returns
/// the insert, the last one of the clones.
dialect::InsertOp cloneInsert(mlir::OpBuilder &b, dialect::IterateOp loop, mlir::Value position);
/// Makes innermost loops of such a copy, in `loop`, whose coordinates ascend, visit their last one only, and
/// the first if `least`, where no others matter: they are among `extremes`, or nothing depends on them.
void visitExtremes(mlir::Operation *loop, llvm::ArrayRef<mlir::Value> extremes, bool least);
/// Makes loops of a copy whose iterations insert at different coordinates of one dimension parallel: entries
/// are stored apart then. `loops`: what was copied.
void keepKinds(mlir::Operation *loop, mlir::Region &loops);

/// The same of a stream that is sorted by the target's first `levels` levels, whose entries come fiber by
/// fiber then. `complete(coordinates)` emits what follows a fiber, at its end where each iteration of a loop
/// is one fiber, else where the next one begins, and behind the loops. Without levels all is one fiber.
void cloneFibers(const Target &target, const Stream &stream, unsigned levels, const parallel::Chunk *chunk,
                 OnInsert onInsert, OnCoordinates complete, bool counting = false);

/// Runs the body for each of so many chunks, at the same time; null: once, for all (null).
void forChunks(const levels::Emitter &e, mlir::Value chunks,
               llvm::function_ref<void(const parallel::Chunk *)> body);
/// Runs the body for each of so many ranges first … last - 1 of 0 … count - 1, at the same time; null: for
/// one, number 0.
void forRanges(const levels::Emitter &e, mlir::Value ranges, mlir::Value count,
               llvm::function_ref<void(mlir::Value number, mlir::Value first, mlir::Value last)> body);

} // namespace tulle::assemble
