#include "passes/vector/Ahead.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/vector/Nest.h"

namespace tulle::passes {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Operation;
using mlir::Value;

Ahead::Ahead(scf::ForOp outerLoop, const LoopPlan &inner, const iteration::Cpu &cpu)
    : outer(outerLoop), nearBytes(cpu.nearBytes) {
  scf::ForOp loop = inner.loop;
  for (auto load : loop.getBody()->getOps<memref::LoadOp>()) {
    llvm::SetVector<Operation *> found;
    bool reads = false;
    if (inner.shapeOf(load.getIndices()[0]) != LaneShape::Consecutive ||
        !outer.isDefinedOutsideOfLoop(load.getMemRef()) || !addPlace(load.getIndices()[0], found, reads) ||
        !reads)
      continue;
    rows.push_back(load);
    places.insert(found.begin(), found.end());
  }
  for (Operation *op : places)
    if (auto load = mlir::dyn_cast<memref::LoadOp>(op))
      coordinates.push_back(load);
}

/// Adds the operations of the outer loop's body that `value` needs; fails where one reads elsewhere than at
/// the loop's index.
bool Ahead::addPlace(Value value, llvm::SetVector<Operation *> &found, bool &reads) const {
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

void Ahead::at(mlir::OpBuilder &b, mlir::Location loc, Value p, mlir::IRMapping &map) const {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  for (memref::LoadOp load : coordinates) {
    Value size = memref::DimOp::create(b, loc, load.getMemRef(), zero);
    p = arith::MinSIOp::create(b, loc, p, arith::SubIOp::create(b, loc, size, one));
  }
  map.map(scf::ForOp(outer).getInductionVar(), p);
  for (Operation *op : places)
    b.clone(*op, map);
}

void Ahead::fetch(mlir::OpBuilder &b, mlir::Location loc, const mlir::IRMapping &now,
                  const mlir::IRMapping &later, mlir::ValueRange steps) const {
  for (memref::LoadOp load : rows) {
    auto place = [&](mlir::IRMapping map, Value k) {
      map.map(mlir::cast<scf::ForOp>(load->getParentOp()).getInductionVar(), k);
      return clonePlace(b, load.getIndices()[0], load->getBlock(), map);
    };
    // now - far <= later <= now + far, as one unsigned comparison.
    const int64_t far = nearBytes * 8 / load.getType().getIntOrFloatBitWidth();
    Value distance = arith::SubIOp::create(b, loc, place(later, steps[0]), place(now, steps[0]));
    Value shifted = arith::AddIOp::create(b, loc, distance, arith::ConstantIndexOp::create(b, loc, far));
    Value isFar = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, shifted,
                                        arith::ConstantIndexOp::create(b, loc, 2 * far));
    auto branch = scf::IfOp::create(b, loc, isFar, /*withElseRegion=*/false);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    for (Value k : steps)
      memref::PrefetchOp::create(b, loc, load.getMemRef(), place(later, k), /*isWrite=*/false,
                                 /*localityHint=*/3, /*isDataCache=*/true);
  }
}

} // namespace tulle::passes
