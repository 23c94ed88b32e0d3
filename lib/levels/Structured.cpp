// structured[n,m]: exactly n of every m coordinates are stored.
#include "levels/LevelFormat.h"

namespace tulle::levels {

struct Structured : Counted<SlottedLevelFormat, 32> {
  Value slots(const LevelEmitter &emit) const override { return emit.constant(emit.format().n); }

  Insertion insertion() const override { return Insertion::Append; }
  Value size(const Assembly &a, LevelBuild &build) const override {
    Value n = slots({a, build.level}), zero = a.constant(0);
    // Data that is not structured at all needs far more memory than it should, and deserves the better error.
    forEach(a, build.parents, dialect::LoopKind::Reduction, [&](Value parent) {
      Value found = a.read(build.work, parent);
      when(a, a.isDifferent(found, n), [&] {
        when(a, mustHaveEntries(a, build.level, parent, found),
             [&] { a.refuseGroup(build.level, parent, found, n); });
      });
    });
    Value count = a.positions(build.level, build.parents, n);
    a.allocateCoordinates(build.level, count);
    // What block padding put outside the tensor holds 0 … n - 1.
    forEach(a, build.parents, dialect::LoopKind::Parallel, [&](Value parent) {
      Value first = a.mul(parent, n);
      forEach(a, n, dialect::LoopKind::Parallel,
              [&](Value k) { a.storeCoordinate(build.level, a.add(first, k), k); });
      a.write(build.work, parent, zero);
    });
    return count;
  }
  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    Value position = a.add(a.mul(parent, slots({a, build.level})), a.fetchAdd(build, parent));
    a.storeCoordinate(build.level, position, coordinate);
    return position;
  }

private:
  /// Whether a group that has `found` entries is wrong: it has some, or it lies inside the tensor.
  static Value mustHaveEntries(const Assembly &a, unsigned level, Value parent, Value found) {
    OpBuilder &b = a.builder;
    Value wrong = a.isDifferent(found, 0);
    llvm::SmallVector<Value> least(a.made.dims.size(), a.constant(0));
    Value rest = parent;
    for (unsigned l = level; l-- > 0;) {
      if (!levels::find(a.made.encoding.levels[l].format.kind)->full())
        return a.constantInt(b.getI1Type(), 1);
      const format::Digit &digit = a.made.digits[l];
      Value size = a.levelSize(l), coordinate = arith::RemUIOp::create(b, a.loc, rest, size);
      rest = a.divide(rest, size);
      least[digit.dim] = a.add(least[digit.dim], a.mul(coordinate, digit.stride));
    }
    Value inside = a.constantInt(b.getI1Type(), 1);
    for (auto [from, size] : llvm::zip(least, a.made.dims))
      inside = a.both(inside, a.isBelow(from, size));
    return arith::OrIOp::create(b, a.loc, wrong, inside);
  }
};

TULLE_LEVEL_FORMAT(Structured)

} // namespace tulle::levels
