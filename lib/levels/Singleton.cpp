// singleton: one coordinate for each position of the parent.
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

struct Singleton : LevelFormat {
  PositionRange positions(const Emitter &emit, unsigned, const Iterator &parent) const override {
    // Under a nonunique parent, every position of its segment.
    return {parent.position, parent.end ? parent.end : emit.add(parent.position, emit.constant(1))};
  }
  Value coordinate(const Emitter &emit, unsigned level, const Iterator &, Value position) const override {
    return storedCoordinate(emit, level, position);
  }

  Placement placement() const override { return Placement::Computed; }
  Value size(const Assembly &a, LevelBuild &build) const override {
    a.allocateCoordinates(build.level, build.parents);
    if (a.made.encoding.levels[build.level].format.padded)
      a.clearCoordinates(build.level, build.parents);
    return build.parents;
  }
  Value place(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    a.storeCoordinate(build.level, parent, coordinate);
    return parent;
  }
};

TULLE_LEVEL_FORMAT(Singleton)

} // namespace tulle::levels
