// squeezed: every parent has the K coordinates that occur at all: crd[0] .. crd[K - 1].
#include "levels/LevelFormat.h"

namespace tulle::levels {

struct Squeezed : SlottedLevelFormat {
  Value slots(const LevelEmitter &emit) const override { return emit.storage.sizes[emit.level]; }
  Value coordinate(const LevelEmitter &emit, const Iterator &parent, Value position) const override {
    return emit.storedCoordinate(slotOf(emit, parent, position));
  }

  Insertion insertion() const override { return Insertion::Computed; }
  bool needsQuery(const format::Level &) const override { return true; }
  bool needsQueryPerParent(const format::Level &) const override { return false; }

  // A mark for each coordinate that occurs, then the list of them, with the index of each in it.
  void startQuery(const Assembly &a, LevelBuild &build) const override {
    build.low = a.levelLow(build.level);
    // Without rows or columns the bounds are inverted.
    Value span = a.levelSize(build.level);
    build.size = arith::MaxSIOp::create(a.builder, a.loc, span, a.constant(0));
    build.work = a.zeros(a.builder.getI8Type(), build.size);
  }
  void query(const Assembly &a, LevelBuild &build, Value, Value coordinate, ValueRange) const override {
    Value at = a.difference(coordinate, build.low);
    auto mark = [&] { a.write(build.work, at, a.constant(1)); };
    if (!build.isConcurrent)
      return mark();
    // Most marks are there already: threads that only read them need not take the line from each other.
    when(a, a.isEqual(a.read(build.work, at), 0), mark);
  }
  Value size(const Assembly &a, LevelBuild &build) const override {
    OpBuilder &b = a.builder;
    Value span = build.size, zero = a.constant(0);
    build.extra = a.scratch(b.getI64Type(), span);
    Value occurring = a.scratch(b.getI64Type(), span);
    // Most coordinates do not occur: whole blocks of marks are passed over.
    Value block = a.constant(kMarks), last = a.constant(kMarks - 1);
    Value blocks = a.divide(a.add(span, last), block);
    build.size = reduce(a, blocks, zero, [&](Value number, Values next) {
      Value begin = a.mul(number, block);
      Value end = a.umin(a.add(begin, block), span);
      Value found = countMarks(a, build, begin, end);
      return either(
          a, a.isDifferent(found, 0), b.getIndexType(),
          [&] { return listMarks(a, build, occurring, begin, end, next[0]); },
          [&] { return Values{next[0]}; });
    })[0];
    a.makeSize(build.level, build.size);
    a.allocateCoordinates(build.level, build.size);
    forEach(a, build.size, dialect::LoopKind::Reduction, [&](Value number) {
      a.storeCoordinate(build.level, number, a.sum(a.read(occurring, number), build.low));
    });
    return a.positions(build.level, build.parents, build.size);
  }
  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    Value number = a.read(build.extra, a.difference(coordinate, build.low));
    return a.add(a.mul(parent, build.size), number);
  }

private:
  /// A cache line of them.
  static constexpr int64_t kMarks = 64;

  static Value countMarks(const Assembly &a, const LevelBuild &build, Value begin, Value end) {
    return reduce(a, begin, end, a.constant(0),
                  [&](Value at, Values sum) { return Values{a.add(sum[0], a.read(build.work, at))}; })[0];
  }

  /// Lists the marks set there from index `next` on; returns the index after them.
  static Values listMarks(const Assembly &a, const LevelBuild &build, Value list, Value begin, Value end,
                          Value next) {
    return reduce(a, begin, end, next, [&](Value at, Values next) {
      Value mark = a.read(build.work, at);
      when(a, a.isDifferent(mark, 0), [&] {
        a.write(list, next[0], at);
        a.write(build.extra, at, next[0]);
      });
      return Values{a.add(next[0], mark)};
    });
  }
};

TULLE_LEVEL_FORMAT(Squeezed)

} // namespace tulle::levels
