// Loops of stage 2, over one space or over a set of several, as far as their partition is concerned. The
// strategies that partition a loop into tasks, and what they share: the operation of a reduction, private
// copies of a dense result, and what they emit beside loops.
#pragma once
#include "dialect/Dialect.h"
#include "iteration/CostModel.h"
#include "levels/Indices.h"
#include "passes/program/Combiners.h"
#include "passes/program/TensorFlow.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::parallel {

using mlir::Operation;
using mlir::Value;
using program::carriedArgument;
using program::combinerOf;
using program::Combiners;
using program::combinersOf;
using program::identity;
using program::initsOf;
using program::isLoop;

/// Of loops that run side by side: they have the same chunks, whose number follows from all of their work.
struct SharedTasks {
  Value work, tasks, chunks;
};

struct Settings {
  bool deterministic = false;
  iteration::Costs costs = {};
  mlir::StringAttr inner = {};         ///< of the inner loop that the schedule names; null: any
  bool exact = false;                  ///< the schedule says which strategy: no version is another one's
  const SharedTasks *shared = nullptr; ///< of a loop that runs side by side with others
};

dialect::LoopKind kindOf(Operation *loop);
/// Lets the loop say how it is divided among threads, as copies of it then do.
void record(Operation *loop, dialect::Threads threads);
llvm::SmallVector<Value> initValues(Operation *loop);
/// Whether the value is defined outside of the op.
bool isOutside(Operation *op, Value value);
/// Whether all loop-carried values are tensors, which the iterations write in place.
bool carriesTensorsOnly(Operation *loop);
/// Whether all loop-carried values are scalars, and there are some.
bool carriesValuesOnly(Operation *loop);

/// Whether the coordinates that the loop visits can be partitioned into chunks.
bool canPartition(Operation *loop);
/// One of `count` consecutive chunks of a loop's coordinates, of about as much work each; or all from that
/// one on and before `to`.
struct Chunk {
  Value index, count, to = {};
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

//===--- Strategies ---===//

// The strategies, in the order in which they are tried. Each returns whether it applied.

/// Iterations with disjoint stores, or that reduce into values, in chunks of equal work, which may begin
/// inside of a long fiber: the inner loops over it are partitioned, too.
bool splitFibers(Operation *loop, const Settings &settings);
/// Iterations with disjoint stores: each task runs a chunk of the loop.
bool partitionIterations(Operation *loop, const Settings &settings);
/// Values that the iterations reduce into: each task makes a partial result, and these are combined. What the
/// loop stores besides is at its own coordinate.
bool reducePartials(Operation *loop, const Settings &settings);
/// Iterations update rows of a dense tensor that integers select: each task has a range of the rows, and runs
/// the iterations that select one of these.
bool partitionDestinations(Operation *loop, const Settings &settings);
/// An inner loop over all coordinates of a dimension whose stores are disjoint in all iterations of the outer
/// loop: each task runs a chunk of the inner one.
bool partitionInnerLoop(Operation *loop, const Settings &settings);
/// Iterations reduce into a dense tensor: each task has a private copy.
bool privatize(Operation *loop, const Settings &settings);
/// The operation by which private copies of the loop's result can be reduced into it; null without one.
Operation *combinerOfCopies(Operation *loop);
/// Adds a version of the loop that works on private copies, as many as there is so much work for each of
/// their elements, and that runs where these are several.
void addCopies(Operation *loop, Operation *combiner, const Settings &settings, int64_t workPerElement);

//===--- Side by side ---===//

/// The tasks that loops with disjoint stores (`program::disjointLoops`) share; false where they cannot.
bool shareTasks(llvm::ArrayRef<dialect::IterateOp> loops, const Settings &settings, SharedTasks &shared);
/// Makes one region of those that the loops are in, each partitioned into the same chunks.
void mergeRegions(llvm::ArrayRef<dialect::IterateOp> loops);

/// A start value for all of a tensor: each task fills a chunk of the buffer.
void partitionFill(dialect::FillOp fill, const Settings &settings);

//===--- What they emit beside loops ---===//

struct Emitter : levels::IndicesAt {
  using IndicesAt::IndicesAt;

