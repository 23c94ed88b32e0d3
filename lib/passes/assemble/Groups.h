// Where in a copy of the loops the coordinates of the outer levels change.
#pragma once
#include "passes/assemble/Order.h"
#include "passes/assemble/Target.h"

namespace tulle::assemble {

/// The entries of a stream that is sorted by the target's first `levels` levels, group by group: those that
/// agree on these coordinates are next to each other. Emits, into a copy of the loops, what runs when a group
/// is complete.
class Groups {
public:
  Groups(mlir::OpBuilder &b, const Target &target, const Order &order, unsigned levels);

  /// Whether each pass of some loop of the op's region is one group, so that its end is known without
  /// comparing coordinates.
  static bool arePasses(const Target &target, dialect::AssembleOp op, const Order &order, unsigned levels);

  /// To be called at every insert of the copy, before anything is emitted there.
  void atInsert(mlir::OpBuilder &b, mlir::ValueRange dims);
  /// To be called behind the copy: `complete(b, coordinates)` emits what follows a group, at its end where
  /// each pass of a loop is one group, else where the next one begins, and behind the loops.
  void finish(mlir::OpBuilder &b, llvm::function_ref<void(mlir::OpBuilder &, mlir::ValueRange)> complete);

private:
  using Complete = llvm::function_ref<void(mlir::OpBuilder &, mlir::ValueRange)>;
  /// A point in the copy: behind `after`, or at the start of the block.
  struct Point {
    mlir::Block *block = nullptr;
    mlir::Operation *after = nullptr;
  };
  struct Insert {
    mlir::Operation *marker; ///< stands before all that the insert became
    Values dims;
    Point point; ///< from where on the group's coordinates are known
  };

  Groups(const Target &target, const Order &order, unsigned levels, mlir::Block *root)
      : target(target), order(order), levels(levels), root(root) {}
  bool endsKnown() const;
  std::vector<unsigned> groupDims() const;
  Point definedAt(mlir::Value value) const;
  Point laterOf(const Point &a, const Point &c) const;
  void place(Insert &insert) const;
  bool onePassEach(const Insert &insert) const;
  bool canHoist(const Insert &insert) const;
  Values coordinates(mlir::OpBuilder &b, const Insert &insert) const;
  void checkAt(mlir::OpBuilder &b, const Insert &insert, Complete complete) const;

  const Target &target;
  const Order &order;
  unsigned levels;
  mlir::Block *root; ///< holds the copy
  std::vector<Register> current;
  std::vector<Insert> inserts;
};

} // namespace tulle::assemble
