#include "passes/prefetch/PrefetchPlan.h"
#include "levels/Control.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/ReductionNest.h"

namespace tulle::passes {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Operation;
using mlir::Value;

PrefetchPlan::PrefetchPlan(scf::ForOp outerLoop, const VectorizationLegality &inner,
                           const iteration::Cpu &cpu)
    : outer(outerLoop), residentBytes(cpu.residentBytes), coreBytes(cpu.l2) {
  scf::ForOp loop = inner.loop;
  for (auto load : loop.getBody()->getOps<memref::LoadOp>()) {
    llvm::SetVector<Operation *> found;
    bool reads = false;
    if (inner.shapeOf(load.getIndices()[0]) != LaneShape::Consecutive ||
        !outer.isDefinedOutsideOfLoop(load.getMemRef()) || !addPlace(load.getIndices()[0], found, reads))
      continue;
    if (!reads) {
      if (stays(load.getIndices()[0], loop))
        beside.push_back(load);
      continue;
    }
    rows.push_back(load);
    places.insert(found.begin(), found.end());
  }
  for (Operation *op : places)
    if (auto load = mlir::dyn_cast<memref::LoadOp>(op))
      coordinates.push_back(load);
}

/// Whether what `value` is computed from in the inner loop, besides its index, is known before the outer
/// loop.
bool PrefetchPlan::stays(Value value, scf::ForOp inner) const {
  scf::ForOp loop = outer;
  if (value == inner.getInductionVar() || loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == inner.getBody() && mlir::isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return stays(operand, inner); });
}

bool PrefetchPlan::isNamedBy(scf::ForOp around) const {
  llvm::SmallVector<Value> left;
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

/// Adds the operations of the outer loop's body that `value` needs; fails where one reads elsewhere than at
/// the loop's index.
bool PrefetchPlan::addPlace(Value value, llvm::SetVector<Operation *> &found, bool &reads) const {
  scf::ForOp loop = outer;
  Operation *op = value.getDefiningOp();
  if (!op || loop.isDefinedOutsideOfLoop(value) || found.contains(op))
    return true;
  if (auto load = mlir::dyn_cast<memref::LoadOp>(op)) {
    if (op->getBlock() != loop.getBody() || load.getIndices()[0] != loop.getInductionVar())
      return false;
    reads = true;
  } else if (!mlir::isMemoryEffectFree(op) || op->getNumRegions() != 0) {
    return false;
  }
  for (Value operand : op->getOperands())
    if (!addPlace(operand, found, reads))
      return false;
  if (op->getBlock() == loop.getBody())
    found.insert(op);
  return true;
}

void PrefetchPlan::at(mlir::OpBuilder &b, mlir::Location loc, Value p, mlir::IRMapping &map) const {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  for (memref::LoadOp load : coordinates) {
    Value size = memref::DimOp::create(b, loc, load.getMemRef(), zero);
    p = arith::MinSIOp::create(b, loc, p, arith::SubIOp::create(b, loc, size, one));
  }
  map.map(scf::ForOp(outer).getInductionVar(), p);
  for (Operation *op : places)
    b.clone(*op, map);
}

/// What `answer` says where there is a step, else no.
static Value whereSome(mlir::OpBuilder &b, mlir::Location loc, Value begin, Value end,
                       llvm::function_ref<Value()> answer) {
  Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, begin, end);
  return levels::ifElse(
      b, loc, some, b.getI1Type(), [&] { return levels::Values{answer()}; },
      [&] { return levels::Values{arith::ConstantOp::create(b, loc, b.getBoolAttr(false))}; })[0];
}

Value PrefetchPlan::areFar(mlir::OpBuilder &b, mlir::Location loc, const mlir::IRMapping &map, Value begin,
                           Value end, int64_t least) const {
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
  return whereSome(b, loc, begin, end, [&] {
    Value last = arith::MaxSIOp::create(b, loc, arith::SubIOp::create(b, loc, end, constant(1)),
                                        arith::AddIOp::create(b, loc, begin, constant(least)));
    return areFarAt(b, loc, map, begin, last, residentBytes);
  });
}

