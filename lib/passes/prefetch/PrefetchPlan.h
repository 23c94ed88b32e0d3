// Rows that later steps of a loop will read, fetched before.
#pragma once
#include "iteration/CostModel.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "passes/analysis/VectorizationLegality.h"

namespace tulle::passes {

/// Reads of an inner loop at places that coordinates name (`B[crd[p] * n + k]`), which no hardware foresees.
class PrefetchPlan {
public:
  PrefetchPlan(mlir::scf::ForOp outer, const VectorizationLegality &inner, const iteration::Cpu &cpu);

  bool any() const { return !rows.empty(); }
  /// The reads, at the outer loop's index, of what names the places.
  llvm::ArrayRef<mlir::memref::LoadOp> names() const { return coordinates; }
  /// Whether the body of a loop around computes something of the places.
  bool isNamedBy(mlir::scf::ForOp around) const;
  /// Puts into `map` what the places of step `p` are computed from in the outer loop's body; past the last
  /// coordinate, of the last one.
  void at(mlir::OpBuilder &b, mlir::Location loc, mlir::Value p, mlir::IRMapping &map) const;
  /// At run time: whether the rows that some operand has at the steps `begin` … `end - 1` of the outer loop
  /// are far from each other. Where there are few steps, the `least` from the first one on count. `map`: what
  /// the loops around have copies of.
  mlir::Value areFar(mlir::OpBuilder &b, mlir::Location loc, const mlir::IRMapping &map, mlir::Value begin,
                     mlir::Value end, int64_t least) const;
  /// At run time: whether two entries in the middle of these steps name rows of each operand that are at most
  /// so many elements from each other, and some operand is well larger than the caches of a core.
  mlir::Value follow(mlir::OpBuilder &b, mlir::Location loc, const mlir::IRMapping &map, mlir::Value begin,
                     mlir::Value end, int64_t elements) const;
  /// Fetches the cache lines that each row of step `later` has at these steps of the inner loop.
  void fetch(mlir::OpBuilder &b, mlir::Location loc, const mlir::IRMapping &later,
             mlir::ValueRange steps) const;
  /// Fetches the cache lines at this step of the inner loop in the rows that all steps of the outer loop
  /// share.
  void fetchBeside(mlir::OpBuilder &b, mlir::Location loc, mlir::Value step) const;

private:
  mlir::Value areFarAt(mlir::OpBuilder &b, mlir::Location loc, const mlir::IRMapping &map, mlir::Value first,
                       mlir::Value last, int64_t bytes) const;
  mlir::Value areLarge(mlir::OpBuilder &b, mlir::Location loc, int64_t bytes) const;

  mlir::scf::ForOp outer;
  int64_t residentBytes, coreBytes;
  llvm::SmallVector<mlir::memref::LoadOp> rows;   ///< reads of the inner loop
  llvm::SmallVector<mlir::memref::LoadOp> beside; ///< those whose places no coordinate names
  llvm::SetVector<mlir::Operation *> places;      ///< what their places are computed from, in the outer loop
  llvm::SmallVector<mlir::memref::LoadOp> coordinates; ///< those that read, at the outer loop's index

  /// The index that `load` reads at step `k` of the inner loop.
  static mlir::Value place(mlir::OpBuilder &b, mlir::memref::LoadOp load, mlir::IRMapping map, mlir::Value k);
  bool stays(mlir::Value value, mlir::scf::ForOp inner) const;
  bool addPlace(mlir::Value value, llvm::SetVector<mlir::Operation *> &found, bool &reads) const;
};

} // namespace tulle::passes
