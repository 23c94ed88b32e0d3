// banded: parent p has consecutive coordinates from crd[p] on.
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

struct Banded : LevelFormat {
  PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const override {
    unsigned field = *emit.storage.layout.positions[level];
    return {emit.load(field, parent.position),
            emit.load(field, emit.add(parent.position, emit.constant(1)))};
  }
  Value coordinate(const Emitter &emit, unsigned level, const Iterator &parent,
                   Value position) const override {
    Value first = storedCoordinate(emit, level, parent.position);
    return emit.add(first, emit.sub(position, positions(emit, level, parent).begin));
  }
  std::optional<Found> find(const Emitter &emit, unsigned level, const Iterator &parent,
                            Value coordinate) const override {
    PositionRange range = positions(emit, level, parent);
    // A coordinate below the first one wraps to one beyond the last.
    Value offset = arith::SubIOp::create(emit.builder, emit.loc, coordinate,
                                         storedCoordinate(emit, level, parent.position));
    Value found = emit.compare(arith::CmpIPredicate::ult, offset, emit.sub(range.end, range.begin));
    return Found{arith::AddIOp::create(emit.builder, emit.loc, range.begin, offset), found};
  }
};

TULLE_LEVEL_FORMAT(Banded)

} // namespace tulle::levels
