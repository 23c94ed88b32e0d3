// tulle-lower-sort-segments: sorts of segments as loops: runs by counting, then by merging.
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/Target.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
#define GEN_PASS_DEF_LOWERSORTSEGMENTS
#include "passes/Passes.h.inc"

using arith::CmpIPredicate;
using assemble::either;
using assemble::forEach;
using assemble::loadAt;
using assemble::make;
using assemble::reduce;
using assemble::storeAt;
using levels::whileLoop;
using Carried = levels::Values;

namespace {

/// What is sorted by counting; merging is profitable beyond.
constexpr int64_t runLength = 32;
/// Coordinates compared at once.
constexpr int64_t lanes = 8;
static_assert(runLength % lanes == 0, "the staging of a run is read by whole vectors");

/// A coordinate and its value, as they stand in memory.
struct Pair {
  Value coordinate, value;
};

class Segments {
public:
  Segments(const assemble::Target &target, SortSegmentsOp op)
      : a(target), b(target.builder), coordinates(op.getCoordinates()), values(op.getValues()),
        edges(op.getPositions()),
        isSigned(a.made.layout.fields[a.made.layout.coordinates.back()->field].isSigned),
        loose(a.made.encoding.levels.back().format.kind == format::LevelKind::LooseCompressed),
        first(op.getFirst()), last(op.getLast()), start(op.getStart()) {}

  void sort();

private:
  Pair load(Value at) const { return load(coordinates, values, at); }
  void store(Pair pair, Value at) const { store(pair, coordinates, values, at); }
  Pair load(Value from, Value fromValues, Value at) const {
    return {loadAt(a, from, at), loadAt(a, fromValues, at)};
  }
  void store(Pair pair, Value to, Value toValues, Value at) const {
    storeAt(a, pair.coordinate, to, at);
    storeAt(a, pair.value, toValues, at);
  }
  Value less(Value x, Value y) const {
    return a.compare(isSigned ? CmpIPredicate::slt : CmpIPredicate::ult, x, y);
  }
  Value below(Value x, Value y) const { return a.compare(CmpIPredicate::ult, x, y); }
  Value one() const { return a.constant(1); }
  Value minimum(Value x, Value y) const { return make<arith::MinUIOp>(a, x, y); }

  void forSegments(llvm::function_ref<void(Value begin, Value end)> body) const;
  Value isOutOfOrder(Value begin, Value end) const;
  Value countBefore(Value begin, Value end, Value first) const;
  Value loadLanes(VectorType type, Value begin, Value first) const;
  void sortRun(Value begin, Value end) const;
  void mergeRuns(Value begin, Value end) const;
  void merge(Value begin, Value middle, Value end) const;

