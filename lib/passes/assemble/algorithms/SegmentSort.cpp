#include "passes/assemble/algorithms/SegmentSort.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tulle::assemble {

using arith::CmpIPredicate;
using dialect::LoopKind;
using levels::forLoop;
using levels::ifElse;
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
  /// Of the parents `first` … `last - 1`.
  Segments(const TargetAssembly &assembly, Value first, Value last, Value start)
      : a(assembly), b(assembly.builder), loc(assembly.loc),
        level(unsigned(a.made.encoding.levels.size()) - 1),
        coordinates(a.made.fields[a.made.layout.coordinates[level]->field]), values(a.made.fields.back()),
        edges(a.made.fields[*a.made.layout.positions[level]]),
        isSigned(a.made.layout.fields[a.made.layout.coordinates[level]->field].isSigned),
        loose(a.made.encoding.levels[level].format.kind == format::LevelKind::LooseCompressed), first(first),
        last(last), start(start) {}

  void sort();
  Value combine();

private:
  Pair load(Value at) const { return load(coordinates, values, at); }
  void store(Pair pair, Value at) const { store(pair, coordinates, values, at); }
  Pair load(Value from, Value fromValues, Value at) const {
    return {memref::LoadOp::create(b, loc, from, at), memref::LoadOp::create(b, loc, fromValues, at)};
  }
  void store(Pair pair, Value to, Value toValues, Value at) const {
    memref::StoreOp::create(b, loc, pair.coordinate, to, at);
    memref::StoreOp::create(b, loc, pair.value, toValues, at);
  }
  Value less(Value x, Value y) const {
    return a.compare(isSigned ? CmpIPredicate::slt : CmpIPredicate::ult, x, y);
  }
  Value below(Value x, Value y) const { return a.compare(CmpIPredicate::ult, x, y); }
  Value one() const { return a.constant(1); }
  Value minimum(Value x, Value y) const { return arith::MinUIOp::create(b, loc, x, y); }

  levels::PositionRange segment(Value parent) const;
  void forSegments(llvm::function_ref<void(Value begin, Value end)> body) const;
  Value isOutOfOrder(Value begin, Value end) const;
  Value countBefore(Value begin, Value end, Value first) const;
  Value loadLanes(VectorType type, Value begin, Value first) const;
  void sortRun(Value begin, Value end) const;
  void mergeRuns(Value begin, Value end) const;
  void merge(Value begin, Value middle, Value end) const;

  const TargetAssembly &a;
  OpBuilder &b;
  Location loc;
  unsigned level;
  Value coordinates, values, edges;
  bool isSigned, loose;
  Value first, last, start; ///< `start`: where the first segment begins
  Value spare, spareValues; ///< a run, or the left half of a merge
  Value places;             ///< in the sorted run, of each entry of a run
};

levels::PositionRange Segments::segment(Value parent) const {
  Value at = loose ? a.mul(parent, a.constant(2)) : parent;
  return {a.read(edges, at), a.read(edges, a.add(at, one()))};
}

/// Visits the segments one after the other: merges share their spare memory. Of a range of parents whose
/// neighbours are still in the making only the ends of the segments are read: one begins where another ends,
/// but for loose ones, which gaps may be between.
void Segments::forSegments(llvm::function_ref<void(Value, Value)> body) const {
  forLoop(b, loc, first, last, LoopKind::Reduction, start, [&](Value parent, Carried before) {
    levels::PositionRange range = segment(parent);
    body(loose ? range.begin : before[0], range.end);
    return Carried{range.end};
  });
}

/// Whether some coordinate is less than the one before it.
Value Segments::isOutOfOrder(Value begin, Value end) const {
  Value no = a.constantInt(b.getI1Type(), 0);
  return forLoop(b, loc, a.add(begin, one()), end, LoopKind::Reduction, no, [&](Value next, Carried found) {
    Value before = memref::LoadOp::create(b, loc, coordinates, a.sub(next, one()));
    Value descends = less(memref::LoadOp::create(b, loc, coordinates, next), before);
    return Carried{arith::OrIOp::create(b, loc, found[0], descends)};
  })[0];
}

