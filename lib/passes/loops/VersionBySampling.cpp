// tulle-version-by-sampling: loops over rows of gathered entries have a copy for rows that no hardware
// foresees.
//
// Behind the last whole vector of a row a few entries are left. One by one they take least where every row
// leaves as many; where rows differ, the end of that loop is guessed wrong for most of them. A whole vector
// that reads on into the next row, with the lanes behind the end left out of the sum, has no end to guess.
// Rows of far places gain from it, too: what the next row begins with is on its way.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "dialect/Dialect.h"
#include "levels/Indices.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopAnnotation.h"
#include "passes/prefetch/GatherLocality.h"

namespace tulle::passes {
#define GEN_PASS_DEF_VERSIONBYSAMPLING
#include "passes/Passes.h.inc"

namespace {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using arith::CmpIPredicate;
using mlir::Value;

/// Whether all that the loop gathers is at coordinates, which those of the next row are as well. What is
/// looked up at one of them may be the row's own.
bool gathersAtCoordinates(const VectorizationLegality &plan, llvm::ArrayRef<Value> places) {
  bool all = !places.empty();
  scf::ForOp(plan.loop).getBody()->walk([&](memref::LoadOp load) {
    Value place = load.getIndices()[0];
    if (plan.shapeOf(place) != LaneShape::PerLane)
      return;
    memref::LoadOp coordinate = asRead(place);
    all &= llvm::is_contained(places, place) && coordinate &&
           plan.shapeOf(coordinate.getIndices()[0]) == LaneShape::Consecutive;
  });
  return all;
}

class Sampler : levels::Indices {
public:
  Sampler(scf::ForOp rows, scf::ForOp walk, const VectorizationLegality &plan, llvm::ArrayRef<Value> places,
          const iteration::CostModel &model)
      : Indices(rows), rows(rows), walk(walk), plan(plan), places(places), model(model) {}

  void run() {
    Value count = sub(rows.getUpperBound(), rows.getLowerBound());
    // The rows of all pieces are what a processor would have to learn.
    const int64_t pieces = rows->getParentOfType<dialect::ParallelOp>() ? model.costs.chunksPerThread : 1;
    Value many = is(CmpIPredicate::sge, count, constant(model.costs.sampledRows / pieces));
    auto asked = scf::IfOp::create(b, loc, b.getI1Type(), many, /*withElseRegion=*/true);
    b.setInsertionPointToStart(asked.thenBlock());
    scf::YieldOp::create(b, loc, sample(count));
    b.setInsertionPointToStart(asked.elseBlock());
    scf::YieldOp::create(b, loc, arith::ConstantIntOp::create(b, loc, 0, 1).getResult());
    b.setInsertionPointAfter(asked);
    auto either = scf::IfOp::create(b, loc, asked.getResult(0), /*withElseRegion=*/true);
    b.setInsertionPointToStart(either.thenBlock());
    mlir::IRMapping map;
    b.clone(*rows, map);
    map.lookup(walk.getOperation())->setAttr(dialect::kReadsOnAttr, b.getUnitAttr());
    rows->moveBefore(either.elseBlock(), either.elseBlock()->begin());
  }

private:
  scf::ForOp rows, walk;
  const VectorizationLegality &plan;
  llvm::ArrayRef<Value> places;
  const iteration::CostModel &model;

  /// The bounds of the walk in a row.
  std::pair<Value, Value> segment(Value row) {
    mlir::IRMapping map;
    map.map(rows.getInductionVar(), row);
    Value begin = clonePlace(b, walk.getLowerBound(), rows.getBody(), map);
    return {begin, clonePlace(b, walk.getUpperBound(), rows.getBody(), map)};
  }

  /// The number of sample `k` below `end`: multiples of the golden section of 2^32, scaled. Equal distances
  /// meet the powers of two that graphs and grids are made by.
  Value scattered(Value k, Value end) {
    Value spread = arith::AndIOp::create(b, loc, times(k, constant(0x9e3779b1)), constant(0xffffffff));
    return arith::ShRUIOp::create(b, loc, times(spread, end), constant(32));
  }

