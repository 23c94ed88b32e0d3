// ragged: parent p has the coordinates 0 .. pos[p + 1] - pos[p] - 1.
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

struct Ragged : LevelFormat {
  PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const override {
    return storedRange(emit, level, parent.position);
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

  Insertion insertion() const override { return Insertion::Computed; }
  bool needsQuery(const format::Level &) const override { return true; }
  void startQuery(const Assembly &a, LevelBuild &build) const override {
    build.work = a.zeros(a.builder.getI64Type(), build.parents);
  }
  void query(const Assembly &a, LevelBuild &build, Value parent, Value coordinate,
             ValueRange) const override {
    Value length = a.add(coordinate, a.constant(1));
    a.write(build.work, parent, arith::MaxUIOp::create(a.builder, a.loc, a.read(build.work, parent), length));
  }
  Value size(const Assembly &a, LevelBuild &build) const override {
    return a.storePositions(build, [&](Value parent) { return a.read(build.work, parent); });
  }
  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    return a.add(a.load(*a.made.layout.positions[build.level], parent), coordinate);
  }
};

TULLE_LEVEL_FORMAT(Ragged)

} // namespace tulle::levels
