// tulle-lower-sort-segments and -unique: what is below each parent sorted, runs by counting and then by
// merging, and rid of repeats, as loops.
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/Target.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
using namespace assemble;
#define GEN_PASS_DEF_LOWERSORTSEGMENTS
#define GEN_PASS_DEF_LOWERUNIQUE
#include "passes/Passes.h.inc"

namespace {

bool isLoose(const Target &target) {
  return target.encoding().levels.back().format.kind == format::LevelKind::LooseCompressed;
}

/// The entries below one parent, begin … end - 1, and the elements of the positions field that say so.
struct Segment {
  Value begin, end, edge, behind;
};

/// `body(segment, carried) -> carried` for the parents of an op, one after the other. Of a range of parents
/// whose neighbours are still in the making only the ends of the segments are read: one begins where another
/// ends, but for loose ones, which gaps may be between.
template <typename Op, typename Body>
Values reduceSegments(const Target &a, Op op, ValueRange inits, Body body) {
  const bool loose = isLoose(a);
  Values start{op.getStart()};
  start.append(inits.begin(), inits.end());
  return reduce(a, op.getFirst(), op.getLast(), start, [&](Value parent, Values before) {
    Value edge = loose ? a.mul(parent, 2) : parent, behind = a.add(edge, 1);
    Value begin = loose ? a.read(op.getPositions(), edge) : before[0];
    const Segment segment{begin, a.read(op.getPositions(), behind), edge, behind};
    Values next{segment.end};
    next.append(body(segment, ValueRange(before).drop_front()));
    return next;
  });
}

//===--- Sorting ---===//

/// What is sorted by counting; merging is profitable beyond.
constexpr int64_t runLength = 32;
/// Coordinates compared at once.
constexpr int64_t lanes = 8;
static_assert(runLength % lanes == 0, "the staging of a run is read by whole vectors");

/// A coordinate and its value, as they stand in memory; buffers of these.
struct Pair {
  Value coordinate, value;
};
struct Pairs {
  Value coordinates, values;
};

class SegmentSort {
public:
  SegmentSort(const Target &target, SortSegmentsOp op)
      : a(target), b(target.builder), op(op), entries{op.getCoordinates(), op.getValues()},
        isSigned(a.made.layout.fields[a.made.layout.coordinates.back()->field].isSigned) {}

  void run() {
    Register most(a, a.constant(0));
    forSegments([&](Value begin, Value end) { most.set(a.umax(most.get(), a.sub(end, begin))); });
    // A run, or the left half of a merge.
    Value needed = a.umax(most.get(), runLength);
    auto staging = [&](Value buffer, Value size) {
      return newBuffer(a, cast<MemRefType>(buffer.getType()).getElementType(), size);
    };
    spare = {staging(entries.coordinates, needed), staging(entries.values, needed)};
    offsets = staging(entries.coordinates, a.constant(runLength));
    forSegments([&](Value begin, Value end) {
      auto more = [&](Values at) { return a.isBelow(at[0], end); };
      whileLoop(a, begin, more, [&](Values at) {
        Value next = a.add(at[0], runLength);
        sortRun(at[0], a.umin(next, end));
        return Values{next};
      });
      mergeRuns(begin, end);
    });
    freeBuffers(a, {spare.coordinates, spare.values, offsets});
  }

private:
  Pair load(Pairs from, Value at) const {
    return {loadAt(a, from.coordinates, at), loadAt(a, from.values, at)};
  }
  void store(Pair pair, Pairs to, Value at) const {
    storeAt(a, pair.coordinate, to.coordinates, at);
    storeAt(a, pair.value, to.values, at);
  }
  Value less(Value x, Value y) const {
    return a.compare(isSigned ? arith::CmpIPredicate::slt : arith::CmpIPredicate::ult, x, y);
  }

  /// Merges share their spare memory.
  void forSegments(function_ref<void(Value begin, Value end)> body) const {
    reduceSegments(a, op, {}, [&](const Segment &segment, ValueRange) {
      body(segment.begin, segment.end);
      return Values();
    });
  }
  /// Whether some coordinate is less than the one before it.
  Value isOutOfOrder(Value begin, Value end) const {
    Value no = a.constantInt(b.getI1Type(), 0);
    return reduce(a, a.add(begin, 1), end, no, [&](Value next, Values found) {
      Value before = loadAt(a, entries.coordinates, a.sub(next, 1));
      Value descends = less(loadAt(a, entries.coordinates, next), before);
      return Values{make<arith::OrIOp>(a, found[0], descends)};
    })[0];
  }

