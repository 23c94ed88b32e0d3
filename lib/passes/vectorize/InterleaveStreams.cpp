// Nearly all that rows of blocks load is one stream of values, and a core loads two streams sooner than one
// (experiment 042). Rows of single entries load two streams anyway, and gain nothing.
#include "passes/vectorize/InterleaveStreams.h"
#include "dialect/Costs.h"
#include "levels/Indices.h"
#include "passes/analysis/LoopMatchers.h"
#include "passes/analysis/ReductionNest.h"

namespace tulle::passes {

using namespace mlir;
using levels::Indices;

/// At run time: whether the blocks of all rows take more than the caches hold.
static Value isLarge(Indices &at, scf::ForOp rows, scf::ForOp blocks, Value count, int64_t residentBlocks) {
  return at.ifThen(at.is(arith::CmpIPredicate::sgt, count, at.constant(0)), [&] {
    Value last = at.sub(rows.getUpperBound(), at.constant(1));
    Value begin = cloneSlice(at.b, blocks.getLowerBound(), rows, rows.getLowerBound());
    Value end = cloneSlice(at.b, blocks.getUpperBound(), rows, last);
    return at.is(arith::CmpIPredicate::sgt, at.sub(end, begin), at.constant(residentBlocks));
  });
}

void interleaveStreams(scf::ForOp blocks, int64_t blockBytes, const iteration::CostModel &model) {
  scf::ForOp rows = rowLoopOf(blocks);
  if (!isParallel(rows))
    return;
  dialect::explainChoice(rows,
                         "two streams: rows of blocks of the first and of the second half alternate, where "
                         "they are larger than the caches");
  Indices at(rows);
  Value first = rows.getLowerBound(), count = at.sub(rows.getUpperBound(), first);
  Value zero = at.constant(0), one = at.constant(1), two = at.constant(2);
  Value half = arith::ShRUIOp::create(at.b, at.loc, at.add(count, one), one);
  Value large = isLarge(at, rows, blocks, count, model.cpu.residentBytes / blockBytes);
  rows.getLowerBoundMutable().assign(zero);
  rows.getUpperBoundMutable().assign(count);
  at.b.setInsertionPointToStart(rows.getBody());
  Value iteration = rows.getInductionVar();
  Value pair = arith::ShRUIOp::create(at.b, at.loc, iteration, one);
  Value isSecond =
      at.is(arith::CmpIPredicate::ne, arith::RemUIOp::create(at.b, at.loc, iteration, two), zero);
  Value interleaved = at.add(pair, at.select(isSecond, half, zero));
  Value row = at.add(first, at.select(large, interleaved, iteration));
  iteration.replaceUsesWithIf(row, [&](OpOperand &use) {
    return use.getOwner()->getBlock() != rows.getBody() ||
           row.getDefiningOp()->isBeforeInBlock(use.getOwner());
  });
}

} // namespace tulle::passes
