// Software prefetch of the rows of dense operands that a reduction along them will read.
#pragma once
#include "iteration/CostModel.h"
#include "passes/analysis/VectorizationLegality.h"

namespace tulle::passes {

/// Before `inner.loop` and the loop around it, emits the prefetch of the rows that a later iteration of the
/// loop around selects by its coordinate, where these are remote, or of what follows its rows in memory,
/// where they are consecutive (SDDMM; experiments 014 and 045).
void prefetchLaterRows(const VectorizationLegality &inner, const iteration::CostModel &model);

} // namespace tulle::passes
