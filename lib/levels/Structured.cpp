// structured[n,m]: exactly n of every m coordinates are stored.
#include "levels/Counted.h"

using namespace mlir;

namespace tulle::levels {

struct Structured : CountedLevelFormat {
  Structured() : CountedLevelFormat(32) {}

  PositionRange positions(const Emitter &emit, unsigned level, const Iterator &parent) const override {
    Value n = emit.constant(emit.storage.encoding.levels[level].format.n);
    Value begin = emit.mul(parent.position, n);
    return {begin, emit.add(begin, n)};
  }

  Insertion insertion() const override { return Insertion::Append; }
  Value size(const Assembly &a, LevelBuild &build) const override {
    Value n = a.constant(a.made.encoding.levels[build.level].format.n), zero = a.constant(0);
    // Data that is not structured at all needs far more memory than it should, and deserves the better error.
    forEach(a.builder, a.loc, zero, build.parents, dialect::LoopKind::Reduction, [&](Value parent) {
      Value found = a.read(build.work, parent);
      a.when(a.compare(arith::CmpIPredicate::ne, found, n), [&] {
        a.when(mustHaveEntries(a, build.level, parent, found),
               [&] { a.refuseGroup(build.level, parent, found, n); });
      });
    });
    Value count = a.positions(build.level, build.parents, n);
    a.allocateCoordinates(build.level, count);
    // What block padding put outside the tensor holds 0 … n - 1.
    forEach(a.builder, a.loc, zero, build.parents, dialect::LoopKind::Parallel, [&](Value parent) {
      Value first = a.mul(parent, n);
      forEach(a.builder, a.loc, zero, n, dialect::LoopKind::Parallel,
              [&](Value k) { a.storeCoordinate(build.level, a.add(first, k), k); });
      a.write(build.work, parent, zero);
    });
    return count;
  }
  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    Value n = a.constant(a.made.encoding.levels[build.level].format.n);
    Value position = a.add(a.mul(parent, n), a.take(build.work, parent, build.firstOccurrence));
    a.storeCoordinate(build.level, position, coordinate);
    return position;
  }

private:
  /// Whether a group that has `found` entries is wrong: it has some, or it lies inside the tensor.
  static Value mustHaveEntries(const Assembly &a, unsigned level, Value parent, Value found) {
    OpBuilder &b = a.builder;
    Value wrong = a.compare(arith::CmpIPredicate::ne, found, a.constant(0));
    SmallVector<Value> least(a.made.dims.size(), a.constant(0));
    Value rest = parent;
    for (unsigned l = level; l-- > 0;) {
      if (!levels::find(a.made.encoding.levels[l].format.kind)->full())
        return a.constantInt(b.getI1Type(), 1);
      const format::Digit &digit = a.made.digits[l];
      Value size = a.levelSize(l), coordinate = arith::RemUIOp::create(b, a.loc, rest, size);
      rest = arith::DivUIOp::create(b, a.loc, rest, size);
      least[digit.dim] = a.add(least[digit.dim], a.mul(coordinate, a.constant(digit.stride)));
    }
    Value inside = a.constantInt(b.getI1Type(), 1);
    for (auto [from, size] : llvm::zip(least, a.made.dims))
      inside = arith::AndIOp::create(b, a.loc, inside, a.compare(arith::CmpIPredicate::ult, from, size));
    return arith::OrIOp::create(b, a.loc, wrong, inside);
  }
};

TULLE_LEVEL_FORMAT(Structured)

} // namespace tulle::levels
