// How far apart the elements lie that a loop gathers.
#pragma once
#include "passes/analysis/ReductionNest.h"

namespace tulle::passes {

/// The indices the loop gathers at that are coordinates it loads unconditionally.
llvm::SmallVector<mlir::Value> gatherCoordinates(const VectorizationLegality &legality);

/// At run time: whether two iterations gather from elements so close that scalarized gathers are faster than
/// the instruction. `first`, `last`: copies of the induction variable and of what else the body needs.
mlir::Value areLocal(mlir::OpBuilder &b, mlir::Location loc, const VectorizationLegality &legality,
                     llvm::ArrayRef<mlir::Value> coordinates, mlir::IRMapping &first, mlir::IRMapping &last);

} // namespace tulle::passes
