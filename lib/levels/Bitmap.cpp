// bitmap: a position for every coordinate, and a bit that says whether it holds an entry.
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

struct Bitmap : LevelFormat {
  PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const override {
    Value size = emit.levelSize(level), begin = emit.mul(parent.position, size);
    return {begin, emit.add(begin, size)};
  }
  Value coordinate(const Emitter &emit, unsigned level, const Iterator &parent,
                   Value position) const override {
    return emit.sub(position, emit.mul(parent.position, emit.levelSize(level)));
  }
  bool hasPadding(const format::LevelFormat &) const override { return true; }
  Value valid(const Emitter &emit, unsigned level, const Iterator &, Value position, Value) const override {
    return emit.loadBit(*emit.storage.layout.bits[level], position);
  }
  std::optional<Found> find(const Emitter &emit, unsigned level, const Iterator &parent,
                            Value coordinate) const override {
    Value position = emit.add(emit.mul(parent.position, emit.levelSize(level)), coordinate);
    return Found{position, valid(emit, level, parent, position, coordinate)};
  }

  Insertion insertion() const override { return Insertion::Computed; }
  Value size(const Assembly &a, LevelBuild &build) const override {
    build.size = a.levelSize(build.level);
    Value count = a.positions(build.level, build.parents, build.size);
    // Whole words of 64 bits.
    Value words = arith::ShRUIOp::create(a.builder, a.loc, a.add(count, a.constant(63)), a.constant(6));
    Value bytes = a.mul(words, a.constant(8));
    unsigned field = *a.made.layout.bits[build.level];
    a.allocate(field, bytes);
    a.fill(a.made.fields[field], a.constant(0), bytes, a.constant(0));
    return count;
  }
  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    OpBuilder &b = a.builder;
    Value position = a.add(a.mul(parent, build.size), coordinate);
    Value bytes = a.made.fields[*a.made.layout.bits[build.level]];
    Value at = arith::ShRUIOp::create(b, a.loc, position, a.constant(3));
    Value number = arith::AndIOp::create(b, a.loc, position, a.constant(7));
    Value bit = arith::ShLIOp::create(b, a.loc, a.constant(1), number);
    a.write(bytes, at, arith::OrIOp::create(b, a.loc, a.read(bytes, at), bit));
    return position;
  }
};

TULLE_LEVEL_FORMAT(Bitmap)

} // namespace tulle::levels
