// Matches reduction nests: loops around an innermost loop that updates the same elements of a result in every
// iteration of the outer ones.
#include "passes/analysis/ReductionNest.h"
#include "passes/analysis/LoopMatchers.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::passes {

using namespace mlir;

namespace {

/// Visits every value once: a body is a graph, and repeated squaring has as many paths as its result.
class OuterInvariance {
public:
  explicit OuterInvariance(const ReductionNest &nest) : nest(nest) {}

  bool value(Value value) {
    scf::ForOp loop = nest.inner, around = nest.top();
    if (value == loop.getInductionVar() || !around.getRegion().isAncestor(value.getParentRegion()))
      return true;
    if (auto found = known.find(value); found != known.end())
      return found->second;
    Operation *op = value.getDefiningOp();
    const bool result = op && operation(op);
    return known[value] = result;
  }

  bool operation(Operation *op) {
    scf::ForOp loop = nest.inner;
    if (!loop->isProperAncestor(op) || op->getNumRegions() != 0 || op->getNumResults() != 1)
      return false;
    auto read = dyn_cast<memref::LoadOp>(op);
    memref::StoreOp written = nest.store;
    if (read ? read.getMemRef() == written.getMemRef() : !(isMemoryEffectFree(op) && isSpeculatable(op)))
      return false;
    return llvm::all_of(op->getOperands(), [&](Value operand) { return value(operand); });
  }

private:
  const ReductionNest &nest;
  llvm::SmallDenseMap<Value, bool> known;
};

} // namespace

bool ReductionNest::isOuterInvariant(Value value) const { return OuterInvariance(*this).value(value); }
bool ReductionNest::isOuterInvariant(Operation *op) const { return OuterInvariance(*this).operation(op); }

scf::ForOp innerLoop(scf::ForOp outer) {
  auto before = outer.getBody()->without_terminator();
  if (before.empty() || outer.getNumRegionIterArgs() != 0 || !hasUnitStep(outer))
    return {};
  auto inner = dyn_cast<scf::ForOp>(&*std::prev(before.end()));
  if (!inner || inner.getNumRegionIterArgs() != 0)
    return {};
  for (Operation &op : before)
    if (&op != inner && (op.getNumRegions() != 0 ||
                         !(isMemoryEffectFree(&op) || isa<memref::LoadOp, dialect::SegmentOp>(op))))
      return {};
  return inner;
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
  if (!store.getMemRef().getDefiningOp())
    return true;
  SetVector<Value> slice;
  slice.insert(store.getIndices()[0]);
  for (size_t k = 0; k < slice.size(); ++k)
    if (Operation *op = slice[k].getDefiningOp()) {
      if (isa<memref::LoadOp, dialect::SegmentOp>(op))
        return false;
      slice.insert(op->operand_begin(), op->operand_end());
    }
  return true;
}

std::optional<ReductionNest> matchReductionNest(scf::ForOp outer) {
  ReductionNest nest;
  nest.outers = {outer};
  nest.inner = innerLoop(outer);
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
  if (!updatesSameElements(nest))
    return std::nullopt;
  while (!nest.ivDependentBounds && !nest.legality.gathers) {
    auto around = dyn_cast<scf::ForOp>(nest.top()->getParentOp());
    if (!around || innerLoop(around) != nest.top() ||
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

void clonePrologue(OpBuilder &b, scf::ForOp loop, IRMapping &map) {
  auto body = loop.getBody()->without_terminator();
  for (Operation &op : llvm::make_range(body.begin(), std::prev(body.end())))
    b.clone(op, map);
}

Value cloneSlice(OpBuilder &b, Value value, Block *block, IRMapping &map) {
  Operation *op = value.getDefiningOp();
  if (map.contains(value) || !op || op->getBlock() != block)
    return map.lookupOrDefault(value);
  for (Value operand : op->getOperands())
    cloneSlice(b, operand, block, map);
  b.clone(*op, map);
  return map.lookup(value);
}

Value cloneSlice(OpBuilder &b, Value value, scf::ForOp loop, Value iteration) {
  IRMapping map;
  map.map(loop.getInductionVar(), iteration);
  return cloneSlice(b, value, loop.getBody(), map);
}

} // namespace tulle::passes
