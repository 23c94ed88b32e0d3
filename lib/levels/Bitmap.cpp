// bitmap: a slot for every coordinate, and a bit that says whether it holds an entry.
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

struct Bitmap : LevelFormat {
  PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const override {
    Value size = emit.levelSize(level), begin = emit.mul(parent.position, size);
    return {begin, emit.add(begin, size)};
  }
  Value coordinate(const Emitter &emit, unsigned level, const Iterator &parent,
                   Value position) const override {
    return emit.sub(position, emit.mul(parent.position, emit.levelSize(level)));
  }
  bool hasEmptySlots(const format::LevelFormat &) const override { return true; }
  Value valid(const Emitter &emit, unsigned level, const Iterator &, Value position, Value) const override {
    return emit.loadBit(*emit.storage.layout.bits[level], position);
  }
  std::optional<Found> find(const Emitter &emit, unsigned level, const Iterator &parent,
                            Value coordinate) const override {
    Value position = emit.add(emit.mul(parent.position, emit.levelSize(level)), coordinate);
    return Found{position, valid(emit, level, parent, position, coordinate)};
  }
};

TULLE_LEVEL_FORMAT(Bitmap)

} // namespace tulle::levels
