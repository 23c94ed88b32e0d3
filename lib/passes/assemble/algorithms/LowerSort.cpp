// tulle-lower-sort: LSD radix sorts as passes of histogram, scan and scatter.
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/CoordinateList.h"
#include "passes/assemble/algorithms/LowerEach.h"
#include "passes/parallel/SetLoops.h"
#include <limits>

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
#define GEN_PASS_DEF_LOWERSORT
#include "passes/Passes.h.inc"

namespace {

/// Sorts a list by one level after the other, from the innermost of the key.
class RadixSort {
public:
  RadixSort(OpBuilder &b, SortOp op)
      : b(b), op(op), loc(op.getLoc()), target(b, loc, cast<RankedTensorType>(op.getTensor()), {}),
        emit(b, loc), words(assemble::CoordinateList(target, op.getList()).layout().wordCount()),
        chunks(op.getParallel() ? Value(ThreadsOp::create(b, loc, op.getCount(), /*fixed=*/false))
                                : emit.constant(1)),
        list(op.getList()), spare(op.getSpare()) {}

  levels::Values run() {
    for (unsigned level = unsigned(op.getBy()); level-- > 0;)
      sortBy(level);
    return {list, spare};
  }

private:
  using KeyRange = std::pair<Value, Value>;

  Value table(Value size) const {
    return levels::allocate(b, loc, MemRefType::get({ShapedType::kDynamic}, b.getIndexType()), size);
  }
  Value coordinate(Value records, unsigned level, Value at) const {
    return target.levelCoordinates(b, assemble::CoordinateList(target, records).at(b, at).first)[level];
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
  assemble::IndexEmitter emit;
  int64_t words;
  Value chunks; ///< of the list, which threads share; 1 without threads
  Value list, spare;
};

/// Runs the body for each chunk of the list; without threads, for all of it.
void RadixSort::forChunks(llvm::function_ref<void(Value, Value, Value)> body) const {
  if (!op.getParallel())
    return body(emit.constant(0), emit.constant(0), op.getCount());
  levels::parallelTasks(b, loc, chunks, [&](Value chunk) {
    auto [begin, end] = parallel::chunkBounds(b, loc, op.getCount(), {chunk, chunks});
    body(chunk, begin, end);
  });
}

/// The least key, and the largest one less this.
RadixSort::KeyRange RadixSort::keyRange(unsigned level) const {
  Value high = emit.constant(std::numeric_limits<int64_t>::max());
  Value low = emit.constant(std::numeric_limits<int64_t>::min());
  auto join = [&](levels::Values known, Value least, Value most) -> levels::Values {
    return {arith::MinSIOp::create(b, loc, known[0], least), arith::MaxSIOp::create(b, loc, known[1], most)};
  };
  Value leasts = table(chunks), mosts = table(chunks);
  forChunks([&](Value chunk, Value begin, Value end) {
    levels::Values own = levels::forLoop(b, loc, begin, end, LoopKind::Reduction, ValueRange{high, low},
                                         [&](Value at, levels::Values known) {
                                           Value k = coordinate(list, level, at);
                                           return join(known, k, k);
                                         });
    memref::StoreOp::create(b, loc, own[0], leasts, chunk);
    memref::StoreOp::create(b, loc, own[1], mosts, chunk);
  });
  levels::Values range = levels::forLoop(b, loc, emit.constant(0), chunks, LoopKind::Reduction,
                                         ValueRange{high, low}, [&](Value chunk, levels::Values known) {
                                           return join(known, memref::LoadOp::create(b, loc, leasts, chunk),
                                                       memref::LoadOp::create(b, loc, mosts, chunk));
                                         });
  memref::DeallocOp::create(b, loc, leasts);
  memref::DeallocOp::create(b, loc, mosts);
  // Without entries the least key is above the largest: nothing to sort.
  Value some = emit.compare(arith::CmpIPredicate::slt, range[0], range[1]);
  Value span = arith::SubIOp::create(b, loc, range[1], range[0]);
  return {range[0], arith::SelectOp::create(b, loc, some, span, emit.constant(0))};
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
    Value first = emit.mul(chunk, bucketCount);
    fillKeys(HistogramOp::create(b, loc, begin, end, buckets, first, bucketCount).getBody());
  });
  ScanOp::create(b, loc, buckets, emit.constant(0), bucketCount, chunks, emit.constant(0));
  forChunks([&](Value chunk, Value begin, Value end) {
    Value first = emit.mul(chunk, bucketCount);
    fillKeys(ScatterEntriesOp::create(b, loc, begin, end, from, to, buckets, first, words).getBody());
  });
}

/// Passes over digits of equal width, as few as the keys that occur need.
void RadixSort::sortBy(unsigned level) {
  auto [least, span] = keyRange(level);
  Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), span);
  Value zeros = LLVM::CountLeadingZerosOp::create(b, loc, b.getI64Type(), wide, /*is_zero_poison=*/false);
  Value bits = emit.sub(emit.constant(64), arith::IndexCastUIOp::create(b, loc, b.getIndexType(), zeros));
  Value digits = arith::DivUIOp::create(b, loc, emit.add(bits, emit.constant(target.costs.radixBits - 1)),
                                        emit.constant(target.costs.radixBits));
  Value some = arith::MaxUIOp::create(b, loc, digits, emit.constant(1));
  Value width = arith::DivUIOp::create(b, loc, emit.add(bits, emit.sub(some, emit.constant(1))), some);
  Value bucketCount = arith::ShLIOp::create(b, loc, emit.constant(1), width);
  Value mask = emit.sub(bucketCount, emit.constant(1));
  Value buckets = table(emit.mul(chunks, bucketCount));
  levels::Values sorted = levels::forLoop(
      b, loc, emit.constant(0), digits, LoopKind::Reduction, ValueRange{list, spare},
      [&](Value digit, levels::Values carried) -> levels::Values {
        Value from = carried[0], to = carried[1];
        Value shift = emit.mul(digit, width);
        distribute(from, to, buckets, bucketCount, [&](Value at) -> Value {
          Value offset = arith::SubIOp::create(b, loc, coordinate(from, level, at), least);
          return arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, offset, shift), mask);
        });
        return {to, from};
      });
  memref::DeallocOp::create(b, loc, buckets);
  list = sorted[0];
  spare = sorted[1];
}

} // namespace

static levels::Values lower(OpBuilder &b, SortOp op) { return RadixSort(b, op).run(); }

namespace {

struct LowerSort : impl::LowerSortBase<LowerSort> {
  void runOnOperation() override { assemble::lowerEach<SortOp>(getOperation(), lower); }
};

} // namespace
} // namespace tulle::passes
