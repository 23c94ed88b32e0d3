// What a level format must say about itself so that loops can be made over it. One class per format, one file
// per class.
#pragma once
#include "levels/Assembly.h"

namespace tulle::levels {

/// A position at a level. Where the coordinate may be stored several times (a nonunique level), the segment
/// of all of them.
struct Iterator {
  Value position; ///< the (first) position
  Value end;      ///< of the segment, exclusive; null where it is a single position
  Value batch;    ///< linear coordinate of the enclosing batch levels; null without batch levels
  llvm::SmallVector<Value, 4> coordinates; ///< of this level and those above, outermost first
  bool bounded = false; ///< the loop over this level left out the positions below which nothing can be
};

/// How entries get their positions when they arrive in any order.
enum class Insertion : uint8_t {
  None,      ///< they cannot
  Computed,  ///< from the parent's position and the coordinate: the same coordinate has the same position
  HashTable, ///< the first occurrence of a coordinate takes a free position: insertion order is storage order
  Append     ///< each takes the next position below its parent
};

/// Which of the coordinates below each parent answer a level's query.
enum class Answering : uint8_t { Largest, LeastAndLargest, All };

/// The position that a coordinate would have, and whether it is stored there (a bit).
struct Found {
  Value position, found;
};

/// Emits the code that reads one level. Everything is emitted inline: there is no call and no dispatch at run
/// time.
class LevelFormat {
public:
  virtual ~LevelFormat() = default;

  /// Every coordinate below the level's size exists, so that `locate` is an address computation.
  virtual bool full() const { return false; }
  /// Each batch has arrays of its own: what lies below is not packed across it.
  virtual bool separatesBatches() const { return false; }

  /// The positions below a parent: the stored segment unless a format overrides it. At level 0 the parent's
  /// position is 0.
  virtual PositionRange positions(const LevelEmitter &emit, const Iterator &parent) const {
    return emit.storedRange(parent.position);
  }
  /// There is always exactly one position below the parent: no loop is needed.
  virtual bool single(const Iterator &parent) const { return false; }
  /// The coordinate at a position of `positions(parent)`, as index: the stored one unless a format overrides
  /// it.
  virtual Value coordinate(const LevelEmitter &emit, const Iterator &parent, Value position) const {
    return emit.storedCoordinate(position);
  }
  /// Some positions may be padding.
  virtual bool hasPadding(const format::LevelFormat &) const { return false; }
  /// What is stored at a position is its coordinate, whatever the parent is: one may be read before its
  /// parent is reached.
  virtual bool storesEachCoordinate() const { return false; }
  /// The positions below a parent have consecutive coordinates.
  virtual bool consecutive() const { return false; }
  /// Positions between two segments may belong to neither: what is stored there is no coordinate.
  virtual bool leavesGaps() const { return false; }
  /// Whether a position holds an entry and is not padding; null where every position does. `coordinate` is
  /// the one at the position. Unless a format overrides it, padding has no coordinate.
  virtual Value valid(const LevelEmitter &emit, const Iterator &parent, Value position,
                      Value coordinate) const {
    return hasPadding(emit.format()) ? emit.isEntry(coordinate) : Value();
  }
  /// The position of a coordinate (full levels only).
  virtual Value locate(const LevelEmitter &emit, const Iterator &parent, Value coordinate) const;
  /// Looks a coordinate of the level up without a search along an ordered segment; nullopt where there is no
  /// such way.
  virtual std::optional<Found> find(const LevelEmitter &emit, const Iterator &parent,
                                    Value coordinate) const {
    return std::nullopt;
  }
  /// For a level whose one position may lie outside: the coordinates of the level above, which is full, for
  /// which it lies inside. `grandparent` is the parent of that level. Nullopt where they are no interval.
  virtual std::optional<PositionRange> parentCoordinates(const LevelEmitter &emit,
                                                         const Iterator &grandparent) const {
    return std::nullopt;
  }

  // Assembly by position. The driver calls these level by level from the top: `startQuery`, and `query` at
  // every entry of a copy of the loops that only queries (both where `needsQuery`); `size`; `insert` at every
  // entry of the copy that stores; `finish`.

