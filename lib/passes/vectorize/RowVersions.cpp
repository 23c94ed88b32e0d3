// Versions of reductions over rows and fibers, which a test at run time selects from.
#include "passes/vectorize/RowVersions.h"
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "passes/analysis/LoopUtils.h"
#include "passes/analysis/VectorizationLegality.h"
#include "passes/prefetch/PrefetchPlan.h"

namespace tulle::passes {

using namespace mlir;
using arith::CmpIPredicate;

namespace {

bool reducesGathered(const VectorizationLegality &legality) {
  return legality.gathers && !legality.scatters && !legality.branches && !legality.prefetches &&
         !legality.reductions.empty();
}

//===--- Versions of rows ---===//

// Behind the last whole vector of a row a few entries are left. A scalar epilogue is fastest where every row
// leaves as many; where rows differ, the end of that loop is mispredicted for most of them. A whole vector
// that over-reads into the next row, with inactive lanes behind the end, has no end to predict. Without
// gather instructions, rows of remote elements gain from it, too: it prefetches the beginning of the next
// row. Where masked gathers take no longer, such rows are masked vectors altogether (experiment 102).
//
// Gathers from a small operand are loads, lane by lane, which take less than the instruction, and rows of
// different lengths are over-reading vectors of eight alone. From a large operand, or beside a matrix that is
// read from memory, the instruction keeps more in flight (experiments 040 and 125).

/// Whether all gathers are at coordinates of the row, which those of the next row are as well. A table that
/// is gathered from at one of them may be the row's own.
bool gathersAtCoordinates(const VectorizationLegality &legality, ArrayRef<Value> coordinates) {
  bool all = !coordinates.empty();
  scf::ForOp(legality.loop).getBody()->walk([&](memref::LoadOp load) {
    Value index = load.getIndices()[0];
    if (legality.shapeOf(index) != LaneShape::Varying)
      return;
    memref::LoadOp coordinate = loadBehindCasts(index);
    all &= llvm::is_contained(coordinates, index) && coordinate &&
           legality.shapeOf(coordinate.getIndices()[0]) == LaneShape::Consecutive;
  });
  return all;
}

/// The tests at run time of which version runs.
class RowSample : levels::Indices {
  using Values = SmallVector<Value>;

public:
  /// `seeksLocal`: whether to tell rows of local elements from others.
  RowSample(scf::ForOp rows, const VectorizationLegality &legality, ArrayRef<Value> coordinates,
            const iteration::CostModel &model, bool seeksLocal)
      : Indices(rows), rows(rows), loop(legality.loop), legality(legality), coordinates(coordinates),
        model(model), seeksLocal(seeksLocal) {
    Value count = sub(rows.getUpperBound(), rows.getLowerBound()), predicted = count;
    // A branch predictor sees the rows of all partitions. A sample takes a row and the next one: of one row
    // it is none.
    if (auto partitions = rows->getParentOfType<dialect::ParallelOp>())
      predicted = times(sub(count, constant(1)), partitions.getTasks());
    Value many = is(CmpIPredicate::sge, predicted, constant(model.cpu.sampledRows));
    Values none(seeksLocal ? 2 : 1, boolean(false));
    Values sampled = levels::ifElse(
        b, loc, many, ValueRange(none).getTypes(), [&] { return sample(count); }, [&] { return none; });
    irregular = model.cpu.maskedRows ? either(sampled[0], areLong(count)) : sampled[0];
    local = seeksLocal ? sampled[1] : Value();
  }

  Value irregular; ///< whether rows leave other numbers of entries than the next one, or are long and remote
  Value local;     ///< whether they are long, and gather from few elements of a large operand

private:
  scf::ForOp rows, loop;
  const VectorizationLegality &legality;
  ArrayRef<Value> coordinates;
  const iteration::CostModel &model;
  bool seeksLocal;

