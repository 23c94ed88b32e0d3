// Which parts of a loop that scatters can run for several iterations at once.
#pragma once
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <optional>

namespace tulle::passes {

/// When an operation of the body runs in a batch of iterations, each stage for all of them before the next.
enum class PipelineStage {
  Read,   ///< what no iteration changes, and what is computed from it
  Test,   ///< the same, where only guards change it: holds if no guard runs
  Update, ///< what an iteration reads after an earlier one may have written it
  Write,  ///< stores at places that were looked up, and all else that touches the same buffers
};

/// The batch of a loop that stores at places it looks up and has no other loop in it, but under a condition.
/// A guard is an `scf.if` without results whose condition is known before the batch's updates: a batch in
/// which one is taken runs in order.
struct PipelinePlan {
  llvm::SmallVector<std::pair<mlir::Operation *, PipelineStage>>
      stages; ///< in the body's order, without guards
  llvm::SmallVector<mlir::scf::IfOp> guards;

  /// nullopt where a batch would gain nothing or could give another result.
  static std::optional<PipelinePlan> of(mlir::scf::ForOp loop);
};

} // namespace tulle::passes