  /// For each of `lanes` entries of a run from its entry `first` on: how many of the run go before it. Of
  /// equal coordinates the first does.
  Value countBefore(Value begin, Value end, Value first) const {
    Type element = cast<MemRefType>(entries.coordinates.getType()).getElementType();
    auto type = VectorType::get(lanes, element);
    auto spread = [&](Value scalar) -> Value { return make<vector::BroadcastOp>(a, type, scalar); };
    auto asElement = [&](Value index) -> Value { return make<arith::IndexCastOp>(a, element, index); };
    SmallVector<APInt> steps;
    for (int64_t lane = 0; lane < lanes; ++lane)
      steps.push_back(APInt(element.getIntOrFloatBitWidth(), lane));
    Value numbers = make<arith::ConstantOp>(a, DenseElementsAttr::get(type, steps));
    numbers = make<arith::AddIOp>(a, numbers, spread(asElement(first)));
    Value own = loadLanes(type, begin, first);
    Value none = spread(a.constantInt(element, 0));
    return reduce(a, begin, end, none, [&](Value at, Values counted) {
      Value other = spread(loadAt(a, entries.coordinates, at));
      Value earlier = a.isBelow(spread(asElement(a.sub(at, begin))), numbers);
      Value tie = a.both(a.isEqual(other, own), earlier);
      Value before = make<arith::OrIOp>(a, less(other, own), tie);
      return Values{make<arith::AddIOp>(a, counted[0], make<arith::ExtUIOp>(a, type, before))};
    })[0];
  }

  /// Coordinates of a run from its entry `first` on, and whatever is behind it: nobody uses that. Its copy,
  /// which has space behind its end, is read where the buffer ends: a vector of what was stored one by one a
  /// moment ago would wait.
  Value loadLanes(VectorType type, Value begin, Value first) const {
    Value at = a.add(begin, first), size = make<memref::DimOp>(a, entries.coordinates, 0);
    auto from = [&](Value buffer, Value position) {
      return Values{make<vector::LoadOp>(a, type, buffer, position)};
    };
    return either(
        a, a.isBelow(size, a.add(at, lanes)), type, [&] { return from(spare.coordinates, first); },
        [&] { return from(entries.coordinates, at); })[0];
  }

  /// At most `runLength` entries: each goes behind those that are less. Unlike insertion this takes no branch
  /// that depends on the coordinates, which a processor could only guess.
  void sortRun(Value begin, Value end) const {
    when(a, isOutOfOrder(begin, end), [&] {
      Value count = a.sub(end, begin);
      forEach(a, count, LoopKind::Parallel,
              [&](Value k) { store(load(entries, a.add(begin, k)), spare, k); });
      Value chunks = make<arith::CeilDivUIOp>(a, count, a.constant(lanes));
      forEach(a, chunks, LoopKind::Reduction, [&](Value chunk) {
        Value first = a.mul(chunk, lanes);
        vector::StoreOp::create(b, a.loc, countBefore(begin, end, first), offsets, first);
      });
      forEach(a, count, LoopKind::Reduction,
              [&](Value k) { store(load(spare, k), entries, a.add(begin, a.read(offsets, k))); });
    });
  }

  /// Runs of `runLength` are sorted; pairs of them are merged to runs of twice the length until there is one.
  void mergeRuns(Value begin, Value end) const {
    auto several = [&](Values width) { return a.isBelow(width[0], a.sub(end, begin)); };
    whileLoop(a, a.constant(runLength), several, [&](Values width) {
      Value both = a.add(width[0], width[0]);
      auto more = [&](Values at) { return a.isBelow(at[0], end); };
      whileLoop(a, begin, more, [&](Values at) {
        Value middle = a.umin(a.add(at[0], width[0]), end), last = a.umin(a.add(at[0], both), end);
        when(a, a.isBelow(middle, last), [&] {
          Value left = loadAt(a, entries.coordinates, a.sub(middle, 1));
          Value right = loadAt(a, entries.coordinates, middle);
          when(a, less(right, left), [&] { merge(at[0], middle, last); });
        });
        return Values{a.add(at[0], both)};
      });
      return Values{both};
    });
  }