  /// Whether the rows have `remoteRowEntries` on average, so that masked vectors pay however few rows there
  /// are.
  Value areLong(Value count) {
    return ifThen(is(CmpIPredicate::sgt, count, constant(0)), [&] {
      Value begin = cloneBounds(b, loop, rows, rows.getLowerBound()).first;
      Value end = cloneBounds(b, loop, rows, sub(rows.getUpperBound(), constant(1))).second;
      return is(CmpIPredicate::sge, sub(end, begin), times(count, constant(model.costs.remoteRowEntries)));
    });
  }

  /// Sample `k` of the numbers below `end`: multiples of the golden section of 2^32, scaled. An equal stride
  /// would meet the powers of two in graphs and grids.
  Value sampleBelow(Value k, Value end) {
    Value spread = arith::AndIOp::create(b, loc, times(k, constant(0x9e3779b1)), constant(0xffffffff));
    return arith::ShRUIOp::create(b, loc, times(spread, end), constant(32));
  }

  /// `irregular` and `local`, each of enough of some rows.
  Values sample(Value count) {
    const int64_t samples = model.costs.rowSamples;
    Value zero = constant(0), one = constant(1);
    auto sampling = scf::ForOp::create(b, loc, zero, constant(samples), one, ValueRange{zero, zero});
    disableLoopTransforms(sampling);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(sampling.getBody());
      Value row = add(rows.getLowerBound(), sampleBelow(sampling.getInductionVar(), sub(count, one)));
      auto [begin, end] = cloneBounds(b, loop, rows, row);
      Value length = sub(end, begin), next = sub(cloneBounds(b, loop, rows, add(row, one)).second, end);
      const int64_t lanes = model.vectorLength(legality.widestBits, 0, /*gathers=*/true).value;
      Value left =
          arith::AndIOp::create(b, loc, arith::XOrIOp::create(b, loc, length, next), constant(lanes - 1));
      Value differs = is(CmpIPredicate::ne, left, zero);
      Value isLong = is(CmpIPredicate::sge, length, constant(model.costs.remoteRowEntries));
      // Masked vectors are wider, and take less time for all rows of several.
      Value counts = model.cpu.maskedRows ? isLong : reaches(isLong, begin, end);
      Value others = add(sampling.getRegionIterArg(0), asNumber(differs));
      scf::YieldOp::create(b, loc, {others, add(sampling.getRegionIterArg(1), asNumber(counts))});
    }
    Value differ = is(CmpIPredicate::sge, sampling.getResult(0), constant(samples * 3 / 8));
    Value half = is(CmpIPredicate::sge, sampling.getResult(1), constant(samples / 2));
    // Not in the loop, of which LLVM would make two.
    if (!model.cpu.maskedRows)
      half = both(half, gathersBeyond(seeksLocal ? model.cpu.l2 : 2 * model.cpu.l2));
    return seeksLocal ? Values{differ, half} : Values{either(differ, half)};
  }

  Value asNumber(Value bit) { return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), bit); }

  /// Whether a buffer that is gathered from has more bytes.
  Value gathersBeyond(int64_t bytes) {
    Value any = boolean(false);
    loop.getBody()->walk([&](memref::LoadOp load) {
      if (legality.shapeOf(load.getIndices()[0]) != LaneShape::Varying)
        return;
      const int64_t elements = bytes * 8 / load.getType().getIntOrFloatBitWidth();
      any = either(any, is(CmpIPredicate::ugt, sizeOf(load.getMemRef()), constant(elements)));
    });
    return any;
  }

  /// Where the condition holds: whether a row gathers from few elements, if that is sought, or from many.
  Value reaches(Value condition, Value begin, Value end) {
    return ifThen(condition, [&] {
      Value few = areLocal(b, loc, legality, coordinates, model.cpu, begin, sub(end, constant(1)));
      return seeksLocal ? few : arith::XOrIOp::create(b, loc, few, boolean(true)).getResult();
    });
  }
};

/// The test at run time of whether what the rows read stays in the caches.
class Residence : levels::Indices {
public:
  Residence(scf::ForOp rows, const VectorizationLegality &legality, const iteration::Cpu &cpu)
      : Indices(rows), legality(legality), cpu(cpu) {}

