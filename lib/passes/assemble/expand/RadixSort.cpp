#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "passes/assemble/algorithms/AllocationPlan.h"
#include "passes/assemble/algorithms/CoordinateList.h"
#include "passes/assemble/expand/Expansions.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

/// The levels that the entries have to be sorted by; those behind are in order already.
static unsigned levelsToSort(const Target &target, const Order &order) {
  unsigned stored = target.storedLevels();
  // Repeats in a block are told by coming next to each other where its values do not tell them.
  bool byBlock = !order.unique && stored < target.levels() && !target.fillIsIdentity();
  unsigned needed = byBlock ? target.levels() : stored;
  unsigned outer = 0;
  while (outer < needed && order.sortedLevels(outer) < needed - outer)
    ++outer;
  return outer;
}

/// What the op's loops insert.
static EntriesOp entriesOf(OpBuilder &b, AssembleOp op) {
  RankedTensorType tensor = op.getResult().getType();
  auto type = EntriesType::get(b.getContext(), unsigned(tensor.getRank()), tensor.getElementType());
  int64_t alignment = alignmentOf(op).value_or(1);
  auto entries = EntriesOp::create(b, op.getLoc(), type,
                                   alignment == 1 ? IntegerAttr() : b.getI64IntegerAttr(alignment));
  IRMapping mapping;
  op.getBody().cloneInto(&entries.getBody(), mapping);
  return entries;
}

void sortAndAppend(OpBuilder &b, Target &target, const Order &order, Value inserts) {
  auto buffer = MemRefType::get({ShapedType::kDynamic}, b.getI64Type());
  auto collected =
      CollectOp::create(b, target.loc, buffer, b.getIndexType(), entriesOf(b, target.op), inserts,
                        target.storage.dims, target.type(), target.parallel && canPartition(target.op));
  Values lists{collected.getList()};
  if (unsigned levels = levelsToSort(target, order)) {
    Value spare = CoordinateList(target, lists[0]).layout().allocate(b, inserts);
    auto sort = SortOp::create(b, target.loc, lists[0], spare, collected.getCount(), levels, target.type(),
                               target.parallel);
    lists.assign({sort.getSorted(), sort.getOther()});
  }
  auto appended = AppendOp::create(
      b, target.loc, levels::fieldTypes(target.storage.layout, target.storage.element), lists[0],
      collected.getCount(), target.storage.dims, target.type(), order.unique, target.combine, target.plan);
  target.storage.fields.assign(appended.getBuffers().begin(), appended.getBuffers().end());
  for (Value list : lists)
    memref::DeallocOp::create(b, target.loc, list);
}

FailureOr<Value> expandRadixSort(OpBuilder &b, Target &target, AssembleOp op, const Order &order) {
  sortAndAppend(b, target, order, boundInserts(b, target, op));
  return target.finish(b);
}

} // namespace tulle::assemble
