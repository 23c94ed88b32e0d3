// jagged: parent p has the coordinates 0 .. pos[2p + 1] - pos[2p] - 1, at positions that lie anywhere. (RFC
// on structured codegen beyond rectangular arrays, "First-Class Jagged Buffer": memref<? x memref<? x f32>>;
// a position is the distance of an element from the lowest address of all, so that rows may come from several
// allocations.)
#include "levels/LevelFormat.h"

namespace tulle::levels {

struct Jagged : ConsecutiveLevelFormat {
  PositionRange positions(const LevelEmitter &emit, const Iterator &parent) const override {
    return emit.storedRange(emit.mul(parent.position, 2));
  }
  Value first(const LevelEmitter &emit, Value) const override { return emit.constant(0); }
  bool leavesGaps() const override { return true; }

  void startQuery(const Assembly &a, LevelBuild &build) const override {
    build.work = a.zeros(a.builder.getI64Type(), build.parents);
  }
  Answering answering(const format::Level &) const override { return Answering::Largest; }
  void query(const Assembly &a, LevelBuild &build, Value parent, Value coordinate,
             ValueRange) const override {
    a.write(build.work, parent, a.umax(a.read(build.work, parent), a.add(coordinate, 1)));
  }
  // What is made lies in one allocation, segment after segment.
  Value size(const Assembly &a, LevelBuild &build) const override {
    const unsigned field = *a.made.layout.positions[build.level];
    a.allocate(field, a.product(build.level, build.parents, a.constant(2)));
    Values reached = reduce(a, build.parents, ValueRange{a.constant(0)}, [&](Value parent, Values sum) {
      Value at = a.mul(parent, 2), end = a.add(sum[0], a.read(build.work, parent));
      a.write(a.made.fields[field], at, sum[0]);
      a.write(a.made.fields[field], a.add(at, 1), end);
      return Values{end};
    });
    a.checkWidth(field, reached[0]);
    return a.positions(build.level, reached[0], a.constant(1));
  }
  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    return a.add(a.load(*a.made.layout.positions[build.level], a.mul(parent, 2)), coordinate);
  }
};

TULLE_LEVEL_FORMAT(Jagged)

} // namespace tulle::levels
