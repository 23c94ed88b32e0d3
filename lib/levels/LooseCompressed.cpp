// loose_compressed: the coordinates of parent p are crd[pos[2p]] … crd[pos[2p + 1] - 1]; segments may leave
// gaps.
#include "levels/LevelFormat.h"

using namespace mlir;

namespace tulle::levels {

struct LooseCompressed : LevelFormat {
  PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const override {
    return storedRange(emit, level, emit.mul(parent.position, emit.constant(2)));
  }
  Value coordinate(const Emitter &emit, unsigned level, const Iterator &, Value position) const override {
    return storedCoordinate(emit, level, position);
  }

  Placement placement() const override { return Placement::Bucket; }
  bool asksEntries(const format::Level &) const override { return true; }

  // The end of a segment counts first, and is the cursor then.
  void startQuery(const Assembly &a, LevelBuild &build) const override {
    build.work = a.zeros(a.builder.getI64Type(), build.parents);
  }
  void query(const Assembly &a, LevelBuild &build, Value parent, Value, ValueRange) const override {
    a.take(build.work, parent, build.fresh);
  }
  Value size(const Assembly &a, LevelBuild &build) const override {
    unsigned field = *a.made.layout.positions[build.level];
    a.allocate(field, a.product(build.level, build.parents, a.constant(2)));
    Value total = forLoop(a.builder, a.loc, a.constant(0), build.parents, dialect::LoopKind::Reduction,
                          a.constant(0), [&](Value parent, Values sum) {
                            Value at = a.mul(parent, a.constant(2));
                            Value end = a.add(sum[0], a.read(build.work, parent));
                            a.write(a.made.fields[field], at, sum[0]);
                            a.write(a.made.fields[field], a.add(at, a.constant(1)), end);
                            a.write(build.work, parent, sum[0]);
                            return Values{end};
                          })[0];
    a.checkWidth(field, total);
    a.allocateCoordinates(build.level, total);
    return total;
  }
  Value place(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    Value position = a.take(build.work, parent, build.fresh);
    a.storeCoordinate(build.level, position, coordinate);
    return position;
  }
};

TULLE_LEVEL_FORMAT(LooseCompressed)

} // namespace tulle::levels
