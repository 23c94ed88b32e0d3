// How a loop of stage 2 is shared among threads.
#pragma once
#include "dialect/Dialect.h"

namespace tulle::parallel {

/// Whether all that the loop's rounds hand on is storage that they write in place.
bool carriesTensorsOnly(dialect::IterateOp loop);

/// The tensor whose stored entries say how much work a loop over a range has: one whose first, dense level is
/// located at the loop's coordinate and whose second level is walked below. Null without one.
mlir::Value weights(dialect::IterateOp loop);

/// How much work a loop has, in stored entries.
mlir::Value work(mlir::OpBuilder &b, dialect::IterateOp loop);

/// Rounds that store to places of their own: each part runs a piece of the loop.
void shareRounds(dialect::IterateOp loop);

} // namespace tulle::parallel
