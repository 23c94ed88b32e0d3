#include "passes/prefetch/GatherLocality.h"
#include "levels/Indices.h"

namespace tulle::passes {

using namespace mlir;

/// Closer than this many elements, scalarized gathers are faster than the instruction (experiments 002 and
/// 040).
constexpr int64_t localElements = 16384;

SmallVector<Value> gatherCoordinates(const VectorizationLegality &legality) {
  scf::ForOp loop = legality.loop;
  SmallVector<Value> coordinates;
  loop.getBody()->walk([&](memref::LoadOp load) {
    Value index = load.getIndices()[0];
    memref::LoadOp coordinate = loadBehindCasts(index);
    if (coordinate && coordinate->getBlock() == loop.getBody() && index.getParentBlock() == loop.getBody() &&
        legality.shapeOf(index) == LaneShape::Varying && !llvm::is_contained(coordinates, index))
      coordinates.push_back(index);
  });
  return coordinates;
}

Value areLocal(OpBuilder &b, Location loc, const VectorizationLegality &legality, ArrayRef<Value> coordinates,
               IRMapping &first, IRMapping &last) {
  levels::IndicesAt at(b, loc);
  Block *body = scf::ForOp(legality.loop).getBody();
  Value local, limit = at.constant(localElements);
  for (Value coordinate : coordinates) {
    Value begin = cloneSlice(b, coordinate, body, first), end = cloneSlice(b, coordinate, body, last);
    local = at.both(local, at.is(arith::CmpIPredicate::ult, at.sub(end, begin), limit));
  }
  return local;
}

} // namespace tulle::passes