  virtual Insertion insertion() const = 0;
  /// Whether the level's size depends on the entries.
  virtual bool needsQuery(const format::Level &level) const { return false; }
  /// Whether the query differs from parent to parent.
  virtual bool needsQueryPerParent(const format::Level &level) const { return needsQuery(level); }
  virtual void startQuery(const Assembly &a, LevelBuild &build) const {}
  virtual Answering answering(const format::Level &level) const { return Answering::All; }
  /// `above`: the coordinates of the levels above, in order.
  virtual void query(const Assembly &a, LevelBuild &build, Value parent, Value coordinate,
                     ValueRange above) const {}
  /// Makes the level's buffers, with the edges from the parents; returns the number of positions.
  virtual Value size(const Assembly &a, LevelBuild &build) const = 0;
  /// Stores the coordinate below a parent; returns its position.
  virtual Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const = 0;
  virtual void finish(const Assembly &a, LevelBuild &build) const {}
};

/// Levels that are sized by how many entries each parent has: `build.work` has a counter of some bits for
/// each parent.
template <typename Base, unsigned bits> class Counted : public Base {
public:
  bool needsQuery(const format::Level &) const override { return true; }
  void startQuery(const Assembly &a, LevelBuild &build) const override {
    build.work = a.zeros(a.builder.getIntegerType(bits), build.parents);
  }
  void query(const Assembly &a, LevelBuild &build, Value parent, Value, ValueRange) const override {
    a.fetchAdd(build, parent);
  }
};

/// Levels with as many positions below every parent: those of parent p begin at p * slots.
class SlottedLevelFormat : public LevelFormat {
public:
  virtual Value slots(const LevelEmitter &emit) const { return emit.size(); }
  PositionRange positions(const LevelEmitter &emit, const Iterator &parent) const override {
    Value n = slots(emit), begin = emit.mul(parent.position, n);
    return {begin, emit.add(begin, n)};
  }

protected:
  /// The number of a position among those of its parent.
  Value slotOf(const LevelEmitter &emit, const Iterator &parent, Value position) const {
    return emit.sub(position, emit.mul(parent.position, slots(emit)));
  }
};

/// What the full levels share: position = parent's position * level size + coordinate.
class FullLevelFormat : public SlottedLevelFormat {
public:
  bool full() const override { return true; }
  Value coordinate(const LevelEmitter &emit, const Iterator &parent, Value position) const override {
    return slotOf(emit, parent, position);
  }
  Value locate(const LevelEmitter &emit, const Iterator &parent, Value coordinate) const override {
    return emit.add(emit.mul(parent.position, slots(emit)), coordinate);
  }

  Insertion insertion() const override { return Insertion::Computed; }
  // Only a counter's size depends on the entries: it is the longest count.
  bool needsQuery(const format::Level &level) const override {
    return level.expr->kind == format::ExprKind::Counter;
  }
  bool needsQueryPerParent(const format::Level &) const override { return false; }
  void startQuery(const Assembly &a, LevelBuild &build) const override { build.work = a.cell(a.constant(0)); }
  void query(const Assembly &a, LevelBuild &build, Value parent, Value coordinate,
             ValueRange above) const override;
  Value size(const Assembly &a, LevelBuild &build) const override;
  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    return a.add(a.mul(parent, build.size), coordinate);
  }
};

/// Levels that have consecutive coordinates below each parent.
class ConsecutiveLevelFormat : public LevelFormat {
public:
  /// The least of them.
  virtual Value first(const LevelEmitter &emit, Value parent) const = 0;
  bool consecutive() const override { return true; }
  Value coordinate(const LevelEmitter &emit, const Iterator &parent, Value position) const override;
  std::optional<Found> find(const LevelEmitter &emit, const Iterator &parent,
                            Value coordinate) const override;

  Insertion insertion() const override { return Insertion::Computed; }
  bool needsQuery(const format::Level &) const override { return true; }
  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override;
};

/// The class of a level format. Formats without one cannot hold data (format::whyNotExecutable says so
/// first).
const LevelFormat *find(const format::LevelFormat &format);

/// Defines the function that LevelFormats.def names; one per format, in the format's file.
#define TULLE_LEVEL_FORMAT(NAME)                                                                             \
  const LevelFormat &formatOf##NAME() {                                                                      \
    static const NAME instance;                                                                              \
    return instance;                                                                                         \
  }

} // namespace tulle::levels
