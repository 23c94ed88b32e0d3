// Assembly by several threads: they append chunks of the loops to staging buffers of their own, and each
// chunk moves to its place in the result as soon as the chunks before it have said how much they hold.
#pragma once
#include "passes/assemble/algorithms/Appender.h"
#include "passes/assemble/algorithms/BufferReuse.h"
#include "passes/assemble/algorithms/CloneLoops.h"

namespace tulle::assemble {

/// The outermost loop of an assembly in many consecutive chunks. Each thread takes one after the other,
/// appends its entries to a staging buffer that its caches hold, takes its place in the ordered chained scan
/// (`tulle_ordered_scan`: where the chunks before it end), and moves them to the result: every entry goes to
/// memory once, as if there were one thread, and the tensor is the same. Where counting takes little, as
/// where the rest is copied, a chunk is counted first, takes its turn, and is then stored where it belongs.
/// Where counting is cheap and storing is not, all threads' chunks but the last one's are counted before any
/// is stored (assembleCounted).
class ChunkedAppend {
public:
  /// Whether the loops can be cut so. The target's levels are full ones and runs.
  static bool possible(const Target &target, dialect::AssembleOp op, const Order &order);

  /// How many threads are profitable, and staging memory for each chunk: for `bound` entries, or without one
  /// for as many as copies of the loops count. `counted` (which needs a bound): for assembleCounted, without
  /// staging.
  ChunkedAppend(mlir::OpBuilder &b, Target &target, const Order &order, mlir::Value bound,
                bool counted = false);

  /// At most so many entries are made.
  mlir::Value entries() const { return most; }
  /// At most so many in one chunk.
  mlir::Value entriesOfChunk() const { return largest; }
  /// Whether there are several threads (i1).
  mlir::Value profitable(mlir::OpBuilder &b) const;

  /// Emits what makes the target's buffers. `work` emits what one thread does: it calls its last argument,
  /// once, where the chunks are to be gone through, with what emits the appending of one of them. That hands
  /// its appender to `begin` first and to `end` last, with what moves the values of
  /// `count` positions to the result, from position `start` on, where they are not in order in the staging
  /// buffer. With `counting` nothing is stored: the op's plan, or memory that `block` values for each of the
  /// entries do not fit into, asks for exact numbers first.
  using OnAppender = llvm::function_ref<void(Appender &)>;
  using MoveValues = llvm::function_ref<void(mlir::Value start, mlir::Value count)>;
  using OnChunk = llvm::function_ref<void(Appender &, MoveValues)>;
  using AppendChunk =
      llvm::function_ref<void(const parallel::Chunk &chunk, bool counting, OnAppender begin, OnChunk end)>;
  using EachChunk = llvm::function_ref<void(AppendChunk)>;
  using Work = llvm::function_ref<void(mlir::OpBuilder &b, Target &staging, EachChunk eachChunk)>;
  void assemble(mlir::OpBuilder &b, const Order &order, mlir::Value block, Work work);

  /// The same where counting a chunk takes little of the time that storing it does: every chunk is counted
  /// before it is stored where it belongs, without staging. What is `copied`, if anything, the threads copy
  /// chunk by chunk as well.
  void assembleInPlace(mlir::OpBuilder &b, const Order &order, mlir::Value block, Work work,
                       const BufferReuse *copied);

  /// The same where each position of the only run belongs to parents that are known before, and counting
  /// takes little of the time: the chunks of all threads but the last are counted, and each thread stores its
  /// own ones, one after the other, where they belong. `count` emits the counting of one thread, as `work`
  /// its work.
  using CountChunk = llvm::function_ref<mlir::Value(const parallel::Chunk &chunk)>;
  using EachCount = llvm::function_ref<void(CountChunk)>;
  using CountWork = llvm::function_ref<void(mlir::OpBuilder &b, EachCount eachChunk)>;
  void assembleCounted(mlir::OpBuilder &b, const Order &order, mlir::Value block, CountWork count, Work work);

private:
  mlir::Value table(mlir::OpBuilder &b, mlir::Value size) const;
  mlir::Value load(mlir::OpBuilder &b, mlir::Value table, mlir::Value at) const;
  void store(mlir::OpBuilder &b, mlir::Value value, mlir::Value table, mlir::Value at) const;
  /// So many words, all zero.
  mlir::Value zeros(mlir::OpBuilder &b, int64_t words) const;
  /// The words of a run's scanCells (HACKING.md: a cell) in `scanCells`.
  static constexpr int64_t kCellWords = 2;

