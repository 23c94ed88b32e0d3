// What tulle-vectorize knows about an innermost loop before it changes anything.
#pragma once
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace tulle::passes {

/// How a value of the body varies over the lanes of a vector of iterations.
enum class LaneShape : uint8_t {
  Uniform,     ///< the same in every lane
  Consecutive, ///< an index that grows by one from lane to lane
  PerLane
};

/// A loop-carried value `acc = acc (combiner) input`, kept in iterations where a condition (if any) says so.
struct Reduction {
  mlir::Operation *combiner = nullptr;
  mlir::Operation *select = nullptr; ///< select(condition, combined, acc), or null
  mlir::Value input, condition;
  mlir::scf::IfOp branch; ///< the branch that combines, or null: others yield acc
  mlir::vector::CombiningKind kind = mlir::vector::CombiningKind::ADD;
  bool selectsOnTrue = true;
};

/// A loop that can run several iterations at once, without an operation reordered that must not be.
struct VectorizationLegality {
  mlir::scf::ForOp loop;
  llvm::DenseMap<mlir::Value, LaneShape>
      shapes;                              ///< of values defined in the body and of the induction variable
  llvm::SmallVector<Reduction> reductions; ///< one per loop-carried value
  unsigned widestBits = 0;                 ///< of elements loaded, stored or reduced
  bool gathers = false;                    ///< some load is at positions computed per lane
  bool scatters = false;                   ///< some store is
  bool branches = false;                   ///< some operations run in some iterations only
  /// Buffers that lanes switched off read at position 0 when gathers are taken apart.
  llvm::SmallVector<mlir::Value> guardedGathers;

  LaneShape shapeOf(mlir::Value value) const;
  /// The operation is part of a reduction, not of the code before it.
  bool isReductionStep(mlir::Operation *op) const;
};

/// Why a loop stays scalar.
struct Obstacle {
  mlir::Operation *op = nullptr;
  const char *why = "";
};

/// The plan of an innermost loop of step 1, or nothing when it has an operation, an access or a dependence
/// that cannot be run in lanes; `obstacle`, if any, then says which.
std::optional<VectorizationLegality> analyzeLoop(mlir::scf::ForOp loop, Obstacle *obstacle = nullptr);

} // namespace tulle::passes
