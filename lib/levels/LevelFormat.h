// What a level format must say about itself so that loops can be made over it. One class per format, one file
// per class.
#pragma once
#include "dialect/Dialect.h"
#include "levels/Assembly.h"
#include "levels/Storage.h"

namespace tulle::levels {

/// A position at a level. Where the coordinate may be stored several times (a nonunique level), the segment
/// of all of them.
struct Iterator {
  mlir::Value position; ///< the (first) position
  mlir::Value end;      ///< of the segment, exclusive; null where it is a single position
  mlir::Value batch;    ///< linear coordinate of the enclosing batch levels; null without batch levels
  llvm::SmallVector<mlir::Value, 4> coordinates; ///< of this level and those above, outermost first
  bool bounded = false; ///< the loop over this level left out the positions below which nothing can be
};

/// Half-open range of positions.
struct PositionRange {
  mlir::Value begin, end;
};

/// How entries get their positions when they arrive in any order.
enum class Insertion : uint8_t {
  None,      ///< they cannot
  Computed,  ///< from the parent's position and the coordinate: the same coordinate has the same position
  HashTable, ///< the first occurrence of a coordinate takes a free position: insertion order is storage order
  Append     ///< each takes the next position below its parent
};

/// The position that a coordinate would have, and whether it is stored there (a bit).
struct Found {
  mlir::Value position, found;
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

  /// The positions below a parent. At level 0 the parent's position is 0.
  virtual PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const = 0;
  /// There is always exactly one position below the parent: no loop is needed.
  virtual bool single(const Iterator &parent) const;
  /// The coordinate at a position of `positions(parent)`, as index: the stored one unless a format overrides
  /// it.
  virtual mlir::Value coordinate(const Emitter &emit, unsigned level, const Iterator &parent,
                                 mlir::Value position) const;
  /// Some positions may be padding.
  virtual bool hasPadding(const format::LevelFormat &) const { return false; }
  /// What is stored at a position is its coordinate, whatever the parent is: one may be read before its
  /// parent is reached.
  virtual bool storesEachCoordinate() const { return false; }
  /// Positions between two segments may belong to neither: what is stored there is no coordinate.
  virtual bool leavesGaps() const { return false; }
  /// Whether a position holds an entry and is not padding; null where every position does. `coordinate` is
  /// the one at the position.
  virtual mlir::Value valid(const Emitter &emit, unsigned level, const Iterator &parent, mlir::Value position,
                            mlir::Value coordinate) const;
  /// The position of a coordinate (full levels only).
  virtual mlir::Value locate(const Emitter &emit, unsigned level, const Iterator &parent,
                             mlir::Value coordinate) const;
  /// Looks a coordinate of the level up without a search along an ordered segment; nullopt where there is no
  /// such way.
  virtual std::optional<Found> find(const Emitter &emit, unsigned level, const Iterator &parent,
                                    mlir::Value coordinate) const;
  /// For a level whose one position may lie outside: the coordinates of the level above, which is full, for
  /// which it lies inside. `grandparent` is the parent of that level. Nullopt where they are no interval.
  virtual std::optional<PositionRange> parentCoordinates(const Emitter &emit, unsigned level,
                                                         const Iterator &grandparent) const;

  // Assembly by position. The driver calls these level by level from the top: `startQuery`, and `query` at
  // every entry of a copy of the loops that only queries (both where `needsQuery`); `size`; `insert` at every
  // entry of the copy that stores; `finish`.

  virtual Insertion insertion() const { return Insertion::None; }
  /// Whether the level's size depends on the entries.
  virtual bool needsQuery(const format::Level &level) const { return false; }
  /// Whether the query differs from parent to parent.
  virtual bool needsQueryPerParent(const format::Level &level) const { return needsQuery(level); }
  virtual void startQuery(const Assembly &a, LevelBuild &build) const {}
  /// `above`: the coordinates of the levels above, in order.
  virtual void query(const Assembly &a, LevelBuild &build, mlir::Value parent, mlir::Value coordinate,
                     mlir::ValueRange above) const {}
  /// Makes the level's buffers, with the edges from the parents; returns the number of positions.
  virtual mlir::Value size(const Assembly &a, LevelBuild &build) const;
  /// Stores the coordinate below a parent; returns its position.
  virtual mlir::Value insert(const Assembly &a, LevelBuild &build, mlir::Value parent,
                             mlir::Value coordinate) const;
  virtual void finish(const Assembly &a, LevelBuild &build) const {}

protected:
  /// From element `at` of the level's positions to the next one.
  static PositionRange storedRange(const Emitter &emit, unsigned level, mlir::Value at);
  /// Element of the coordinates buffer that belongs to `position`: what every level that stores coordinates
  /// shares.
  static mlir::Value storedCoordinate(const Emitter &emit, unsigned level, mlir::Value position);
  /// Whether a stored coordinate is that of an entry: all bits set mark padding.
  static mlir::Value isEntry(const Emitter &emit, unsigned level, mlir::Value coordinate);
};

/// What the full levels share: position = parent's position * level size + coordinate.
class FullLevelFormat : public LevelFormat {
public:
  bool full() const override { return true; }
  PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const override;
  mlir::Value coordinate(const Emitter &emit, unsigned level, const Iterator &parent,
                         mlir::Value position) const override;
  mlir::Value locate(const Emitter &emit, unsigned level, const Iterator &parent,
                     mlir::Value coordinate) const override;

  Insertion insertion() const override { return Insertion::Computed; }
  bool needsQuery(const format::Level &level) const override;
  bool needsQueryPerParent(const format::Level &) const override { return false; }
  void startQuery(const Assembly &a, LevelBuild &build) const override;
  void query(const Assembly &a, LevelBuild &build, mlir::Value parent, mlir::Value coordinate,
             mlir::ValueRange above) const override;
  mlir::Value size(const Assembly &a, LevelBuild &build) const override;
  mlir::Value insert(const Assembly &a, LevelBuild &build, mlir::Value parent,
                     mlir::Value coordinate) const override;
};

/// The class of a level kind. Kinds without one cannot hold data (format::whyNotExecutable says so first).
const LevelFormat *find(format::LevelKind kind);

/// Defines the function that LevelFormats.def names; one per format, in the format's file.
#define TULLE_LEVEL_FORMAT(NAME)                                                                             \
  const LevelFormat &formatOf##NAME() {                                                                      \
    static const NAME instance;                                                                              \
    return instance;                                                                                         \
  }

} // namespace tulle::levels
