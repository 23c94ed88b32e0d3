// Loops of stage 2, over one space or over a set of several, as far as their partition is concerned.
#pragma once
#include "dialect/Dialect.h"
#include "iteration/CostModel.h"

namespace tulle::parallel {

using mlir::Operation;
using mlir::Value;

struct Settings {
  bool deterministic = false;
  iteration::Costs costs = {};
};

bool isLoop(Operation *op);
dialect::LoopKind kindOf(Operation *loop);
mlir::MutableOperandRange initsOf(Operation *loop);
llvm::SmallVector<Value> initValues(Operation *loop);
/// The argument of a loop's region that is its k-th carried value.
mlir::BlockArgument carriedArgument(mlir::Region &region, Operation *loop, unsigned k);
/// Whether the value is defined outside of the op.
bool isOutside(Operation *op, Value value);
/// Whether all loop-carried values are tensors, which the iterations write in place.
bool carriesTensorsOnly(Operation *loop);
/// Whether all loop-carried values are scalars, and there are some.
bool carriesValuesOnly(Operation *loop);

/// Whether the coordinates that the loop visits can be partitioned into chunks.
bool canPartition(Operation *loop);
/// One of `count` consecutive chunks of a loop's coordinates, of about as much work each.
struct Chunk {
  Value index, count;
};

/// Restricts the loop to a chunk of its coordinates; the builder stands where that can be computed. Chunks of
/// a level that does not store its coordinates, or of a range, begin at multiples of `alignment`.
void restrictTo(mlir::OpBuilder &b, Operation *loop, const Chunk &chunk, int64_t alignment = 1);
/// The same chunk of one of the loop's spaces, or of its range, or of a copy of these.
Value chunkOf(mlir::OpBuilder &b, Operation *loop, Value space, const Chunk &chunk, int64_t alignment = 1);

/// How much work a loop has, in stored entries, times the lengths of dense loops inside.
Value work(mlir::OpBuilder &b, Operation *loop);

/// The bounds of a chunk of 0 <= k < size, which begins at a multiple of `alignment`.
std::pair<Value, Value> chunkBounds(mlir::OpBuilder &b, mlir::Location loc, Value size, const Chunk &chunk,
                                    int64_t alignment = 1);

/// A parallel region that carries the tensors `inits`; the builder is left inside, before its end. `fill`
/// gets the task and the carried tensors, and returns what they are at the end.
mlir::ValueRange
region(mlir::OpBuilder &b, mlir::Location loc, Value tasks, mlir::ValueRange inits,
       llvm::function_ref<llvm::SmallVector<Value>(Value task, mlir::ValueRange carried)> fill);
/// Replaces uses of the loop's results outside of the region that the loop has been moved into.
void replaceUsesOutside(Operation *loop, mlir::ValueRange results);
/// Moves the loop into a region in its stead; the builder is in front of it while `restrict` runs.
void moveIntoRegion(mlir::OpBuilder &b, Operation *loop, Value tasks,
                    llvm::function_ref<void(Value task)> restrict);

} // namespace tulle::parallel
