#include "passes/analysis/InitLoop.h"
#include "passes/analysis/LoopMatchers.h"

namespace tulle::passes {

using namespace mlir;

std::optional<Value> offsetFrom(Value index, scf::ForOp loop) {
  if (index == loop.getInductionVar())
    return Value();
  Value offset = otherOperand<arith::AddIOp>(index, loop.getInductionVar());
  return offset ? std::optional(offset) : std::nullopt;
}

static bool mayAccess(Operation *op, Value buffer) {
  return op
      ->walk([&](Operation *inside) {
        bool elsewhere = isa<memref::LoadOp, memref::StoreOp, dialect::SegmentOp>(inside) &&
                         !llvm::is_contained(inside->getOperands(), buffer);
        bool harmless =
            elsewhere || inside->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || isMemoryEffectFree(inside);
        return harmless ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

std::optional<InitLoop> asInitLoop(Operation *op, Value buffer) {
  InitLoop init;
  init.loop = dyn_cast<scf::ForOp>(op);
  if (!init.loop || init.loop.getNumRegionIterArgs() != 0 || !isZero(init.loop.getLowerBound()))
    return std::nullopt;
  auto stores = init.loop.getBody()->getOps<memref::StoreOp>();
  if (stores.empty() || (*stores.begin()).getMemRef() != buffer)
    return std::nullopt;
  memref::StoreOp store = *stores.begin();
  Value index = store.getIndices()[0];
  std::optional<Value> offset = offsetFrom(index, init.loop);
  bool onlyStores = llvm::all_of(init.loop.getBody()->without_terminator(), [&](Operation &inside) {
    return &inside == store || &inside == index.getDefiningOp();
  });
  if (!onlyStores || !offset || !matchPattern(store.getValueToStore(), m_Constant(&init.value)))
    return std::nullopt;
  init.offset = *offset;
  init.size = init.loop.getUpperBound();
  return init;
}

std::optional<InitLoop> findInitLoop(Operation *op, Value buffer) {
  while ((op = op->getPrevNode())) {
    if (std::optional<InitLoop> init = asInitLoop(op, buffer))
      return init;
    if (mayAccess(op, buffer))
      return std::nullopt;
  }
  return std::nullopt;
}

} // namespace tulle::passes
