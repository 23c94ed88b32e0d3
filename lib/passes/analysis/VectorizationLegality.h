// Whether an innermost loop can be vectorized, and how its values vary over the lanes.
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
  Varying
};

/// A loop-carried value `acc = acc (combiner) input`, unchanged in iterations where a condition (if any) is
/// false.
struct Reduction {
  mlir::Operation *combiner = nullptr;
  mlir::Operation *select = nullptr; ///< select(condition, combined, acc), or null
  mlir::Value input, condition;
  mlir::scf::IfOp branch; ///< the branch that combines, or null: others yield acc
  mlir::vector::CombiningKind kind = mlir::vector::CombiningKind::ADD;
  bool selectsOnTrue = true;
};

/// A loop that can be vectorized without reordering an operation that must not be.
struct VectorizationLegality {
  mlir::scf::ForOp loop;
  llvm::DenseMap<mlir::Value, LaneShape>
      shapes;                              ///< of values defined in the body and of the induction variable
  llvm::SmallVector<Reduction> reductions; ///< one per loop-carried value
  unsigned widestBits = 0;                 ///< of elements loaded, stored or reduced
  bool gathers = false;                    ///< some load is indirect
  bool prefetches = false;                 ///< of what later iterations load
  bool scatters = false;                   ///< some store is indirect
  bool branches = false;                   ///< some operations are conditional
  /// Buffers whose first element inactive lanes of scalarized gathers load.
  llvm::SmallVector<mlir::Value> guardedGathers;

  LaneShape shapeOf(mlir::Value value) const;
  /// The operation is part of a reduction, not of the code before it.
  bool isReductionStep(mlir::Operation *op) const;
};

/// What keeps a loop from being vectorized.
struct MissedVectorization {
  mlir::Operation *op = nullptr;
  const char *why = "";
};

/// Analyzes an innermost loop of step 1; nothing, and the reason in `missed`, where it has an operation, an
/// access or a dependence that cannot be vectorized.
std::optional<VectorizationLegality> analyzeLoop(mlir::scf::ForOp loop,
                                                 MissedVectorization *missed = nullptr);

} // namespace tulle::passes
