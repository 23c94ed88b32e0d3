// Slots that lie far apart, filled a strip at a time: what one coordinate has is stored all over the result.
#pragma once
#include "passes/assemble/Queries.h"

namespace tulle::assemble {

/// Where strips are of use: a dense level whose coordinates come in ascending order, slab by slab.
struct StripLevel {
  unsigned level;
  unsigned dim; ///< the stream ascends by its coordinates first
  /// A level above whose coordinate is the difference of the dimension and the dense level, if the level does
  /// not have the dimension itself: each slab then has the coordinates of a strip from a place of its own on
  /// (CSC to DIA: of column j, diagonal d holds row j - d).
  std::optional<unsigned> apart;
  bool negated = false; ///< the dense level less the dimension

  /// nullopt where there is none, or where strips do not help.
  static std::optional<StripLevel> find(const Target &target, const Order &order);
};

/// Assembly by position where a dense level inside holds what the stream ascends by (DIA, ELL): each entry
/// goes somewhere else, and every slot without one has to be emptied. Here a strip of consecutive coordinates
/// of that dimension is put together in a room that the caches hold, empty at first, and then goes to the
/// result slab by slab, past the caches where that is large: every slot is written once, and slots whose
/// addresses collide in the caches do not. What does not fill a line of the result waits in the room for the
/// next strip: slabs begin anywhere in a line, and a line that is written in two goes has to be read first
/// (ELL of 1,000,001 rows takes 1.67 of the time of 1,000,000 then, on AMD Zen 3).
class Strips {
public:
  /// Whether strips are as much work as the result is large (i1); null where they always are.
  static mlir::Value fit(const TargetAssembly &assembly, const StripLevel &at,
                         llvm::ArrayRef<levels::LevelBuild> builds);
  /// Where the builder stands one part of the stream begins: makes its room. `builds` have their sizes.
  Strips(const TargetAssembly &assembly, const StripLevel &at, llvm::ArrayRef<levels::LevelBuild> builds);
  /// An entry, or a round, is at this coordinate of the dimension.
  void enter(mlir::Value coordinate) const;
  /// The room's position of an entry at a position of the level above; what levels below the dense one store
  /// goes to `room`.
  mlir::Value place(mlir::Value above, mlir::Value coordinate) const;
  Target &room() { return roomTarget; }
  /// Behind the entries. Returns the coordinates that the result now has the slots of, from the first to
  /// before the second; both are 0 without entries.
  std::pair<mlir::Value, mlir::Value> finish() const;

  /// Empties the slots of coordinates from … to - 1, which no entry comes to.
  static void empty(const TargetAssembly &assembly, const StripLevel &at,
                    llvm::ArrayRef<levels::LevelBuild> builds, mlir::Value from, mlir::Value to);
  /// Empties those outside of all coordinates, if slabs have such.
  static void emptyOutside(const TargetAssembly &assembly, const StripLevel &at,
                           llvm::ArrayRef<levels::LevelBuild> builds);

private:
  /// With `more`, the next strip begins at `end`.
  void flush(mlir::Value end, bool more) const;
  mlir::Value slabStart(mlir::Value slab) const;
  /// What a slab has of a strip: so many elements of the result from `to` on, which stand at `held` in the
  /// room.
  struct Piece {
    mlir::Value to, count, held;
    mlir::Value next;   ///< where that of the next strip will stand, if its end waits
    mlir::Value before; ///< elements of the slab before it, of which some may wait; null: enough
    mlir::Value keeps;  ///< its end may wait (i1)
  };
  Piece pieceOf(mlir::Value slab, mlir::Value from, mlir::Value stop, mlir::Value keeps) const;
  void copyPiece(unsigned field, const Piece &piece) const;

  const TargetAssembly &assembly;
  StripLevel at;
  llvm::ArrayRef<levels::LevelBuild> builds;
  Target roomTarget;
  mlir::Value length;                 ///< coordinates of a strip
  mlir::Value stride;                 ///< of slabs in the room, with what waits before each
  mlir::Value large;                  ///< whether the result is written past the caches (i1)
  llvm::SmallVector<unsigned> fields; ///< that the room has
  Register first, base, limit, end;   ///< of the part; of the strip; behind the newest coordinate
  Register waits;                     ///< whether the ends of the strip before wait in the room (0 or 1)
};

} // namespace tulle::assemble
