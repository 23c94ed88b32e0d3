// Matches reduction nests: loops around an innermost loop that updates the same elements of a result in every
// iteration of the outer ones.
#include "passes/analysis/ReductionNest.h"

namespace tulle::passes {

using namespace mlir;

/// Whether the operation may run before the outer loops, as far as its operands are known there.
static bool mayHoist(const ReductionNest &nest, Operation *op) {
  scf::ForOp loop = nest.inner;
  memref::StoreOp written = nest.store;
  if (!loop->isProperAncestor(op) || op->getNumRegions() != 0 || op->getNumResults() != 1)
    return false;
  if (auto read = dyn_cast<memref::LoadOp>(op))
    return read.getMemRef() != written.getMemRef();
  return isMemoryEffectFree(op) && isSpeculatable(op);
}

bool ReductionNest::isOuterInvariant(Value value) const {
  return acceptsSlice(value, [&](Value value) -> std::optional<bool> {
    scf::ForOp loop = inner;
    if (value == loop.getInductionVar() || !root()->isAncestor(value.getParentRegion()->getParentOp()))
      return true;
    Operation *op = value.getDefiningOp();
    return op && mayHoist(*this, op) ? std::nullopt : std::optional(false);
  });
}

bool ReductionNest::isOuterInvariant(Operation *op) const {
  return mayHoist(*this, op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isOuterInvariant(operand); });
}

bool ReductionNest::isGuarded() const {
  return llvm::any_of(llvm::seq(outers.size()), [&](size_t outer) { return bool(guard(outer)); });
}

/// The operation at the end of a block that only loads before it; null where there is none.
static Operation *lastOf(Block *block) {
  auto before = block->without_terminator();
  if (before.empty())
    return nullptr;
  Operation *last = &*std::prev(before.end());
  return llvm::all_of(before, [&](Operation &op) { return &op == last || onlyLoads(&op); }) ? last : nullptr;
}

static scf::ForOp plainLoop(Operation *op) {
  auto loop = dyn_cast_if_present<scf::ForOp>(op);
  return loop && loop.getNumRegionIterArgs() == 0 ? loop : scf::ForOp();
}

static bool isPlain(scf::ForOp outer) { return outer.getNumRegionIterArgs() == 0 && hasUnitStep(outer); }

scf::ForOp innerLoop(scf::ForOp outer) {
  return isPlain(outer) ? plainLoop(lastOf(outer.getBody())) : scf::ForOp();
}

scf::ForOp guardedLoop(scf::ForOp outer) {
  return isPlain(outer) ? loopInBranch(lastOf(outer.getBody())) : scf::ForOp();
}

scf::ForOp loopInBranch(Operation *op) {
  auto guard = dyn_cast_if_present<scf::IfOp>(op);
  return guard && guard.getNumResults() == 0 && !guard.elseBlock() ? plainLoop(lastOf(guard.thenBlock()))
                                                                   : scf::ForOp();
}

/// The only store of the loop, and the only load of its buffer, of the same element just before.
static bool findElement(ReductionNest &nest) {
  unsigned writes = 0, loads = 0;
  nest.inner.walk([&](memref::StoreOp store) {
    ++writes;
    nest.store = store;
  });
  if (writes != 1)
    return false;
  nest.top().walk([&](memref::LoadOp load) {
    if (load.getMemRef() != nest.store.getMemRef())
      return;
    ++loads;
    nest.load = load;
  });
  return loads == 1 && nest.load->getBlock() == nest.store->getBlock() &&
         nest.load.getIndices()[0] == nest.store.getIndices()[0] && nest.load->isBeforeInBlock(nest.store);
}

/// Whether an iteration of the inner loop updates the same element in all iterations of the outer ones.
static bool updatesSameElements(ReductionNest &nest) {
  return findElement(nest) && nest.top().isDefinedOutsideOfLoop(nest.store.getMemRef()) &&
         nest.isOuterInvariant(nest.store.getIndices()[0]);
}

bool isAlwaysDereferenceable(memref::StoreOp store) {
  return !store.getMemRef().getDefiningOp() ||
         acceptsSlice(store.getIndices()[0], [](Value value) -> std::optional<bool> {
           bool loads = isa_and_nonnull<memref::LoadOp, dialect::SegmentOp>(value.getDefiningOp());
           return loads ? std::optional(false) : std::nullopt;
         });
}

std::optional<ReductionNest> matchReductionNest(scf::ForOp outer, Guards guards) {
  ReductionNest nest;
  nest.outers = {outer};
  nest.inner = innerLoop(outer);
  if (!nest.inner && guards == Guards::InnerLoop)
    nest.inner = guardedLoop(outer);
  if (!nest.inner)
    return std::nullopt;
  for (Value bound : {nest.inner.getLowerBound(), nest.inner.getUpperBound()})
    nest.ivDependentBounds |= !outer.isDefinedOutsideOfLoop(bound);
  std::optional<VectorizationLegality> legality = analyzeLoop(nest.inner);
  if (!legality)
    return std::nullopt;
  nest.legality = std::move(*legality);
  // Segments of stored entries are disjoint, and so are the rows that their coordinates select.
  if (nest.ivDependentBounds && (nest.legality.scatters || isLoaded(nest.inner.getLowerBound())))
    return std::nullopt;
  if (nest.innerGuard() && (nest.ivDependentBounds || nest.legality.gathers))
    return std::nullopt;
  if (!updatesSameElements(nest))
    return std::nullopt;
  // Elements that are loaded before the loops are to exist where no iteration enters the branch.
  if (nest.innerGuard() && !isAlwaysDereferenceable(nest.store))
    return std::nullopt;
  const bool guarded = guards == Guards::OuterLoops;
  while (!nest.ivDependentBounds && !nest.legality.gathers) {
    auto around = nest.top()->getParentOfType<scf::ForOp>();
    if (!around || (innerLoop(around) != nest.top() && !(guarded && guardedLoop(around) == nest.top())) ||
        !around.isDefinedOutsideOfLoop(nest.inner.getLowerBound()) ||
        !around.isDefinedOutsideOfLoop(nest.inner.getUpperBound()))
      break;
    nest.outers.insert(nest.outers.begin(), around);
    if (updatesSameElements(nest))
      continue;
    nest.outers.erase(nest.outers.begin());
    updatesSameElements(nest);
    break;
  }
  return nest;
}

} // namespace tulle::passes
