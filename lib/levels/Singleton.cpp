// singleton: one coordinate for each position of the parent; a padded one may be empty.
#include "levels/LevelFormat.h"

namespace tulle::levels {

struct Singleton : LevelFormat {
  PositionRange positions(const LevelEmitter &emit, const Iterator &parent) const override {
    // Under a nonunique parent, every position of its segment.
    return {parent.position, parent.end ? parent.end : emit.add(parent.position, 1)};
  }
  bool single(const Iterator &parent) const override { return !parent.end; }
  bool storesEachCoordinate() const override { return true; }
  bool hasPadding(const format::LevelFormat &format) const override { return format.padded; }

  Insertion insertion() const override { return Insertion::Computed; }
  Value size(const Assembly &a, LevelBuild &build) const override {
    a.allocateCoordinates(build.level, build.parents);
    const bool padded = a.made.encoding.levels[build.level].format.padded;
    if (padded && (!build.paddingIsCleared || mayCollide(a, build.level)))
      a.clearCoordinates(build.level, build.parents);
    else
      a.clearReserve(build.level, build.parents);
    return build.parents;
  }
  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    if (!mayCollide(a, build.level)) {
      a.storeCoordinate(build.level, parent, coordinate);
      return parent;
    }
    Value taken = a.exchangeCoordinate(build.level, parent, coordinate);
    when(a, taken, [&] { a.refuseGroup(build.level, parent, a.constant(2), a.constant(1)); });
    return parent;
  }

private:
  /// Whether several entries may have one position: a counter above sets them apart, and without padding the
  /// level above has a position for each.
  static bool mayCollide(const Assembly &a, unsigned level) {
    const format::Encoding &encoding = a.made.encoding;
    bool counted = false;
    for (unsigned l = 0; l < level; ++l)
      counted |= encoding.levels[l].expr->kind == format::ExprKind::Counter;
    return encoding.levels[level].format.padded && !counted;
  }
};

TULLE_LEVEL_FORMAT(Singleton)

} // namespace tulle::levels
