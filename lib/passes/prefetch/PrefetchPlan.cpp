#include "passes/prefetch/PrefetchPlan.h"
#include "levels/Indices.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/ReductionNest.h"

namespace tulle::passes {

using namespace mlir;
using arith::CmpIPredicate;
using levels::IndicesAt;

void emitPrefetch(OpBuilder &b, Location loc, Value buffer, Value index) {
  memref::PrefetchOp::create(b, loc, buffer, index, /*isWrite=*/false, /*localityHint=*/3,
                             /*isDataCache=*/true);
}

static int64_t elementsIn(int64_t bytes, memref::LoadOp load) {
  return bytes * 8 / load.getType().getIntOrFloatBitWidth();
}

PrefetchPlan::PrefetchPlan(scf::ForOp outerLoop, const VectorizationLegality &inner,
                           const iteration::Cpu &cpu)
    : outer(outerLoop), residentBytes(cpu.residentBytes), coreBytes(cpu.l2) {
  scf::ForOp loop = inner.loop;
  for (auto load : loop.getBody()->getOps<memref::LoadOp>()) {
    SetVector<Operation *> found;
    bool loads = false;
    Value index = load.getIndices()[0];
    if (inner.shapeOf(index) != LaneShape::Consecutive || !outer.isDefinedOutsideOfLoop(load.getMemRef()) ||
        !addAddress(index, found, loads))
      continue;
    if (!loads) {
      if (isOuterInvariant(index, loop))
        shared.push_back(load);
      continue;
    }
    rows.push_back(load);
    addresses.insert(found.begin(), found.end());
  }
  for (Operation *op : addresses)
    if (auto load = dyn_cast<memref::LoadOp>(op))
      coordinates.push_back(load);
}

/// Whether the value depends in the inner loop on its index alone, and on what is known before the outer
/// loop.
bool PrefetchPlan::isOuterInvariant(Value value, scf::ForOp inner) const {
  scf::ForOp loop = outer;
  if (value == inner.getInductionVar() || loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == inner.getBody() && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isOuterInvariant(operand, inner); });
}

bool PrefetchPlan::dependsOnLoop(scf::ForOp around) const {
  SmallVector<Value> left;
  for (memref::LoadOp load : rows)
    left.push_back(load.getIndices()[0]);
  while (!left.empty()) {
    Value value = left.pop_back_val();
    if (value.getParentBlock() == around.getBody())
      return true;
    Operation *op = value.getDefiningOp();
    if (op && scf::ForOp(outer)->isAncestor(op))
      llvm::append_range(left, op->getOperands());
  }
  return false;
}

/// Adds the operations of the outer loop's body that `value` depends on; fails where one of them loads at
/// another index than the loop's.
bool PrefetchPlan::addAddress(Value value, SetVector<Operation *> &found, bool &loads) const {
  scf::ForOp loop = outer;
  Operation *op = value.getDefiningOp();
  if (!op || loop.isDefinedOutsideOfLoop(value) || found.contains(op))
    return true;
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    if (op->getBlock() != loop.getBody() || load.getIndices()[0] != loop.getInductionVar())
      return false;
    loads = true;
  } else if (!isMemoryEffectFree(op) || op->getNumRegions() != 0) {
    return false;
  }
  for (Value operand : op->getOperands())
    if (!addAddress(operand, found, loads))
      return false;
  if (op->getBlock() == loop.getBody())
    found.insert(op);
  return true;
}

void PrefetchPlan::cloneAddresses(OpBuilder &b, Location loc, Value p, IRMapping &map) const {
  IndicesAt at(b, loc);
  for (memref::LoadOp load : coordinates)
    p = at.min(p, at.sub(at.sizeOf(load.getMemRef()), at.constant(1)));
  map.map(scf::ForOp(outer).getInductionVar(), p);
  for (Operation *op : addresses)
    b.clone(*op, map);
}

Value PrefetchPlan::areRemote(OpBuilder &b, Location loc, const IRMapping &map, Value begin, Value end,
                              int64_t least) const {
  IndicesAt at(b, loc);
  return at.ifThen(at.isLess(begin, end), [&] {
    Value last = at.max(at.sub(end, at.constant(1)), at.add(begin, at.constant(least)));
    return areRemoteAt(b, loc, map, begin, last, residentBytes);
  });
}

Value PrefetchPlan::areConsecutive(OpBuilder &b, Location loc, const IRMapping &map, Value begin, Value end,
                                   int64_t elements) const {
  IndicesAt at(b, loc);
  return at.ifThen(at.isLess(begin, end), [&] {
    Value middle = at.add(begin, at.divide(at.sub(end, begin), at.constant(2)));
    const int64_t bytes = elements * memref::LoadOp(rows.front()).getType().getIntOrFloatBitWidth() / 8;
    Value remote = areRemoteAt(b, loc, map, middle, at.add(middle, at.constant(1)), bytes);
    Value close = arith::XOrIOp::create(b, loc, remote, at.boolean(true));
    return at.both(close, areLarge(b, loc, 2 * coreBytes));
  });
}

Value PrefetchPlan::areRemoteAt(OpBuilder &b, Location loc, const IRMapping &map, Value first, Value last,
                                int64_t bytes) const {
  IndicesAt at(b, loc);
  Value zero = at.constant(0), any;
  IRMapping begin = map, end = map;
  cloneAddresses(b, loc, first, begin);
  cloneAddresses(b, loc, last, end);
  for (memref::LoadOp load : rows) {
    // first - limit <= last <= first + limit, as one unsigned comparison.
    const int64_t limit = elementsIn(bytes, load);
    Value distance = at.sub(indexAt(b, load, end, zero), indexAt(b, load, begin, zero));
    Value shifted = at.add(distance, at.constant(limit));
    any = at.either(any, at.is(CmpIPredicate::ugt, shifted, at.constant(2 * limit)));
  }
  return any;
}

Value PrefetchPlan::areLarge(OpBuilder &b, Location loc, int64_t bytes) const {
  IndicesAt at(b, loc);
  Value any;
  for (memref::LoadOp load : rows)
    any = at.either(
        any, at.is(CmpIPredicate::ugt, at.sizeOf(load.getMemRef()), at.constant(elementsIn(bytes, load))));
  return any;
}

void PrefetchPlan::prefetch(OpBuilder &b, Location loc, const IRMapping &later, ValueRange iterations) const {
  for (memref::LoadOp load : rows)
    for (Value k : iterations)
      emitPrefetch(b, loc, load.getMemRef(), indexAt(b, load, later, k));
}

void PrefetchPlan::prefetchShared(OpBuilder &b, Location loc, Value iteration) const {
  for (memref::LoadOp load : shared)
    emitPrefetch(b, loc, load.getMemRef(), indexAt(b, load, {}, iteration));
}

Value PrefetchPlan::indexAt(OpBuilder &b, memref::LoadOp load, IRMapping map, Value k) {
  // The constant last: the lines of a row share the rest of the address.
  if (auto sum = k.getDefiningOp<arith::AddIOp>(); sum && matchPattern(sum.getRhs(), m_Constant()))
    return arith::AddIOp::create(b, load.getLoc(), indexAt(b, load, map, sum.getLhs()), sum.getRhs());
  map.map(cast<scf::ForOp>(load->getParentOp()).getInductionVar(), k);
  return cloneSlice(b, load.getIndices()[0], load->getBlock(), map);
}

} // namespace tulle::passes
