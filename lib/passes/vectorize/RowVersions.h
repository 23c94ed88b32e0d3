// Versions of reductions over rows, one of which runs: what is known of the rows when the kernel is called
// decides.
#pragma once
#include "iteration/CostModel.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tulle::passes {

/// Lanes of rows that are masked vectors, or end with one. Gathers take a time for each lane, active or not,
/// and many rows have no more entries (experiments 102 and 125).
inline constexpr int64_t kRowLanes = 8;

/// What is known of the rows around a gathering reduction where a version of it runs.
struct RowVersion {
  /// Of rows whose lengths differ, or that are long: so many entries behind the end of each are there, and
  /// are those of later rows. 0: of other rows.
  int64_t overRead = 0;
  /// Before the rows, whether their gathers are loads, lane by lane, or the instruction; null where each row is
  /// tested.
  mlir::Value loads;
};

/// Versions the loop over rows around a gathering reduction over the entries of each row: by a sample of the
/// rows, and by the sizes of what is read. Adds what each version is to `versions`, under the reduction; adds
/// nothing where the loop has no such form. `lanes`: of its vectors where the schedule or the user says; 0:
/// as is best.
void versionRows(mlir::scf::ForOp loop, const iteration::CostModel &model, int64_t lanes,
                 llvm::DenseMap<mlir::Operation *, RowVersion> &versions);

/// Versions the nest around a gathering reduction over the entries of fibers: where a mean fiber has fewer
/// entries than a vector has elements, the returned copy runs, which no vectors need. Null where the loop has
/// no such form.
mlir::scf::ForOp versionByMeanLength(mlir::scf::ForOp loop, const iteration::CostModel &model);

} // namespace tulle::passes
