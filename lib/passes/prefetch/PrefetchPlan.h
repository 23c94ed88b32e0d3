// Software prefetch of rows that later iterations of a loop select by a coordinate.
#pragma once
#include "iteration/CostModel.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "passes/analysis/VectorizationLegality.h"

namespace tulle::passes {

/// Emits the prefetch of an element into L1, to be read.
void emitPrefetch(mlir::OpBuilder &b, mlir::Location loc, mlir::Value buffer, mlir::Value index);

/// Loads of an inner loop from rows that coordinates select (`B[crd[p] * n + k]`): no hardware prefetcher
/// covers their beginnings.
class PrefetchPlan {
public:
  PrefetchPlan(mlir::scf::ForOp outer, const VectorizationLegality &inner, const iteration::Cpu &cpu);

  bool any() const { return !rows.empty(); }
  /// The loads of coordinates, at the outer loop's index.
  llvm::ArrayRef<mlir::memref::LoadOp> coordinateLoads() const { return coordinates; }
  /// Whether the rows' addresses depend on a value of the body of a loop around.
  bool dependsOnLoop(mlir::scf::ForOp around) const;
  /// Maps what the rows' addresses in iteration `p` are computed from, in the outer loop's body, to clones;
  /// past the last coordinate, of the last one.
  void cloneAddresses(mlir::OpBuilder &b, mlir::Location loc, mlir::Value p, mlir::IRMapping &map) const;
  /// At run time: whether the rows of some operand in the iterations `begin` … `end - 1` of the outer loop
  /// are too far apart to be cache-resident. Of fewer than `least` iterations, the `least` from the first on
  /// count. `map`: clones of what the loops around define.
  mlir::Value areRemote(mlir::OpBuilder &b, mlir::Location loc, const mlir::IRMapping &map, mlir::Value begin,
                        mlir::Value end, int64_t least) const;
  /// At run time: whether two iterations in the middle of these select rows of each operand within so many
  /// elements, and some operand is well larger than the caches of a core.
  mlir::Value areConsecutive(mlir::OpBuilder &b, mlir::Location loc, const mlir::IRMapping &map,
                             mlir::Value begin, mlir::Value end, int64_t elements) const;
  /// Prefetches the cache lines of each row, whose address `later` has clones of, at these iterations of the
  /// inner loop.
  void prefetch(mlir::OpBuilder &b, mlir::Location loc, const mlir::IRMapping &later,
                mlir::ValueRange iterations) const;
  /// Prefetches, at this iteration of the inner loop, the rows that are the same for the whole outer loop.
  void prefetchShared(mlir::OpBuilder &b, mlir::Location loc, mlir::Value iteration) const;

private:
  mlir::Value areRemoteAt(mlir::OpBuilder &b, mlir::Location loc, const mlir::IRMapping &map,
                          mlir::Value first, mlir::Value last, int64_t bytes) const;
  mlir::Value areLarge(mlir::OpBuilder &b, mlir::Location loc, int64_t bytes) const;

  mlir::scf::ForOp outer;
  int64_t residentBytes, coreBytes;
  llvm::SmallVector<mlir::memref::LoadOp> rows;        ///< loads of the inner loop
  llvm::SmallVector<mlir::memref::LoadOp> shared;      ///< those whose rows no coordinate selects
  llvm::SetVector<mlir::Operation *> addresses;        ///< what rows' addresses depend on in the outer loop
  llvm::SmallVector<mlir::memref::LoadOp> coordinates; ///< the loads among these

  /// The index of `load` at iteration `k` of the inner loop.
  static mlir::Value indexAt(mlir::OpBuilder &b, mlir::memref::LoadOp load, mlir::IRMapping map,
                             mlir::Value k);
  bool isOuterInvariant(mlir::Value value, mlir::scf::ForOp inner) const;
  bool addAddress(mlir::Value value, llvm::SetVector<mlir::Operation *> &found, bool &loads) const;
};

} // namespace tulle::passes
