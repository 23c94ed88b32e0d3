// loose_compressed: the coordinates of parent p are crd[pos[2p]] … crd[pos[2p + 1] - 1]; segments may leave
// gaps. loose_compressed[n] leaves n positions in reserve after each.
#include "levels/LevelFormat.h"

namespace tulle::levels {

struct LooseCompressed : Counted<LevelFormat, 64> {
  PositionRange positions(const LevelEmitter &emit, const Iterator &parent) const override {
    return emit.storedRange(emit.mul(parent.position, 2));
  }
  bool leavesGaps() const override { return true; }

  Insertion insertion() const override { return Insertion::Append; }

  // The end of a segment counts first, and is the cursor then.
  Value size(const Assembly &a, LevelBuild &build) const override {
    unsigned field = *a.made.layout.positions[build.level];
    Value zero = a.constant(0), reserve = a.constant(a.made.encoding.levels[build.level].format.n);
    if (a.made.encoding.levels[build.level].format.n != 0)
      a.product(build.level, build.parents, reserve);
    a.allocate(field, a.product(build.level, build.parents, a.constant(2)));
    // Where the next segment begins, and where the last one ended.
    Values reached = reduce(a, build.parents, ValueRange{zero, zero}, [&](Value parent, Values sum) {
      Value at = a.mul(parent, 2);
      Value end = a.add(sum[0], a.read(build.work, parent));
      a.write(a.made.fields[field], at, sum[0]);
      a.write(a.made.fields[field], a.add(at, 1), end);
      a.write(build.work, parent, sum[0]);
      return Values{a.total(end, reserve), end};
    });
    a.checkWidth(field, reached[1]);
    Value count = a.positions(build.level, reached[0], a.constant(1));
    a.allocateCoordinates(build.level, count);
    a.clearReserve(build.level, count);
    return count;
  }
  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    Value position = a.fetchAdd(build, parent);
    a.storeCoordinate(build.level, position, coordinate);
    return position;
  }
};

TULLE_LEVEL_FORMAT(LooseCompressed)

} // namespace tulle::levels
