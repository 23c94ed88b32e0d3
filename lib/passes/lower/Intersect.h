// Intersections of two lists of coordinates, and of two bitmaps, many coordinates at a time.
#pragma once
#include "iteration/CostModel.h"
#include "passes/lower/Space.h"

namespace tulle::lower {

/// How two operands are intersected: by whole vectors of coordinates of both, or with the shorter one leaping
/// through the longer one.
enum class Intersection : uint8_t { Auto, Blocks, Gallop };

/// Where the two-finger merge goes on: the positions of both, then the values carried.
using Meet = llvm::function_ref<Values(mlir::Value coordinate, mlir::Value x, mlir::Value y, Values carried)>;

/// Whether both operands store their coordinates one after the other, ascending and each once.
bool comparesBlocks(const Space &x, const Space &y);
/// Visits the coordinates that both have, in ascending order, while both have enough of them for a vector.
/// `carried` begins with the positions of x and y; so does what is returned, where a merge of the rest goes
/// on. Left to itself it leaps where one list is `model.blockGallopRatio()` times as long as the other.
Values intersectBlocks(mlir::OpBuilder &b, mlir::Location loc, const Space &x, const Space &y,
                       Intersection how, const iteration::CostModel &model, Values carried, Meet meet);

/// Whether both operands are bitmaps.
bool comparesWords(const Space &x, const Space &y);
/// Visits all coordinates that both have, in ascending order.
Values intersectWords(mlir::OpBuilder &b, mlir::Location loc, const Space &x, const Space &y, Values carried,
                      Meet meet);

} // namespace tulle::lower
