// The elements of a dense tensor that one iteration of a loop over tiles reads: a product of intervals.
#pragma once
#include "dialect/Dialect.h"
#include "passes/program/Linear.h"

namespace tulle::program {

/// An interval of what one level counts, or of a number whose digits several levels are: `C(l / 64, l % 64)`
/// for l of a tile is an interval of l, whatever rows of C it is in.
struct TileAxis {
  struct Level {
    unsigned level;
    int64_t stride, modulus; ///< of the level's digit; the coarsest has no modulus
    int64_t shift = 0;       ///< of the digit from the level's coordinate
  };
  llvm::SmallVector<Level, 2> levels; ///< coarsest first
  bool whole = false;                 ///< all coordinates of one level
  /// The coordinates of one level that integers of a tensor select, in iterations of a loop inside of the
  /// tile; the interval is of what that loop counts.
  dialect::IteratorAtOp selection;
  bool counted = false; ///< loops count the number, digit by digit
  Linear begin;
  std::vector<Linear> ends; ///< the least of them is the end
};

/// A number that loops inside of a tile count, digit by digit, in an interval.
struct CountedNumber {
  struct Digit {
    Linear value;
    int64_t stride, modulus;
  };
  llvm::SmallVector<Digit, 2> digits; ///< coarsest first
  Linear begin;
  std::vector<Linear> ends;
};

class TileReads {
public:
  /// What an iteration of `tile` reads by these loads, all of which it contains; `outside` is a block around.
  /// `numbers` are counted by loops that were put into the tile before.
  TileReads(dialect::IterateOp tile, llvm::ArrayRef<dialect::LoadOp> loads, mlir::Block *outside,
            llvm::ArrayRef<CountedNumber> numbers);

  /// Why the elements are no such product, or iterations share some; empty where all is well.
  llvm::StringRef whyNot();

  /// The first op of an iteration that reads.
  mlir::Operation *point() const { return first; }
  llvm::ArrayRef<TileAxis> axes() const { return found; }
  /// The loop that a selection is in.
  static dialect::IterateOp selectingLoop(const TileAxis &axis) {
    return llvm::cast<dialect::IterateOp>(axis.selection->getParentOp());
  }
  /// The ops that give a selected coordinate, from that of the loop, in order.
  llvm::SmallVector<mlir::Operation *> selectingOps(const TileAxis &axis) const;
  /// The number along the axis that a load is at.
  static mlir::Value indexOf(mlir::OpBuilder &b, dialect::LoadOp load, const TileAxis &axis);
  /// The most elements that an iteration has along an axis, which is not whole: at a builder's place.
  mlir::Value width(mlir::OpBuilder &b, mlir::Location loc, const TileAxis &axis) const;

private:
  std::vector<TileAxis> axesOf(llvm::ArrayRef<mlir::Value> coordinates) const;
  static std::optional<TileAxis> axisOf(const CountedNumber &number, llvm::ArrayRef<mlir::Value> coordinates);
  mlir::Block *branchWithAll() const;
  bool isAvailable(mlir::Value value) const;
  bool findInterval(TileAxis &axis, mlir::Value index) const;
  bool findSelection(TileAxis &axis, mlir::Value coordinate) const;
  bool isApart(dialect::IterateOp loop, const TileAxis &axis) const;
  bool isSelectedBy(dialect::IterateOp loop, const TileAxis &axis) const;

  dialect::IterateOp tile;
  llvm::ArrayRef<dialect::LoadOp> loads;
  llvm::ArrayRef<CountedNumber> numbers;
  mlir::Operation *first = nullptr;
  llvm::SmallVector<mlir::Operation *> around; ///< the loops around an iteration, innermost first
  std::vector<TileAxis> found;
};

/// The coordinates, by level, at which a load or a store is located; nothing where a level is not.
std::optional<llvm::SmallVector<mlir::Value>> coordinatesOf(mlir::Value iterator);

/// The loop over coordinates of which the value is one; null for others.
dialect::IterateOp loopOver(mlir::Value coordinate);

} // namespace tulle::program
