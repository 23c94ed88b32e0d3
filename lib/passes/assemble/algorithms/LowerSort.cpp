// tulle-lower-collect and tulle-lower-sort: lists of entries as loops that write them, and LSD radix sorts as
// passes of histogram, scan and scatter.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/CloneLoops.h"
#include "passes/assemble/algorithms/CoordinateList.h"
#include <limits>

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
using namespace assemble;
#define GEN_PASS_DEF_LOWERCOLLECT
#define GEN_PASS_DEF_LOWERSORT
#include "passes/Passes.h.inc"

namespace {

//===--- Collecting ---===//

/// Emits the body of a traversal of the entries, or of a chunk of them; the builder stands behind it
/// afterwards.
void forEachEntry(OpBuilder &b, CollectOp op, Value chunk, Value chunks,
                  function_ref<void(ValueRange dims, Value value)> body) {
  auto loop = ForEachEntryOp::create(b, op.getLoc(), op.getEntries(), chunk, chunks);
  EntriesType type = op.getEntries().getType();
  SmallVector<Type> types(type.getRank(), b.getIndexType());
  types.push_back(type.getElement());
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&loop.getBody(), {}, types, SmallVector<Location>(types.size(), op.getLoc()));
  body(block->getArguments().drop_back(), block->getArguments().back());
}

/// Counts what each chunk inserts, so that each knows where its entries go.
Value collectChunks(OpBuilder &b, CollectOp op, const CoordinateList &list) {
  Location loc = op.getLoc();
  IndexEmitter emit(b, loc);
  Value zero = emit.constant(0), chunks = ThreadsOp::create(b, loc, op.getBound(), /*fixed=*/false);
  Value starts = newTable(emit, chunks);
  levels::parallelTasks(b, loc, chunks, [&](Value chunk) {
    Register count(emit, zero);
    forEachEntry(b, op, chunk, chunks, [&](ValueRange, Value) { count.increment(); });
    storeAt(emit, count.get(), starts, chunk);
  });
  Value total = ScanOp::create(b, loc, starts, zero, chunks, Value(), zero);
  levels::parallelTasks(b, loc, chunks, [&](Value chunk) {
    Register next(emit, loadAt(emit, starts, chunk));
    forEachEntry(b, op, chunk, chunks, [&](ValueRange dims, Value value) {
      list.put(next.get(), dims, value);
      next.increment();
    });
  });
  freeBuffers(emit, starts);
  return total;
}

Values collect(OpBuilder &b, CollectOp op) {
  Target target(b, op.getLoc(), cast<RankedTensorType>(op.getTensor()), op.getSizes());
  Value buffer = CoordinateList(target, {}).allocate(op.getBound());
  CoordinateList list(target, buffer);
  list.checkSizes();
  if (op.getParallel())
    return {buffer, collectChunks(b, op, list)};
  Register count(target, target.constant(0));
  forEachEntry(b, op, {}, {}, [&](ValueRange dims, Value value) {
    list.put(count.get(), dims, value);
    count.increment();
  });
  return {buffer, count.get()};
}

//===--- Sorting ---===//

/// Sorts a list by one level after the other, from the innermost of the key.
class RadixSort {
public:
  RadixSort(OpBuilder &b, SortOp op)
      : b(b), op(op), loc(op.getLoc()), target(b, loc, cast<RankedTensorType>(op.getTensor()), {}),
        chunks(op.getParallel() ? make<ThreadsOp>(target, op.getCount(), /*fixed=*/false)
                                : target.constant(1)),
        list(op.getList()), spare(op.getSpare()) {}

