// Versions of reductions over rows, one of which runs: what is known of the rows when the kernel is called
// decides.
#pragma once
#include "iteration/CostModel.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tulle::passes {

/// Versions the loop over rows around a gathering reduction over the entries of each row. A sample of the
/// rows selects one version at run time: with the loop as it is, or with the returned copy, whose last vector
/// may over-read into the next row, or which is masked vectors alone. Null where the loop has no such form.
mlir::scf::ForOp versionBySampling(mlir::scf::ForOp loop, const iteration::CostModel &model);

/// Versions the nest around a gathering reduction over the entries of fibers: where a mean fiber has fewer
/// entries than a vector has elements, the returned copy runs, which no vectors need. Null where the loop has
/// no such form.
mlir::scf::ForOp versionByMeanLength(mlir::scf::ForOp loop, const iteration::CostModel &model);

} // namespace tulle::passes
