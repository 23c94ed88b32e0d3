// structured[n,m]: exactly n of every m coordinates are stored.
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

struct Structured : LevelFormat {
  PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const override {
    Value n = emit.constant(emit.storage.encoding.levels[level].format.n);
    Value begin = emit.mul(parent.position, n);
    return {begin, emit.add(begin, n)};
  }
  Value coordinate(const Emitter &emit, unsigned level, const Iterator &, Value position) const override {
    return storedCoordinate(emit, level, position);
  }
};

TULLE_LEVEL_FORMAT(Structured)

} // namespace tulle::levels
