// Masked vectors, without an epilogue.
#pragma once
#include "iteration/CostModel.h"
#include "passes/vectorize/Reductions.h"

namespace tulle::passes {

/// A masked loop without an epilogue: segments of stored entries are often shorter than a vector. Whole
/// vectors have a loop of their own, without masks, where these take time, and the beginning of a long
/// segment where it is reduced.
void predicate(const VectorizationLegality &legality, const Lanes &lanes, const iteration::CostModel &model);

/// A row of a gathering reduction without an epilogue: one masked vector, and a masked loop over the rest of
/// it. How many entries it has decides nothing while they fit one vector.
void maskRow(const VectorizationLegality &legality, const Lanes &lanes, const iteration::CostModel &model);

/// Whole vectors, and one masked vector behind them: of any legal loop, whatever masks take.
void maskTail(const VectorizationLegality &legality, const Lanes &lanes);

/// So many vectors in place of a loop with a constant number of iterations, of which the last may be masked.
void maskVectors(const VectorizationLegality &legality, const Lanes &lanes, int64_t count);

/// Where several loops traverse the same segment, one after the other, segments of one or two vectors have
/// versions without loops: what one loop stores and the next one loads stays in registers. `rows`: the loop
/// around them; nothing happens to another one.
void versionShortSegments(mlir::scf::ForOp rows, const iteration::CostModel &model);

} // namespace tulle::passes
