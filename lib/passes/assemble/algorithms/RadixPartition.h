// Entries that arrive all over the place are put next to each other by where they go, and then go there.
#pragma once
#include "passes/assemble/algorithms/CloneLoops.h"
#include "passes/assemble/algorithms/CoordinateList.h"
#include "passes/assemble/algorithms/TargetAssembly.h"
#include "passes/assemble/choose/Order.h"

namespace tulle::assemble {

/// Assembles a target whose last level is compressed, below dense ones. A first pass distributes the entries
/// to lists, one for each of some hundred ranges of parents; then each range is counted, stored, sorted
/// and rid of repeats while it is in the cache. Every order of arrival below one parent stays what it is.
class RadixPartition {
public:
  static bool fits(const Target &target, dialect::AssembleOp op, const Order &order, unsigned level);

  /// `level` is the compressed one.
  RadixPartition(mlir::OpBuilder &b, Target &target, dialect::AssembleOp op, const Order &order,
                 unsigned level);

  /// How entries arrive, from a sample (i1 each). A partition is profitable: there are more than a cache
  /// holds, and those that arrive after each other go to places far from each other. Or all these places are
  /// near, in the cache.
  struct Arrival {
    mlir::Value profitable, near;
  };
  Arrival arrival(mlir::OpBuilder &b) const;
  /// Makes the target's buffers.
  void assemble(mlir::OpBuilder &b);

  /// Whether several threads are worth while (i1). Null in code without threads.
  mlir::Value isConcurrent(mlir::OpBuilder &b);
  /// Makes the target's buffers without lists: threads count, and then store, a chunk of the stream each.
  void assembleShared(mlir::OpBuilder &b);

private:
  mlir::Value parent(mlir::OpBuilder &b, mlir::ValueRange dims) const;
  Arrival sample(mlir::OpBuilder &b) const;
  mlir::Value fitsCache(mlir::OpBuilder &b, mlir::Value span) const;
  void chooseRanges(mlir::OpBuilder &b);
  mlir::Value rangeOf(mlir::OpBuilder &b, mlir::ValueRange dims) const;
  void
  forChunks(mlir::OpBuilder &b,
            llvm::function_ref<void(mlir::OpBuilder &, const parallel::Chunk *, mlir::Value)> body) const;
  void forParts(mlir::OpBuilder &b, mlir::Value count,
                llvm::function_ref<void(mlir::Value, mlir::Value, mlir::Value)> body) const;
  void countRanges(mlir::OpBuilder &b, mlir::Value ends) const;
  mlir::Value startRanges(mlir::OpBuilder &b, mlir::Value ends, mlir::Value starts) const;
  void distribute(mlir::OpBuilder &b, mlir::Value ends, const CoordinateList &lists) const;
  void allocate(const TargetAssembly &a, mlir::Value total) const;
  mlir::Value countParts(const TargetAssembly &a, mlir::Value ends, mlir::Value sums) const;
  void scanParts(const TargetAssembly &a, mlir::Value ends, mlir::Value sums) const;
  std::pair<mlir::Value, mlir::Value> parentsOf(const TargetAssembly &a, mlir::Value range) const;
  void buildRange(const TargetAssembly &a, const CoordinateList &lists, mlir::Value starts, mlir::Value kept,
                  mlir::Value range) const;
  bool arrivesSorted() const;
  void finishRange(const TargetAssembly &a, mlir::Value starts, mlir::Value kept, mlir::Value range) const;
  void forRanges(const TargetAssembly &a, mlir::Value starts,
                 llvm::function_ref<void(mlir::Value range, mlir::Value kept)> body) const;
  void finishRanges(const TargetAssembly &a);
  void joinRanges(const TargetAssembly &a, mlir::Value starts, mlir::Value kept) const;

  Target &target;
  dialect::AssembleOp op;
  const Order &order;
  mlir::Location loc;
  unsigned level;
  mlir::Value inserts, parents; ///< an upper bound of the inserts; positions above the level
  mlir::Value shift, ranges;    ///< the range of a parent is its upper bits; how many there are
  mlir::Value chunks;           ///< of the stream, shared by threads
};

} // namespace tulle::assemble