  /// Null where a buffer is one of each row.
  Value emit() {
    SmallPtrSet<Value, 4> buffers;
    Value gathersNear, streamed = constant(0);
    bool known = true;
    scf::ForOp(legality.loop).getBody()->walk([&](memref::LoadOp load) {
      Value buffer = load.getMemRef();
      if (!buffers.insert(buffer).second)
        return;
      known &= rowLoopOf(legality.loop).isDefinedOutsideOfLoop(buffer);
      if (!known)
        return;
      Value bytes = times(sizeOf(buffer), constant(load.getType().getIntOrFloatBitWidth() / 8));
      if (legality.shapeOf(load.getIndices()[0]) == LaneShape::Varying)
        gathersNear = both(gathersNear, is(CmpIPredicate::ule, bytes, constant(2 * cpu.l2)));
      else
        streamed = add(streamed, bytes);
    });
    return known ? both(gathersNear, is(CmpIPredicate::ule, streamed, constant(cpu.residentBytes))) : Value();
  }

private:
  const VectorizationLegality &legality;
  const iteration::Cpu &cpu;
};

void explainSample(scf::ForOp loop, const iteration::Cpu &cpu, bool choosesGathers) {
  dialect::explainChoice(
      loop,
      cpu.maskedRows   ? "rows of different lengths, and long rows, are masked vectors of eight: SpMV takes "
                         "0.5 to 0.9 of the time"
      : choosesGathers ? "rows of different lengths end with a vector that over-reads into the next row: "
                         "SpMV takes 0.5 to 0.9 of the time"
                       : "rows of different lengths, and long rows of remote elements, end with a vector "
                         "that over-reads into the next row: SpMV takes 0.65 to 0.87 of the time");
}

/// Splits a loop over rows where vectors of its last rows would read beyond them.
class SplitRows : levels::Indices {
public:
  SplitRows(scf::ForOp rows, scf::ForOp loop, int64_t overRead)
      : Indices(rows), rows(rows), loop(loop), overRead(overRead) {}

  /// Inserts a copy of the loop over the rows with `overRead` entries behind them, where the condition holds.
  /// Returns the copy of `loop`.
  scf::ForOp emit(Value condition) {
    Value lower = rows.getLowerBound();
    Value end = levels::ifElse(
        b, loc, condition, b.getIndexType(), [&] { return Values{endOfRows()}; },
        [&] { return Values{lower}; })[0];
    IRMapping map;
    auto first = cast<scf::ForOp>(b.clone(*rows, map));
    first.getUpperBoundMutable().assign(end);
    rows.getLowerBoundMutable().assign(end);
    return cast<scf::ForOp>(map.lookup(loop.getOperation()));
  }

private:
  using Values = SmallVector<Value>;
  scf::ForOp rows, loop;
  int64_t overRead;

  Value endOf(Value row) { return cloneBounds(b, loop, rows, row).second; }

  /// The first of the rows with fewer entries behind them.
  Value endOfRows() {
    Value one = constant(1), upper = rows.getUpperBound();
    Value entries = endOf(sub(upper, one));
    auto isLast = [&](ValueRange row) {
      return ifThen(is(CmpIPredicate::sgt, row[0], rows.getLowerBound()), [&] {
        Value behind = sub(entries, endOf(sub(row[0], one)));
        return is(CmpIPredicate::slt, behind, constant(overRead));
      });
    };
    return levels::whileLoop(b, loc, upper, isLast,
                             [&](ValueRange row) { return Values{sub(row[0], one)}; })[0];
  }
};

} // namespace

