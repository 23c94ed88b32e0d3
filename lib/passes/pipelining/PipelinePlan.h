// Which operations of a loop with indirect stores can run for several iterations together.
#pragma once
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <optional>

namespace tulle::passes {

/// The stage of an operation of the body, when several iterations run together: each stage runs for all of
/// them before the next.
enum class PipelineStage {
  Load,   ///< loads of what no iteration changes, and what is computed from them
  Test,   ///< the same, of what only guards change: it holds if no guard is taken
  Update, ///< loads of what an earlier iteration may have written, and in-order updates
  Store,  ///< stores at indices that were loaded, and all other accesses to their buffers
};

/// The stages of an innermost loop with indirect stores; it has no other loop in it, but under a condition. A
/// guard is an `scf.if` without results whose condition is known before the updates: iterations of which one
/// is taken run in order.
struct PipelinePlan {
  llvm::SmallVector<std::pair<mlir::Operation *, PipelineStage>>
      stages; ///< in the body's order, without guards
  llvm::SmallVector<mlir::scf::IfOp> guards;

  /// nullopt where pipelining would gain nothing or could give another result.
  static std::optional<PipelinePlan> of(mlir::scf::ForOp loop);
};

} // namespace tulle::passes
