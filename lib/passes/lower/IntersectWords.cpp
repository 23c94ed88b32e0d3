// Two bitmaps: a word of either at a time, and a step for each bit that both have.
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/lower/Intersect.h"

using namespace mlir;

namespace tulle::lower {

using arith::CmpIPredicate;

/// A segment starts at any bit, so a word holds this many of its bits wherever it starts within a byte.
static constexpr int64_t kBits = 56;

static bool isBitmap(const Space &space) {
  return space.storage->encoding.levels[space.level].format.kind == format::LevelKind::Bitmap;
}

bool comparesWords(const Space &x, const Space &y) { return isBitmap(x) && isBitmap(y); }

/// At least kBits bits from a position on, or those up to the end of the buffer, which has whole words.
static Value wordAt(OpBuilder &b, Location loc, const Space &space, Value position) {
  levels::Emitter emit = space.emitter(b, loc);
  Value bytes = space.storage->fields[*space.storage->layout.bits[space.level]];
  Value size = memref::DimOp::create(b, loc, bytes, 0);
  Value start = arith::MinUIOp::create(b, loc, arith::ShRUIOp::create(b, loc, position, emit.constant(3)),
                                       emit.sub(size, emit.constant(8)));
  Value shift = emit.sub(position, emit.mul(start, emit.constant(8)));
  Value loaded =
      vector::LoadOp::create(b, loc, VectorType::get({8}, b.getI8Type()), bytes, ValueRange{start});
  Value word = vector::ExtractOp::create(
      b, loc, vector::BitCastOp::create(b, loc, VectorType::get({1}, b.getI64Type()), loaded), int64_t(0));
  return arith::ShRUIOp::create(b, loc, word, arith::IndexCastUIOp::create(b, loc, b.getI64Type(), shift));
}

Values intersectWords(OpBuilder &b, Location loc, const Space &x, const Space &y, Values carried, Meet meet) {
  levels::Emitter emit = x.emitter(b, loc);
  auto integer = [&](int64_t value) { return arith::ConstantIntOp::create(b, loc, value, 64); };
  auto isAny = [&](Value bits) -> Value {
    return arith::CmpIOp::create(b, loc, CmpIPredicate::ne, bits, integer(0));
  };
  Value size = arith::MinUIOp::create(b, loc, emit.sub(x.range.end, x.range.begin),
                                      emit.sub(y.range.end, y.range.begin));
  carried.insert(carried.begin(), emit.constant(0));
  auto more = [&](Values now) { return emit.compare(CmpIPredicate::ult, now[0], size); };
  Values done = whileLoop(b, loc, carried, more, [&](Values now) {
    Value from = now[0], xFrom = emit.add(x.range.begin, from), yFrom = emit.add(y.range.begin, from);
    Value take = arith::MinUIOp::create(b, loc, emit.sub(size, from), emit.constant(kBits));
    Value limit =
        arith::ShLIOp::create(b, loc, integer(1), arith::IndexCastUIOp::create(b, loc, b.getI64Type(), take));
    Value mask = arith::SubIOp::create(b, loc, limit, integer(1));
    Value common = arith::AndIOp::create(b, loc, wordAt(b, loc, x, xFrom), wordAt(b, loc, y, yFrom));
    Values inner{arith::AndIOp::create(b, loc, common, mask)};
    llvm::append_range(inner, llvm::drop_begin(now));
    inner = whileLoop(
        b, loc, inner, [&](Values bits) { return isAny(bits[0]); },
        [&](Values bits) {
          Value lowest = math::CountTrailingZerosOp::create(b, loc, bits[0]);
          Value lane = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), lowest);
          Values next = meet(emit.add(from, lane), emit.add(xFrom, lane), emit.add(yFrom, lane),
                             Values(llvm::drop_begin(bits)));
          Value rest = arith::SubIOp::create(b, loc, bits[0], integer(1));
          next.insert(next.begin(), arith::AndIOp::create(b, loc, bits[0], rest));
          return next;
        });
    Values next{emit.add(from, emit.constant(kBits))};
    llvm::append_range(next, llvm::drop_begin(inner));
    return next;
  });
  return Values(llvm::drop_begin(done));
}

} // namespace tulle::lower
