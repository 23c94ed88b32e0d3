// Slots that lie far apart, filled a tile at a time: what one coordinate has is stored all over the result.
#pragma once
#include "passes/assemble/algorithms/Target.h"
#include "passes/assemble/choose/Order.h"

namespace tulle::assemble {

/// Where tiles are of use: a dense level whose coordinates come in ascending order, column by column.
struct TiledLevel {
  unsigned level;
  unsigned dim; ///< the stream ascends by its coordinates first
  /// A level above whose coordinate is the difference of the dimension and the dense level, if the level does
  /// not have the dimension itself: each column then has the coordinates of a tile from a slot of its own on
  /// (CSC to DIA: of column j, diagonal d holds row j - d).
  std::optional<unsigned> apart;
  bool negated = false; ///< the dense level less the dimension

  /// nullopt where there is none, or where tiles do not help.
  static std::optional<TiledLevel> find(const Target &target, const Order &order);
};

/// The columns of a tiled level: one for each position of the level above. `builds` have their sizes.
class TiledColumns {
public:
  TiledColumns(const Target &target, const TiledLevel &at, llvm::ArrayRef<levels::LevelBuild> builds)
      : a(target), at(at), builds(builds) {}

  /// Whether tiles are as much work as the result is large (i1); null where they always are.
  mlir::Value fitTiles() const;
  /// Empties the slots of coordinates from … to - 1, which no entry comes to.
  void empty(mlir::Value from, mlir::Value to) const;
  /// Empties those outside of all coordinates, if columns have such.
  void emptyOutside() const;

protected:
  mlir::Value slots() const { return builds[at.level].size; } ///< of a column
  mlir::Value startOf(mlir::Value column) const { return a.mul(column, slots()); }
  llvm::SmallVector<unsigned> slotFields() const;
  void forEach(llvm::function_ref<void(mlir::Value column)> body) const;
  mlir::Value shiftOf(mlir::Value column) const;
  std::pair<mlir::Value, mlir::Value> clip(mlir::Value from, mlir::Value to) const;
  void emptySlots(mlir::Value column, mlir::Value from, mlir::Value to) const;

  const Target &a;
  TiledLevel at;
  llvm::ArrayRef<levels::LevelBuild> builds;
};

/// Assembly by position where a dense level inside holds what the stream ascends by (DIA, ELL): each entry
/// goes somewhere else, and every slot without one has to be emptied. Here a tile of consecutive coordinates
/// of that dimension is put together in a staging buffer that the caches hold, empty at first, and then goes
/// to the result column by column, past the caches where that is large: every slot is written once, and slots
/// whose addresses collide in the caches do not. What does not fill a line of the result waits in the staging
/// buffer for the next tile: columns begin anywhere in a line, and a line that is written in two goes has to
/// be read first (docs/experiments/019).
class ColumnTiles : public TiledColumns {
public:
  /// A chunk of the stream begins where the builder stands: makes its staging buffer.
  explicit ColumnTiles(const TiledColumns &columns);
  /// An entry, or an iteration, is at this coordinate of the dimension.
  void enter(mlir::Value coordinate) const;
  /// The position in the staging buffer of an entry at a position of the level above; what levels below the
  /// dense one store goes to `staging`.
  mlir::Value position(mlir::Value above, mlir::Value coordinate) const;
  Target &staging() { return stagingTarget; }
  /// Behind the entries. Returns the coordinates that the result now has the slots of, from the first to
  /// before the second; both are 0 without entries.
  std::pair<mlir::Value, mlir::Value> finish() const;

private:
  /// With `more`, the next tile begins at `end`.
  void flush(mlir::Value end, bool more) const;
  mlir::Value columnStart(mlir::Value column) const;
  /// What a column has of a tile: so many elements of the result from `to` on, which stand at `held` in the
  /// staging buffer.
  struct Chunk {
    mlir::Value to, count, held;
    mlir::Value next;   ///< where that of the next tile will stand, if its end waits
    mlir::Value before; ///< elements of the column before it, of which some may wait; null: enough
    mlir::Value keeps;  ///< its end may wait (i1)
  };
  Chunk chunkOf(mlir::Value column, mlir::Value from, mlir::Value stop, mlir::Value keeps) const;
  void copyChunk(unsigned field, const Chunk &chunk) const;

  Target stagingTarget;
  mlir::Value length;                 ///< coordinates of a tile
  mlir::Value stride;                 ///< of columns in the staging buffer, with what waits before each
  mlir::Value large;                  ///< whether the result is written past the caches (i1)
  llvm::SmallVector<unsigned> fields; ///< that the staging buffer has
  Register first, base, limit, end;   ///< of the chunk; of the tile; behind the newest coordinate
  Register waits; ///< whether the ends of the tile before wait in the staging buffer (0 or 1)
};

} // namespace tulle::assemble
