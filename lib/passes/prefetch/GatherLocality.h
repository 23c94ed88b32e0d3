// How far apart a loop gathers.
#pragma once
#include "passes/analysis/ReductionNest.h"

namespace tulle::passes {

/// The positions the loop gathers from that are coordinates it reads, and reads in every iteration.
llvm::SmallVector<mlir::Value> coordinatesOf(const VectorizationLegality &plan);

/// Whether what is gathered at `places` in two iterations (given by copies of the induction variable and of
/// what else the body needs) is so near to each other that a load for each lane is the better gather.
mlir::Value areNear(mlir::OpBuilder &b, mlir::Location loc, const VectorizationLegality &plan,
                    llvm::ArrayRef<mlir::Value> places, mlir::IRMapping &first, mlir::IRMapping &last);

} // namespace tulle::passes