/// Coordinates of a run from its entry `first` on, and whatever is behind it: nobody uses that. Its copy,
/// which has space behind its end, is read where the buffer ends: a vector of what was stored one by one a
/// moment ago would wait.
Value Segments::loadLanes(VectorType type, Value begin, Value first) const {
  Value at = a.add(begin, first), size = memref::DimOp::create(b, loc, coordinates, 0);
  auto from = [&](Value buffer, Value position) {
    return Carried{vector::LoadOp::create(b, loc, type, buffer, position)};
  };
  return ifElse(
      b, loc, below(size, a.add(at, a.constant(lanes))), type, [&] { return from(spare, first); },
      [&] { return from(coordinates, at); })[0];
}

/// For each of `lanes` entries of a run from its entry `first` on: how many of the run go before it. Of equal
/// coordinates the first does.
Value Segments::countBefore(Value begin, Value end, Value first) const {
  Type element = cast<MemRefType>(coordinates.getType()).getElementType();
  auto type = VectorType::get(lanes, element);
  auto spread = [&](Value scalar) -> Value { return vector::BroadcastOp::create(b, loc, type, scalar); };
  auto asElement = [&](Value index) -> Value { return arith::IndexCastOp::create(b, loc, element, index); };
  SmallVector<APInt> steps;
  for (int64_t lane = 0; lane < lanes; ++lane)
    steps.push_back(APInt(element.getIntOrFloatBitWidth(), lane));
  Value numbers = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, steps));
  numbers = arith::AddIOp::create(b, loc, numbers, spread(asElement(first)));
  Value own = loadLanes(type, begin, first);
  Value none = spread(a.constantInt(element, 0));
  return forLoop(b, loc, begin, end, LoopKind::Reduction, none, [&](Value at, Carried counted) {
    Value other = spread(memref::LoadOp::create(b, loc, coordinates, at));
    Value equal = arith::CmpIOp::create(b, loc, CmpIPredicate::eq, other, own);
    Value earlier =
        arith::CmpIOp::create(b, loc, CmpIPredicate::ult, spread(asElement(a.sub(at, begin))), numbers);
    Value tie = arith::AndIOp::create(b, loc, equal, earlier);
    Value before = arith::OrIOp::create(b, loc, less(other, own), tie);
    return Carried{arith::AddIOp::create(b, loc, counted[0], arith::ExtUIOp::create(b, loc, type, before))};
  })[0];
}

/// At most `runLength` entries: each goes behind those that are less. Unlike insertion this takes no branch
/// that depends on the coordinates, which a processor could only guess.
void Segments::sortRun(Value begin, Value end) const {
  a.when(isOutOfOrder(begin, end), [&] {
    Value zero = a.constant(0), count = a.sub(end, begin);
    forLoop(b, loc, zero, count, LoopKind::Parallel, {}, [&](Value k, Carried) {
      store(load(a.add(begin, k)), spare, spareValues, k);
      return Carried{};
    });
    Value chunks = arith::CeilDivUIOp::create(b, loc, count, a.constant(lanes));
    forLoop(b, loc, zero, chunks, LoopKind::Reduction, {}, [&](Value chunk, Carried) {
      Value first = a.mul(chunk, a.constant(lanes));
      vector::StoreOp::create(b, loc, countBefore(begin, end, first), places, first);
      return Carried{};
    });
    forLoop(b, loc, zero, count, LoopKind::Reduction, {}, [&](Value k, Carried) {
      store(load(spare, spareValues, k), a.add(begin, a.read(places, k)));
      return Carried{};
    });
  });
}

