// The ways to partition a loop into tasks. Each returns whether it applied.
#pragma once
#include "passes/parallel/SetLoops.h"

namespace tulle::parallel {

/// So many chunks per task; one where there is one task.
Value chunksPerTask(mlir::OpBuilder &b, mlir::Location loc, Value tasks, Value each);

/// Iterations with disjoint stores: each task runs a chunk of the loop.
bool partitionIterations(Operation *loop, const Settings &settings);
/// The same, or iterations that reduce into values, in chunks of equal work, which may begin inside of a long
/// fiber: the inner loops over it are partitioned, too.
bool splitFibers(Operation *loop, const Settings &settings);
/// Values that the iterations reduce into: each task makes a partial result, and these are combined.
bool reducePartials(Operation *loop, const Settings &settings);
/// The same in so many tasks; `restrict` restricts the loop, in front of which the builder stands, to one of
/// them. Returns the combined results.
mlir::ValueRange reducePartials(Operation *loop, Value tasks,
                                llvm::function_ref<void(mlir::OpBuilder &, Value task)> restrict);
/// What a loop combines its values with, for each result.
struct Combiners {
  llvm::SmallVector<Operation *> operations;
  llvm::SmallVector<mlir::TypedAttr> identities;
};
std::optional<Combiners> combinersOf(Operation *loop);
/// Whether the loop is a reduction into values and nothing else.
bool reducesValues(Operation *loop);

/// Partial results are so many elements apart, to avoid false sharing.
inline constexpr int64_t kPartialStride = 64;
/// An inner loop over all coordinates of a dimension whose stores are disjoint in all iterations of the outer
/// loop: each task runs a chunk of the inner one.
bool partitionInnerLoop(Operation *loop, const Settings &settings);
/// Iterations reduce into a dense tensor: each task has a private copy.
bool privatize(Operation *loop, const Settings &settings);

/// A start value for all of a tensor: each task fills a chunk of the buffer.
void partitionFill(dialect::FillOp fill, const Settings &settings);

/// The first of these that applies to a loop.
bool parallelize(Operation *loop, const Settings &settings);

} // namespace tulle::parallel
