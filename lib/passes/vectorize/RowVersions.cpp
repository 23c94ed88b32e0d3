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

//===--- Versions by a sample of the rows ---===//

// Behind the last whole vector of a row a few entries are left. A scalar epilogue is fastest where every row
// leaves as many; where rows differ, the end of that loop is mispredicted for most of them. A whole vector
// that over-reads into the next row, with inactive lanes behind the end, has no end to predict. Rows of
// remote elements gain from it, too: it prefetches the beginning of the next row. Where masked gathers take
// no longer, such rows are masked vectors altogether (experiment 102).

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

/// The test at run time of which version runs.
class RowSample : levels::Indices {
public:
  RowSample(scf::ForOp rows, const VectorizationLegality &legality, ArrayRef<Value> coordinates,
            const iteration::CostModel &model)
      : Indices(rows), rows(rows), loop(legality.loop), legality(legality), coordinates(coordinates),
        model(model) {}

  Value emit() {
    Value count = sub(rows.getUpperBound(), rows.getLowerBound());
    // A branch predictor sees the rows of all partitions.
    const int64_t partitions = rows->getParentOfType<dialect::ParallelOp>() ? model.costs.chunksPerThread : 1;
    Value many = is(CmpIPredicate::sge, count, constant(model.cpu.sampledRows / partitions));
    Value sampled = ifThen(many, [&] { return sample(count); });
    return model.cpu.maskedRows ? either(sampled, areLong(count)) : sampled;
  }

private:
  scf::ForOp rows, loop;
  const VectorizationLegality &legality;
  ArrayRef<Value> coordinates;
  const iteration::CostModel &model;

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

  /// Whether many rows leave other numbers of entries than the next one, or half of them are long and remote.
  Value sample(Value count) {
    const int64_t samples = model.costs.rowSamples;
    Value zero = constant(0), one = constant(1), beyond = exceedsCaches();
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
      Value remote = model.cpu.maskedRows ? isLong : isRemote(both(isLong, beyond), begin, end);
      Value irregular = add(sampling.getRegionIterArg(0), asNumber(differs));
      scf::YieldOp::create(b, loc, {irregular, add(sampling.getRegionIterArg(1), asNumber(remote))});
    }
    return either(is(CmpIPredicate::sge, sampling.getResult(0), constant(samples * 3 / 8)),
                  is(CmpIPredicate::sge, sampling.getResult(1), constant(samples / 2)));
  }

  Value asNumber(Value bit) { return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), bit); }

  /// Whether a buffer that is gathered from is well larger than the caches of a core.
  Value exceedsCaches() {
    Value any = boolean(false);
    loop.getBody()->walk([&](memref::LoadOp load) {
      if (legality.shapeOf(load.getIndices()[0]) != LaneShape::Varying)
        return;
      const int64_t elements = 2 * model.cpu.l2 * 8 / load.getType().getIntOrFloatBitWidth();
      any = either(any, is(CmpIPredicate::ugt, sizeOf(load.getMemRef()), constant(elements)));
    });
    return any;
  }

  Value isRemote(Value condition, Value begin, Value end) {
    return ifThen(condition, [&] {
      Value local = areLocal(b, loc, legality, coordinates, model.cpu, begin, sub(end, constant(1)));
      return arith::XOrIOp::create(b, loc, local, boolean(true)).getResult();
    });
  }
};

} // namespace

scf::ForOp versionBySampling(scf::ForOp loop, const iteration::CostModel &model) {
  scf::ForOp rows = rowLoopOf(loop);
  std::optional<VectorizationLegality> legality = rows ? analyzeLoop(loop) : std::nullopt;
  if (!legality || !reducesGathered(*legality))
    return {};
  SmallVector<Value> coordinates = gatherCoordinates(*legality);
  if (!gathersAtCoordinates(*legality, coordinates))
    return {};
  dialect::explainChoice(
      loop, model.cpu.maskedRows
                ? "rows of different lengths, and long rows, are masked vectors of eight: SpMV takes "
                  "0.5 to 0.9 of the time"
                : "rows of different lengths, and long rows of remote elements, end with a vector that "
                  "over-reads into the next row: SpMV takes 0.65 to 0.87 of the time");
  Value overReads = RowSample(rows, *legality, coordinates, model).emit();
  OpBuilder b(rows);
  IRMapping map;
  addVersion(b, rows, overReads, [&] { b.clone(*rows, map); });
  return cast<scf::ForOp>(map.lookup(loop.getOperation()));
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
