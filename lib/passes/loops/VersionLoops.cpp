// tulle-version-loops: version loops over rows by whether one vector holds a row.
//
// A row of C that stays in registers is tiled, and each row tests again how many tiles of which width fit.
// That is the same for all rows: `for i: for p: for k < n: C[f(i, k)] = …`, where n does not depend on i,
// gets versions with `min(n, elements of a vector)` for n, which run where n is not more (experiment 044).
#include "dialect/Costs.h"
#include "levels/Indices.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/analysis/ReductionNest.h"

namespace tulle::passes {
#define GEN_PASS_DEF_VERSIONLOOPS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// The loop over rows around a nest whose inner trip count is the same for all of them; null without one.
scf::ForOp versionableRows(const ReductionNest &nest) {
  scf::ForOp inner = nest.inner;
  auto rows = dyn_cast<scf::ForOp>(nest.top()->getParentOp());
  return rows && rows.getNumResults() == 0 && rows.isDefinedOutsideOfLoop(inner.getUpperBound()) &&
                 isZero(inner.getLowerBound()) && !maxTripCount(inner)
             ? rows
             : scf::ForOp();
}

/// Two versions: one for rows of exactly `elements`, one for shorter ones.
void addOneVectorVersions(scf::ForOp rows, scf::ForOp inner, int64_t elements) {
  levels::Indices at(rows);
  Value length = inner.getUpperBound(), most = at.constant(elements);
  auto version = [&](arith::CmpIPredicate predicate, function_ref<Value()> bound) {
    auto branch = scf::IfOp::create(at.b, at.loc, at.is(predicate, length, most), /*withElseRegion=*/true);
    at.b.setInsertionPoint(branch.thenBlock()->getTerminator());
    IRMapping map;
    Value known = bound();
    at.b.clone(*rows, map);
    cast<scf::ForOp>(map.lookup(inner.getOperation())).getUpperBoundMutable().assign(known);
    at.b.setInsertionPoint(branch.elseBlock()->getTerminator());
  };
  version(arith::CmpIPredicate::eq, [&] { return most; });
  version(arith::CmpIPredicate::slt, [&] { return at.min(length, most); });
  rows->moveBefore(at.b.getInsertionBlock()->getTerminator());
}

struct VersionLoopsPass : impl::VersionLoopsBase<VersionLoopsPass> {
  using VersionLoopsBase::VersionLoopsBase;

  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    SetVector<Operation *> versioned;
    for (scf::ForOp loop : loopsIn<WalkOrder::PreOrder>(getOperation())) {
      std::optional<ReductionNest> nest = matchReductionNest(loop);
      if (!nest || nest->ivDependentBounds || nest->legality.gathers || nest->legality.scatters)
        continue;
      scf::ForOp rows = versionableRows(*nest);
      if (!rows || !versioned.insert(rows))
        continue;
      const int64_t elements = model.vectorLength(nest->legality.widestBits, vl).value;
      dialect::explainChoice(nest->inner, "rows of at most " + std::to_string(elements) +
                                              " elements: one masked vector, in a loop version of "
                                              "their own; testing every row for tiles "
                                              "takes 1.2 of the time");
      addOneVectorVersions(rows, nest->inner, elements);
    }
  }
};

} // namespace
} // namespace tulle::passes
