// Where in the loops of a tulle.assemble one fiber of the new tensor ends and the next begins.
#pragma once
#include "passes/assemble/choose/Order.h"

namespace tulle::assemble {

/// The inserts of a stream that is sorted by the target's first `levels` levels: entries that agree on these
/// coordinates, a fiber, arrive one after the other. Says from where on in the loops a fiber's coordinates
/// are known, and whether each iteration of some loop is one fiber.
class FiberAnalysis {
public:
  /// A point in the loops: behind `after`, or at the start of the block.
  struct Point {
    mlir::Block *block = nullptr;
    mlir::Operation *after = nullptr;
    bool operator==(const Point &) const = default;
  };
  struct Insert {
    mlir::Operation *marker; ///< stands before all that the insert became, or is it
    llvm::SmallVector<mlir::Value> dims;
    Point point; ///< from where on the fiber's coordinates are known
  };

  /// `root` holds the loops.
  FiberAnalysis(const Order &order, unsigned levels, mlir::Block *root)
      : order(order), levels(levels), root(root) {}

  /// Whether each iteration of some loop of the stream is one fiber, so that its end is known without
  /// comparing coordinates.
  static bool oneIterationEach(const Stream &stream, unsigned levels);

  void add(mlir::Operation *marker, mlir::ValueRange dims);
  /// Whether each fiber ends with an iteration of a loop.
  bool endsKnown() const;
  bool canHoist(const Insert &insert) const;
  /// The dimensions whose coordinates make the fiber.
  std::vector<unsigned> fiberDims() const;

  llvm::SmallVector<Insert> inserts;

private:
  Point definedAt(mlir::Value value) const;
  Point laterOf(const Point &a, const Point &c) const;
  bool isOneIteration(const Insert &insert) const;

  const Order &order;
  unsigned levels;
  mlir::Block *root;
};

} // namespace tulle::assemble
