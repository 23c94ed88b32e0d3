// squeezed: every parent has the K coordinates that occur at all: crd[0] .. crd[K - 1].
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

struct Squeezed : LevelFormat {
  PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const override {
    Value k = emit.storage.sizes[level], begin = emit.mul(parent.position, k);
    return {begin, emit.add(begin, k)};
  }
  Value coordinate(const Emitter &emit, unsigned level, const Iterator &parent,
                   Value position) const override {
    Value begin = emit.mul(parent.position, emit.storage.sizes[level]);
    return storedCoordinate(emit, level, emit.sub(position, begin));
  }
};

TULLE_LEVEL_FORMAT(Squeezed)

} // namespace tulle::levels
