// Entries that arrive far from each other are partitioned by where they go, and then go there.
#pragma once
#include "passes/assemble/algorithms/CloneLoops.h"
#include "passes/assemble/algorithms/CoordinateList.h"

namespace tulle::assemble {

/// Assembles a target whose last level is compressed, below dense ones. A first pass distributes the entries
/// to lists, one for each of some hundred ranges of parents; then each range is counted, stored, sorted
/// and rid of repeats while it is in the cache. Every order of arrival below one parent stays what it is.
class RadixPartition {
public:
  /// Whether nothing but the parents decides where an entry goes.
  static bool fits(const TargetFacts &target, const Stream &stream);

  RadixPartition(Target &target, const Stream &stream, bool parallel);

  /// How entries arrive, from a sample (i1 each). A partition is profitable: there are more than a cache
  /// holds, and those that arrive after each other go to positions far from each other. Or all these
  /// positions are in the cache.
  struct Arrival {
    mlir::Value profitable, cacheResident;
  };
  Arrival arrival() const;
  /// Makes the target's buffers.
  void assemble();

  /// Whether several threads are profitable (i1). Null in code without threads.
  mlir::Value isConcurrent();
  /// Makes the target's buffers without lists: threads count, and then store, a chunk of the stream each.
  void assembleShared();

private:
  using Bounds = std::pair<mlir::Value, mlir::Value>;

  mlir::Value parent(mlir::ValueRange dims) const;
  mlir::Value inCache(mlir::Value span) const;
  Arrival sample() const;
  void chooseRanges();
  mlir::Value rangeOf(mlir::ValueRange dims) const;
  void countRanges(mlir::Value ends) const;
  void allocate(mlir::Value total) const;
  Bounds parentsOf(mlir::Value range) const;
  void storeCoordinates(mlir::Value position, mlir::ValueRange dims, mlir::Value value) const;
  void buildRange(const CoordinateList &list, mlir::Value begin, mlir::Value end, mlir::Value range) const;
  bool arrivesSorted() const;
  void finishRanges(mlir::Value starts, llvm::function_ref<void(mlir::Value range)> build) const;
  void joinRanges(mlir::Value starts, mlir::Value kept) const;
  mlir::Value countChunks(mlir::Value ends, mlir::Value sums) const;
  void scanChunks(mlir::Value ends, mlir::Value sums) const;

  Target &target;
  const Stream &stream;
  const bool parallel;
  const unsigned level;         ///< the compressed one
  mlir::Value inserts, parents; ///< an upper bound of the inserts; positions above the level
  mlir::Value shift, ranges;    ///< the range of a parent is its upper bits; how many there are
  mlir::Value chunks;           ///< of the stream, one for each thread
  unsigned coordinatesField;
  unsigned positionsField;
};

} // namespace tulle::assemble
