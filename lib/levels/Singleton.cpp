// singleton: one coordinate for each position of the parent; a padded one may be empty.
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

struct Singleton : LevelFormat {
  PositionRange positions(const Emitter &emit, unsigned, const Iterator &parent) const override {
    // Under a nonunique parent, every position of its segment.
    return {parent.position, parent.end ? parent.end : emit.add(parent.position, emit.constant(1))};
  }
  bool single(const Iterator &parent) const override { return !parent.end; }
  Value coordinate(const Emitter &emit, unsigned level, const Iterator &, Value position) const override {
    return storedCoordinate(emit, level, position);
  }
  bool storesEachCoordinate() const override { return true; }
  bool hasEmptySlots(const format::LevelFormat &format) const override { return format.padded; }
  Value valid(const Emitter &emit, unsigned level, const Iterator &, Value, Value coordinate) const override {
    return emit.storage.encoding.levels[level].format.padded ? isEntry(emit, level, coordinate) : Value();
  }

  Placement placement() const override { return Placement::Computed; }
  Value size(const Assembly &a, LevelBuild &build) const override {
    a.allocateCoordinates(build.level, build.parents);
    if (a.made.encoding.levels[build.level].format.padded && !build.slotsAreEmptied)
      a.clearCoordinates(build.level, build.parents);
    else
      a.clearReserve(build.level, build.parents);
    return build.parents;
  }
  Value place(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    a.storeCoordinate(build.level, parent, coordinate);
    return parent;
  }
};

TULLE_LEVEL_FORMAT(Singleton)

} // namespace tulle::levels
