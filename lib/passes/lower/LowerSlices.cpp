// Parts of spaces and ranges: from one position, or coordinate, to another.
#include "passes/lower/Lowering.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::lower {

using arith::CmpIPredicate;

void Lowering::lower(SliceOp op) {
  Space space = spaces.at(op.getSpace());
  auto [low, high] = space.bounds();
  space.limit({arith::MaxSIOp::create(b, op.getLoc(), values.lookup(op.getBegin()), low),
               arith::MinSIOp::create(b, op.getLoc(), values.lookup(op.getEnd()), high)});
  space.one = op.getOne();
  bind(op.getResult(), space);
}

void Lowering::lower(RestrictOp op) {
  Space space = spaces.at(op.getSpace());
  PositionRange chunk = spaces.at(op.getRange()).range;
  if (!space.full()) {
    // One chunk has all coordinates: a search, which misses the cache at every step, would cost more than a
    // short loop.
    const Emitter &emit = space.emit;
    auto [lo, hi] = chunk;
    auto [first, last] = space.range;
    chunk.begin = emit.choose(
        emit.isEqual(lo, emit.constant(0)), [&] { return first; },
        [&] { return space.lowerBound(first, last, lo); });
    chunk.end = emit.choose(
        emit.compare(CmpIPredicate::uge, space.stored(hi), space.levelSize()), [&] { return last; },
        [&] { return space.lowerBound(chunk.begin, last, hi); });
  }
  space.limit(chunk);
  bind(op.getResult(), space);
}

void Lowering::lower(ShiftOp op) {
  Space space = spaces.at(op.getSpace());
  Value offset = values.lookup(op.getOffset());
  space.shift = space.shift ? space.emit.add(space.shift, offset) : offset;
  bind(op.getResult(), space);
}

namespace {

/// The positions of the next level, which ascend with those of a space or of a range over a first, dense
/// level.
struct PositionsBelow {
  Emitter emit;
  unsigned next;
  Value begin, end;

  PositionsBelow(const Space &space, const levels::Storage *tensor)
      : emit(space.emit.builder, space.emit.loc, space.format ? space.storage() : *tensor),
        next(space.format ? space.level + 1 : 1) {
    auto [first, last] = space.bounds();
    begin = first;
    // An empty range may have its end before its beginning.
    end = arith::MaxSIOp::create(emit.builder, emit.loc, begin, last);
  }

  /// How many stand below the positions before one.
  Value before(Value position) const {
    if (emit.storage.encoding.levels[next].format.kind == format::LevelKind::Singleton)
      return position;
    return emit.load(*emit.storage.layout.positions[next], position);
  }
  /// The first position below the ones before which at least so many stand.
  Value reaching(Value count) const {
    return emit.binarySearch(begin, end, [&](Value at) { return emit.isLess(before(at), count); });
  }
  /// The position below which the position stands.
  Value above(Value position) const {
    return emit.binarySearch(begin, end,
                             [&](Value at) { return emit.isAtMost(before(emit.next(at)), position); });
  }
};

} // namespace

void Lowering::lower(BoundsBelowOp op) {
  const PositionsBelow below(spaces.at(op.getSpace()), tensors.lookup(op.getTensor()));
  values.map(op.getBegin(), below.before(below.begin));
  values.map(op.getEnd(), below.before(below.end));
}

void Lowering::lower(EnclosingOp op) {
  Space space = spaces.at(op.getSpace());
  const PositionsBelow below(space, tensors.lookup(op.getTensor()));
  Value begin = values.lookup(op.getBegin()), end = values.lookup(op.getEnd());
  space.limit({below.above(begin), below.reaching(end)});
  bind(op.getResult(), space);
}

} // namespace tulle::lower
