#include "passes/prefetch/RowPrefetch.h"
#include "levels/Indices.h"
#include "passes/analysis/LoopAnnotation.h"
#include "passes/prefetch/PrefetchPlan.h"

namespace tulle::passes {

namespace {

using namespace mlir;

class RowPrefetch : levels::Indices {
public:
  RowPrefetch(scf::ForOp around, const VectorizationLegality &inner, const iteration::CostModel &model)
      : Indices(around), around(around), loop(inner.loop), model(model), rows(around, inner, model.cpu),
        lineElements(std::max<int64_t>(1, model.cpu.line * 8 / int64_t(inner.widestBits))) {}

  void emit() {
    if (!rows.any())
      return;
    Value areRemote =
        rows.areRemote(b, loc, {}, around.getLowerBound(), around.getUpperBound(), model.cpu.prefetchRows);
    if (model.cpu.prefetchConsecutive > 0 && around.isDefinedOutsideOfLoop(loop.getLowerBound()) &&
        around.isDefinedOutsideOfLoop(loop.getUpperBound()))
      prefetchConsecutive(areRemote);
    b.setInsertionPoint(loop);
    auto branch = scf::IfOp::create(b, loc, areRemote, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    IRMapping later;
    rows.cloneAddresses(b, loc, add(around.getInductionVar(), distance()), later);
    rows.prefetch(b, loc, later, enterLineLoop());
  }

private:
  scf::ForOp around, loop;
  const iteration::CostModel &model;
  PrefetchPlan rows;
  int64_t lineElements; ///< of the inner loop's operands in a cache line

  /// Of rows that follow each other, the last iteration of the loop around is the one that selects what no
  /// row before has read: what follows it is prefetched once, and what follows the row that all of them
  /// share.
  void prefetchConsecutive(Value areRemote) {
    Value begin = around.getLowerBound(), end = around.getUpperBound();
    Value follow = levels::ifElse(
        b, loc, areRemote, b.getI1Type(), [&] { return levels::Values{boolean(false)}; },
        [&] {
          return levels::Values{rows.areConsecutive(b, loc, {}, begin, end, model.cpu.prefetchConsecutive)};
        })[0];
    auto branch = scf::IfOp::create(b, loc, follow, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    IRMapping last;
    rows.cloneAddresses(b, loc, sub(end, constant(1)), last);
    Value distance = constant(model.cpu.prefetchConsecutive);
    Value behind = add(enterLineLoop(), distance);
    rows.prefetch(b, loc, last, behind);
    rows.prefetchShared(b, loc, behind);
  }

  /// The prefetch distance in iterations of the loop around: of wide rows, fewer.
  Value distance() {
    Value length = sub(loop.getUpperBound(), loop.getLowerBound());
    Value wide = is(arith::CmpIPredicate::sge, length, constant(model.costs.wideRow * lineElements));
    return select(wide, constant(model.cpu.prefetchWideRows), constant(model.cpu.prefetchRows));
  }

  /// Builds a loop over the cache lines of the inner loop's operands, and goes on inside; returns its index.
  Value enterLineLoop() {
    auto lines =
        scf::ForOp::create(b, loc, loop.getLowerBound(), loop.getUpperBound(), constant(lineElements));
    disableLoopTransforms(lines);
    b.setInsertionPointToStart(lines.getBody());
    return lines.getInductionVar();
  }
};

} // namespace

void prefetchLaterRows(const VectorizationLegality &inner, const iteration::CostModel &model) {
  if (auto around = dyn_cast<scf::ForOp>(inner.loop->getParentOp()))
    RowPrefetch(around, inner, model).emit();
}

} // namespace tulle::passes
