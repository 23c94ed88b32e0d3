// The buffer is allocated in the function: what is in no branch beside the nest's finds nothing of it.
#include "passes/register_tile/FusedUse.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tulle::passes {

using namespace mlir;

namespace {

/// The loop behind the nest, if what stands between the two can be moved before it.
scf::ForOp loopBehind(const ReductionNest &nest, SmallVectorImpl<Operation *> &between) {
  for (Operation *op = nest.top()->getNextNode(); op; op = op->getNextNode()) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return loop;
    if (op->getNumRegions() != 0 || !isMemoryEffectFree(op) || op->hasTrait<OpTrait::IsTerminator>())
      return {};
    between.push_back(op);
  }
  return {};
}

/// Whether only one of the two runs while the buffer is there: they are in branches of one condition, which
/// no loop tests again.
bool excludes(Operation *other, Operation *nest, memref::AllocOp buffer) {
  Operation *around = nest->getParentOp();
  while (around != buffer->getParentOp() && !around->isProperAncestor(other))
    around = around->getParentOp();
  auto branch = dyn_cast<scf::IfOp>(around);
  if (!branch || around == buffer->getParentOp())
    return false;
  for (Operation *loop = around->getParentOp(); loop != buffer->getParentOp(); loop = loop->getParentOp())
    if (isa<LoopLikeOpInterface>(loop))
      return false;
  Region &then = branch.getThenRegion();
  return then.isAncestor(nest->getParentRegion()) != then.isAncestor(other->getParentRegion());
}

/// The only read of the buffer in the loop, where the nest has stored the same iteration's element.
memref::LoadOp loadOf(scf::ForOp loop, const ReductionNest &nest) {
  memref::StoreOp store = nest.store;
  memref::LoadOp found;
  for (auto load : loop.getBody()->getOps<memref::LoadOp>())
    if (load.getMemRef() == store.getMemRef()) {
      if (found)
        return {};
      found = load;
    }
  if (!found)
    return {};
  std::optional<Value> from = offsetFrom(found.getIndices()[0], loop),
                       to = offsetFrom(store.getIndices()[0], nest.inner);
  return from && to && *from == *to ? found : memref::LoadOp();
}

} // namespace

std::optional<FusedUse> FusedUse::find(const ReductionNest &nest) {
  scf::ForOp inner = nest.inner;
  memref::StoreOp store = nest.store;
  memref::LoadOp own = nest.load;
  auto buffer = store.getMemRef().getDefiningOp<memref::AllocOp>();
  if (!buffer || nest.ivDependentBounds || nest.isGuarded() || nest.legality.gathers ||
      nest.legality.scatters || store->getParentOp() != inner || own->getParentOp() != inner)
    return std::nullopt;
  SmallVector<Operation *> between;
  scf::ForOp loop = loopBehind(nest, between);
  if (!loop || !isParallel(loop) || !isInnermost(loop) || !hasUnitStep(loop) || fixedLanes(loop) != 0 ||
      scheduledUnroll(loop) != 0 || !isEqualConstantIntOrValue(loop.getLowerBound(), inner.getLowerBound()) ||
      !isEqualConstantIntOrValue(loop.getUpperBound(), inner.getUpperBound()))
    return std::nullopt;
  std::optional<VectorizationLegality> legality = analyzeLoop(loop);
  memref::LoadOp load = legality ? loadOf(loop, nest) : memref::LoadOp();
  if (!load || !legality->reductions.empty() || legality->gathers || legality->scatters ||
      legality->branches || legality->prefetches || legality->widestBits > nest.legality.widestBits)
    return std::nullopt;
  // Tiles behind this one read what the nest reads.
  for (auto written : loop.getBody()->getOps<memref::StoreOp>())
    if (anyIn(nest.root(), [&](Operation *op) {
          auto read = dyn_cast<memref::LoadOp>(op);
          return read && read.getMemRef() == written.getMemRef();
        }))
      return std::nullopt;
  std::optional<InitLoop> init = findInitLoop(nest.top(), buffer);
  if (!init || !isZero(inner.getLowerBound()) ||
      !isEqualConstantIntOrValue(init->size, inner.getUpperBound()) ||
      offsetFrom(store.getIndices()[0], inner) != std::optional(init->offset))
    return std::nullopt;
  for (Operation *user : buffer->getUsers())
    if (!isa<memref::DimOp, memref::DeallocOp>(user) && user != store && user != own && user != load &&
        !init->loop->isProperAncestor(user) && !excludes(user, nest.top(), buffer))
      return std::nullopt;
  return FusedUse(std::move(*legality), load, std::move(between));
}

void FusedUse::fuse(Operation *nest) {
  for (Operation *op : between)
    op->moveBefore(nest);
}

void FusedUse::emit(OpBuilder &b, Value first, Value mask, const Lanes &lanes, Value elements,
                    const IRMapping *row) const {
  BodyEmitter body(b, legality, lanes, first, mask);
  if (row)
    body.bind(*row);
  body.holdInRegister(load, elements);
  body.emit({});
}

void eraseUnused(memref::AllocOp buffer) {
  for (Operation *user : llvm::make_early_inc_range(buffer->getUsers()))
    if (isOpTriviallyDead(user))
      user->erase();
  if (!llvm::all_of(buffer->getUsers(), llvm::IsaPred<memref::DeallocOp>))
    return;
  for (Operation *user : llvm::make_early_inc_range(buffer->getUsers()))
    user->erase();
  buffer.erase();
}

} // namespace tulle::passes
