// fixed[n]: n slots for every parent, empty ones last; without n, as many as the longest parent needs.
#include "levels/LevelFormat.h"

namespace tulle::levels {

struct Fixed : Counted<SlottedLevelFormat, 32> {
  Value slots(const LevelEmitter &emit) const override {
    Value stored = emit.storage.sizes[emit.level];
    return stored ? stored : emit.constant(emit.format().n);
  }
  bool hasPadding(const format::LevelFormat &) const override { return true; }

  Insertion insertion() const override { return Insertion::Append; }
  Value size(const Assembly &a, LevelBuild &build) const override {
    int64_t n = a.made.encoding.levels[build.level].format.n;
    Value zero = a.constant(0);
    // The counts become cursors.
    Value most = reduce(a, build.parents, zero, [&](Value parent, Values longest) {
      Value found = a.read(build.work, parent);
      a.write(build.work, parent, zero);
      if (n != 0)
        when(a, a.isAbove(found, n), [&] { a.refuseGroup(build.level, parent, found, a.constant(n)); });
      return Values{a.umax(longest[0], found)};
    })[0];
    build.size = n != 0 ? a.constant(n) : most;
    if (n == 0)
      a.makeSize(build.level, most);
    Value count = a.positions(build.level, build.parents, build.size);
    a.allocateCoordinates(build.level, count);
    a.clearCoordinates(build.level, count);
    return count;
  }
  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    Value position = a.add(a.mul(parent, build.size), a.fetchAdd(build, parent));
    a.storeCoordinate(build.level, position, coordinate);
    return position;
  }
};

TULLE_LEVEL_FORMAT(Fixed)

} // namespace tulle::levels
