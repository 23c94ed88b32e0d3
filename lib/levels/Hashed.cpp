// hashed: parent p owns the table of slots pos[p] .. pos[p + 1], a power of two of them or none.
#include "levels/LevelFormat.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tulle::levels {

struct Hashed : Counted<LevelFormat, 64> {
  bool hasPadding(const format::LevelFormat &) const override { return true; }

  /// The position of the first slot, along the probes of a coordinate, that is free or holds it; there is
  /// one, as at most half of a table's slots are taken. Probes begin at the top bits of the coordinate's
  /// product with 2^64 / the golden ratio.
  static Value probe(const LevelEmitter &emit, PositionRange range, Value slots, Value coordinate) {
    OpBuilder &b = emit.builder;
    Location loc = emit.loc;
    Value factor = emit.constant(int64_t(0x9E3779B97F4A7C15));
    Value product = arith::MulIOp::create(b, loc, coordinate, factor);
    // Slots are a power of two: their product's upper half is those bits.
    Value start = arith::MulUIExtendedOp::create(b, loc, product, slots).getHigh();
    auto isOther = [&](Values slot) {
      Value there = emit.storedCoordinate(emit.add(range.begin, slot[0]));
      return emit.both(emit.isDifferent(there, coordinate), emit.isEntry(there));
    };
    auto next = [&](Values slot) {
      Value last = emit.sub(slots, 1);
      return Values{emit.both(emit.add(slot[0], 1), last)};
    };
    return emit.add(range.begin, whileLoop(emit, start, isOther, next)[0]);
  }

  std::optional<Found> find(const LevelEmitter &emit, const Iterator &parent,
                            Value coordinate) const override {
    OpBuilder &b = emit.builder;
    PositionRange range = positions(emit, parent);
    Value slots = emit.sub(range.end, range.begin);
    Values found = either(
        emit, emit.isDifferent(slots, 0), {b.getIndexType(), b.getI1Type()},
        [&] {
          Value position = probe(emit, range, slots, coordinate);
          return Values{position, emit.isEqual(emit.storedCoordinate(position), coordinate)};
        },
        [&] { return Values{range.begin, arith::ConstantIntOp::create(b, emit.loc, 0, 1)}; });
    return Found{found[0], found[1]};
  }

  // Tables do not depend on the source: entries come in ascending order.
  Insertion insertion() const override { return Insertion::HashTable; }
  Value size(const Assembly &a, LevelBuild &build) const override {
    Value zero = a.constant(0), one = a.constant(1);
    Value total = a.storePositions(build, [&](Value parent) {
      // The smallest power of two that is at least twice the count.
      Value count = a.read(build.work, parent);
      Value below = a.difference(a.add(count, count), one);
      Value leading = mlir::math::CountLeadingZerosOp::create(a.builder, a.loc, below);
      Value slots = a.shiftLeft(one, a.difference(a.constant(64), leading));
      return a.select(a.isEqual(count, 0), zero, slots);
    });
    a.allocateCoordinates(build.level, total);
    a.clearCoordinates(build.level, total);
    return total;
  }
  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    LevelEmitter emit(a, build.level);
    PositionRange range = emit.storedRange(parent);
    Value position = probe(emit, range, a.sub(range.end, range.begin), coordinate);
    a.storeCoordinate(build.level, position, coordinate);
    return position;
  }
};

TULLE_LEVEL_FORMAT(Hashed)

} // namespace tulle::levels
