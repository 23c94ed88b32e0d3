// tulle-lower-histogram, -scan, -chained-scan and -scatter-entries: the primitives of sorting and placing
// entries, as loops and as calls of the runtime.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/Emit.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
using namespace assemble;
#define GEN_PASS_DEF_LOWERCHAINEDSCAN
#define GEN_PASS_DEF_LOWERHISTOGRAM
#define GEN_PASS_DEF_LOWERSCAN
#define GEN_PASS_DEF_LOWERSCATTERENTRIES
#include "passes/Passes.h.inc"

namespace {

/// Emits the region of an op at an entry: adds 1 to `counts[first + key]`, and returns what it was.
Value takeFromBucket(const levels::Emitter &emit, Region &keys, Value entry, Value counts, Value first) {
  IRMapping mapping;
  mapping.map(keys.getArgument(0), entry);
  for (Operation &inner : keys.front().without_terminator())
    emit.builder.clone(inner, mapping);
  auto key = cast<KeyOp>(keys.front().getTerminator());
  Value bucket = emit.add(first, mapping.lookupOrDefault(key.getBucket()));
  Value count = loadAt(emit, counts, bucket);
  storeAt(emit, emit.add(count, 1), counts, bucket);
  return count;
}

/// Clears, then counts.
Values lower(OpBuilder &b, HistogramOp op) {
  IndexEmitter emit(b, op.getLoc());
  Value end = emit.add(op.getFirst(), op.getBuckets());
  fillBuffer(emit, op.getCounts(), op.getFirst(), end, emit.constant(0));
  forEach(emit, op.getBegin(), op.getEnd(), LoopKind::Reduction,
          [&](Value entry) { takeFromBucket(emit, op.getBody(), entry, op.getCounts(), op.getFirst()); });
  return {};
}

/// An exclusive prefix sum, in place.
Values lower(OpBuilder &b, ScanOp op) {
  IndexEmitter emit(b, op.getLoc());
  Type element = cast<MemRefType>(op.getBuffer().getType()).getElementType();
  // The sum of the elements before takes the place of the element.
  auto exchange = [&](Value at, Value before) {
    Value count = emit.toIndex(loadAt(emit, op.getBuffer(), at));
    Value stored = element.isIndex() ? before : make<arith::IndexCastOp>(emit, element, before);
    storeAt(emit, stored, op.getBuffer(), at);
    return Values{emit.add(before, count)};
  };
  auto column = [&](Value column, Values before) {
    if (!op.getRows())
      return exchange(column, before[0]);
    return reduce(emit, op.getRows(), before, [&](Value row, Values before) {
      return exchange(emit.add(emit.mul(row, op.getEnd()), column), before[0]);
    });
  };
  return reduce(emit, op.getBegin(), op.getEnd(), op.getInit(), column);
}

/// An ordered prefix sum over chunks.
Values lower(OpBuilder &b, ChainedScanOp op) {
  IndexEmitter emit(b, op.getLoc());
  Value address = make<memref::ExtractAlignedPointerAsIndexOp>(emit, op.getState());
  Value cell = emit.add(address, emit.mul(op.getCell(), sizeof(int64_t)));
  return {callForIndex(emit, "tulle_ordered_scan", {cell, op.getNumber(), op.getCount()})};
}

/// Moves entries to their buckets.
Values lower(OpBuilder &b, ScatterEntriesOp op) {
  IndexEmitter emit(b, op.getLoc());
  const auto words = int64_t(op.getWords());
  auto addressOf = [&](Value record, int64_t word) { return emit.add(emit.mul(record, words), word); };
  forEach(emit, op.getBegin(), op.getEnd(), LoopKind::Reduction, [&](Value entry) {
    Value to = takeFromBucket(emit, op.getBody(), entry, op.getOffsets(), op.getFirst());
    for (int64_t word = 0; word < words; ++word)
      storeAt(emit, loadAt(emit, op.getList(), addressOf(entry, word)), op.getInto(), addressOf(to, word));
  });
  return {};
}

/// A pass that lowers one op.
template <typename Op, typename Base> struct LowerPrimitive : Base {
  void runOnOperation() override {
    if (!lowerEach<Op>(Base::getOperation(), [](OpBuilder &b, Op op) { return lower(b, op); }))
      Base::markAllAnalysesPreserved();
  }
};
struct LowerHistogram : LowerPrimitive<HistogramOp, impl::LowerHistogramBase<LowerHistogram>> {};
struct LowerScan : LowerPrimitive<ScanOp, impl::LowerScanBase<LowerScan>> {};
struct LowerChainedScan : LowerPrimitive<ChainedScanOp, impl::LowerChainedScanBase<LowerChainedScan>> {};
struct LowerScatterEntries
    : LowerPrimitive<ScatterEntriesOp, impl::LowerScatterEntriesBase<LowerScatterEntries>> {};

} // namespace
} // namespace tulle::passes
