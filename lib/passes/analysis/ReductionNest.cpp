#include "passes/analysis/ReductionNest.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

namespace tulle::passes {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Operation;
using mlir::Value;

namespace {

/// Asks every value once: a body is a graph, and repeated squaring has as many paths as its result.
class Fixed {
public:
  explicit Fixed(const ReductionNest &nest) : nest(nest) {}

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
    auto read = mlir::dyn_cast<memref::LoadOp>(op);
    memref::StoreOp written = nest.store;
    if (read ? read.getMemRef() == written.getMemRef()
             : !(mlir::isMemoryEffectFree(op) && mlir::isSpeculatable(op)))
      return false;
    return llvm::all_of(op->getOperands(), [&](Value operand) { return value(operand); });
  }

private:
  const ReductionNest &nest;
  llvm::SmallDenseMap<Value, bool> known;
};

} // namespace

bool ReductionNest::isFixed(Value value) const { return Fixed(*this).value(value); }
bool ReductionNest::isFixed(Operation *op) const { return Fixed(*this).operation(op); }

scf::ForOp innerLoop(scf::ForOp outer) {
  auto before = outer.getBody()->without_terminator();
  if (before.empty() || outer.getNumRegionIterArgs() != 0 ||
      !mlir::matchPattern(outer.getStep(), mlir::m_One()))
    return {};
  auto inner = mlir::dyn_cast<scf::ForOp>(&*std::prev(before.end()));
  if (!inner || inner.getNumRegionIterArgs() != 0)
    return {};
  for (Operation &op : before)
    if (&op != inner &&
        (op.getNumRegions() != 0 || !(mlir::isMemoryEffectFree(&op) || mlir::isa<memref::LoadOp>(op))))
      return {};
  return inner;
}

/// The only store of the loop, and the only read of its buffer, at the same place just before.
static bool findElement(ReductionNest &nest) {
  unsigned writes = 0, reads = 0;
  nest.inner.walk([&](memref::StoreOp store) {
    ++writes;
    nest.store = store;
  });
  if (writes != 1)
    return false;
  nest.top().walk([&](memref::LoadOp load) {
    if (load.getMemRef() != nest.store.getMemRef())
      return;
    ++reads;
    nest.load = load;
  });
  return reads == 1 && nest.load->getBlock() == nest.store->getBlock() &&
         nest.load.getIndices()[0] == nest.store.getIndices()[0] && nest.load->isBeforeInBlock(nest.store);
}

/// Whether the element a step of the inner loop updates is the same for all steps of the outer ones.
static bool updatesSameElements(ReductionNest &nest) {
  return findElement(nest) && nest.top().isDefinedOutsideOfLoop(nest.store.getMemRef()) &&
         nest.isFixed(nest.store.getIndices()[0]);
}

memref::LoadOp asRead(Value value) {
  while (
      mlir::isa_and_nonnull<arith::IndexCastUIOp, arith::IndexCastOp, arith::ExtUIOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value.getDefiningOp<memref::LoadOp>();
}

bool isRead(Value value) { return bool(asRead(value)); }

bool mayBeNowhere(memref::StoreOp store) {
  if (!store.getMemRef().getDefiningOp())
    return false;
  llvm::SetVector<Value> place;
  place.insert(store.getIndices()[0]);
  for (size_t k = 0; k < place.size(); ++k)
    if (Operation *op = place[k].getDefiningOp()) {
      if (mlir::isa<memref::LoadOp>(op))
        return true;
      place.insert(op->operand_begin(), op->operand_end());
    }
  return false;
}

bool walksSegments(const ReductionNest &nest) {
  return nest.outers.size() >= 2 && walksSegments(nest.outers.end()[-2], nest.outer());
}

bool walksSegments(scf::ForOp around, scf::ForOp walk) {
  memref::LoadOp begin = asRead(walk.getLowerBound()), end = asRead(walk.getUpperBound());
  if (!begin || !end || begin.getMemRef() != end.getMemRef() ||
      !around.isDefinedOutsideOfLoop(begin.getMemRef()) || begin->getBlock() != around.getBody() ||
      begin.getIndices()[0] != around.getInductionVar())
    return false;
  auto next = end.getIndices()[0].getDefiningOp<arith::AddIOp>();
  return next && next.getLhs() == around.getInductionVar() &&
         mlir::matchPattern(next.getRhs(), mlir::m_One());
}

bool isOutermost(Operation *loop) {
  Operation *around = loop->getParentOp();
  while (!mlir::isa<mlir::LoopLikeOpInterface, dialect::ParallelOp, mlir::func::FuncOp>(around))
    around = around->getParentOp();
  return !mlir::isa<mlir::LoopLikeOpInterface>(around);
}

scf::ForOp rowsAround(scf::ForOp walk) {
  auto rows = walk->getParentOfType<scf::ForOp>();
  return rows && isOutermost(rows) && rows.getNumResults() == 0 && walksSegments(rows, walk) ? rows
                                                                                             : scf::ForOp();
}

std::optional<ReductionNest> matchReductionNest(scf::ForOp outer) {
  ReductionNest nest;
  nest.outers = {outer};
  nest.inner = innerLoop(outer);
  if (!nest.inner)
    return std::nullopt;
  for (Value bound : {nest.inner.getLowerBound(), nest.inner.getUpperBound()})
    nest.movingBounds |= !outer.isDefinedOutsideOfLoop(bound);
  std::optional<VectorizationLegality> plan = analyzeLoop(nest.inner);
  if (!plan)
    return std::nullopt;
  nest.plan = std::move(*plan);
  // Segments of stored entries have none in common, nor rows that they name.
  if (nest.movingBounds && (nest.plan.scatters || isRead(nest.inner.getLowerBound())))
    return std::nullopt;
  if (!updatesSameElements(nest))
    return std::nullopt;
  while (!nest.movingBounds && !nest.plan.gathers) {
    auto around = mlir::dyn_cast<scf::ForOp>(nest.top()->getParentOp());
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

void cloneReads(mlir::OpBuilder &b, scf::ForOp loop, mlir::IRMapping &map) {
  auto body = loop.getBody()->without_terminator();
  for (Operation &op : llvm::make_range(body.begin(), std::prev(body.end())))
    b.clone(op, map);
}

Value clonePlace(mlir::OpBuilder &b, Value value, mlir::Block *block, mlir::IRMapping &map) {
  Operation *op = value.getDefiningOp();
  if (map.contains(value) || !op || op->getBlock() != block)
    return map.lookupOrDefault(value);
  for (Value operand : op->getOperands())
    clonePlace(b, operand, block, map);
  b.clone(*op, map);
  return map.lookup(value);
}

} // namespace tulle::passes
