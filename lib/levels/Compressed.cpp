// compressed: the coordinates of parent p are crd[pos[p]] … crd[pos[p + 1] - 1].
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

struct Compressed : LevelFormat {
  PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const override {
    unsigned field = *emit.storage.layout.positions[level];
    // Each batch has one entry more than it has parents, so its run begins one further for every batch before
    // it.
    Value at = parent.batch ? emit.add(parent.position, parent.batch) : parent.position;
    return {emit.load(field, at), emit.load(field, emit.add(at, emit.constant(1)))};
  }
  Value coordinate(const Emitter &emit, unsigned level, const Iterator &, Value position) const override {
    return storedCoordinate(emit, level, position);
  }
};

TULLE_LEVEL_FORMAT(Compressed)

} // namespace tulle::levels