  /// [begin, middle) and [middle, end) are sorted. The left half moves away, and both come back in order.
  void merge(Value begin, Value middle, Value end) const {
    Value count = a.sub(middle, begin);
    forEach(a, count, LoopKind::Parallel, [&](Value k) { store(load(entries, a.add(begin, k)), spare, k); });
    // Carried: the next position, and the next of either half. What is left of the right half is in position.
    auto more = [&](Values at) { return a.isBelow(at[1], count); };
    whileLoop(a, ValueRange{begin, a.constant(0), middle}, more, [&](Values at) {
      Pair left = load(spare, at[1]);
      Value takeRight = either(
          a, a.isBelow(at[2], end), b.getI1Type(),
          [&] { return Values{less(loadAt(a, entries.coordinates, at[2]), left.coordinate)}; },
          [&] { return Values{a.constantInt(b.getI1Type(), 0)}; })[0];
      Values next = either(
          a, takeRight, TypeRange{b.getIndexType(), b.getIndexType()},
          [&] {
            store(load(entries, at[2]), entries, at[0]);
            return Values{at[1], a.add(at[2], 1)};
          },
          [&] {
            store(left, entries, at[0]);
            return Values{a.add(at[1], 1), at[2]};
          });
      return Values{a.add(at[0], 1), next[0], next[1]};
    });
  }

  const Target &a;
  OpBuilder &b;
  SortSegmentsOp op;
  Pairs entries;
  bool isSigned;
  Pairs spare;   ///< a run, or the left half of a merge
  Value offsets; ///< of each entry of a run in the sorted one
};

//===--- Repeats ---===//

/// The next entry goes to position `to` of a segment that begins at `begin` now, or is combined with the one
/// before. Returns the position behind.
Value moveEntry(const Target &target, UniqueOp op, Value begin, Value next, Value to) {
  Value coordinate = loadAt(target, op.getCoordinates(), next);
  Value value = loadAt(target, op.getValues(), next), before = target.sub(to, 1);
  Type bit = target.builder.getI1Type();
  Value repeated = either(
      target, target.isBelow(begin, to), bit,
      [&] { return Values{target.isEqual(loadAt(target, op.getCoordinates(), before), coordinate)}; },
      [&] { return Values{target.constantInt(bit, 0)}; })[0];
  return either(
      target, repeated, to.getType(),
      [&] {
        target.combineValue(before, target.fromMemory(value));
        return Values{to};
      },
      [&] {
        storeAt(target, coordinate, op.getCoordinates(), to);
        storeAt(target, value, op.getValues(), to);
        return Values{target.add(to, 1)};
      })[0];
}

/// Moves the entries up behind what is kept of the segments before; returns how many are kept.
Value combineRepeats(Target &target, UniqueOp op) {
  target.storage.fields.back() = op.getValues();
  auto combine = [&](const Segment &segment, ValueRange kept) {
    Value behind = reduce(target, segment.begin, segment.end, kept, [&](Value next, Values to) {
      return Values{moveEntry(target, op, kept[0], next, to[0])};
    })[0];
    if (isLoose(target))
      target.write(op.getPositions(), segment.edge, kept[0]);
    target.write(op.getPositions(), segment.behind, behind);
    return Values{behind};
  };
  return reduceSegments(target, op, op.getStart(), combine)[1];
}

//===--- The passes ---===//

struct LowerSortSegments : impl::LowerSortSegmentsBase<LowerSortSegments> {
  void runOnOperation() override {
    auto lower = [](OpBuilder &b, SortSegmentsOp op) {
      Target target(b, op.getLoc(), cast<RankedTensorType>(op.getTensor()), {});
      SegmentSort(target, op).run();
      return Values();
    };
    if (!lowerEach<SortSegmentsOp>(getOperation(), lower))
      markAllAnalysesPreserved();
  }
};

struct LowerUnique : impl::LowerUniqueBase<LowerUnique> {
  void runOnOperation() override {
    auto lower = [](OpBuilder &b, UniqueOp op) {
      Target target(b, op.getLoc(), cast<RankedTensorType>(op.getTensor()), {}, op.getCombine());
      return Values{combineRepeats(target, op)};
    };
    if (!lowerEach<UniqueOp>(getOperation(), lower))
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