  /// The field of the first run's positions, where it stands below full levels: its elements belong to
  /// parents that are known before, and the chunks write them in place.
  std::optional<unsigned> sharedPositions() const;
  /// Memory for what a chunk appends.
  Target allocateStaging(mlir::OpBuilder &b, const Order &order) const;
  void freeStaging(mlir::OpBuilder &b, const Target &staging) const;
  void begin(mlir::OpBuilder &b);
  /// The number of the next chunk that nobody has begun, in a loop until there is none below `end`.
  void eachNumber(mlir::OpBuilder &b, mlir::Value end,
                  llvm::function_ref<void(mlir::Value number)> body) const;
  /// Chooses `most` and `largest`: the bounds they are, or by `work` exactly.
  void plan(mlir::OpBuilder &b, mlir::Value block, bool staged, Work work);
  std::pair<mlir::Value, mlir::Value> count(mlir::OpBuilder &b, Work work);
  /// The sum and the maximum of a table of `number` elements, which is freed.
  std::pair<mlir::Value, mlir::Value> summarize(mlir::OpBuilder &b, mlir::Value counts,
                                                mlir::Value number) const;
  /// One thread's chunks, by way of its staging buffer, and without one.
  void appendToStaging(mlir::OpBuilder &b, const Order &order, Work work) const;
  void appendInPlace(mlir::OpBuilder &b, Work work, const BufferReuse *copied) const;
  /// The buffers, and what `chunks` emits for one thread.
  void share(mlir::OpBuilder &b, const Order &order, mlir::Value block, bool staged, Work work,
             const BufferReuse *copied, llvm::function_ref<void()> chunks);
  /// A table with the positions before the first chunk of each thread.
  mlir::Value countBefore(mlir::OpBuilder &b, CountWork count);
  /// One thread's chunks, where they belong; returns where they end.
  mlir::Value appendOwn(mlir::OpBuilder &b, Work work, mlir::Value part, mlir::Value starts) const;
  /// What the buffers hold as soon as the chunks are done, with so many positions of each run.
  void finish(mlir::OpBuilder &b, Appender &whole, mlir::ValueRange counts) const;
  /// Where a chunk begins in each run: waits until the chunks before it have said what they hold.
  Values scanInOrder(mlir::OpBuilder &b, Appender &appender, mlir::Value number) const;
  void moveChunk(mlir::OpBuilder &b, const Target &staging, Appender &appender, mlir::ValueRange starts,
                 MoveValues moveValues) const;
  /// What a chunk that begins at `start` has written of the shared positions; `by` is added to these.
  void notePositions(mlir::OpBuilder &b, Appender &appender, mlir::Value number, mlir::Value start,
                     mlir::Value by) const;
  /// What a chunk has of a run goes to its place, which begins at `bases[r]` in run r.
  void moveRun(mlir::OpBuilder &b, const Target &staging, Appender &appender, unsigned run,
               mlir::ValueRange bases) const;
  /// Elements first … last - 1 of a field become `by` more, and go to a place `distance` further on.
  void shift(mlir::OpBuilder &b, mlir::Value from, mlir::Value to, mlir::Value first, mlir::Value last,
             mlir::Value distance, mlir::Value by) const;
  void move(mlir::OpBuilder &b, const Target &staging, unsigned field, mlir::Value base, mlir::Value count,
            mlir::Value each) const;
  /// Parents between those of one chunk and those of the next have no entries. Returns where the last chunk's
  /// end.
  mlir::Value joinPositions(mlir::OpBuilder &b, unsigned field) const;

  Target &target;
  mlir::Location loc;
  mlir::Value threads, chunks;
  mlir::Value most, largest;   ///< entries in all, and in one chunk
  mlir::Value next, scanCells; ///< the next chunk nobody has begun; a cell for each run
  mlir::Value bases, firsts,
      lasts; ///< per chunk: its first position, and its elements of the shared positions
};

} // namespace tulle::assemble
