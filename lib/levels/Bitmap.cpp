// bitmap: a position for every coordinate, and a bit that says whether it holds an entry.
#include "levels/LevelFormat.h"

namespace tulle::levels {

struct Bitmap : SlottedLevelFormat {
  Value coordinate(const LevelEmitter &emit, const Iterator &parent, Value position) const override {
    return slotOf(emit, parent, position);
  }
  bool hasPadding(const format::LevelFormat &) const override { return true; }
  Value valid(const LevelEmitter &emit, const Iterator &, Value position, Value) const override {
    return emit.loadBit(*emit.storage.layout.bits[emit.level], position);
  }
  std::optional<Found> find(const LevelEmitter &emit, const Iterator &parent,
                            Value coordinate) const override {
    Value position = emit.add(emit.mul(parent.position, emit.size()), coordinate);
    return Found{position, valid(emit, parent, position, coordinate)};
  }

  Insertion insertion() const override { return Insertion::Computed; }
  Value size(const Assembly &a, LevelBuild &build) const override {
    build.size = a.levelSize(build.level);
    Value count = a.positions(build.level, build.parents, build.size);
    // Whole words of 64 bits.
    Value words = a.shiftRight(a.add(count, 63), 6);
    Value bytes = a.mul(words, 8);
    unsigned field = *a.made.layout.bits[build.level];
    a.allocate(field, bytes);
    a.fill(a.made.fields[field], a.constant(0), bytes, a.constant(0));
    return count;
  }
  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    Value position = a.add(a.mul(parent, build.size), coordinate);
    Value bytes = a.made.fields[*a.made.layout.bits[build.level]];
    Value at = a.shiftRight(position, 3);
    Value bit = a.shiftLeft(a.constant(1), a.both(position, 7));
    a.write(bytes, at, arith::OrIOp::create(a.builder, a.loc, a.read(bytes, at), bit));
    return position;
  }
};

TULLE_LEVEL_FORMAT(Bitmap)

} // namespace tulle::levels
