// Writes the end of every entry's segment, the last entry's over the others'; segments without entries take
// the end before theirs.
#include "passes/assemble/algorithms/SegmentBoundaries.h"

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

Value SegmentBoundaries::load(Value entry) const {
  Value coordinate = loadAt(target, coordinates, entry);
  return target.builder.createOrFold<arith::IndexCastUIOp>(target.loc, entry.getType(), coordinate);
}

/// The first entry that is not of the segment in which the chunk would begin if all had as many entries.
std::pair<Value, Value> SegmentBoundaries::begin(Value chunk, Value chunks) const {
  Value zero = target.constant(0), one = target.constant(1), size = target.levelSize(0);
  Value each = make<arith::CeilDivUIOp>(target, count, chunks);
  Value about = make<arith::MinUIOp>(target, target.mul(each, chunk), count);
  Value inside = make<arith::AndIOp>(target, target.compare(CmpIPredicate::ugt, about, zero),
                                     target.compare(CmpIPredicate::ult, chunk, chunks));
  Values found = either(
      target, inside, TypeRange({size.getType(), size.getType()}),
      [&] {
        Value before = load(target.sub(about, one));
        Value entry = levels::whileLoop(
            target.builder, target.loc, ValueRange{about, count},
            [&](Values range) { return target.compare(CmpIPredicate::ult, range[0], range[1]); },
            [&](Values range) {
              Value half = make<arith::ShRUIOp>(target, target.sub(range[1], range[0]), one);
              Value middle = target.add(range[0], half);
              Value same = target.compare(CmpIPredicate::eq, load(middle), before);
              return Values{make<arith::SelectOp>(target, same, target.add(middle, one), range[0]),
                            make<arith::SelectOp>(target, same, range[1], middle)};
            })[0];
        return Values{entry, target.add(before, one)};
      },
      [&] {
        Value isEnd = target.compare(CmpIPredicate::uge, chunk, chunks);
        return Values{make<arith::SelectOp>(target, isEnd, count, zero),
                      make<arith::SelectOp>(target, isEnd, size, zero)};
      });
  return {found[0], found[1]};
}

void SegmentBoundaries::open() const {
  target.store(*target.storage.layout.positions[1], target.constant(0), target.constant(0));
}

void SegmentBoundaries::note(Value coordinate, Value end) const {
  target.store(*target.storage.layout.positions[1], target.add(coordinate, target.constant(1)), end);
}

void SegmentBoundaries::noteFour(Value first) const {
  auto at = [&](int64_t k) { return target.add(first, target.constant(k)); };
  Value begin = load(first), last = load(at(kTogether - 1));
  either(
      target, target.compare(CmpIPredicate::eq, begin, last), [&] { note(last, at(kTogether)); },
      [&] {
        for (int64_t k = 0; k < kTogether; ++k)
          note(load(at(k)), at(k + 1));
      });
}

void SegmentBoundaries::write(Value chunk, Value chunks) const {
  const unsigned field = *target.storage.layout.positions[1];
  Value zero = target.constant(0), one = target.constant(1);
  auto [from, firstCoordinate] = begin(chunk, chunks);
  auto [to, lastCoordinate] = begin(target.add(chunk, one), chunks);
  Value low = target.add(firstCoordinate, one), high = target.add(lastCoordinate, one);
  forEach(target, low, high, LoopKind::Parallel, [&](Value at) { target.store(field, at, zero); });
  Value fours = make<arith::DivUIOp>(target, target.sub(to, from), target.constant(kTogether));
  forEach(target, zero, fours, LoopKind::Reduction,
          [&](Value number) { noteFour(target.add(from, target.mul(number, target.constant(kTogether)))); });
  Value rest = target.add(from, target.mul(fours, target.constant(kTogether)));
  forEach(target, rest, to, LoopKind::Reduction,
          [&](Value entry) { note(load(entry), target.add(entry, one)); });
  // Segments without entries end where the ones before do.
  reduce(target, low, high, from, [&](Value at, Values reached) {
    Value end = make<arith::MaxUIOp>(target, target.load(field, at), reached[0]);
    target.store(field, at, end);
    return Values{end};
  });
}

} // namespace tulle::assemble
