// What the entries' order of arrival decides: counters and ranks, the parts of a map that no coordinate
// gives.
#pragma once
#include "passes/assemble/algorithms/Target.h"
#include "passes/assemble/choose/Order.h"
#include <optional>

namespace tulle::assemble {

/// The counters of a map: the number an entry has among those that agree in some dimensions. A register
/// counts where these arrive together, else there is a counter for each combination of their coordinates.
class Counters {
public:
  /// `iterations`: the dimension whose coordinates the iterations of the outermost loop are, one each, if
  /// they are.
  Counters(const Target &target, const Order &order, std::optional<unsigned> iterations);

  /// All counters start from 0; the builder stands before a copy of the loops.
  void reset();
  /// An iteration begins; the builder stands there.
  void startIteration();
  /// The next entry is at these coordinates.
  void enter(mlir::ValueRange dims);
  /// The entry's number; counts it the first time.
  mlir::Value number(const format::ExprNode &counter);
  /// How many entries of the iteration there were; the builder stands at its end.
  mlir::Value iterationEntries() const;

private:
  struct Counter {
    std::vector<unsigned> dims;
    bool grouped = false;
    bool ofIteration = false;    ///< the entries of a iteration are those that agree
    std::optional<Register> one; ///< counter, where they arrive together
    mlir::Value array;           ///< of counters, elsewhere
    std::vector<Register> last;  ///< coordinates of the entry before
    mlir::Value current;         ///< the number of the present entry, once needed
  };
  void collect(const format::Expr &e, const Order &order);

  const Target &target;
  std::optional<unsigned> iterations;
  std::vector<Counter> counters;
  mlir::ValueRange dims;
};

/// The largest element of counts[begin … end), where all are 0 or more; 0 without one.
mlir::Value largest(const Target &target, mlir::Value counts, mlir::Value begin, mlir::Value end);

/// The rank of a map, `rank(i by count(j) within s)`: i sorted by decreasing number of entries, s at a time.
class Ranks {
public:
  Ranks(const Target &target, const Order &order);

  bool any() const { return rank != nullptr; }
  unsigned dimension() const { return rank->dims[0]; }
  /// The dimension it is of and the one that it counts, of all.
  Values pairOf(mlir::ValueRange dims) const { return {dims[rank->dims[0]], dims[rank->dims[1]]}; }
  /// A copy of the loops queries the numbers of entries.
  mlir::Value startQuery();
  void query(mlir::Value ranked);
  /// Makes the permutation, and its inverse for `number`.
  void sort();
  /// The rank of a coordinate of `i`.
  mlir::Value number(mlir::ValueRange dims) const;

private:
  void sortWindow(mlir::Value begin, mlir::Value end, mlir::Value offsets) const;

  const Target &target;
  const format::ExprNode *rank;
  mlir::Value counts, numbers;
  unsigned permutation = 0; ///< its field
};

} // namespace tulle::assemble
