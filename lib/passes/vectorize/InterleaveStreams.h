// Two-stream interleaving of the rows of a blocked matrix.
#pragma once
#include "iteration/CostModel.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tulle::passes {

/// Makes the loop over rows around `blocks`, each of `blockBytes` bytes of values, alternate between the
/// first and the second half of the rows where their blocks are larger than the caches, at run time:
/// iteration t is row t / 2, or half + t / 2. Does nothing where rows are not independent, or `blocks` does
/// not iterate over their segments.
void interleaveStreams(mlir::scf::ForOp blocks, int64_t blockBytes, const iteration::CostModel &model);

} // namespace tulle::passes