void versionRows(scf::ForOp loop, const iteration::CostModel &model, int64_t lanes,
                 llvm::DenseMap<Operation *, RowVersion> &versions) {
  scf::ForOp rows = rowLoopOf(loop);
  std::optional<VectorizationLegality> legality = rows ? analyzeLoop(loop) : std::nullopt;
  if (!legality || !reducesGathered(*legality))
    return;
  SmallVector<Value> coordinates = gatherCoordinates(*legality);
  if (!gathersAtCoordinates(*legality, coordinates))
    return;
  const bool choosesGathers = !lanes && model.cpu.gathers && model.cpu.localElements != 0;
  explainSample(loop, model.cpu, choosesGathers);
  RowSample sample(rows, *legality, coordinates, model, choosesGathers);
  Value resident = choosesGathers ? Residence(rows, *legality, model.cpu).emit() : Value();
  Value loads = resident ? levels::Indices(rows).either(resident, sample.local) : Value();
  const int64_t best = model.vectorLength(legality->widestBits, 0, /*gathers=*/true).value;
  const int64_t overRead = lanes ? lanes : std::max(kRowLanes, best);
  scf::ForOp first = SplitRows(rows, loop, overRead).emit(sample.irregular);
  versions[loop] = {.loads = loads};
  versions[first] = {.overRead = overRead, .loads = loads};
  if (loads)
    dialect::explainChoice(loop,
                           "gathers are loads where what is read stays in the caches, or long rows reach "
                           "few elements: SpMV takes 0.6 to 1 of the time of gather instructions there");
}

//===--- Versions by the mean length ---===//

// Fibers of a tensor of higher order have one or two entries where it is hypersparse: vectors are set up and
// tested for in each of them, and run in none. Positions say how many entries a mean fiber has.

namespace {

/// The loops around `loop`, and itself, from the outermost on, each of which iterates over the segments of
/// the one before; empty where fibers are no stored ones, or the outermost loop has results.
SmallVector<scf::ForOp> nestOfFibers(scf::ForOp loop) {
  SmallVector<scf::ForOp> nest{loop};
  for (auto around = dyn_cast<scf::ForOp>(loop->getParentOp());
       around && iteratesSegments(around, nest.back()); around = dyn_cast<scf::ForOp>(around->getParentOp()))
    nest.push_back(around);
  if (nest.size() < 2 || !isLoaded(nest[1].getLowerBound()) || !isOutermost(nest.back()) ||
      nest.back().getNumResults() != 0)
    return {};
  std::reverse(nest.begin(), nest.end());
  return nest;
}

/// Tests the mean length of fibers at run time.
class MeanLength : levels::Indices {
public:
  MeanLength(ArrayRef<scf::ForOp> nest) : Indices(nest[0]), nest(nest) {}

  Value isLess(int64_t entries) {
    return isLess(entries, 0, nest[0].getLowerBound(), nest[0].getUpperBound());
  }

private:
  SmallVector<scf::ForOp> nest;

  /// Where the iterations begin <= p < end of the loop at `depth` are all that run.
  Value isLess(int64_t entries, size_t depth, Value begin, Value end) {
    return ifThen(is(CmpIPredicate::slt, begin, end), [&] {
      Value first = cloneBounds(b, nest[depth + 1], nest[depth], begin).first;
      Value last = cloneBounds(b, nest[depth + 1], nest[depth], sub(end, constant(1))).second;
      return depth + 2 < nest.size()
                 ? isLess(entries, depth + 1, first, last)
                 : is(CmpIPredicate::slt, sub(last, first), times(sub(end, begin), constant(entries)));
    });
  }
};

} // namespace

scf::ForOp versionByMeanLength(scf::ForOp loop, const iteration::CostModel &model) {
  SmallVector<scf::ForOp> nest = nestOfFibers(loop);
  std::optional<VectorizationLegality> legality =
      nest.empty() || !isInnermost(loop) ? std::nullopt : analyzeLoop(loop);
  if (!legality || !reducesGathered(*legality))
    return {};
  const int64_t lanes = model.vectorLength(legality->widestBits, 0, /*gathers=*/true).value;
  dialect::explainChoice(loop, "fibers of fewer than " + std::to_string(lanes) +
                                   " entries in the mean: a version without vectors takes 0.8 of the time");
  Value isShort = MeanLength(nest).isLess(lanes);
  OpBuilder b(nest[0]);
  IRMapping map;
  addVersion(b, nest[0], isShort, [&] { b.clone(*nest[0], map); });
  return cast<scf::ForOp>(map.lookup(loop.getOperation()));
}

} // namespace tulle::passes
