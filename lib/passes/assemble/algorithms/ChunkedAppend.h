// Tensors that grow at their ends: by one thread, or by several that have chunks of the loops.
#pragma once
#include "passes/assemble/algorithms/Appender.h"
#include "passes/assemble/algorithms/BufferReuse.h"
#include "passes/assemble/algorithms/CloneLoops.h"

namespace tulle::assemble {

/// Emits the loops with which one thread appends the entries of a stream.
class AppendLoops {
public:
  virtual ~AppendLoops() = default;
  /// Appends the entries, or those of a chunk; an appender that counts gets no values.
  virtual void append(Appender &appender, const parallel::Chunk *chunk) = 0;
  /// Moves the values of `count` positions of the staging buffer to the result, from position `start` on.
  /// False, and nothing is emitted, where they stand there in order.
  virtual bool moveValues(const Target &result, mlir::Value start, mlir::Value count) { return false; }
  /// Behind all entries.
  virtual void finish() {}
};

/// How entries are appended, whoever does it.
struct Appending {
  /// The loops of one thread that appends to `to`. With `staged`, `to` is a staging buffer for so many
  /// entries.
  llvm::function_ref<std::unique_ptr<AppendLoops>(Target &to, mlir::Value staged)> loops;
  bool unique;                         ///< no coordinates are appended twice
  mlir::Value block;                   ///< values that each entry makes
  bool wholeBlocks = false;            ///< entries are blocks (Appender)
  bool streams = false;                ///< values may be stored past the caches
  const BufferReuse *copied = nullptr; ///< what is not appended, but copied as it stands

  Appender appender(Target &to, bool counting) const;
};

/// One thread appends all entries. `bounds(count)` returns the numbers of positions to allocate, `exact` ones
/// or at least as many; `count()` counts them.
void appendAlone(Target &target, const Appending &how,
                 llvm::function_ref<Values(llvm::function_ref<Values()> count)> bounds, bool exact);
/// The same of at most so many entries, or of an unknown number (null), by the target's plan.
void appendAlone(Target &target, const Appending &how, mlir::Value entries);

/// The outermost loop, or several one behind the other, in many consecutive chunks. Each thread takes one
/// after the other, and every entry goes to memory once, as if there were one thread: the tensor is the same.
class ChunkedAppend {
public:
  enum class Mode {
    Staged, ///< a chunk is appended to a staging buffer that the thread's caches hold, takes its place in the
            ///< chained scan (tulle.chained_scan: where the chunks before it end), and moves to the result
    InPlace, ///< counting a chunk takes little of the time: it is counted first, takes its place, and is
             ///< stored where it belongs
    Counted, ///< counting is cheap and storing is not: all threads' chunks but the last one's are counted
             ///< before any is stored. Each position of the only group has parents that are known before
  };

  /// Whether the loops can be partitioned so. The target's levels are full ones and groups (LevelGroup).
  static bool possible(const TargetFacts &target, const Stream &stream);

  /// How many threads are profitable, and memory for each chunk: for `bound` entries, or without one (not
  /// Counted) for as many as copies of the loops count.
  ChunkedAppend(Target &target, const Stream &stream, mlir::Value bound, Mode mode);

  /// By several threads where they are profitable, else `alone`, which is all there is where the loops cannot
  /// be partitioned so.
  static void appendOrElse(Target &target, const Stream &stream, mlir::Value bound, bool parallel, Mode mode,
                           const Appending &how, llvm::function_ref<void()> alone);

  /// At most so many entries are made.
  mlir::Value entries() const { return most; }
  /// Whether there are several threads (i1).
  mlir::Value profitable() const;
  /// Makes the target's buffers. Exact numbers are counted first where the plan, or memory that bounds do not
  /// fit into, needs them.
  void append(const Appending &how);

private:
  bool staged() const { return mode == Mode::Staged; }
  parallel::Chunk chunk(mlir::Value number) const { return {number, chunks}; }
  std::optional<unsigned> sharedPositions() const;
  void plan(const Appending &how);
  Values count(const Appending &how);
  Values summarize(mlir::Value counts, mlir::Value number) const;
  void begin();
  void eachNumber(mlir::Value end, llvm::function_ref<void(mlir::Value number)> body) const;
  Values scanInOrder(const Appender &appender, mlir::Value number) const;
  void appendInOrder(const Appending &how, Appender &whole);
  void appendToStaging(const Appending &how) const;
  void moveGroup(const Target &staging, const Appender &appender, size_t group,
                 mlir::ValueRange starts) const;
  void move(const Target &staging, unsigned field, mlir::Value base, mlir::Value count,
            mlir::Value each) const;
  void shift(mlir::Value from, mlir::Value to, mlir::Value first, mlir::Value last, mlir::Value distance,
             mlir::Value by) const;
  void appendInPlace(const Appending &how) const;
  void appendCounted(const Appending &how, Appender &whole);
  mlir::Value countChunk(mlir::Value marks, mlir::Value number) const;
  mlir::Value countBefore();
  std::pair<mlir::Value, mlir::Value> notePositions(const Appender &appender, mlir::Value number,
                                                    mlir::Value start) const;
  mlir::Value joinPositions(unsigned field) const;
  void finish(Appender &whole, mlir::ValueRange counts) const;

  Target &target;
  const Stream &stream;
  Mode mode;
  mlir::Value threads, chunks;
  mlir::Value most, largest;        ///< entries in all, and in one chunk
  mlir::Value next, scanCells;      ///< the next chunk nobody has begun; a cell for each group
  mlir::Value bases, firsts, lasts; ///< per chunk: its first position, and its elements of shared positions
};

} // namespace tulle::assemble
