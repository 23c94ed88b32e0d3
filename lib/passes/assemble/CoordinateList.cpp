#include "passes/assemble/CoordinateList.h"
#include "levels/Control.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/assemble/Clone.h"
#include <limits>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;
using format::ExprKind;

/// Dimensions' coordinates fit the target's coordinates field where every level is a dimension as it is.
static Type coordinateType(const Target &target) {
  bool plain = llvm::all_of(target.encoding().levels,
                            [](const format::Level &level) { return level.expr->kind == ExprKind::Dim; });
  return IntegerType::get(target.op.getContext(), plain && target.encoding().crdWidth == 32 ? 32 : 64);
}

Entries::Entries(OpBuilder &b, const Target &target, Value bound)
    : target(target), loc(target.loc), bound(bound), size(b, loc, target.emitter(b).constant(0)),
      records(target, coordinateType(target)), list(records.allocate(b, bound)) {
  // A dense level's coordinate is stored nowhere, so that nobody else would notice that it does not fit.
  levels::Emitter emit = target.emitter(b);
  if (!coordinateType(target).isInteger(32))
    return;
  for (auto [l, level] : llvm::enumerate(target.encoding().levels)) {
    Value wide = emit.compare(CmpIPredicate::ugt, target.storage.dims[size_t(level.expr->value)],
                              emit.constant(int64_t(1) << 32));
    auto branch = scf::IfOp::create(b, loc, wide, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    target.call(
        b, "tulle_error_width",
        {emit.constant(int64_t(l)), target.storage.dims[size_t(level.expr->value)], emit.constant(32)});
  }
}

Value Entries::table(OpBuilder &b, Value count) const {
  return levels::allocate(b, loc, MemRefType::get({ShapedType::kDynamic}, b.getIndexType()), count);
}

void Entries::collect(OpBuilder &b) {
  if (target.parallel && canPartition(target.op))
    return collectPieces(b);
  cloneLoops(b, target.op, nullptr, [&](OpBuilder &b, ValueRange dims, Value value) {
    put(b, size.get(b), dims, value);
    size.increment(b);
  });
}

/// A copy of the loops counts what each piece inserts, so that each knows where its entries go.
void Entries::collectPieces(OpBuilder &b) {
  levels::Emitter emit = target.emitter(b);
  Value zero = emit.constant(0), parts = ThreadsOp::create(b, loc, bound, /*fixed=*/false);
  Value starts = table(b, parts);
  levels::parallelTasks(b, loc, parts, [&](Value part) {
    Register count(b, loc, zero);
    const parallel::Chunk piece{part, parts};
    cloneCounting(b, target.op, &piece, [&](OpBuilder &b, ValueRange) { count.increment(b); });
    memref::StoreOp::create(b, loc, count.get(b), starts, part);
  });
  size.set(b, levels::forLoop(b, loc, zero, parts, LoopKind::Reduction, zero,
                              [&](Value part, levels::Values before) {
                                Value count = memref::LoadOp::create(b, loc, starts, part);
                                memref::StoreOp::create(b, loc, before[0], starts, part);
                                return levels::Values{emit.add(before[0], count)};
                              })[0]);
  levels::parallelTasks(b, loc, parts, [&](Value part) {
    Register next(b, loc, Value(memref::LoadOp::create(b, loc, starts, part)));
    const parallel::Chunk piece{part, parts};
    cloneLoops(b, target.op, &piece, [&](OpBuilder &b, ValueRange dims, Value value) {
      put(b, next.get(b), dims, value);
      next.increment(b);
    });
  });
  memref::DeallocOp::create(b, loc, starts);
}

/// Runs the body for each piece of the list; without threads, for all of it.
void Entries::forPieces(OpBuilder &b, function_ref<void(Value, Value, Value)> body) const {
  levels::Emitter emit = target.emitter(b);
  Value count = size.get(b);
  if (!target.parallel)
    return body(emit.constant(0), emit.constant(0), count);
  levels::parallelTasks(b, loc, pieces, [&](Value piece) {
    auto [begin, end] = parallel::chunkBounds(b, loc, count, {piece, pieces});
    body(piece, begin, end);
  });
}

void Entries::put(OpBuilder &b, Value at, ValueRange dims, Value value) const {
  records.put(b, list, at, dims, value);
}

void Entries::forEach(OpBuilder &b, function_ref<void(OpBuilder &, ValueRange, Value)> visit) const {
  levels::forLoop(b, loc, target.emitter(b).constant(0), size.get(b), LoopKind::Reduction, {},
                  [&](Value place, levels::Values) {
                    auto [dims, value] = at(b, place);
                    visit(b, dims, value);
                    return levels::Values{};
                  });
}

std::pair<Values, Value> Entries::at(OpBuilder &b, Value place) const {
  return {records.dims(b, list, place), records.value(b, list, place)};
}

Value Entries::key(OpBuilder &b, Value list, unsigned level, Value at) const {
  return target.levelCoordinates(b, records.dims(b, list, at))[level];
}

/// The least key, and the largest one less this.
std::pair<Value, Value> Entries::keyRange(OpBuilder &b, unsigned level) const {
  levels::Emitter emit = target.emitter(b);
  Value high = emit.constant(std::numeric_limits<int64_t>::max());
  Value low = emit.constant(std::numeric_limits<int64_t>::min());
  auto join = [&](levels::Values known, Value least, Value most) -> levels::Values {
    return {arith::MinSIOp::create(b, loc, known[0], least), arith::MaxSIOp::create(b, loc, known[1], most)};
  };
  Value leasts = table(b, pieces), mosts = table(b, pieces);
  forPieces(b, [&](Value piece, Value begin, Value end) {
    levels::Values own = levels::forLoop(b, loc, begin, end, LoopKind::Reduction, ValueRange{high, low},
                                         [&](Value at, levels::Values known) {
                                           Value k = key(b, list, level, at);
                                           return join(known, k, k);
                                         });
    memref::StoreOp::create(b, loc, own[0], leasts, piece);
    memref::StoreOp::create(b, loc, own[1], mosts, piece);
  });
  levels::Values range = levels::forLoop(b, loc, emit.constant(0), pieces, LoopKind::Reduction,
                                         ValueRange{high, low}, [&](Value piece, levels::Values known) {
                                           return join(known, memref::LoadOp::create(b, loc, leasts, piece),
                                                       memref::LoadOp::create(b, loc, mosts, piece));
                                         });
  memref::DeallocOp::create(b, loc, leasts);
  memref::DeallocOp::create(b, loc, mosts);
  // Without entries the least key is above the largest: nothing to sort.
  Value some = emit.compare(CmpIPredicate::slt, range[0], range[1]);
  Value span = arith::SubIOp::create(b, loc, range[1], range[0]);
  return {range[0], arith::SelectOp::create(b, loc, some, span, emit.constant(0))};
}

/// Counts become where each bucket's entries begin: bucket by bucket, in a bucket piece by piece.
void Entries::startBuckets(OpBuilder &b, Value buckets, Value bucketCount) const {
  levels::Emitter emit = target.emitter(b);
  Value zero = emit.constant(0);
  levels::forLoop(b, loc, zero, bucketCount, LoopKind::Reduction, zero,
                  [&](Value bucket, levels::Values before) {
                    return levels::forLoop(b, loc, zero, pieces, LoopKind::Reduction, before,
                                           [&](Value piece, levels::Values before) {
                                             Value at = emit.add(emit.mul(piece, bucketCount), bucket);
                                             Value count = memref::LoadOp::create(b, loc, buckets, at);
                                             memref::StoreOp::create(b, loc, before[0], buckets, at);
                                             return levels::Values{emit.add(before[0], count)};
                                           });
                  });
}

/// A stable counting sort by one digit. Each piece has buckets of its own.
void Entries::distribute(OpBuilder &b, Value from, Value to, Value buckets, Value bucketCount,
                         function_ref<Value(OpBuilder &, Value)> bucketOf) const {
  levels::Emitter emit = target.emitter(b);
  Value zero = emit.constant(0), one = emit.constant(1);
  /// The number in the bucket of the entry there, before it is one more.
  auto take = [&](Value first, Value at) -> Value {
    Value bucket = emit.add(first, bucketOf(b, at));
    Value count = memref::LoadOp::create(b, loc, buckets, bucket);
    memref::StoreOp::create(b, loc, emit.add(count, one), buckets, bucket);
    return count;
  };
  forPieces(b, [&](Value piece, Value begin, Value end) {
    Value first = emit.mul(piece, bucketCount);
    levels::forLoop(b, loc, first, emit.add(first, bucketCount), LoopKind::Parallel, {},
                    [&](Value at, levels::Values) {
                      memref::StoreOp::create(b, loc, zero, buckets, at);
                      return levels::Values{};
                    });
    levels::forLoop(b, loc, begin, end, LoopKind::Reduction, {}, [&](Value at, levels::Values) {
      take(first, at);
      return levels::Values{};
    });
  });
  startBuckets(b, buckets, bucketCount);
  forPieces(b, [&](Value piece, Value begin, Value end) {
    Value first = emit.mul(piece, bucketCount);
    levels::forLoop(b, loc, begin, end, LoopKind::Reduction, {}, [&](Value at, levels::Values) {
      Value place = take(first, at);
      records.copy(b, from, at, to, place);
      return levels::Values{};
    });
  });
}

/// Passes over digits of equal width, as few as the keys that occur need.
void Entries::sortByLevel(OpBuilder &b, unsigned level) {
  levels::Emitter emit = target.emitter(b);
  auto [least, span] = keyRange(b, level);
  Value wide = arith::IndexCastOp::create(b, loc, b.getI64Type(), span);
  Value zeros = LLVM::CountLeadingZerosOp::create(b, loc, b.getI64Type(), wide, /*is_zero_poison=*/false);
  Value bits = emit.sub(emit.constant(64), arith::IndexCastUIOp::create(b, loc, b.getIndexType(), zeros));
  Value digits = arith::DivUIOp::create(b, loc, emit.add(bits, emit.constant(target.costs.radixBits - 1)),
                                        emit.constant(target.costs.radixBits));
  Value some = arith::MaxUIOp::create(b, loc, digits, emit.constant(1));
  Value width = arith::DivUIOp::create(b, loc, emit.add(bits, emit.sub(some, emit.constant(1))), some);
  Value bucketCount = arith::ShLIOp::create(b, loc, emit.constant(1), width);
  Value mask = emit.sub(bucketCount, emit.constant(1));
  Value buckets = table(b, emit.mul(pieces, bucketCount));
  levels::Values sorted = levels::forLoop(
      b, loc, emit.constant(0), digits, LoopKind::Reduction, ValueRange{list, spare},
      [&](Value digit, levels::Values carried) -> levels::Values {
        Value from = carried[0], to = carried[1];
        Value shift = emit.mul(digit, width);
        distribute(b, from, to, buckets, bucketCount, [&](OpBuilder &b, Value at) -> Value {
          Value offset = arith::SubIOp::create(b, loc, key(b, from, level, at), least);
          return arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, offset, shift), mask);
        });
        return {to, from};
      });
  memref::DeallocOp::create(b, loc, buckets);
  list = sorted[0];
  spare = sorted[1];
}

void Entries::sort(OpBuilder &b, unsigned levels) {
  if (levels > 0 && !spare)
    spare = records.allocate(b, bound);
  pieces = target.parallel ? Value(ThreadsOp::create(b, loc, size.get(b), /*fixed=*/false))
                           : target.emitter(b).constant(1);
  for (unsigned l = levels; l-- > 0;)
    sortByLevel(b, l);
}

void Entries::free(OpBuilder &b) const {
  for (Value held : {list, spare})
    if (held)
      memref::DeallocOp::create(b, loc, held);
}

} // namespace tulle::assemble
