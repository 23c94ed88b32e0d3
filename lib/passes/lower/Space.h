// One level below one parent, as values; and the searches along it.
#pragma once
#include "levels/Control.h"
#include "levels/LevelFormat.h"

namespace tulle::lower {

using levels::forLoop;
using levels::ifElse;
using levels::parallelTasks;
using levels::Values;
using levels::whileLoop;

/// What a `tulle.space` is at run time.
struct Space {
  const levels::Storage *storage = nullptr;
  unsigned level = 0;
  levels::Iterator parent;
  const levels::LevelFormat *format = nullptr;
  levels::PositionRange range;
  std::optional<levels::PositionRange> slice; ///< of a full level: the coordinates of a part
  bool one = false;                           ///< whether the range is the segment of one coordinate
  bool maybeEmpty = false; ///< under a condition: even a level with one position below each parent may be

  bool unique() const { return storage->encoding.levels[level].format.unique; }
  levels::LevelEmitter emitter(mlir::OpBuilder &b, mlir::Location loc) const {
    return {{b, loc, *storage}, level};
  }
  mlir::Value coordinate(mlir::OpBuilder &b, mlir::Location loc, mlir::Value position) const {
    return format->coordinate(emitter(b, loc), parent, position);
  }
  /// The iterator of a position whose segment ends at `end` (looked at on nonunique levels only).
  levels::Iterator at(mlir::Value position, mlir::Value end, mlir::Value coordinate) const {
    levels::Iterator result{position, unique() ? mlir::Value() : end,
                            format->separatesBatches() ? position : parent.batch, parent.coordinates};
    result.coordinates.push_back(coordinate);
    return result;
  }
  bool hasPadding() const { return format->hasPadding(storage->encoding.levels[level].format); }
  /// Whether positions outside of all segments may be among those of the level: below such a gap nothing is
  /// stored, either.
  bool hasGaps() const;
  /// Whether the slot holds an entry; null where every slot does.
  mlir::Value valid(mlir::OpBuilder &b, mlir::Location loc, mlir::Value position,
                    mlir::Value coordinate) const {
    return format->valid(emitter(b, loc), parent, position, coordinate);
  }
};

/// Without a parent, the parent's position is 0. Where the condition (if any) is false, the space is empty.
Space makeSpace(mlir::OpBuilder &b, mlir::Location loc, const levels::Storage &storage, unsigned level,
                std::optional<levels::Iterator> parent, mlir::Value condition = {});

/// The first position from `position` on that holds an entry, or the end.
mlir::Value nextEntry(mlir::OpBuilder &b, mlir::Location loc, const Space &space, mlir::Value position);

/// The end of the run of equal coordinates that starts at `position`.
mlir::Value segmentEnd(mlir::OpBuilder &b, mlir::Location loc, const Space &space, mlir::Value position,
                       mlir::Value coordinate);
/// The first position in [begin, end) whose coordinate is not below `target`, else `end`: binary search.
mlir::Value lowerBound(mlir::OpBuilder &b, mlir::Location loc, const Space &space, mlir::Value begin,
                       mlir::Value end, mlir::Value target);
/// The same by doubling steps from `begin`, whose coordinate is below `target`: cheap when the answer is
/// near.
mlir::Value gallop(mlir::OpBuilder &b, mlir::Location loc, const Space &space, mlir::Value begin,
                   mlir::Value end, mlir::Value target);

/// Whether the position is before the end.
mlir::Value hasEntries(mlir::OpBuilder &b, mlir::Location loc, const Space &space, mlir::Value position);
/// The coordinate at a position, beyond all others where the operand has ended.
mlir::Value sentinelCoordinate(mlir::OpBuilder &b, mlir::Location loc, const Space &space,
                               mlir::Value position);
/// The next entry after those of this coordinate, which begin at `position`.
mlir::Value after(mlir::OpBuilder &b, mlir::Location loc, const Space &space, mlir::Value position,
                  mlir::Value coordinate);
/// The position after the entries of this coordinate where the operand has it, else the same position.
mlir::Value advance(mlir::OpBuilder &b, mlir::Location loc, const Space &space, mlir::Value position,
                    mlir::Value has, mlir::Value coordinate);
/// The position of the first entry at or after coordinate `lo`.
mlir::Value firstFrom(mlir::OpBuilder &b, mlir::Location loc, const Space &space, mlir::Value lo);

/// `inBounds && test()`, where `test` may only run in bounds.
mlir::Value guarded(mlir::OpBuilder &b, mlir::Location loc, mlir::Value inBounds,
                    llvm::function_ref<mlir::Value()> test);

} // namespace tulle::lower
