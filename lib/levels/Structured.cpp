// structured[n,m]: n of every m coordinates are stored. Where a group has fewer entries, its lowest free
// coordinates are stored with them, at the fill.
#include "levels/LevelFormat.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace tulle::levels {

namespace math = mlir::math;

struct Structured : SlottedLevelFormat {
  Value slots(const LevelEmitter &emit) const override { return emit.constant(emit.format().n); }

  // A bit for each of a group's m coordinates: those that are stored. An entry's slot is the number of bits
  // below its own, so that entries may arrive in any order, and repeatedly.
  Insertion insertion() const override { return Insertion::Computed; }
  bool needsQuery(const format::Level &) const override { return true; }
  void startQuery(const Assembly &a, LevelBuild &build) const override {
    const Groups groups(a, build);
    build.work = a.zeros(a.builder.getIntegerType(groups.width()),
                         a.product(build.level, build.parents, a.constant(groups.words())));
  }
  void query(const Assembly &a, LevelBuild &build, Value parent, Value coordinate,
             ValueRange) const override {
    const Groups groups(a, build);
    Value at = groups.wordOf(parent, coordinate);
    a.write(build.work, at, groups.with(a.read(build.work, at), groups.bitOf(coordinate)));
  }
  Value size(const Assembly &a, LevelBuild &build) const override {
    const Groups groups(a, build);
    Value n = slots({a, build.level});
    refuseShortGroup(a, build, n);
    // Data that is not structured at all needs far more memory than it should, and deserves the better error.
    forEach(a, build.parents, dialect::LoopKind::Reduction, [&](Value parent) {
      Value found = groups.countAll(parent);
      when(a, a.isAbove(found, n), [&] { a.refuseGroup(build.level, parent, found, n); });
    });
    Value count = a.positions(build.level, build.parents, n);
    a.allocateCoordinates(build.level, count);
    forEach(a, build.parents, dialect::LoopKind::Parallel, [&](Value parent) {
      Value missing = a.sub(n, groups.countAll(parent));
      reduce(a, a.constant(groups.words()), {missing, a.mul(parent, n)}, [&](Value word, Values carried) {
        auto [left, position] = std::pair(carried[0], carried[1]);
        Value at = groups.wordAt(parent, word);
        auto [bits, taken] = groups.takeLowest(a.read(build.work, at), left);
        a.write(build.work, at, bits);
        return Values{a.sub(left, taken), groups.list(word, bits, position)};
      });
    });
    return count;
  }
  Value insert(const Assembly &a, LevelBuild &build, Value parent, Value coordinate) const override {
    const Groups groups(a, build);
    Value slot = groups.countBelow(parent, coordinate);
    return a.add(a.mul(parent, slots({a, build.level})), slot);
  }

private:
  /// The last group of a dimension may have fewer coordinates than are stored: code would read beyond it.
  static void refuseShortGroup(const Assembly &a, const LevelBuild &build, Value n) {
    if (a.made.digits.empty())
      return;
    const format::Digit &digit = a.made.digits[build.level];
    const int64_t m = a.made.encoding.levels[build.level].format.m;
    Value size = a.made.dims[digit.dim], all = a.constant(m);
    // Modulo m strides: that many coordinates behind the last whole group.
    Value coordinates = a.divide(a.add(size, digit.stride - 1), digit.stride);
    Value rest = arith::RemUIOp::create(a.builder, a.loc, coordinates, all);
    Value isShort =
        a.both(a.both(a.isDifferent(rest, 0), a.isBelow(rest, n)), a.isDifferent(build.parents, 0));
    when(a, isShort, [&] { a.refuseGroup(build.level, a.constant(0), rest, n); });
  }

  /// The bits of the groups, in one word for each, or in several of 64.
  class Groups {
  public:
    Groups(const Assembly &a, const LevelBuild &build)
        : a(a), build(build), m(a.made.encoding.levels[build.level].format.m) {}

    int64_t words() const { return (m + 63) / 64; }
    unsigned width() const { return m > 32 ? 64 : m > 16 ? 32 : m > 8 ? 16 : 8; }

    Value with(Value x, Value y) const { return arith::OrIOp::create(a.builder, a.loc, x, y); }
    Value bitOf(Value coordinate) const {
      return a.shiftLeft(a.constant(1), words() == 1 ? coordinate : a.both(coordinate, 63));
    }
    Value numberOfWord(Value coordinate) const {
      return words() == 1 ? a.constant(0) : a.shiftRight(coordinate, 6);
    }
    Value wordAt(Value parent, Value word) const { return a.add(a.mul(parent, words()), word); }
    Value wordOf(Value parent, Value coordinate) const { return wordAt(parent, numberOfWord(coordinate)); }

    Value count(Value bits) const {
      return a.toIndex(math::CtPopOp::create(a.builder, a.loc, integer(bits)));
    }
    /// All of a group's.
    Value countAll(Value parent) const {
      return words() == 1 ? count(a.read(build.work, parent)) : countWords(parent, a.constant(words()));
    }
    /// Those below a coordinate's.
    Value countBelow(Value parent, Value coordinate) const {
      Value word = a.read(build.work, wordOf(parent, coordinate));
      Value own = count(a.both(word, a.sub(bitOf(coordinate), 1)));
      return words() == 1 ? own : a.add(countWords(parent, numberOfWord(coordinate)), own);
    }
    /// The word with its lowest free bits set, `wanted` at most, and how many these are.
    std::pair<Value, Value> takeLowest(Value bits, Value wanted) const {
      Value taken = a.umin(wanted, a.sub(a.constant(64), count(bits)));
      Value full = reduce(a, taken, bits,
                          [&](Value, Values word) { return Values{with(word[0], a.add(word[0], 1))}; })[0];
      return {full, taken};
    }
    /// Stores the coordinates that a word has, from a position on; returns the position behind.
    Value list(Value word, Value bits, Value position) const {
      Value number = count(bits), first = a.mul(word, 64);
      reduce(a, number, bits, [&](Value k, Values rest) {
        Value lowest = a.toIndex(math::CountTrailingZerosOp::create(a.builder, a.loc, integer(rest[0])));
        a.storeCoordinate(build.level, a.add(position, k), a.add(first, lowest));
        return Values{a.both(rest[0], a.sub(rest[0], 1))};
      });
      return a.add(position, number);
    }

  private:
    /// Of the first words of a group.
    Value countWords(Value parent, Value end) const {
      return reduce(a, end, a.constant(0), [&](Value word, Values sum) {
        return Values{a.add(sum[0], count(a.read(build.work, wordAt(parent, word))))};
      })[0];
    }
    Value integer(Value index) const {
      return arith::IndexCastUIOp::create(a.builder, a.loc, a.builder.getI64Type(), index);
    }

    const Assembly &a;
    const LevelBuild &build;
    int64_t m;
  };
};

TULLE_LEVEL_FORMAT(Structured)

} // namespace tulle::levels
