// tulle-lower-scan: exclusive prefix sums as loops.
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/LowerEach.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
#define GEN_PASS_DEF_LOWERSCAN
#include "passes/Passes.h.inc"

static levels::Values lower(OpBuilder &b, ScanOp op) {
  Location loc = op.getLoc();
  assemble::IndexEmitter emit(b, loc);
  Type element = cast<MemRefType>(op.getBuffer().getType()).getElementType();
  /// The sum of the elements before takes the place of the element.
  auto exchange = [&](Value at, Value before) {
    Value count = memref::LoadOp::create(b, loc, op.getBuffer(), at);
    if (element.isIndex()) {
      memref::StoreOp::create(b, loc, before, op.getBuffer(), at);
      return levels::Values{emit.add(before, count)};
    }
    count = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), count);
    memref::StoreOp::create(b, loc, Value(arith::IndexCastOp::create(b, loc, element, before)),
                            op.getBuffer(), at);
    return levels::Values{emit.add(before, count)};
  };
  return levels::forLoop(b, loc, op.getBegin(), op.getEnd(), LoopKind::Reduction, op.getInit(),
                         [&](Value column, levels::Values before) {
                           if (!op.getRows())
                             return exchange(column, before[0]);
                           return levels::forLoop(
                               b, loc, emit.constant(0), op.getRows(), LoopKind::Reduction, before,
                               [&](Value row, levels::Values before) {
                                 return exchange(emit.add(emit.mul(row, op.getEnd()), column), before[0]);
                               });
                         });
}

namespace {

struct LowerScan : impl::LowerScanBase<LowerScan> {
  void runOnOperation() override { assemble::lowerEach<ScanOp>(getOperation(), lower); }
};

} // namespace
} // namespace tulle::passes