  Value smaller(Value x, Value y) { return mlir::arith::MinUIOp::create(b, loc, x, y); }
  Value larger(Value x, Value y) { return mlir::arith::MaxUIOp::create(b, loc, x, y); }
  Value load(Value buffer, Value at) { return mlir::memref::LoadOp::create(b, loc, buffer, at); }
  void store(Value value, Value buffer, Value at) {
    mlir::memref::StoreOp::create(b, loc, value, buffer, at);
  }
  static mlir::MemRefType bufferOf(mlir::Type element) {
    return mlir::MemRefType::get({mlir::ShapedType::kDynamic}, element);
  }
  Value allocate(mlir::Type element, Value size) {
    return mlir::memref::AllocOp::create(b, loc, bufferOf(element), size);
  }
  Value valuesOf(Value tensor) {
    return dialect::ValuesOp::create(b, loc, bufferOf(mlir::getElementTypeOrSelf(tensor.getType())), tensor);
  }
  /// The tensor whose values have been written to its buffer.
  Value withValues(Value tensor, Value values) {
    return dialect::WithValuesOp::create(b, loc, tensor.getType(), tensor, values);
  }
  /// For positions lo <= at < hi that may run at the same time.
  void forEach(Value lo, Value hi, llvm::function_ref<void(Value at)> body) {
    levels::forEach(b, loc, lo, hi, dialect::LoopKind::Parallel, body);
  }
};

/// So many chunks per task; one where there is one task.
Value chunksPerTask(Emitter &emit, Value tasks, Value each);
/// Several chunks per thread balance the load, as far as each is profitable (experiment 021).
Value chunksFor(Emitter &emit, Value tasks, Value work, const iteration::Costs &costs);

//===--- Reductions ---===//

/// Applies the operation to x and y.
Value combine(mlir::OpBuilder &b, Operation *combiner, Value x, Value y);
/// Whether the loop is a reduction into values and nothing else.
bool reducesValues(Operation *loop);

/// Reduces into values in so many tasks, which share the tensors; `restrict` restricts the loop, in front of
/// which the builder stands, to one of them. Returns the results, combined where they are values.
levels::Values reducePartials(Operation *loop, Value tasks,
                              llvm::function_ref<void(mlir::OpBuilder &, Value task)> restrict);
/// Partial results are so many elements apart, to avoid false sharing.
inline constexpr int64_t kPartialStride = 64;

//===--- Private copies of a dense tensor, or of a subtensor ---===//

/// Values whose storage is that of the first loop-carried value.
class Aliases {
public:
  Aliases(Operation *loop);
  bool contains(Value value) const { return all.contains(value); }

private:
  llvm::SmallSetVector<Value, 8> all;
};

/// The one operation by which all stores below combine with what was stored; null where there is none.
Operation *combinerOfStores(Operation *loop, const Aliases &aliases);
/// The type of the one tensor that a loop carries where all of its levels are dense, over digits of its
/// dimensions, and its elements are no truth values; else null.
mlir::RankedTensorType denseResult(Operation *loop);
/// `count` copies in `memory` of the subtensor below one coordinate of the levels before `first`: a tensor
/// that is dense over the copy, then over the levels from `first` on.
Value copiesOf(Emitter &emit, Value tensor, size_t first, Value memory, Value count);
/// The copies with the identity as their `size` elements from `first` on.
Value startFromIdentity(Emitter &emit, Operation *combiner, Value copies, Value first, Value size);
/// Combines the elements [begin, end) of `values` with those of a copy, which begins at `first`.
void addCopy(Emitter &emit, Operation *combiner, Value values, Value begin, Value end, Value copies,
             Value first);
/// Redirects code that works on the tensor, below the iterator `base` only if there is one, to a copy: one,
/// or one for each iteration where its number is known in the loop only.
void redirect(Operation *loop, const Aliases &aliases, Value copies, Value copy, dialect::LocateOp base = {});

} // namespace tulle::parallel