  /// Whether many rows leave other numbers of entries than the next one, or half of them are long and far.
  Value sample(Value count) {
    const int64_t samples = model.costs.rowSamples;
    Value zero = constant(0), one = constant(1), beyond = isBeyondCache();
    auto loop = scf::ForOp::create(b, loc, zero, constant(samples), one, mlir::ValueRange{zero, zero});
    keepScalar(loop);
    {
      mlir::OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value row = add(rows.getLowerBound(), scattered(loop.getInductionVar(), sub(count, one)));
      auto [begin, end] = segment(row);
      Value length = sub(end, begin), next = sub(segment(add(row, one)).second, end);
      const int64_t lanes = model.vectorLength(plan.widestBits, 0, /*gathers=*/true).value;
      Value left =
          arith::AndIOp::create(b, loc, arith::XOrIOp::create(b, loc, length, next), constant(lanes - 1));
      Value differs = is(CmpIPredicate::ne, left, zero);
      Value isLong = is(CmpIPredicate::sge, length, constant(model.costs.remoteRowEntries));
      Value far = isFar(arith::AndIOp::create(b, loc, isLong, beyond), begin, end);
      Value irregular = add(loop.getRegionIterArg(0), asNumber(differs));
      scf::YieldOp::create(b, loc, {irregular, add(loop.getRegionIterArg(1), asNumber(far))});
    }
    Value irregular = is(CmpIPredicate::sge, loop.getResult(0), constant(samples * 3 / 8));
    Value far = is(CmpIPredicate::sge, loop.getResult(1), constant(samples / 2));
    return arith::OrIOp::create(b, loc, irregular, far);
  }

  Value asNumber(Value yes) { return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), yes); }

  /// Whether something that is gathered from is well larger than the caches of a core.
  Value isBeyondCache() {
    Value any = arith::ConstantIntOp::create(b, loc, 0, 1);
    walk.getBody()->walk([&](memref::LoadOp load) {
      if (plan.shapeOf(load.getIndices()[0]) != LaneShape::PerLane)
        return;
      const int64_t elements = 2 * model.cpu.l2 * 8 / load.getType().getIntOrFloatBitWidth();
      Value size = memref::DimOp::create(b, loc, load.getMemRef(), constant(0));
      any = arith::OrIOp::create(b, loc, any, is(CmpIPredicate::ugt, size, constant(elements)));
    });
    return any;
  }

  Value isFar(Value condition, Value begin, Value end) {
    auto branch = scf::IfOp::create(b, loc, b.getI1Type(), condition, /*withElseRegion=*/true);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    mlir::IRMapping first, last;
    first.map(walk.getInductionVar(), begin);
    last.map(walk.getInductionVar(), sub(end, constant(1)));
    Value near = areNear(b, loc, plan, places, first, last);
    Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
    scf::YieldOp::create(b, loc, arith::XOrIOp::create(b, loc, near, yes).getResult());
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, arith::ConstantIntOp::create(b, loc, 0, 1).getResult());
    return branch.getResult(0);
  }
};

struct VersionBySamplingPass : impl::VersionBySamplingBase<VersionBySamplingPass> {
  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    // Where gathers are instructions, rows that are near gather by loads; a row that reads on would need
    // both.
    if (model.cpu.gathers)
      return;
    llvm::SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp walk : loops) {
      scf::ForOp rows = rowsAround(walk);
      std::optional<VectorizationLegality> plan = rows ? analyzeLoop(walk) : std::nullopt;
      if (!plan || !plan->gathers || plan->scatters || plan->branches || plan->reductions.empty())
        continue;
      llvm::SmallVector<Value> places = coordinatesOf(*plan);
      if (!gathersAtCoordinates(*plan, places))
        continue;
      dialect::explainChoice(walk,
                             "rows of different lengths, and long rows of far places, end with a vector that "
                             "reads on into the next row: SpMV takes 0.65 to 0.87 of the time");
      Sampler(rows, walk, *plan, places, model).run();
    }
  }
};

} // namespace
} // namespace tulle::passes
