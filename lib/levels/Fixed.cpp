// fixed[n]: n slots for every parent, empty ones last; without n, as many as the longest parent needs.
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

struct Fixed : LevelFormat {
  static Value slots(const Emitter &emit, unsigned level) {
    Value stored = emit.storage.sizes[level];
    return stored ? stored : emit.constant(emit.storage.encoding.levels[level].format.n);
  }
  PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const override {
    Value n = slots(emit, level), begin = emit.mul(parent.position, n);
    return {begin, emit.add(begin, n)};
  }
  Value coordinate(const Emitter &emit, unsigned level, const Iterator &, Value position) const override {
    return storedCoordinate(emit, level, position);
  }
  bool hasEmptySlots(const format::LevelFormat &) const override { return true; }
  Value valid(const Emitter &emit, unsigned level, const Iterator &, Value, Value coordinate) const override {
    return isEntry(emit, level, coordinate);
  }
};

TULLE_LEVEL_FORMAT(Fixed)

} // namespace tulle::levels
