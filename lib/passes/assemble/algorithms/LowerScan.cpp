// tulle-lower-scan: exclusive prefix sums as loops.
#include "passes/Passes.h"
#include "passes/assemble/algorithms/Emit.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
#define GEN_PASS_DEF_LOWERSCAN
#include "passes/Passes.h.inc"

static assemble::Values lower(OpBuilder &b, ScanOp op) {
  assemble::IndexEmitter emit(b, op.getLoc());
  Type element = cast<MemRefType>(op.getBuffer().getType()).getElementType();
  // The sum of the elements before takes the place of the element.
  auto exchange = [&](Value at, Value before) {
    Value count = assemble::loadAt(emit, op.getBuffer(), at), stored = before;
    if (!element.isIndex()) {
      count = assemble::make<arith::IndexCastUIOp>(emit, b.getIndexType(), count);
      stored = assemble::make<arith::IndexCastOp>(emit, element, before);
    }
    assemble::storeAt(emit, stored, op.getBuffer(), at);
    return assemble::Values{emit.add(before, count)};
  };
  auto column = [&](Value column, assemble::Values before) {
    if (!op.getRows())
      return exchange(column, before[0]);
    return assemble::reduce(emit, emit.constant(0), op.getRows(), before,
                            [&](Value row, assemble::Values before) {
                              return exchange(emit.add(emit.mul(row, op.getEnd()), column), before[0]);
                            });
  };
  return assemble::reduce(emit, op.getBegin(), op.getEnd(), op.getInit(), column);
}

namespace {

struct LowerScan : impl::LowerScanBase<LowerScan> {
  void runOnOperation() override { assemble::lowerEach<ScanOp>(getOperation(), lower); }
};

} // namespace
} // namespace tulle::passes
