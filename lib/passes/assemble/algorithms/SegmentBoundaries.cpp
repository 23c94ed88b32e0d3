#include "passes/assemble/algorithms/SegmentBoundaries.h"
#include "levels/Control.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;
using format::LevelKind;

constexpr int64_t kTogether = 4;

bool SegmentBoundaries::fits(const Target &target) {
  if (target.levels() < 2 || target.format(0).kind != LevelKind::Dense ||
      target.encoding().levels[0].expr->kind != format::ExprKind::Dim ||
      target.format(1).kind != LevelKind::Compressed)
    return false;
  return llvm::all_of(llvm::seq(2u, target.levels()),
                      [&](unsigned l) { return target.format(l).kind == LevelKind::Singleton; });
}

Value SegmentBoundaries::load(OpBuilder &b, Value entry) const {
  Value coordinate = memref::LoadOp::create(b, target.loc, coordinates, entry);
  return b.createOrFold<arith::IndexCastUIOp>(target.loc, b.getIndexType(), coordinate);
}

/// The first entry that is not of the segment in which the share would begin if all had as many entries.
std::pair<Value, Value> SegmentBoundaries::begin(OpBuilder &b, Value part, Value parts) const {
  Location loc = target.loc;
  levels::Emitter emit = target.emitter(b);
  Value zero = emit.constant(0), one = emit.constant(1), size = emit.levelSize(0);
  Value each = arith::CeilDivUIOp::create(b, loc, count, parts);
  Value about = arith::MinUIOp::create(b, loc, emit.mul(each, part), count);
  Value inside = arith::AndIOp::create(b, loc, emit.compare(CmpIPredicate::ugt, about, zero),
                                       emit.compare(CmpIPredicate::ult, part, parts));
  levels::Values found = levels::ifElse(
      b, loc, inside, TypeRange({b.getIndexType(), b.getIndexType()}),
      [&] {
        Value before = load(b, emit.sub(about, one));
        Value entry = levels::whileLoop(
            b, loc, ValueRange{about, count},
            [&](levels::Values range) { return emit.compare(CmpIPredicate::ult, range[0], range[1]); },
            [&](levels::Values range) {
              levels::Emitter in = target.emitter(b);
              Value half = arith::ShRUIOp::create(b, loc, in.sub(range[1], range[0]), one);
              Value middle = in.add(range[0], half);
              Value same = in.compare(CmpIPredicate::eq, load(b, middle), before);
              return levels::Values{arith::SelectOp::create(b, loc, same, in.add(middle, one), range[0]),
                                    arith::SelectOp::create(b, loc, same, range[1], middle)};
            })[0];
        return levels::Values{entry, emit.add(before, one)};
      },
      [&] {
        Value isEnd = emit.compare(CmpIPredicate::uge, part, parts);
        return levels::Values{arith::SelectOp::create(b, loc, isEnd, count, zero),
                              arith::SelectOp::create(b, loc, isEnd, size, zero)};
      });
  return {found[0], found[1]};
}

void SegmentBoundaries::open(OpBuilder &b) const {
  levels::Emitter emit = target.emitter(b);
  emit.store(*target.storage.layout.positions[1], emit.constant(0), emit.constant(0));
}

void SegmentBoundaries::note(OpBuilder &b, Value coordinate, Value end) const {
  levels::Emitter emit = target.emitter(b);
  emit.store(*target.storage.layout.positions[1], emit.add(coordinate, emit.constant(1)), end);
}

void SegmentBoundaries::noteFour(OpBuilder &b, Value first) const {
  Location loc = target.loc;
  levels::Emitter emit = target.emitter(b);
  auto at = [&](int64_t k) { return emit.add(first, emit.constant(k)); };
  Value begin = load(b, first), last = load(b, at(kTogether - 1));
  levels::ifElse(
      b, loc, emit.compare(CmpIPredicate::eq, begin, last), TypeRange(),
      [&] {
        note(b, last, at(kTogether));
        return levels::Values{};
      },
      [&] {
        for (int64_t k = 0; k < kTogether; ++k)
          note(b, load(b, at(k)), at(k + 1));
        return levels::Values{};
      });
}

void SegmentBoundaries::write(OpBuilder &b, Value part, Value parts) const {
  Location loc = target.loc;
  levels::Emitter emit = target.emitter(b);
  const unsigned field = *target.storage.layout.positions[1];
  Value zero = emit.constant(0), one = emit.constant(1);
  auto [from, firstCoordinate] = begin(b, part, parts);
  auto [to, lastCoordinate] = begin(b, emit.add(part, one), parts);
  Value low = emit.add(firstCoordinate, one), high = emit.add(lastCoordinate, one);
  levels::forLoop(b, loc, low, high, LoopKind::Parallel, {}, [&](Value at, levels::Values) {
    target.emitter(b).store(field, at, zero);
    return levels::Values{};
  });
  Value fours = arith::DivUIOp::create(b, loc, emit.sub(to, from), emit.constant(kTogether));
  levels::forLoop(b, loc, zero, fours, LoopKind::Reduction, {}, [&](Value number, levels::Values) {
    noteFour(b, emit.add(from, emit.mul(number, emit.constant(kTogether))));
    return levels::Values{};
  });
  Value rest = emit.add(from, emit.mul(fours, emit.constant(kTogether)));
  levels::forLoop(b, loc, rest, to, LoopKind::Reduction, {}, [&](Value entry, levels::Values) {
    note(b, load(b, entry), emit.add(entry, one));
    return levels::Values{};
  });
  // Segments without entries end where the ones before do.
  levels::forLoop(b, loc, low, high, LoopKind::Reduction, from, [&](Value at, levels::Values reached) {
    levels::Emitter in = target.emitter(b);
    Value end = arith::MaxUIOp::create(b, loc, in.load(field, at), reached[0]);
    in.store(field, at, end);
    return levels::Values{end};
  });
}

} // namespace tulle::assemble
