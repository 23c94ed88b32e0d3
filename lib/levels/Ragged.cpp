// ragged: parent p has the coordinates 0 .. pos[p + 1] - pos[p] - 1.
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

struct Ragged : LevelFormat {
  PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const override {
    unsigned field = *emit.storage.layout.positions[level];
    return {emit.load(field, parent.position),
            emit.load(field, emit.add(parent.position, emit.constant(1)))};
  }
  Value coordinate(const Emitter &emit, unsigned level, const Iterator &parent,
                   Value position) const override {
    return emit.sub(position, positions(emit, level, parent).begin);
  }
  std::optional<Found> find(const Emitter &emit, unsigned level, const Iterator &parent,
                            Value coordinate) const override {
    PositionRange range = positions(emit, level, parent);
    Value length = emit.sub(range.end, range.begin);
    return Found{emit.add(range.begin, coordinate),
                 emit.compare(arith::CmpIPredicate::ult, coordinate, length)};
  }
};

TULLE_LEVEL_FORMAT(Ragged)

} // namespace tulle::levels
