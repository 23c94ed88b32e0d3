// banded: parent p has consecutive coordinates from crd[p] on.
#include "levels/LevelFormat.h"

namespace tulle::levels {

struct Banded : ConsecutiveLevelFormat {
  Value first(const LevelEmitter &emit, Value parent) const override { return emit.storedCoordinate(parent); }

  // The first coordinate of each parent, and the end of its run: 0 where there are no entries.
  void startQuery(const Assembly &a, LevelBuild &build) const override {
    build.work = a.zeros(a.builder.getI64Type(), build.parents);
    build.extra = a.zeros(a.builder.getI64Type(), build.parents);
    build.size = a.levelSize(build.level);
  }
  Answering answering(const format::Level &) const override { return Answering::LeastAndLargest; }
  void query(const Assembly &a, LevelBuild &build, Value parent, Value coordinate,
             ValueRange above) const override {
    Value end = a.read(build.work, parent), first = a.read(build.extra, parent);
    Value none = a.isEqual(end, 0);
    a.write(build.extra, parent, a.select(none, coordinate, a.umin(first, coordinate)));
    // The run reaches the coordinate of the level above, as far as the level has it.
    Value last = above.empty() ? coordinate : a.umax(coordinate, above.back());
    Value behind = a.umin(a.add(last, 1), build.size);
    a.write(build.work, parent, a.umax(end, behind));
  }
  Value size(const Assembly &a, LevelBuild &build) const override {
    a.allocateCoordinates(build.level, build.parents);
    return a.storePositions(build, [&](Value parent) {
      Value first = a.read(build.extra, parent);
      a.storeCoordinate(build.level, parent, first);
      return a.sub(a.read(build.work, parent), first);
    });
  }
};

TULLE_LEVEL_FORMAT(Banded)

} // namespace tulle::levels
