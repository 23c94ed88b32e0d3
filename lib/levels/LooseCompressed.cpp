// loose_compressed: the coordinates of parent p are crd[pos[2p]] … crd[pos[2p + 1] - 1]; segments may leave
// gaps.
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

struct LooseCompressed : LevelFormat {
  PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const override {
    unsigned field = *emit.storage.layout.positions[level];
    Value at = emit.mul(parent.position, emit.constant(2));
    return {emit.load(field, at), emit.load(field, emit.add(at, emit.constant(1)))};
  }
  Value coordinate(const Emitter &emit, unsigned level, const Iterator &, Value position) const override {
    return storedCoordinate(emit, level, position);
  }
};

TULLE_LEVEL_FORMAT(LooseCompressed)

} // namespace tulle::levels
