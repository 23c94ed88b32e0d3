// Rows that later steps of a loop will read, fetched before.
#pragma once
#include "iteration/CostModel.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "passes/vector/LoopPlan.h"

namespace tulle::passes {

/// Reads of an inner loop at places that coordinates name (`B[crd[p] * n + k]`), which no hardware foresees.
class Ahead {
public:
  Ahead(mlir::scf::ForOp outer, const LoopPlan &inner, const iteration::Cpu &cpu);

  bool any() const { return !rows.empty(); }
  /// Puts into `map` what the places of step `p` are computed from in the outer loop's body; past the last
  /// coordinate, of the last one.
  void at(mlir::OpBuilder &b, mlir::Location loc, mlir::Value p, mlir::IRMapping &map) const;
  /// Fetches the cache lines that each row has at these steps of the inner loop, where the row is far from
  /// the one that is read now.
  void fetch(mlir::OpBuilder &b, mlir::Location loc, const mlir::IRMapping &now, const mlir::IRMapping &later,
             mlir::ValueRange steps) const;

private:
  mlir::scf::ForOp outer;
  int64_t nearBytes;
  llvm::SmallVector<mlir::memref::LoadOp> rows; ///< reads of the inner loop
  llvm::SetVector<mlir::Operation *> places;    ///< what their places are computed from, in the outer loop
  llvm::SmallVector<mlir::memref::LoadOp> coordinates; ///< those that read, at the outer loop's index

  bool addPlace(mlir::Value value, llvm::SetVector<mlir::Operation *> &found, bool &reads) const;
};

} // namespace tulle::passes
