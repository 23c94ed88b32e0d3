// The entries of a new tensor as a list, while they are put in order.
#pragma once
#include "passes/assemble/Order.h"
#include "passes/assemble/Records.h"

namespace tulle::assemble {

/// Emits code that collects entries in any order and sorts them by level expressions: stable counting sorts,
/// from the least significant digit of the innermost expression to the most significant one of the outermost.
/// Threads collect a piece of the stream each; and in each pass of a sort they count, and then move, a piece
/// of the list.
class Entries {
public:
  /// Room for `bound` entries of the target.
  Entries(mlir::OpBuilder &b, const Target &target, mlir::Value bound);

  /// All that the loops of the target's op insert, in their order.
  void collect(mlir::OpBuilder &b);
  /// An entry at a place of the caller's choice, which is not counted.
  void put(mlir::OpBuilder &b, mlir::Value at, mlir::ValueRange dims, mlir::Value value) const;
  /// Sorts by the first `levels` of the target's levels, where equal by what was the order before.
  void sort(mlir::OpBuilder &b, unsigned levels);
  /// Visits the entries in order: `visit(b, dims, value)`.
  void forEach(mlir::OpBuilder &b,
               llvm::function_ref<void(mlir::OpBuilder &, mlir::ValueRange, mlir::Value)> visit) const;
  /// The dimensions' coordinates of one entry, and its value.
  std::pair<Values, mlir::Value> at(mlir::OpBuilder &b, mlir::Value place) const;
  mlir::Value count(mlir::OpBuilder &b) const { return size.get(b); }
  void free(mlir::OpBuilder &b) const;

private:
  void collectPieces(mlir::OpBuilder &b);
  void forPieces(mlir::OpBuilder &b,
                 llvm::function_ref<void(mlir::Value piece, mlir::Value begin, mlir::Value end)> body) const;
  mlir::Value table(mlir::OpBuilder &b, mlir::Value count) const;
  mlir::Value key(mlir::OpBuilder &b, mlir::Value list, unsigned level, mlir::Value at) const;
  std::pair<mlir::Value, mlir::Value> keyRange(mlir::OpBuilder &b, unsigned level) const;
  void sortByLevel(mlir::OpBuilder &b, unsigned level);
  void distribute(mlir::OpBuilder &b, mlir::Value from, mlir::Value to, mlir::Value buckets,
                  mlir::Value bucketCount,
                  llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value at)> bucketOf) const;
  void startBuckets(mlir::OpBuilder &b, mlir::Value buckets, mlir::Value bucketCount) const;

  const Target &target;
  mlir::Location loc;
  mlir::Value bound;
  Register size;
  mlir::Value pieces; ///< of the list, which threads share; 1 without threads
  Records records;
  mlir::Value list, spare; ///< `spare` is what the next distribution fills
};

} // namespace tulle::assemble
