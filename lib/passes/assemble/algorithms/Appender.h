// The levels of a tensor as they grow at their ends.
#pragma once
#include "passes/assemble/algorithms/Target.h"
#include "passes/assemble/choose/Order.h"

namespace tulle::assemble {

/// A compressed or loose_compressed level, with the singletons below that store one coordinate for each of
/// its positions.
struct Run {
  unsigned first = 0, end = 0;
  bool alwaysFresh = false; ///< every entry has a position of its own here
};

/// Emits code that takes entries in storage order and appends them. The levels are: full ones (whose
/// positions are computed) and runs, then full ones to the end, the block of values below each last position.
///
/// The state is, per run: how many positions there are, how many elements of the positions field are final,
/// and the coordinates of the newest position.
class Appender {
public:
  /// With `counting`, only the numbers of positions are computed: nothing is allocated or stored. With
  /// `wholeBlocks`, what is appended has coordinates of the stored levels of its own, and all values of its
  /// block (appendBlock).
  Appender(mlir::OpBuilder &b, Target &target, const Order &order, bool counting, bool wholeBlocks = false);

  /// Coordinates of these fields are not stored, nor are values where entries come without.
  void leaveOut(llvm::ArrayRef<unsigned> fields) { leftOut = fields; }

  /// Memory for `bounds[r]` positions of run r (one bound may serve all: the number of entries), but where
  /// the target has it already.
  void allocate(mlir::OpBuilder &b, mlir::ValueRange bounds);
  /// One entry at the target's level coordinates.
  void append(mlir::OpBuilder &b, mlir::ValueRange coordinates, mlir::Value value);
  /// A block at coordinates of the stored levels; returns the position of its first value. The caller stores
  /// all of them.
  mlir::Value appendBlock(mlir::OpBuilder &b, mlir::ValueRange coordinates);

  /// Whether entries can arrive group by group: those below one position of the levels above the last run.
  /// Then what the levels above need is done once for each group, behind its entries.
  bool groups() const { return groupLevels() > 0; }
  /// The levels above the last run: their coordinates make a group.
  unsigned groupLevels() const { return runs.empty() ? 0 : runs.back().first; }
  /// As append and appendBlock, for an entry of the group that is open.
  void appendInGroup(mlir::OpBuilder &b, mlir::ValueRange coordinates, mlir::Value value);
  mlir::Value appendBlockInGroup(mlir::OpBuilder &b, mlir::ValueRange coordinates);
  /// Behind the entries of the group at these coordinates of (at least) the group's levels; a group may be
  /// empty, and may be closed before all its entries are there.
  void closeGroup(mlir::OpBuilder &b, mlir::ValueRange coordinates);

  /// For an appender of one chunk of the entries, whose positions count from `starts[r]` on in run r: what
  /// the first run's positions field says of parents before the first one with entries is left alone.
  void beginChunk(mlir::OpBuilder &b, mlir::ValueRange starts);
  /// What stands behind the last entry of a chunk, in runs below others.
  void finishChunk(mlir::OpBuilder &b);
  /// Elements first … last - 1 of the first run's positions field have been written by the chunk; none:
  /// first = last = 0.
  std::pair<mlir::Value, mlir::Value> chunkPositions(mlir::OpBuilder &b) const;
  /// As finish with loose bounds, for levels that hold `counts[r]` positions of run r: the first run's
  /// positions field is written up to element `reached`, the others' from the first element on.
  void finishJoined(mlir::OpBuilder &b, mlir::ValueRange counts, mlir::Value reached);

  /// What stands behind the last entry; gives back what was not used when the bounds were `loose`.
  void finish(mlir::OpBuilder &b, bool loose);

  unsigned runCount() const { return unsigned(runs.size()); }
  /// The number of positions of a run so far.
  mlir::Value count(mlir::OpBuilder &b, unsigned run) const { return states[run].count.get(b); }
  const Run &run(unsigned number) const { return runs[number]; }
  /// The parents of run r > 0, whose parent run has `positions` positions.
  mlir::Value parents(mlir::OpBuilder &b, unsigned run, mlir::Value positions) const;
  /// Values below each position of the last run.
  mlir::Value blockSize(mlir::OpBuilder &b) const;

private:
  struct State {
    Register count;             ///< positions so far
    Register filled;            ///< elements of the positions field that are final
    std::vector<Register> last; ///< coordinates of the newest position, where they are compared
  };
  /// A place above a level: what LevelFormat.h calls an iterator.
  struct Place {
    mlir::Value position, batch;
  };

  bool batches(unsigned level) const;
  Place below(mlir::OpBuilder &b, unsigned level, const Place &above, mlir::Value coordinate) const;
  mlir::Value positionsStart(mlir::OpBuilder &b, const Run &run, const Place &parent) const;
  mlir::Value positionsLength(mlir::OpBuilder &b, const Run &run, mlir::Value parents,
                              mlir::Value batches) const;
  /// The position above level `end` that has these coordinates; stores the value of a tensor without blocks.
  Place reach(mlir::OpBuilder &b, unsigned end, mlir::ValueRange coordinates, mlir::Value value);
  /// The newest position of a run, at these coordinates of its levels. `end`, if any: the element of the
  /// positions field up to which the run's are final when its newest parent is the one it had before.
  mlir::Value extend(mlir::OpBuilder &b, unsigned run, mlir::Value end, mlir::ValueRange coordinates,
                     mlir::Value value);
  mlir::Value extendLast(mlir::OpBuilder &b, mlir::ValueRange coordinates, mlir::Value value);
  void openRoot(mlir::OpBuilder &b, unsigned run);
  mlir::Value isFresh(mlir::OpBuilder &b, unsigned run, mlir::Value newParent,
                      mlir::ValueRange coordinates) const;
  void startPositions(mlir::OpBuilder &b, unsigned run, mlir::Value from);
  void forgetLast(mlir::OpBuilder &b, unsigned run);
  mlir::Value appendPosition(mlir::OpBuilder &b, unsigned run, mlir::ValueRange coordinates);
  void fillPositions(mlir::OpBuilder &b, unsigned run, mlir::Value end, mlir::Value count);
  void addValue(mlir::OpBuilder &b, mlir::Value place, mlir::ValueRange coordinates, mlir::Value value,
                bool isNew);

  Target &target;
  bool unique, counting;
  unsigned stored;                  ///< levels up to the last run's
  mlir::Value block;                ///< values below each of the last run's positions
  llvm::ArrayRef<unsigned> leftOut; ///< fields that something else stores
  std::vector<Run> runs;
  std::vector<State> states;
  std::optional<Register>
      first; ///< of a chunk: the first element of the first run's positions field it writes
  std::optional<Register> closed;      ///< positions of the last run when a group was closed the last time
  std::optional<Register> lastInBlock; ///< the newest value's place in its block, where repeats are possible
};

} // namespace tulle::assemble
