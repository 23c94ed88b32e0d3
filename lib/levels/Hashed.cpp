// hashed: parent p owns the table of slots pos[p] .. pos[p + 1], a power of two of them or none.
#include "levels/Control.h"
#include "levels/Counted.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tulle::levels {

struct Hashed : CountedLevelFormat {
  Hashed() : CountedLevelFormat(64) {}

  PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const override {
    return storedRange(emit, level, parent.position);
  }
  bool hasPadding(const format::LevelFormat &) const override { return true; }
  Value valid(const Emitter &emit, unsigned level, const Iterator &, Value, Value coordinate) const override {
    return isEntry(emit, level, coordinate);
  }

  /// The slot where a coordinate's probes begin: the top bits of its product with 2^64 / the golden ratio.
  static Value firstSlot(const Emitter &emit, Value coordinate, Value slots) {
    OpBuilder &b = emit.builder;
    Value factor = emit.constant(int64_t(0x9E3779B97F4A7C15));
    Value product = arith::MulIOp::create(b, emit.loc, coordinate, factor);
    // Slots are a power of two: their product's upper half is those bits.
    return arith::MulUIExtendedOp::create(b, emit.loc, product, slots).getHigh();
  }

  /// At most half of a table's slots are taken, so that a free one ends every probe.
  std::optional<Found> find(const Emitter &emit, unsigned level, const Iterator &parent,
                            Value coordinate) const override {
    OpBuilder &b = emit.builder;
    Location loc = emit.loc;
    PositionRange range = positions(emit, level, parent);
    Value slots = emit.sub(range.end, range.begin);
    auto isOther = [&](Values slot) -> Value {
      Value there = storedCoordinate(emit, level, emit.add(range.begin, slot[0]));
      Value other = emit.compare(arith::CmpIPredicate::ne, there, coordinate);
      return arith::AndIOp::create(b, loc, other, isEntry(emit, level, there));
    };
    auto next = [&](Values slot) -> Values {
      Value last = emit.sub(slots, emit.constant(1));
      return {arith::AndIOp::create(b, loc, emit.add(slot[0], emit.constant(1)), last)};
    };
    Values found = ifElse(
        b, loc, emit.compare(arith::CmpIPredicate::ne, slots, emit.constant(0)),
        TypeRange{b.getIndexType(), b.getI1Type()},
        [&] {
          Value slot = whileLoop(b, loc, firstSlot(emit, coordinate, slots), isOther, next)[0];
          Value position = emit.add(range.begin, slot), there = storedCoordinate(emit, level, position);
          return Values{position, emit.compare(arith::CmpIPredicate::eq, there, coordinate)};
        },
        [&] { return Values{range.begin, arith::ConstantIntOp::create(b, loc, 0, 1)}; });
    return Found{found[0], found[1]};
  }

  // Tables do not depend on the source: entries come in ascending order.
  Insertion insertion() const override { return Insertion::HashTable; }
  Value size(const Assembly &a, LevelBuild &build) const override {
    OpBuilder &b = a.builder;
    Value zero = a.constant(0), one = a.constant(1);
    Value total = a.storePositions(build, [&](Value parent) -> Value {
      // The smallest power of two that is at least twice the count.
      Value count = a.read(build.work, parent);
      Value below = arith::SubIOp::create(b, a.loc, a.add(count, count), one);
      Value leading = math::CountLeadingZerosOp::create(b, a.loc, below);
      Value log2 = arith::SubIOp::create(b, a.loc, a.constant(64), leading);
      Value slots = arith::ShLIOp::create(b, a.loc, one, log2);
      Value none = a.compare(arith::CmpIPredicate::eq, count, zero);
      return arith::SelectOp::create(b, a.loc, none, zero, slots);
    });
    a.allocateCoordinates(build.level, total);
    a.clearCoordinates(build.level, total);
    return total;
  }
  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    OpBuilder &b = a.builder;
    PositionRange range = positions(a, build.level, {parent, {}, {}, {}, false});
    Value slots = a.sub(range.end, range.begin), last = a.sub(slots, a.constant(1));
    auto taken = [&](Values slot) {
      Value there = storedCoordinate(a, build.level, a.add(range.begin, slot[0]));
      Value other = a.compare(arith::CmpIPredicate::ne, there, coordinate);
      return Value(arith::AndIOp::create(b, a.loc, other, isEntry(a, build.level, there)));
    };
    Value slot = whileLoop(b, a.loc, firstSlot(a, coordinate, slots), taken, [&](Values at) {
      return Values{arith::AndIOp::create(b, a.loc, a.add(at[0], a.constant(1)), last)};
    })[0];
    Value position = a.add(range.begin, slot);
    a.storeCoordinate(build.level, position, coordinate);
    return position;
  }
};

TULLE_LEVEL_FORMAT(Hashed)

} // namespace tulle::levels
