// ragged: parent p has the coordinates 0 .. pos[p + 1] - pos[p] - 1.
#include "levels/LevelFormat.h"

namespace tulle::levels {

struct Ragged : ConsecutiveLevelFormat {
  Value first(const LevelEmitter &emit, Value) const override { return emit.constant(0); }

  void startQuery(const Assembly &a, LevelBuild &build) const override {
    build.work = a.zeros(a.builder.getI64Type(), build.parents);
  }
  Answering answering(const format::Level &) const override { return Answering::Largest; }
  void query(const Assembly &a, LevelBuild &build, Value parent, Value coordinate,
             ValueRange) const override {
    Value length = a.add(coordinate, 1);
    a.write(build.work, parent, a.umax(a.read(build.work, parent), length));
  }
  Value size(const Assembly &a, LevelBuild &build) const override {
    return a.storePositions(build, [&](Value parent) { return a.read(build.work, parent); });
  }
};

TULLE_LEVEL_FORMAT(Ragged)

} // namespace tulle::levels
