// A set of coordinates at run time, one level below one parent or a range, and the searches along it.
#pragma once
#include "iteration/CostModel.h"
#include "levels/LevelFormat.h"

namespace tulle::lower {

using levels::forLoop;
using levels::Iterator;
using levels::PositionRange;
using levels::Values;
using levels::whileLoop;
using mlir::Value;
using mlir::ValueRange;

inline Values concat(Values first, ValueRange second) {
  llvm::append_range(first, second);
  return first;
}
inline Values dropFront(ValueRange values, size_t count) { return Values(values.drop_front(count)); }

/// Index arithmetic, branches and searches. A null operand is the identity of `least`, `greatest`, `both` and
/// `either`.
struct Emitter : levels::Emitter {
  Emitter(mlir::OpBuilder &b, mlir::Location loc, const levels::Storage &storage = none)
      : levels::Emitter(b, loc, storage) {}

  template <typename Op> Value combine(Value x, Value y) const {
    return !x ? y : !y ? x : Op::create(builder, loc, x, y).getResult();
  }
  Value least(Value x, Value y) const { return combine<mlir::arith::MinUIOp>(x, y); }
  Value greatest(Value x, Value y) const { return combine<mlir::arith::MaxUIOp>(x, y); }
  Value both(Value x, Value y) const { return combine<mlir::arith::AndIOp>(x, y); }
  Value either(Value x, Value y) const { return combine<mlir::arith::OrIOp>(x, y); }
  Value bit(bool value) const { return mlir::arith::ConstantIntOp::create(builder, loc, value, 1); }
  Value negate(Value x) const { return mlir::arith::XOrIOp::create(builder, loc, x, bit(true)); }
  Value next(Value x) const { return add(x, constant(1)); }
  Value isLess(Value x, Value y) const { return compare(mlir::arith::CmpIPredicate::ult, x, y); }
  Value isAtMost(Value x, Value y) const { return compare(mlir::arith::CmpIPredicate::ule, x, y); }
  Value isEqual(Value x, Value y) const { return compare(mlir::arith::CmpIPredicate::eq, x, y); }
  Value select(Value condition, Value x, Value y) const {
    return mlir::arith::SelectOp::create(builder, loc, condition, x, y);
  }
  Value divide(Value x, Value y) const { return mlir::arith::DivUIOp::create(builder, loc, x, y); }
  Value remainder(Value x, Value y) const { return mlir::arith::RemUIOp::create(builder, loc, x, y); }
  Value shiftRight(Value x, int64_t by) const {
    return mlir::arith::ShRUIOp::create(builder, loc, x, constant(by));
  }

  template <typename Then, typename Else>
  Values branch(Value condition, mlir::TypeRange types, Then then, Else otherwise) const {
    return levels::ifElse(builder, loc, condition, types, then, otherwise);
  }
  /// `condition ? then() : otherwise()`, an index.
  template <typename Then, typename Else> Value choose(Value condition, Then then, Else otherwise) const {
    return branch(
        condition, builder.getIndexType(), [&] { return Values{then()}; },
        [&] { return Values{otherwise()}; })[0];
  }
  /// `inBounds && test()`, where `test` may only run in bounds.
  Value guarded(Value inBounds, llvm::function_ref<Value()> test) const;
  /// The first x from `begin` on that is not `isBelow`, a monotone predicate, else `end`. With a width, the
  /// search ends when fewer than that many are left.
  Value binarySearch(Value begin, Value end, llvm::function_ref<Value(Value)> isBelow,
                     int64_t width = 1) const;

  static const levels::Storage none;
};

/// What a `tulle.space`, or a `tulle.range`, is at run time.
struct Space {
  Emitter emit;
  const levels::LevelFormat *format = nullptr; ///< null of a range, whose positions are its coordinates
  unsigned level = 0;
  PositionRange range = {};
  Iterator parent = {};
  std::optional<PositionRange> slice = {}; ///< of a full level: the coordinates of a chunk
  Value shift = {};        ///< by which the coordinates that are stored are larger; null: by none
  bool one = false;        ///< whether the range is the segment of one coordinate
  bool maybeEmpty = false; ///< even where the level has one position below each parent: under a condition

  /// Without a parent, the parent's position is 0. Where the condition (if any) is false, the space is empty.
  static Space create(Emitter emit, unsigned level, std::optional<Iterator> parent, Value condition = {});

