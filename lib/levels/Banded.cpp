// banded: parent p has consecutive coordinates from crd[p] on.
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

struct Banded : LevelFormat {
  PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const override {
    return storedRange(emit, level, parent.position);
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

  Insertion insertion() const override { return Insertion::Computed; }
  bool needsQuery(const format::Level &) const override { return true; }

  // The first coordinate of each parent, and the end of its run: 0 where there are no entries.
  void startQuery(const Assembly &a, LevelBuild &build) const override {
    build.work = a.zeros(a.builder.getI64Type(), build.parents);
    build.extra = a.zeros(a.builder.getI64Type(), build.parents);
    build.size = a.levelSize(build.level);
  }
  void query(const Assembly &a, LevelBuild &build, Value parent, Value coordinate,
             ValueRange above) const override {
    OpBuilder &b = a.builder;
    Value end = a.read(build.work, parent), first = a.read(build.extra, parent);
    Value none = a.compare(arith::CmpIPredicate::eq, end, a.constant(0));
    Value least = arith::MinUIOp::create(b, a.loc, first, coordinate);
    a.write(build.extra, parent, arith::SelectOp::create(b, a.loc, none, coordinate, least));
    // The run reaches the coordinate of the level above, as far as the level has it.
    Value last = above.empty() ? coordinate : arith::MaxUIOp::create(b, a.loc, coordinate, above.back());
    Value behind = arith::MinUIOp::create(b, a.loc, a.add(last, a.constant(1)), build.size);
    a.write(build.work, parent, arith::MaxUIOp::create(b, a.loc, end, behind));
  }
  Value size(const Assembly &a, LevelBuild &build) const override {
    a.allocateCoordinates(build.level, build.parents);
    return a.storePositions(build, [&](Value parent) {
      Value first = a.read(build.extra, parent);
      a.storeCoordinate(build.level, parent, first);
      return a.sub(a.read(build.work, parent), first);
    });
  }
  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    Value begin = a.load(*a.made.layout.positions[build.level], parent);
    return a.add(begin, a.sub(coordinate, storedCoordinate(a, build.level, parent)));
  }
};

TULLE_LEVEL_FORMAT(Banded)

} // namespace tulle::levels
