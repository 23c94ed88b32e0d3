// tulle-lower-append: sorted lists as loops that append their entries.
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/AllocationPlan.h"
#include "passes/assemble/algorithms/Appender.h"
#include "passes/assemble/algorithms/CoordinateList.h"
#include "passes/assemble/algorithms/LowerEach.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
#define GEN_PASS_DEF_LOWERAPPEND
#include "passes/Passes.h.inc"

/// A block whose size is not known counts as large.
constexpr int64_t kLargeBlock = int64_t(1) << 16;

static levels::Values lower(OpBuilder &b, AppendOp op) {
  assemble::Target target(b, op.getLoc(), cast<RankedTensorType>(op.getTensor()), op.getSizes(),
                          op.getCombine(), op.getPlan());
  assemble::CoordinateList list(target, op.getList());
  assemble::Order order;
  order.unique = op.getUnique();
  auto appendAll = [&](OpBuilder &b, assemble::Appender &appender) {
    list.forEach(b, op.getCount(), [&](OpBuilder &b, ValueRange dims, Value value) {
      appender.append(b, target.levelCoordinates(b, dims), value);
    });
  };
  auto count = [&](OpBuilder &b) {
    assemble::Appender counter(b, target, order, /*counting=*/true);
    appendAll(b, counter);
    levels::Values counts;
    for (unsigned r = 0; r < counter.runCount(); ++r)
      counts.push_back(counter.count(b, r));
    return counts;
  };
  unsigned runs = assemble::Appender(b, target, order, /*counting=*/true).runCount();
  Value block = target.emitter(b).constant(target.blockSize(kLargeBlock).value_or(kLargeBlock));
  levels::Values bounds = assemble::planPositions(b, target, op.getCount(), runs, block, count);
  assemble::Appender appender(b, target, order, /*counting=*/false);
  appender.allocate(b, bounds);
  appendAll(b, appender);
  appender.finish(b, /*loose=*/true);
  return levels::Values(target.storage.fields);
}

namespace {

struct LowerAppend : impl::LowerAppendBase<LowerAppend> {
  void runOnOperation() override { assemble::lowerEach<AppendOp>(getOperation(), lower); }
};

} // namespace
} // namespace tulle::passes