  const levels::Storage &storage() const { return emit.storage; }
  const format::LevelFormat &levelFormat() const { return storage().encoding.levels[level].format; }
  /// The memory that the level's coordinates are in, of a level that stores them.
  Value coordinateBuffer() const { return storage().fields[storage().layout.coordinates[level]->field]; }
  bool full() const { return format && format->full(); }
  bool unique() const { return levelFormat().unique; }
  bool hasPadding() const { return !storage().noPadding && format->hasPadding(levelFormat()); }
  /// Whether positions outside of all segments may be among those of the level: below such a gap nothing is
  /// stored, either.
  bool hasGaps() const;
  Value levelSize() const { return emit.levelSize(level); }
  Value coordinate(Value position) const {
    Value stored = format->coordinate({emit, level}, parent, position);
    // Without the promise of no overflow: (x - 2) + 1 becomes x + -1, where MLIR keeps such promises of both.
    return shift ? Value(mlir::arith::SubIOp::create(emit.builder, emit.loc, stored, shift)) : stored;
  }
  /// The coordinate as the level has it.
  Value stored(Value coordinate) const { return shift ? emit.add(coordinate, shift) : coordinate; }
  Value locate(Value coordinate) const { return format->locate({emit, level}, parent, stored(coordinate)); }
  /// Whether the slot holds an entry; null where every slot does.
  Value valid(Value position, Value coordinate) const {
    return storage().noPadding ? Value() : format->valid({emit, level}, parent, position, stored(coordinate));
  }
  /// The positions of a space, or the coordinates of a full one or of a range: a part of a full level has the
  /// same coordinates below every parent.
  PositionRange bounds() const;
  /// Makes it the part between such bounds.
  void limit(PositionRange part);
  /// The iterator of a position whose segment ends at `end` (read on nonunique levels only).
  Iterator at(Value position, Value end, Value coordinate) const;

  /// The first position from `position` on that holds an entry, or the end.
  Value nextEntry(Value position) const;
  /// The position of the first entry at or after coordinate `lo`.
  Value firstFrom(Value lo) const;
  /// The end of the run of equal coordinates that starts at `position`.
  Value segmentEnd(Value position, Value coordinate) const;
  /// The first position in [begin, end) whose coordinate is not below `target`, else `end`: binary search.
  Value lowerBound(Value begin, Value end, Value target) const;
  /// The same by doubling steps from `begin`, whose coordinate is below `target`: cheap when the answer is
  /// close. With a width, the start of a block of that many coordinates that holds the target, if the space
  /// does; the block at `begin` ends below it, and the space may end within the new one.
  Value gallop(Value begin, Value target, int64_t width = 1) const;

  /// Whether the position is before the end.
  Value hasEntries(Value position) const { return emit.isLess(position, range.end); }
  /// The coordinate at a position, beyond all others where the space has ended.
  Value sentinelCoordinate(Value position) const;
  /// The next entry after those of this coordinate, which begin at `position`.
  Value after(Value position, Value coordinate) const { return nextEntry(segmentEnd(position, coordinate)); }
  /// The position after the entries of this coordinate where the space has it, else the same position.
  Value advance(Value position, Value has, Value coordinate) const;
};

//===--- Intersections of many coordinates at a time ---===//

/// Where both operands have a coordinate: the positions of both, then the values carried.
using Meet = llvm::function_ref<Values(Value coordinate, Value x, Value y, Values carried)>;

/// Whether both operands store their coordinates one after the other, ascending and each once.
bool comparesBlocks(const Space &x, const Space &y);
/// Visits the coordinates that both have, in ascending order, while both have enough of them for a vector: by
/// blocks of both (`blocks`), or with the shorter list galloping through the longer one (`gallop`); `auto`
/// gallops where one list is `model.blockGallopRatio()` times as long as the other. `carried` begins with the
/// positions of x and y; so does what is returned, where a merge goes on.
Values intersectBlocks(const Emitter &emit, const Space &x, const Space &y, dialect::Strategy how,
                       const iteration::CostModel &model, Values carried, Meet meet);

/// Whether both operands are bitmaps.
bool comparesWords(const Space &x, const Space &y);
/// Visits all coordinates that both have, in ascending order.
Values intersectWords(const Emitter &emit, const Space &x, const Space &y, Values carried, Meet meet);

/// Whether a loop over a level whose coordinates repeat has an iteration for each entry: it says so, or it
/// does nothing but iterate over the entries below, and nothing there asks which of them have one coordinate.
bool visitsEachEntry(dialect::IterateOp op);

} // namespace tulle::lower
