// tulle-version-loops: loops over rows that one vector holds have a copy of their own.
//
// A row of C that stays in registers is cut into tiles, and each row asks again how many tiles of which width
// fit. Where it has few columns (SpMM with 4) that takes a fifth of the time. How many there are is the same
// for all rows, so that it is asked once: `for i: for p: for k < n: C[f(i, k)] = …`, where n does not depend
// on i, has a copy, with `min(n, elements of a vector)` for n, that runs where n is not more.
#include "dialect/Costs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/analysis/ReductionNest.h"
#include "passes/analysis/TripCount.h"

namespace tulle::passes {
#define GEN_PASS_DEF_VERSIONLOOPS
#include "passes/Passes.h.inc"

namespace {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
using mlir::Value;

/// The loop over rows around a nest whose inner loop is as long for all of them; null where there is none.
scf::ForOp rowsAround(const ReductionNest &nest) {
  scf::ForOp inner = nest.inner;
  auto rows = mlir::dyn_cast<scf::ForOp>(nest.top()->getParentOp());
  if (!rows || rows.getNumResults() != 0 || !rows.isDefinedOutsideOfLoop(inner.getUpperBound()) ||
      !mlir::matchPattern(inner.getLowerBound(), mlir::m_Zero()) || mostIterations(inner))
    return {};
  return rows;
}

/// Two copies: one says how long its inner loop is, the other how long it is at most.
void copyForOneVector(scf::ForOp rows, scf::ForOp inner, int64_t elements) {
  mlir::OpBuilder b(rows);
  mlir::Location loc = rows.getLoc();
  Value length = inner.getUpperBound(), most = arith::ConstantIndexOp::create(b, loc, elements);
  auto copy = [&](arith::CmpIPredicate predicate, llvm::function_ref<Value()> bound) {
    Value isShort = arith::CmpIOp::create(b, loc, predicate, length, most);
    auto branch = scf::IfOp::create(b, loc, isShort, /*withElseRegion=*/true);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    mlir::IRMapping map;
    Value known = bound();
    b.clone(*rows, map);
    mlir::cast<scf::ForOp>(map.lookup(inner.getOperation())).getUpperBoundMutable().assign(known);
    b.setInsertionPoint(branch.elseBlock()->getTerminator());
  };
  copy(arith::CmpIPredicate::eq, [&] { return most; });
  copy(arith::CmpIPredicate::slt, [&] { return arith::MinSIOp::create(b, loc, length, most).getResult(); });
  rows->moveBefore(b.getInsertionBlock()->getTerminator());
}

struct VersionLoopsPass : impl::VersionLoopsBase<VersionLoopsPass> {
  using VersionLoopsBase::VersionLoopsBase;

  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    llvm::SmallVector<scf::ForOp> loops;
    getOperation().walk<mlir::WalkOrder::PreOrder>([&](scf::ForOp loop) { loops.push_back(loop); });
    llvm::SetVector<mlir::Operation *> copied;
    for (scf::ForOp loop : loops) {
      std::optional<ReductionNest> nest = matchReductionNest(loop);
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
};

} // namespace
} // namespace tulle::passes
