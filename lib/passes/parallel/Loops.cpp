#include "passes/parallel/Loops.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::parallel {

bool carriesTensorsOnly(IterateOp loop) {
  return !loop.getInits().empty() &&
         llvm::all_of(loop.getInits().getTypes(), llvm::IsaPred<RankedTensorType>);
}

Value weights(IterateOp loop) {
  if (!isa<RangeType>(loop.getSpace().getType()))
    return {};
  Value coordinate = loop.getBody().getArgument(0), found;
  for (LocateOp locate : loop.getBody().getOps<LocateOp>()) {
    const format::Encoding &encoding = getEncoding(locate.getTensor().getType()).getValue();
    if (locate.getLevel() != 0 || locate.getCoordinate() != coordinate || found ||
        encoding.levels[0].format.kind != format::LevelKind::Dense)
      continue;
    for (Operation *user : locate.getResult().getUsers())
      if (isa<SpaceOp>(user))
        found = locate.getTensor();
  }
  return found;
}

/// Rounds of loops over ranges cost as much as entries.
static Value length(OpBuilder &b, Location loc, Value space) {
  if (auto range = space.getDefiningOp<RangeOp>())
    return arith::SubIOp::create(b, loc, range.getHi(), range.getLo());
  if (auto sparse = space.getDefiningOp<SpaceOp>())
    return StoredCountOp::create(b, loc, sparse.getTensor());
  return arith::ConstantIndexOp::create(b, loc, 0);
}

Value work(OpBuilder &b, IterateOp loop) {
  Location loc = loop.getLoc();
  Value total = length(b, loc, loop.getSpace());
  if (Value tensor = weights(loop))
    total = arith::AddIOp::create(b, loc, total, StoredCountOp::create(b, loc, tensor));
  return total;
}

void shareRounds(IterateOp loop) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Value parts = ThreadsOp::create(b, loc, work(b, loop), /*fixed=*/false);
  auto region = ParallelOp::create(b, loc, loop.getResultTypes(), parts, loop.getInits());
  SmallVector<Type> types{b.getIndexType()};
  llvm::append_range(types, loop.getInits().getTypes());
  Block *block = b.createBlock(&region.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
  Value piece = PartOp::create(b, loc, loop.getSpace().getType(), loop.getSpace(), block->getArgument(0),
                               parts, weights(loop));
  loop.replaceAllUsesWith(region);
  auto yield = YieldOp::create(b, loc, loop.getResults());
  loop->moveBefore(yield);
  loop.getSpaceMutable().assign(piece);
  loop.getInitsMutable().assign(block->getArguments().drop_front());
}

} // namespace tulle::parallel
