// Which levels need sorting follows from the order of the entries; the last ones are often in order already.
#include "passes/assemble/algorithms/SortedAppend.h"
#include "passes/assemble/algorithms/AllocationPlan.h"
#include "passes/assemble/algorithms/CoordinateList.h"

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

void sortAndAppend(Target &target, EntriesOp entries, bool parallel) {
  OpBuilder &b = target.builder;
  const Stream stream = streamOf(entries, target.encoding());
  Value inserts = boundInserts(target, stream);
  auto buffer = MemRefType::get({ShapedType::kDynamic}, b.getI64Type());
  auto collected =
      CollectOp::create(b, target.loc, buffer, b.getIndexType(), entries, inserts, target.storage.dims,
                        target.type(), parallel && canPartition(*stream.loops));
  Values lists{collected.getList()};
  if (unsigned levels = levelsToSort(target, stream.order)) {
    Value spare = CoordinateList(target, {}).allocate(inserts);
    auto sort =
        SortOp::create(b, target.loc, lists[0], spare, collected.getCount(), levels, target.type(), parallel);
    lists.assign({sort.getSorted(), sort.getOther()});
  }
  auto appended = AppendOp::create(
      b, target.loc, levels::fieldTypes(target.storage.layout, target.storage.element), lists[0],
      collected.getCount(), target.storage.dims, target.type(), stream.order.unique, /*parallel=*/false,
      /*share=*/false, target.combine, target.plan);
  target.storage.fields = appended.getBuffers();
  freeBuffers(target, lists);
}

} // namespace tulle::assemble
