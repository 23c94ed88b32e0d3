// Intersections of two lists of coordinates, and of two bitmaps, many coordinates at a time.
#pragma once
#include "iteration/CostModel.h"
#include "passes/lower/Space.h"

namespace tulle::lower {

/// Where both operands have a coordinate: the positions of both, then the values carried.
using Meet = llvm::function_ref<Values(Value coordinate, Value x, Value y, Values carried)>;

/// Whether both operands store their coordinates one after the other, ascending and each once.
bool comparesBlocks(const Space &x, const Space &y);
/// Visits the coordinates that both have, in ascending order, while both have enough of them for a vector: by
/// blocks of both (`blocks`), or with the shorter list galloping through the longer one (`gallop`); `auto`
/// gallops where one list is `model.blockGallopRatio()` times as long as the other. `carried` begins with the
/// positions of x and y; so does what is returned, where a merge goes on.
Values intersectBlocks(const Emitter &emit, const Space &x, const Space &y, dialect::Strategy how,
                       const iteration::CostModel &model, Values carried, Meet meet);

/// Whether both operands are bitmaps.
bool comparesWords(const Space &x, const Space &y);
/// Visits all coordinates that both have, in ascending order.
Values intersectWords(const Emitter &emit, const Space &x, const Space &y, Values carried, Meet meet);

} // namespace tulle::lower