  Values run() {
    for (unsigned level = unsigned(op.getBy()); level-- > 0;)
      sortBy(level);
    return {list, spare};
  }

private:
  Value coordinate(Value records, unsigned level, Value at) const {
    return target.levelCoordinates(CoordinateList(target, records).dims(at))[level];
  }
  /// Runs the body for each chunk of the list; without threads, for all of it.
  void forChunks(function_ref<void(Value chunk, Value begin, Value end)> body) const {
    forRanges(target, op.getParallel() ? chunks : Value(), op.getCount(), body);
  }
  /// The least key, and the largest one less this.
  std::pair<Value, Value> keyRange(unsigned level) const {
    Value high = target.constant(std::numeric_limits<int64_t>::max());
    Value low = target.constant(std::numeric_limits<int64_t>::min());
    auto join = [&](Values known, Value least, Value most) -> Values {
      return {make<arith::MinSIOp>(target, known[0], least), make<arith::MaxSIOp>(target, known[1], most)};
    };
    Value leasts = newTable(target, chunks), mosts = newTable(target, chunks);
    forChunks([&](Value chunk, Value begin, Value end) {
      Values own = reduce(target, begin, end, ValueRange{high, low}, [&](Value at, Values known) {
        Value k = coordinate(list, level, at);
        return join(known, k, k);
      });
      storeAt(target, own[0], leasts, chunk);
      storeAt(target, own[1], mosts, chunk);
    });
    Values range = reduce(target, chunks, ValueRange{high, low}, [&](Value chunk, Values known) {
      return join(known, loadAt(target, leasts, chunk), loadAt(target, mosts, chunk));
    });
    freeBuffers(target, {leasts, mosts});
    // Without entries the least key is above the largest: nothing to sort.
    Value some = target.compare(arith::CmpIPredicate::slt, range[0], range[1]);
    Value span = make<arith::SubIOp>(target, range[1], range[0]);
    return {range[0], target.select(some, span, target.constant(0))};
  }

  /// A stable counting sort by one digit. Each chunk has buckets of its own.
  void distribute(Value from, Value to, Value buckets, Value bucketCount,
                  function_ref<Value(Value)> bucketOf) const {
    auto fillKeys = [&](Region &body) {
      OpBuilder::InsertionGuard guard(b);
      Block *block = b.createBlock(&body, {}, b.getIndexType(), loc);
      KeyOp::create(b, loc, bucketOf(block->getArgument(0)));
    };
    forChunks([&](Value chunk, Value begin, Value end) {
      Value first = target.mul(chunk, bucketCount);
      fillKeys(HistogramOp::create(b, loc, begin, end, buckets, first, bucketCount).getBody());
    });
    ScanOp::create(b, loc, buckets, target.constant(0), bucketCount, chunks, target.constant(0));
    forChunks([&](Value chunk, Value begin, Value end) {
      Value first = target.mul(chunk, bucketCount);
      fillKeys(ScatterEntriesOp::create(b, loc, begin, end, from, to, buckets, first,
                                        CoordinateList(target, from).wordCount())
                   .getBody());
    });
  }

  /// Passes over digits of equal width, as few as the keys that occur need.
  void sortBy(unsigned level) {
    auto [least, span] = keyRange(level);
    Value bits = bitLength(target, span);
    Value digits = target.divide(target.add(bits, target.costs.radixBits - 1), target.costs.radixBits);
    Value some = target.umax(digits, 1);
    Value width = target.divide(target.add(bits, target.sub(some, 1)), some);
    Value bucketCount = target.shiftLeft(target.constant(1), width);
    Value mask = target.sub(bucketCount, 1);
    Value buckets = newTable(target, target.mul(chunks, bucketCount));
    Values sorted =
        reduce(target, digits, ValueRange{list, spare}, [&](Value digit, Values carried) -> Values {
          Value from = carried[0], to = carried[1];
          Value shift = target.mul(digit, width);
          distribute(from, to, buckets, bucketCount, [&](Value at) -> Value {
            Value offset = make<arith::SubIOp>(target, coordinate(from, level, at), least);
            return target.both(target.shiftRight(offset, shift), mask);
          });
          return {to, from};
        });
    freeBuffers(target, buckets);
    list = sorted[0];
    spare = sorted[1];
  }

  OpBuilder &b;
  mutable SortOp op; ///< a handle, whose accessors are not const
  Location loc;
  Target target;
  Value chunks; ///< of the list, one for each thread; 1 without threads
  Value list, spare;
};

//===--- The passes ---===//

struct LowerCollect : impl::LowerCollectBase<LowerCollect> {
  void runOnOperation() override {
    if (!lowerEach<CollectOp>(getOperation(), collect))
      markAllAnalysesPreserved();
  }
};

struct LowerSort : impl::LowerSortBase<LowerSort> {
  void runOnOperation() override {
    if (!lowerEach<SortOp>(getOperation(), [](OpBuilder &b, SortOp op) { return RadixSort(b, op).run(); }))
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
