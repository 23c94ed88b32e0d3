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

  Placement placement() const override { return Placement::Computed; }
  bool asksEntries(const format::Level &) const override { return true; }
  bool asksParents(const format::Level &) const override { return false; }

  // A mark for each coordinate that occurs, then the list of them with the place of each in it.
  void startQuery(const Assembly &a, LevelBuild &build) const override {
    build.low = a.levelLow(build.level);
    // Without rows or columns the bounds are the wrong way round.
    Value span = a.levelSize(build.level);
    build.size = arith::MaxSIOp::create(a.builder, a.loc, span, a.constant(0));
    build.work = a.zeros(a.builder.getI8Type(), build.size);
  }
  void query(const Assembly &a, LevelBuild &build, Value, Value coordinate, ValueRange) const override {
    Value at = a.difference(coordinate, build.low);
    auto mark = [&] { a.write(build.work, at, a.constant(1)); };
    if (!build.isShared)
      return mark();
    // Most marks are there already: threads that only read them need not take the line from each other.
    a.when(a.compare(arith::CmpIPredicate::eq, a.read(build.work, at), a.constant(0)), mark);
  }
  Value size(const Assembly &a, LevelBuild &build) const override {
    OpBuilder &b = a.builder;
    Value span = build.size, zero = a.constant(0);
    build.size = forLoop(b, a.loc, zero, span, dialect::LoopKind::Reduction, zero, [&](Value at, Values sum) {
      return Values{a.add(sum[0], a.read(build.work, at))};
    })[0];
    a.makeSize(build.level, build.size);
    a.allocateCoordinates(build.level, build.size);
    build.extra = a.scratch(b.getI64Type(), span);
    forLoop(b, a.loc, zero, span, dialect::LoopKind::Reduction, zero, [&](Value at, Values next) {
      a.when(a.compare(arith::CmpIPredicate::ne, a.read(build.work, at), zero), [&] {
        a.storeCoordinate(build.level, next[0], a.sum(at, build.low));
        a.write(build.extra, at, next[0]);
      });
      return Values{a.add(next[0], a.read(build.work, at))};
    });
    return a.positions(build.level, build.parents, build.size);
  }
  Value place(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    Value number = a.read(build.extra, a.difference(coordinate, build.low));
    return a.add(a.mul(parent, build.size), number);
  }
};

TULLE_LEVEL_FORMAT(Squeezed)

} // namespace tulle::levels
