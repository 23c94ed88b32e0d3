// tulle-lower-sort: LSD radix sorts as passes of histogram, scan and scatter.
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/CloneLoops.h"
#include "passes/assemble/algorithms/CoordinateList.h"
#include <limits>

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
#define GEN_PASS_DEF_LOWERSORT
#include "passes/Passes.h.inc"

using assemble::CoordinateList;
using assemble::loadAt;
using assemble::make;
using assemble::newTable;
using assemble::reduce;
using assemble::storeAt;
using assemble::Values;

namespace {

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
  using KeyRange = std::pair<Value, Value>;

  Value coordinate(Value records, unsigned level, Value at) const {
    return target.levelCoordinates(CoordinateList(target, records).dims(at))[level];
  }
  void forChunks(llvm::function_ref<void(Value chunk, Value begin, Value end)> body) const;
  KeyRange keyRange(unsigned level) const;
  void distribute(Value from, Value to, Value buckets, Value bucketCount,
                  llvm::function_ref<Value(Value at)> bucketOf) const;
  void sortBy(unsigned level);

  OpBuilder &b;
  mutable SortOp op; ///< a handle, whose accessors are not const
  Location loc;
  assemble::Target target;
  Value chunks; ///< of the list, one for each thread; 1 without threads
  Value list, spare;
};

/// Runs the body for each chunk of the list; without threads, for all of it.
void RadixSort::forChunks(llvm::function_ref<void(Value, Value, Value)> body) const {
  assemble::forRanges(target, op.getParallel() ? chunks : Value(), op.getCount(), body);
}

/// The least key, and the largest one less this.
RadixSort::KeyRange RadixSort::keyRange(unsigned level) const {
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
  Values range =
      reduce(target, target.constant(0), chunks, ValueRange{high, low}, [&](Value chunk, Values known) {
        return join(known, loadAt(target, leasts, chunk), loadAt(target, mosts, chunk));
      });
  assemble::freeBuffers(target, {leasts, mosts});
  // Without entries the least key is above the largest: nothing to sort.
  Value some = target.compare(arith::CmpIPredicate::slt, range[0], range[1]);
  Value span = make<arith::SubIOp>(target, range[1], range[0]);
  return {range[0], make<arith::SelectOp>(target, some, span, target.constant(0))};
}

/// A stable counting sort by one digit. Each chunk has buckets of its own.
void RadixSort::distribute(Value from, Value to, Value buckets, Value bucketCount,
                           llvm::function_ref<Value(Value)> bucketOf) const {
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
void RadixSort::sortBy(unsigned level) {
  auto [least, span] = keyRange(level);
  Value wide = make<arith::IndexCastOp>(target, b.getI64Type(), span);
  Value zeros = make<LLVM::CountLeadingZerosOp>(target, b.getI64Type(), wide, /*is_zero_poison=*/false);
  Value bits = target.sub(target.constant(64), make<arith::IndexCastUIOp>(target, b.getIndexType(), zeros));
  Value digits = make<arith::DivUIOp>(target, target.add(bits, target.constant(target.costs.radixBits - 1)),
                                      target.constant(target.costs.radixBits));
  Value some = make<arith::MaxUIOp>(target, digits, target.constant(1));
  Value width = make<arith::DivUIOp>(target, target.add(bits, target.sub(some, target.constant(1))), some);
  Value bucketCount = make<arith::ShLIOp>(target, target.constant(1), width);
  Value mask = target.sub(bucketCount, target.constant(1));
  Value buckets = newTable(target, target.mul(chunks, bucketCount));
  Values sorted =
      reduce(target, target.constant(0), digits, ValueRange{list, spare},
             [&](Value digit, Values carried) -> Values {
               Value from = carried[0], to = carried[1];
               Value shift = target.mul(digit, width);
               distribute(from, to, buckets, bucketCount, [&](Value at) -> Value {
                 Value offset = make<arith::SubIOp>(target, coordinate(from, level, at), least);
                 return make<arith::AndIOp>(target, make<arith::ShRUIOp>(target, offset, shift), mask);
               });
               return {to, from};
             });
  assemble::freeBuffers(target, buckets);
  list = sorted[0];
  spare = sorted[1];
}

} // namespace

static Values lower(OpBuilder &b, SortOp op) { return RadixSort(b, op).run(); }

namespace {

struct LowerSort : impl::LowerSortBase<LowerSort> {
  void runOnOperation() override { assemble::lowerEach<SortOp>(getOperation(), lower); }
};

} // namespace
} // namespace tulle::passes