  const assemble::Target &a;
  OpBuilder &b;
  Value coordinates, values, edges;
  bool isSigned, loose;
  Value first, last, start; ///< `start`: where the first segment begins
  Value spare, spareValues; ///< a run, or the left half of a merge
  Value offsets;            ///< of each entry of a run in the sorted one
};

/// Visits the segments one after the other: merges share their spare memory. Of a range of parents whose
/// neighbours are still in the making only the ends of the segments are read: one begins where another ends,
/// but for loose ones, which gaps may be between.
void Segments::forSegments(llvm::function_ref<void(Value, Value)> body) const {
  reduce(a, first, last, start, [&](Value parent, Carried before) {
    Value at = loose ? a.mul(parent, a.constant(2)) : parent;
    Value begin = loose ? a.read(edges, at) : before[0], end = a.read(edges, a.add(at, one()));
    body(begin, end);
    return Carried{end};
  });
}

/// Whether some coordinate is less than the one before it.
Value Segments::isOutOfOrder(Value begin, Value end) const {
  Value no = a.constantInt(b.getI1Type(), 0);
  return reduce(a, a.add(begin, one()), end, no, [&](Value next, Carried found) {
    Value before = loadAt(a, coordinates, a.sub(next, one()));
    Value descends = less(loadAt(a, coordinates, next), before);
    return Carried{make<arith::OrIOp>(a, found[0], descends)};
  })[0];
}

/// Coordinates of a run from its entry `first` on, and whatever is behind it: nobody uses that. Its copy,
/// which has space behind its end, is read where the buffer ends: a vector of what was stored one by one a
/// moment ago would wait.
Value Segments::loadLanes(VectorType type, Value begin, Value first) const {
  Value at = a.add(begin, first), size = make<memref::DimOp>(a, coordinates, 0);
  auto from = [&](Value buffer, Value position) {
    return Carried{make<vector::LoadOp>(a, type, buffer, position)};
  };
  return either(
      a, below(size, a.add(at, a.constant(lanes))), type, [&] { return from(spare, first); },
      [&] { return from(coordinates, at); })[0];
}

/// For each of `lanes` entries of a run from its entry `first` on: how many of the run go before it. Of equal
/// coordinates the first does.
Value Segments::countBefore(Value begin, Value end, Value first) const {
  Type element = cast<MemRefType>(coordinates.getType()).getElementType();
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
  return reduce(a, begin, end, none, [&](Value at, Carried counted) {
    Value other = spread(loadAt(a, coordinates, at));
    Value equal = make<arith::CmpIOp>(a, CmpIPredicate::eq, other, own);
    Value earlier = make<arith::CmpIOp>(a, CmpIPredicate::ult, spread(asElement(a.sub(at, begin))), numbers);
    Value tie = make<arith::AndIOp>(a, equal, earlier);
    Value before = make<arith::OrIOp>(a, less(other, own), tie);
    return Carried{make<arith::AddIOp>(a, counted[0], make<arith::ExtUIOp>(a, type, before))};
  })[0];
}

/// At most `runLength` entries: each goes behind those that are less. Unlike insertion this takes no branch
/// that depends on the coordinates, which a processor could only guess.
void Segments::sortRun(Value begin, Value end) const {
  a.when(isOutOfOrder(begin, end), [&] {
    Value zero = a.constant(0), count = a.sub(end, begin);
    forEach(a, zero, count, LoopKind::Parallel,
            [&](Value k) { store(load(a.add(begin, k)), spare, spareValues, k); });
    Value chunks = make<arith::CeilDivUIOp>(a, count, a.constant(lanes));
    forEach(a, zero, chunks, LoopKind::Reduction, [&](Value chunk) {
      Value first = a.mul(chunk, a.constant(lanes));
      vector::StoreOp::create(b, a.loc, countBefore(begin, end, first), offsets, first);
    });
    forEach(a, zero, count, LoopKind::Reduction,
            [&](Value k) { store(load(spare, spareValues, k), a.add(begin, a.read(offsets, k))); });
  });
}

/// [begin, middle) and [middle, end) are sorted. The left half moves away, and both come back in order.
void Segments::merge(Value begin, Value middle, Value end) const {
  Value count = a.sub(middle, begin), zero = a.constant(0);
  forEach(a, zero, count, LoopKind::Parallel,
          [&](Value k) { store(load(a.add(begin, k)), spare, spareValues, k); });
  // Carried: the next position, and the next of either half. What is left of the right half is in position.
  auto more = [&](Carried at) { return below(at[1], count); };
  whileLoop(b, a.loc, ValueRange{begin, zero, middle}, more, [&](Carried at) {
    Pair left = load(spare, spareValues, at[1]);
    Value takeRight = either(
        a, below(at[2], end), b.getI1Type(),
        [&] { return Carried{less(loadAt(a, coordinates, at[2]), left.coordinate)}; },
        [&] { return Carried{a.constantInt(b.getI1Type(), 0)}; })[0];
    Carried next = either(
        a, takeRight, TypeRange{b.getIndexType(), b.getIndexType()},
        [&] {
          store(load(at[2]), at[0]);
          return Carried{at[1], a.add(at[2], one())};
        },
        [&] {
          store(left, at[0]);
          return Carried{a.add(at[1], one()), at[2]};
        });
    return Carried{a.add(at[0], one()), next[0], next[1]};
  });
}

/// Runs of `runLength` are sorted; pairs of them are merged to runs of twice the length until there is one.
void Segments::mergeRuns(Value begin, Value end) const {
  auto several = [&](Carried width) { return below(width[0], a.sub(end, begin)); };
  whileLoop(b, a.loc, a.constant(runLength), several, [&](Carried width) {
    Value both = a.add(width[0], width[0]);
    auto more = [&](Carried at) { return below(at[0], end); };
    whileLoop(b, a.loc, begin, more, [&](Carried at) {
      Value middle = minimum(a.add(at[0], width[0]), end), last = minimum(a.add(at[0], both), end);
      a.when(below(middle, last), [&] {
        Value left = loadAt(a, coordinates, a.sub(middle, one()));
        Value right = loadAt(a, coordinates, middle);
        a.when(less(right, left), [&] { merge(at[0], middle, last); });
      });
      return Carried{a.add(at[0], both)};
    });
    return Carried{both};
  });
}

void Segments::sort() {
  assemble::Register most(a, a.constant(0));
  forSegments(
      [&](Value begin, Value end) { most.set(make<arith::MaxUIOp>(a, most.get(), a.sub(end, begin))); });
  // A run, or the left half of a merge.
  Value needed = make<arith::MaxUIOp>(a, most.get(), a.constant(runLength));
  auto staging = [&](Value buffer, Value size) {
    return assemble::newBuffer(a, cast<MemRefType>(buffer.getType()).getElementType(), size);
  };
  spare = staging(coordinates, needed);
  spareValues = staging(values, needed);
  offsets = staging(coordinates, a.constant(runLength));
  forSegments([&](Value begin, Value end) {
    Value run = a.constant(runLength);
    auto more = [&](Carried at) { return below(at[0], end); };
    whileLoop(b, a.loc, begin, more, [&](Carried at) {
      Value next = a.add(at[0], run);
      sortRun(at[0], minimum(next, end));
      return Carried{next};
    });
    mergeRuns(begin, end);
  });
  assemble::freeBuffers(a, {spare, spareValues, offsets});
}

struct LowerSortSegments : impl::LowerSortSegmentsBase<LowerSortSegments> {
  void runOnOperation() override {
    assemble::lowerEach<SortSegmentsOp>(getOperation(), [](OpBuilder &b, SortSegmentsOp op) {
      assemble::Target target(b, op.getLoc(), cast<RankedTensorType>(op.getTensor()), {});
      Segments(target, op).sort();
      return levels::Values{};
    });
  }
};

} // namespace
} // namespace tulle::passes