/// [begin, middle) and [middle, end) are sorted. The left half moves away, and both come back in order.
void Segments::merge(Value begin, Value middle, Value end) const {
  Value count = a.sub(middle, begin), zero = a.constant(0);
  forLoop(b, loc, zero, count, LoopKind::Parallel, {}, [&](Value k, Carried) {
    store(load(a.add(begin, k)), spare, spareValues, k);
    return Carried{};
  });
  // Carried: the next place, and the next of either half. What is left of the right half is in place.
  auto more = [&](Carried at) { return below(at[1], count); };
  whileLoop(b, loc, ValueRange{begin, zero, middle}, more, [&](Carried at) {
    Pair left = load(spare, spareValues, at[1]);
    Value takeRight = ifElse(
        b, loc, below(at[2], end), b.getI1Type(),
        [&] { return Carried{less(memref::LoadOp::create(b, loc, coordinates, at[2]), left.coordinate)}; },
        [&] { return Carried{a.constantInt(b.getI1Type(), 0)}; })[0];
    Carried next = ifElse(
        b, loc, takeRight, TypeRange{b.getIndexType(), b.getIndexType()},
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
  whileLoop(b, loc, a.constant(runLength), several, [&](Carried width) {
    Value both = a.add(width[0], width[0]);
    auto more = [&](Carried at) { return below(at[0], end); };
    whileLoop(b, loc, begin, more, [&](Carried at) {
      Value middle = minimum(a.add(at[0], width[0]), end), last = minimum(a.add(at[0], both), end);
      a.when(below(middle, last), [&] {
        Value left = memref::LoadOp::create(b, loc, coordinates, a.sub(middle, one()));
        Value right = memref::LoadOp::create(b, loc, coordinates, middle);
        a.when(less(right, left), [&] { merge(at[0], middle, last); });
      });
      return Carried{a.add(at[0], both)};
    });
    return Carried{both};
  });
}

void Segments::sort() {
  Register most(b, loc, a.constant(0));
  forSegments([&](Value begin, Value end) {
    most.set(b, arith::MaxUIOp::create(b, loc, most.get(b), a.sub(end, begin)));
  });
  // A run, or the left half of a merge.
  Value needed = arith::MaxUIOp::create(b, loc, most.get(b), a.constant(runLength));
  auto staging = [&](Value buffer, Value size) -> Value {
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    return levels::allocate(b, loc, MemRefType::get({ShapedType::kDynamic}, element), size);
  };
  spare = staging(coordinates, needed);
  spareValues = staging(values, needed);
  places = staging(coordinates, a.constant(runLength));
  forSegments([&](Value begin, Value end) {
    Value run = a.constant(runLength);
    auto more = [&](Carried at) { return below(at[0], end); };
    whileLoop(b, loc, begin, more, [&](Carried at) {
      Value next = a.add(at[0], run);
      sortRun(at[0], minimum(next, end));
      return Carried{next};
    });
    mergeRuns(begin, end);
  });
  for (Value staging : {spare, spareValues, places})
    memref::DeallocOp::create(b, loc, staging);
}

/// Returns where the entries that are left end. The edge of a parent is read before it is written.
Value Segments::combine() {
  // Carried: where the segment before ended, and where the next entry goes.
  return forLoop(b, loc, first, last, LoopKind::Reduction, {start, start}, [&](Value parent, Carried at) {
    levels::PositionRange range = segment(parent);
    Value begin = loose ? range.begin : at[0]; // gaps may be between loose ones
    Value out = forLoop(b, loc, begin, range.end, LoopKind::Reduction, at[1], [&](Value next, Carried to) {
      Pair pair = load(next);
      Value before = a.sub(to[0], one());
      Value repeated = ifElse(
          b, loc, below(at[1], to[0]), b.getI1Type(),
          [&] {
            Value last = memref::LoadOp::create(b, loc, coordinates, before);
            return Carried{a.compare(CmpIPredicate::eq, last, pair.coordinate)};
          },
          [&] { return Carried{a.constantInt(b.getI1Type(), 0)}; })[0];
      return ifElse(
          b, loc, repeated, b.getIndexType(),
          [&] {
            Value value = pair.value;
            if (a.made.element.isInteger(1))
              value = arith::TruncIOp::create(b, loc, b.getI1Type(), value);
            a.target.combineValue(b, before, value);
            return Carried{to[0]};
          },
          [&] {
            store(pair, to[0]);
            return Carried{a.add(to[0], one())};
          });
    })[0];
    Value edge = loose ? a.mul(parent, a.constant(2)) : parent;
    if (loose)
      a.write(edges, edge, at[1]);
    a.write(edges, a.add(edge, one()), out);
    return Carried{range.end, out};
  })[1];
}

} // namespace

void sortSegments(const TargetAssembly &assembly, Value first, Value last, Value start) {
  Segments(assembly, first, last, start).sort();
}

Value combineRepeats(const TargetAssembly &assembly, Value first, Value last, Value start) {
  return Segments(assembly, first, last, start).combine();
}

} // namespace tulle::assemble
