// compressed: the coordinates of parent p are crd[pos[p]] … crd[pos[p + 1] - 1].
#include "levels/LevelFormat.h"

namespace tulle::levels {

struct Compressed : LevelFormat {
  PositionRange positions(const LevelEmitter &emit, const Iterator &parent) const override {
    // Each batch has one entry more than it has parents, so its run begins one further for every batch before
    // it.
    return emit.storedRange(parent.batch ? emit.add(parent.position, parent.batch) : parent.position);
  }
  bool storesEachCoordinate() const override { return true; }

  Insertion insertion() const override { return Insertion::Append; }
  bool needsQuery(const format::Level &) const override { return true; }

  // Entry p + 2 counts the entries of parent p. After the prefix sums entry p + 1 is where p begins, and
  // serves as its cursor: when all entries are stored, it is where p ends, which is what positions say.
  void startQuery(const Assembly &a, LevelBuild &build) const override {
    unsigned field = *a.made.layout.positions[build.level];
    Value count = a.add(build.parents, 2);
    if (countsInPlace(a, build)) {
      a.allocate(field, count);
      build.work = a.made.fields[field];
      a.fill(build.work, a.constant(0), count, a.constant(0));
    } else {
      build.work = a.zeros(a.builder.getI64Type(), count);
    }
  }
  void query(const Assembly &a, LevelBuild &build, Value parent, Value, ValueRange) const override {
    a.fetchAdd(build, a.add(parent, 2));
  }
  Value size(const Assembly &a, LevelBuild &build) const override {
    Value end = a.add(build.parents, 2);
    Value total = reduce(a, a.constant(2), end, a.constant(0), [&](Value at, Values sum) {
      Value next = a.add(sum[0], a.read(build.work, at));
      a.write(build.work, at, next);
      return Values{next};
    })[0];
    a.checkWidth(*a.made.layout.positions[build.level], total);
    a.allocateCoordinates(build.level, total);
    return total;
  }
  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    Value position = a.fetchAdd(build, a.add(parent, 1));
    a.storeCoordinate(build.level, position, coordinate);
    return position;
  }
  void finish(const Assembly &a, LevelBuild &build) const override {
    unsigned field = *a.made.layout.positions[build.level];
    if (countsInPlace(a, build))
      return a.shrink(field, a.add(build.parents, 1));
    // One more entry than parents for each batch.
    Value batches = build.batches ? build.batches : a.constant(1);
    a.allocate(field, a.add(build.parents, batches));
    Value each = a.divide(build.parents, a.umax(batches, 1));
    forEach(a, batches, dialect::LoopKind::Parallel, [&](Value batch) {
      Value first = a.mul(batch, each), out = a.add(first, batch);
      forEach(a, a.add(each, 1), dialect::LoopKind::Parallel, [&](Value k) {
        a.write(a.made.fields[field], a.add(out, k), a.read(build.work, a.add(first, k)));
      });
    });
  }

private:
  /// Narrower positions could wrap while they count, and batches have entries of their own between them.
  static bool countsInPlace(const Assembly &a, const LevelBuild &build) {
    return !build.batches && a.made.layout.fields[*a.made.layout.positions[build.level]].width >= 32;
  }
};

TULLE_LEVEL_FORMAT(Compressed)

} // namespace tulle::levels