Value PrefetchPlan::follow(mlir::OpBuilder &b, mlir::Location loc, const mlir::IRMapping &map, Value begin,
                           Value end, int64_t elements) const {
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
  return whereSome(b, loc, begin, end, [&]() -> Value {
    Value half = arith::DivUIOp::create(b, loc, arith::SubIOp::create(b, loc, end, begin), constant(2));
    Value middle = arith::AddIOp::create(b, loc, begin, half);
    const int64_t bytes = elements * memref::LoadOp(rows.front()).getType().getIntOrFloatBitWidth() / 8;
    Value apart = areFarAt(b, loc, map, middle, arith::AddIOp::create(b, loc, middle, constant(1)), bytes);
    Value yes = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
    return arith::AndIOp::create(b, loc, arith::XOrIOp::create(b, loc, apart, yes),
                                 areLarge(b, loc, 2 * coreBytes));
  });
}

Value PrefetchPlan::areFarAt(mlir::OpBuilder &b, mlir::Location loc, const mlir::IRMapping &map, Value first,
                             Value last, int64_t bytes) const {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), any;
  mlir::IRMapping begin = map, end = map;
  at(b, loc, first, begin);
  at(b, loc, last, end);
  for (memref::LoadOp load : rows) {
    // Asked once for a row: asking at every entry takes as long as fetching saves (SpMM with 32 columns on
    // rmat:17:16: 21 ms, 18 ms so, 19 ms without). first - far <= last <= first + far, as one unsigned
    // comparison.
    const int64_t far = bytes * 8 / load.getType().getIntOrFloatBitWidth();
    Value distance = arith::SubIOp::create(b, loc, place(b, load, end, zero), place(b, load, begin, zero));
    Value shifted = arith::AddIOp::create(b, loc, distance, arith::ConstantIndexOp::create(b, loc, far));
    Value isFar = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, shifted,
                                        arith::ConstantIndexOp::create(b, loc, 2 * far));
    any = any ? arith::OrIOp::create(b, loc, any, isFar).getResult() : isFar;
  }
  return any;
}

Value PrefetchPlan::areLarge(mlir::OpBuilder &b, mlir::Location loc, int64_t bytes) const {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), any;
  for (memref::LoadOp load : rows) {
    const int64_t elements = bytes * 8 / load.getType().getIntOrFloatBitWidth();
    Value isLarge = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt,
                                          memref::DimOp::create(b, loc, load.getMemRef(), zero),
                                          arith::ConstantIndexOp::create(b, loc, elements));
    any = any ? arith::OrIOp::create(b, loc, any, isLarge).getResult() : isLarge;
  }
  return any;
}

void PrefetchPlan::fetch(mlir::OpBuilder &b, mlir::Location loc, const mlir::IRMapping &later,
                         mlir::ValueRange steps) const {
  for (memref::LoadOp load : rows)
    for (Value k : steps)
      memref::PrefetchOp::create(b, loc, load.getMemRef(), place(b, load, later, k), /*isWrite=*/false,
                                 /*localityHint=*/3, /*isDataCache=*/true);
}

void PrefetchPlan::fetchBeside(mlir::OpBuilder &b, mlir::Location loc, Value step) const {
  for (memref::LoadOp load : beside)
    memref::PrefetchOp::create(b, loc, load.getMemRef(), place(b, load, {}, step), /*isWrite=*/false,
                               /*localityHint=*/3, /*isDataCache=*/true);
}

Value PrefetchPlan::place(mlir::OpBuilder &b, memref::LoadOp load, mlir::IRMapping map, Value k) {
  // The constant last: the lines of a row share the rest of the address.
  if (auto sum = k.getDefiningOp<arith::AddIOp>();
      sum && mlir::matchPattern(sum.getRhs(), mlir::m_Constant()))
    return arith::AddIOp::create(b, load.getLoc(), place(b, load, map, sum.getLhs()), sum.getRhs());
  map.map(mlir::cast<scf::ForOp>(load->getParentOp()).getInductionVar(), k);
  return clonePlace(b, load.getIndices()[0], load->getBlock(), map);
}

} // namespace tulle::passes
