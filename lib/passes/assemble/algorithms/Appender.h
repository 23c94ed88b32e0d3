// The levels of a tensor as they grow at their ends.
#pragma once
#include "passes/assemble/algorithms/Target.h"

namespace tulle::assemble {

/// A compressed or loose_compressed level, with the singletons below that store one coordinate for each of
/// its positions. The levels from `above` on, up to it, are full.
struct LevelGroup {
  unsigned above = 0, first = 0, end = 0;
  bool alwaysNew = false;     ///< every entry has a position of its own here
  Register count;             ///< positions so far
  Register filled;            ///< elements of the positions field that are final
  std::vector<Register> last; ///< coordinates of the newest position, where they are compared
};

/// Emits code that takes entries in storage order and appends them. The levels are: full ones (whose
/// positions are computed) and groups, then full ones to the end, the block of values below each last
/// position.
///
/// The state is in registers, for each group: how many positions there are, how many elements of the
/// positions field are final, and the coordinates of the newest position.
class Appender {
public:
  /// With `counting`, only the numbers of positions are computed: nothing is allocated or stored. With
  /// `wholeBlocks`, what is appended has coordinates of the stored levels of its own, and all values of its
  /// block (appendBlock).
  Appender(Target &target, bool unique, bool counting, bool wholeBlocks = false);

  bool counting() const { return counts; }
  /// Coordinates of these fields are not stored, nor are values where entries come without.
  void leaveOut(llvm::ArrayRef<unsigned> fields) { leftOut = fields; }

  /// Memory for `bounds[r]` positions of group r (one bound may serve all: the number of entries), but where
  /// the target has it already.
  void allocate(mlir::ValueRange bounds);
  /// One entry at the target's level coordinates.
  void append(mlir::ValueRange coordinates, mlir::Value value);
  /// A block at coordinates of the stored levels; returns the position of its first value. The caller stores
  /// all of them.
  mlir::Value appendBlock(mlir::ValueRange coordinates);

  /// The levels above the last group: their coordinates make a fiber. 0 where there are no fibers.
  unsigned fiberLevels() const { return groups.empty() ? 0 : groups.back().first; }
  /// From here on entries arrive fiber by fiber, and closeFiber follows the entries of each: what the levels
  /// above need is done once for each fiber.
  void byFiber() { fibers = fiberLevels() > 0; }
  /// Behind the entries of the fiber at these coordinates of (at least) its levels, if `byFiber` found some;
  /// a fiber may be empty, and may be closed before all its entries are there.
  void closeFiber(mlir::ValueRange coordinates);

  /// Whether entries of the current fiber have positions that are known ahead, since each has one of its own:
  /// the caller may store some in any order, with storeEntry, behind lastCount(), and skips them then.
  bool takesSegments() const;
  /// The levels of which such an entry stores a coordinate.
  llvm::SmallVector<unsigned> storedCoordinates() const;
  /// The entry at a position of the last group; no coordinate is checked.
  void storeEntry(mlir::Value position, mlir::ValueRange coordinates, mlir::Value value) const;
  /// So many entries of the current fiber are there, or counted.
  void skip(mlir::Value count);

  /// Of a tensor of one group below one full level: consecutive fibers from that one on, whose entries, and
  /// ends in the positions field, the caller stores; before `end`, `count` entries in all.
  void openFibers(mlir::Value first);
  void closeFibers(mlir::Value end, mlir::Value count);

  /// For an appender of one chunk of the entries, whose positions count from `starts[r]` on in group r: what
  /// the first group's positions field says of parents before the first one with entries is left alone.
  void beginChunk(mlir::ValueRange starts);
  /// What stands behind the last entry of a chunk, in groups below others.
  void finishChunk();
  /// Elements first … last - 1 of the first group's positions field have been written by the chunk; none:
  /// first = last = 0.
  std::pair<mlir::Value, mlir::Value> chunkPositions() const;
  /// As finish, for levels that hold `counts[r]` positions of group r: the first group's positions field is
  /// written up to element `reached`, the others' from the first element on.
  void finishJoined(mlir::ValueRange counts, mlir::Value reached);

  /// What stands behind the last entry; gives back what was not used, unless memory is for `exact` numbers.
  void finish(bool exact = false);

  llvm::ArrayRef<LevelGroup> levelGroups() const { return groups; }
  /// The numbers of positions of the groups so far.
  Values positionCounts() const;
  mlir::Value lastCount() const { return groups.back().count.get(); }
  /// The parents of group r > 0, whose parent group has `positions` positions.
  mlir::Value parents(size_t group, mlir::Value positions) const;

private:
  /// A position, and that of the enclosing batch levels, if any.
  struct Parent {
    mlir::Value position, batch;
  };

  Parent below(unsigned level, const Parent &above, mlir::Value coordinate) const;
  Parent throughFullLevels(const LevelGroup &group, const Parent &above, bool checked) const;
  unsigned positionsField(const LevelGroup &group) const {
    return *target.storage.layout.positions[group.first];
  }
  mlir::Value positionsStart(const LevelGroup &group, const Parent &parent) const;
  mlir::Value blockAt(mlir::ValueRange coordinates, mlir::Value value);
  Parent reach(llvm::MutableArrayRef<LevelGroup> through, unsigned end, mlir::ValueRange coordinates,
               mlir::Value value);
  mlir::Value extend(LevelGroup &group, mlir::Value end, mlir::ValueRange coordinates, mlir::Value value);
  void startPositions(const LevelGroup &group, mlir::Value from);
  mlir::Value appendPosition(const LevelGroup &group, mlir::ValueRange coordinates);
  mlir::Value coordinateAt(unsigned level, mlir::Value position) const;
  void fillPositions(const LevelGroup &group, mlir::Value end, mlir::Value count);
  void addValue(mlir::Value position, mlir::ValueRange coordinates, mlir::Value value);

  Target &target;
  bool unique, counts, fibers = false;
  unsigned stored;                  ///< levels up to the last group's
  mlir::Value block;                ///< values below each of the last group's positions
  llvm::ArrayRef<unsigned> leftOut; ///< fields that something else stores
  std::vector<LevelGroup> groups;
  std::optional<Register> first;  ///< of a chunk: the first element it writes of the first group's positions
  std::optional<Register> closed; ///< positions of the last group when a fiber was closed the last time
  std::optional<Register> lastInBlock; ///< the newest value's position, where repeats are possible in blocks
};

} // namespace tulle::assemble
