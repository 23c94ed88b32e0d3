// Software prefetch of rows that later iterations of a loop select by a coordinate, and the locality of
// gathers.
#pragma once
#include "iteration/CostModel.h"
#include "passes/analysis/LoopUtils.h"
#include "passes/analysis/VectorizationLegality.h"

namespace tulle::passes {

/// Loads of an inner loop from rows that coordinates select (`B[crd[p] * n + k]`), or accesses of a loop to
/// such elements (`x[crd[p]]`), which are rows of one: no hardware prefetcher covers their beginnings.
class PrefetchPlan : levels::IndicesAt {
public:
  /// Of elements that a loop loads or, of the function's operands, stores.
  PrefetchPlan(mlir::OpBuilder &b, mlir::scf::ForOp loop, const iteration::Cpu &cpu);
  /// Of rows that `inner` loads, which is inside of `outer`.
  PrefetchPlan(mlir::OpBuilder &b, mlir::scf::ForOp outer, const VectorizationLegality &inner,
               const iteration::Cpu &cpu);

  bool any() const { return !rows.empty(); }
  /// The loads of coordinates, at the outer loop's index.
  llvm::ArrayRef<mlir::memref::LoadOp> coordinateLoads() const { return coordinates; }
  /// Whether the rows' addresses depend on a value of the body of a loop around.
  bool dependsOnLoop(mlir::scf::ForOp around) const;
  /// Maps what the rows' addresses in iteration `p` are computed from, in the outer loop's body, to clones;
  /// past the last coordinate, of the last one.
  void cloneAddresses(Value p, mlir::IRMapping &map);
  /// The same where every coordinate buffer has an element at `p`.
  void cloneAddressesAt(Value p, mlir::IRMapping &map);
  /// At run time: whether the rows of some operand in the iterations `begin` … `end - 1` of the outer loop
  /// are too far apart to be cache-resident. Of fewer than `least` iterations, the `least` from the first on
  /// count. `map`: clones of what the loops around define.
  Value areRemote(const mlir::IRMapping &map, Value begin, Value end, int64_t least);
  /// At run time: whether coordinates that are close to each other in their buffers select rows of some
  /// operand that are far apart, as pairs all over the buffers show. Neither sorted ones nor a grid's do.
  Value areScattered();
  /// The outermost loop before which `areScattered` and these values are known.
  mlir::Operation *outermostPlace(mlir::ValueRange also) const;
  /// At run time: whether two iterations in the middle of these select rows of each operand within so many
  /// elements, and some operand is well larger than the caches of a core.
  Value areConsecutive(const mlir::IRMapping &map, Value begin, Value end, int64_t elements);
  /// At run time: whether some operand is larger than the caches of a core.
  Value areLarge() { return areLargerThan(coreBytes); }
  /// At run time: whether caches do not hold the elements of some operand.
  Value exceedCaches() { return areLargerThan(residentBytes - 1); }
  /// Prefetches the cache lines of each row, whose address `later` has clones of, at these iterations of the
  /// inner loop, into the L1 cache, or only into the L2 cache.
  void prefetch(const mlir::IRMapping &later, mlir::ValueRange iterations, bool intoL2 = false);
  /// The same of the rows that follow each other from iteration to iteration.
  void prefetchFollowing(const mlir::IRMapping &later, Value iteration);
  /// Prefetches, at this iteration of the inner loop, the rows that are the same for the whole outer loop.
  void prefetchShared(Value iteration);

private:
  /// A load or a store of one element.
  struct Access {
    mlir::Operation *op;
    Value buffer, index;
  };
  static std::optional<Access> accessOf(mlir::Operation &op);
  /// So many elements take these bytes.
  static int64_t elementsIn(int64_t bytes, const Access &access);
  /// Whether the loop scatters into a buffer that the function has for itself, other than a thread's copy of
  /// a result: counters and cursors of assembly, whose passes keep them close together.
  bool scattersIntoOwn() const;
  void findCoordinates();
  Value areRemoteAt(const mlir::IRMapping &map, Value first, Value last, int64_t bytes);
  Value areLargerThan(int64_t bytes);

  mlir::scf::ForOp outer;
  int64_t residentBytes, coreBytes;
  llvm::SmallVector<Access> rows;                      ///< of the inner loop
  llvm::SmallVector<Access> shared;                    ///< those whose rows no coordinate selects
  llvm::SmallVector<Access> following;                 ///< those whose rows follow each other
  llvm::SetVector<mlir::Operation *> addresses;        ///< what rows' addresses depend on in the outer loop
  llvm::SmallVector<mlir::memref::LoadOp> coordinates; ///< the loads among these

  /// The index of the access at iteration `k` of the inner loop.
  Value indexAt(const Access &access, mlir::IRMapping map, Value k);
  bool addAddress(Value value, llvm::SetVector<mlir::Operation *> &found, bool &loads) const;
};

/// The operand that a buffer is of, by its name; empty for others. Functions name the buffers of what a
/// schedule says is prefetched.
llvm::StringRef operandOf(mlir::Value buffer);
/// Whether the buffer is an argument that is known to have fewer bytes.
bool hasFewerBytes(mlir::Value buffer, int64_t bytes);
/// Whether the schedule says of the loop, or of one around it, whether the buffer's operand is prefetched:
/// then nothing else decides.
bool isPrefetchScheduled(mlir::scf::ForOp loop, mlir::Value buffer);

/// Prefetches the rows that later iterations of the loop around a reduction select by a coordinate, where
/// these are remote, or what follows its rows in memory, where they are consecutive (SDDMM; experiments 014
/// and 045).
class LaterRows : levels::Indices {
public:
  LaterRows(mlir::scf::ForOp around, const VectorizationLegality &inner, const iteration::CostModel &model);

  bool any() const { return rows.any(); }
  /// Before the loop around. Later, rows are prefetched where they are remote.
  void emitBefore();
  /// For rows that are copied or updated: before the loops around, whether rows are scattered, an operand is
  /// larger than the caches of a core, and a row has some cache lines. Later, the processor's number of lines
  /// of a row are prefetched, without asking again.
  Value emitTest();
  /// For so many iterations from this one on, where `at` stands.
  void emitAt(mlir::OpBuilder &at, Value iteration, int64_t count = 1);

private:
  mlir::scf::ForOp around, loop;
  const iteration::CostModel &model;
  PrefetchPlan rows;
  int64_t lineElements;                 ///< of the inner loop's operands in a cache line
  Value remote;                         ///< at run time; null: they are
  int64_t lines = iteration::kWholeRow; ///< of a row, which the hardware prefetcher goes on from
  bool isScattered = false;             ///< tested before the loops around
  bool isListed = false; ///< an iteration selects a row of every operand: no row follows the one before

  void prefetchConsecutive();
  Value distance();
  Value enterLineLoop(int64_t lines = iteration::kWholeRow);
};

/// The indices the loop gathers at that are coordinates it loads unconditionally.
llvm::SmallVector<mlir::Value> gatherCoordinates(const VectorizationLegality &legality);

/// At run time: whether two iterations gather from elements so close that scalarized gathers are faster than
/// the instruction. `map`: clones of what else the body needs.
mlir::Value areLocal(mlir::OpBuilder &b, mlir::Location loc, const VectorizationLegality &legality,
                     llvm::ArrayRef<mlir::Value> coordinates, const iteration::Cpu &cpu, mlir::Value first,
                     mlir::Value last, const mlir::IRMapping &map = {});

} // namespace tulle::passes
