#include "passes/register_tile/FusedInit.h"
#include "passes/analysis/LoopMatchers.h"
#include "passes/vectorize/BodyEmitter.h"

namespace tulle::passes {

using namespace mlir;
using arith::CmpIPredicate;

/// A larger buffer does not stay in a cache from its store to its next load.
constexpr int64_t cacheBytes = int64_t(32) << 20;

/// Whether some elements that the inner loop visits are not updated in any iteration of the outer ones: a
/// tile does not store those.
static bool skipsElements(const ReductionNest &nest) {
  scf::ForOp inner = nest.inner;
  for (Operation *op = nest.store->getParentOp(); op != inner; op = op->getParentOp())
    if (nest.isOuterInvariant(cast<scf::IfOp>(op).getCondition()))
      return true;
  return false;
}

std::optional<FusedInit> fuseInitLoop(const ReductionNest &nest) {
  scf::ForOp inner = nest.inner, top = nest.top();
  memref::StoreOp store = nest.store;
  if (nest.legality.scatters || (!nest.ivDependentBounds && !isZero(inner.getLowerBound())) ||
      skipsElements(nest))
    return std::nullopt;
  std::optional<InitLoop> init = findInitLoop(top, store.getMemRef());
  std::optional<Value> offset = offsetFrom(store.getIndices()[0], inner);
  if (!init || !offset || *offset != init->offset || (nest.ivDependentBounds && *offset))
    return std::nullopt;
  levels::Indices at(top);
  at.loc = init->loop.getLoc();
  Value covers;
  if (!nest.ivDependentBounds)
    covers = at.b.createOrFold<arith::CmpIOp>(at.loc, CmpIPredicate::eq, inner.getUpperBound(), init->size);
  // Without an iteration there may be no group of them that stores.
  if (nest.ivDependentBounds || nest.legality.gathers)
    covers = at.both(covers, at.isLess(top.getLowerBound(), top.getUpperBound()));
  if (!nest.legality.guardedGathers.empty())
    covers = at.both(covers, areNonEmpty(at.b, at.loc, nest.legality.guardedGathers));
  // From here on all of this is known.
  init->loop->moveBefore(top);
  at.b.setInsertionPoint(init->loop);
  init->loop.getUpperBoundMutable().assign(at.select(covers, init->loop.getLowerBound(), init->size));
  FusedInit fused{init->value, init->size, covers, Value()};
  if (unsigned bits = store.getMemRefType().getElementTypeBitWidth(); bits >= 8)
    fused.large = at.both(
        covers, at.is(CmpIPredicate::ugt, at.sizeOf(store.getMemRef()), at.constant(cacheBytes * 8 / bits)));
  return fused;
}

} // namespace tulle::passes
