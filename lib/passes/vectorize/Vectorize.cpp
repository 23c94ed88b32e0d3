// tulle-vectorize: innermost loops that gather or reduce become vector code.
//
// A planned loop becomes a loop of whole vectors (for sums of consecutive data: two loops, the first with
// several independent partial results), and a scalar loop for the rest. Rows of sparse matrices are short: on
// them a scalar rest measures faster than a masked one, unless tulle-version-by-sampling finds that they
// differ, and half-width gathers faster than full-width ones.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Remarks.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopAnnotation.h"
#include "passes/analysis/ReductionNest.h"
#include "passes/analysis/TripCount.h"
#include "passes/prefetch/GatherLocality.h"
#include "passes/prefetch/PrefetchPlan.h"
#include "passes/vectorize/Reductions.h"
#include "passes/vectorize/VectorAccumulator.h"

namespace tulle::passes {
#define GEN_PASS_DEF_VECTORIZE
#include "passes/Passes.h.inc"

namespace {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
namespace vector = mlir::vector;
using mlir::Operation;
using mlir::Value;

/// Rewrites one planned loop.
class LoopEmitter {
public:
  /// `rowLanes`: of vectors that long rows of a reduction are walked by first.
  LoopEmitter(VectorizationLegality plan, Lanes lanes, unsigned rowLanes, const iteration::CostModel &model)
      : plan(std::move(plan)), lanes(lanes), rowLanes(rowLanes), model(model), b(this->plan.loop),
        loc(this->plan.loop.getLoc()), chain(this->plan, lanes) {}

  /// The loops around that carry lanes now: what they were, and what they are.
  llvm::ArrayRef<std::pair<Operation *, Operation *>> replaced() const { return chain.replaced(); }

  void run() {
    scf::ForOp loop = plan.loop;
    b.setInsertionPoint(loop);
    upper = loop.getUpperBound();
    // Lanes that are off read the first element: where there is none, the scalar rest does everything.
    if (lanes.takesGathersApart() && !plan.guardedGathers.empty())
      upper = arith::SelectOp::create(b, loc, hasFirstElements(b, loc, plan.guardedGathers), upper,
                                      loop.getLowerBound());
    if (scf::ForOp rows = rowsAround(loop);
        rows && loop->hasAttr(dialect::kReadsOnAttr) && lanes.takesGathersApart() && !chain && !plan.branches)
      rowsEnd = endOf(rows);
    Value step = arith::ConstantIndexOp::create(b, loc, lanes.count);
    if (lanes.scalable)
      step = arith::MulIOp::create(b, loc, step, vector::VectorScaleOp::create(b, loc));
    Value position = loop.getLowerBound();
    Values places, results(loop.getInitArgs());
    if (!plan.branches && !lanes.scalable && !lanes.gatherElements)
      places = coordinatesOf(plan);
    if (!places.empty() || (plan.gathers && lanes.takesGathersApart()))
      keepLanesApart();
    Values partial = chain ? chain.lanesBefore() : start();
    std::tie(position, partial) = places.empty() ? vectorLoops(position, partial, step)
                                                 : apartWhereNear(places, position, partial, step);
    if (rowsEnd)
      return restReadingOn(position, partial);
    if (!chain)
      results = combined(partial);
    scalarRest(position, results);
    if (chain)
      chain.finish(partial);
  }

private:
  using Values = llvm::SmallVector<Value>;
  using Ended = std::pair<Value, Values>; ///< where a loop ends, and its results

  VectorizationLegality plan;
  Lanes lanes;
  unsigned rowLanes;
  const iteration::CostModel &model;
  mlir::OpBuilder b;
  mlir::Location loc;
  VectorAccumulator chain;
  Value upper;   ///< where the vectors end
  Value rowsEnd; ///< where the last row ends, if vectors may read on into the next one; else null

  /// The lanes of every reduction before the first vector.
  Values start() {
    Values lanesBefore;
    for (auto [reduction, init] : llvm::zip_equal(plan.reductions, plan.loop.getInitArgs()))
      lanesBefore.push_back(startLanes(b, loc, reduction, lanes, init));
    return lanesBefore;
  }

  /// Asks for the rows that a later round of the loop around names by its coordinate, where these are far
  /// apart (SDDMM with 64 columns on `rmat:17:16`: 41 ms by hand, 58 ms without), or for what follows its
  /// rows.
  void fetchLaterRows() {
    auto around = mlir::dyn_cast<scf::ForOp>(plan.loop->getParentOp());
    if (!around)
      return;
    PrefetchPlan ahead(around, plan, model.cpu);
    if (!ahead.any())
      return;
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(around);
    Value areFar =
        ahead.areFar(b, loc, {}, around.getLowerBound(), around.getUpperBound(), model.cpu.prefetchRows);
    if (model.cpu.prefetchConsecutive > 0 && around.isDefinedOutsideOfLoop(plan.loop.getLowerBound()) &&
        around.isDefinedOutsideOfLoop(plan.loop.getUpperBound()))
      prefetchConsecutive(ahead, around, areFar);
    b.setInsertionPoint(plan.loop);
    auto branch = scf::IfOp::create(b, loc, areFar, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    mlir::IRMapping later;
    ahead.at(b, loc, arith::AddIOp::create(b, loc, around.getInductionVar(), roundsAhead()), later);
    ahead.fetch(b, loc, later, lineLoop());
  }

  /// Of rows that follow each other, the last of the loop around is the one that names what no row before
  /// has read: what follows it is asked for once, and what follows the row that all of them are multiplied by
  /// (SDDMM with 64 columns by hand: 54 -> 37 ms on `grid2d:1000`, 44 -> 34 on `grid3d27:64`; asked for at
  /// every entry, 55 and 36).
  void prefetchConsecutive(const PrefetchPlan &ahead, scf::ForOp around, Value areFar) {
    Value begin = around.getLowerBound(), end = around.getUpperBound();
    Value follow = branch(
        areFar, [&] { return Values{arith::ConstantIntOp::create(b, loc, 0, 1)}; },
        [&] { return Values{ahead.follow(b, loc, {}, begin, end, model.cpu.prefetchConsecutive)}; })[0];
    auto fetching = scf::IfOp::create(b, loc, follow, /*withElseRegion=*/false);
    b.setInsertionPointToStart(fetching.thenBlock());
    mlir::IRMapping last;
    ahead.at(b, loc, arith::SubIOp::create(b, loc, end, arith::ConstantIndexOp::create(b, loc, 1)), last);
    Value distance = arith::ConstantIndexOp::create(b, loc, model.cpu.prefetchConsecutive);
    Value behind = arith::AddIOp::create(b, loc, lineLoop(), distance);
    ahead.fetch(b, loc, last, behind);
    ahead.fetchBeside(b, loc, behind);
  }

  /// Elements of the inner loop's operands in a cache line.
  int64_t lineElements() const { return std::max<int64_t>(1, model.cpu.line * 8 / int64_t(plan.widestBits)); }

  /// Rounds of the loop around before a row is read: wide rows are fewer.
  Value roundsAhead() {
    auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
    Value length = arith::SubIOp::create(b, loc, plan.loop.getUpperBound(), plan.loop.getLowerBound());
    Value wide = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, length,
                                       constant(model.costs.wideRow * lineElements()));
    return arith::SelectOp::create(b, loc, wide, constant(model.cpu.prefetchWideRows),
                                   constant(model.cpu.prefetchRows));
  }

  /// The index of a loop built here, to go on in, over the cache lines of the inner loop's operands.
  Value lineLoop() {
    Value line = arith::ConstantIndexOp::create(b, loc, lineElements());
    auto lines = scf::ForOp::create(b, loc, plan.loop.getLowerBound(), plan.loop.getUpperBound(), line);
    keepAsItIs(lines);
    b.setInsertionPointToStart(lines.getBody());
    return lines.getInductionVar();
  }

  /// Loops of wider vectors, whose halves are combined behind them.
  std::pair<Value, Values> wideLoops(Value position) {
    const Lanes narrow = lanes;
    lanes.count = rowLanes;
    Value step = arith::ConstantIndexOp::create(b, loc, lanes.count);
    Values partial = start();
    for (int64_t chains : {4, 1})
      std::tie(position, partial) = vectorLoop(position, partial, step, chains, chains);
    for (auto [reduction, value] : llvm::zip_equal(plan.reductions, partial))
      for (int64_t half = lanes.count / 2; half >= narrow.count; half /= 2) {
        auto part = [&](int64_t first) {
          return vector::ExtractStridedSliceOp::create(b, loc, value, first, half, 1);
        };
        value = combine(b, loc, reduction, part(0), part(half));
      }
    lanes = narrow;
    return {position, partial};
  }

  /// The lanes of each reduction combined.
  Values combined(Values lanesAfter) {
    for (auto [reduction, value, init] :
         llvm::zip_equal(plan.reductions, lanesAfter, plan.loop.getInitArgs()))
      value = combineLanes(b, loc, reduction, value, init);
    return lanesAfter;
  }

  /// Gathers already keep many loads in flight; sums of consecutive data wait on the adder unless it has
  /// several chains.
  Ended vectorLoops(Value position, Values partial, Value step) {
    if (!plan.gathers && !plan.reductions.empty()) {
      if (!chain && rowLanes > lanes.count) {
        fetchLaterRows();
        std::tie(position, partial) = wideLoops(position);
      } else {
        std::tie(position, partial) = vectorLoop(position, partial, step, 4, 4);
      }
    }
    if (plan.gathers && model.cpu.vectorsPerPrefetch > 1)
      std::tie(position, partial) = vectorLoop(position, partial, step, model.cpu.vectorsPerPrefetch, 1);
    return vectorLoop(position, partial, step, 1, 1);
  }

  /// LLVM would make gathers of the loads again.
  void keepLanesApart() {
    plan.loop->getParentOfType<mlir::func::FuncOp>()->setAttr(dialect::kScalarLanesAttr, b.getUnitAttr());
  }

  /// A gather of neighbors is a load for each lane, which takes less time than the instruction; a row must
  /// be worth asking.
  Ended apartWhereNear(llvm::ArrayRef<Value> places, Value lower, Values partial, Value step) {
    auto vectors = [&](bool apart) {
      lanes.gatherElements = apart;
      Ended ended = vectorLoop(lower, partial, step, 1, 1);
      lanes.gatherElements = false;
      return ended;
    };
    return byDistance(
        places, lower, step, chain ? 1 : 2, [&] { return vectors(true); }, [&] { return vectors(false); });
  }

  /// One of two loops: the first where there are iterations for `least` vectors and what they gather is near.
  /// What the first and the last iteration gather tells how far a row reaches, since its coordinates ascend
  /// as a rule.
  Ended byDistance(llvm::ArrayRef<Value> places, Value lower, Value step, int64_t least,
                   llvm::function_ref<Ended()> whereNear, llvm::function_ref<Ended()> whereFar) {
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value vectors = arith::ConstantIndexOp::create(b, loc, least);
    Value last = arith::SubIOp::create(b, loc, upper, arith::MulIOp::create(b, loc, step, vectors));
    Value enough = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, lower, last);
    Value near = branch(
        enough,
        [&] {
          mlir::IRMapping first, last;
          first.map(plan.loop.getInductionVar(), lower);
          last.map(plan.loop.getInductionVar(), arith::SubIOp::create(b, loc, upper, one));
          return Values{areNear(b, loc, plan, places, first, last)};
        },
        [&] { return Values{arith::ConstantIntOp::create(b, loc, 0, 1)}; })[0];
    auto together = [](Ended ended) {
      ended.second.insert(ended.second.begin(), ended.first);
      return ended.second;
    };
    Values results =
        branch(near, [&] { return together(whereNear()); }, [&] { return together(whereFar()); });
    return {results[0], Values(llvm::drop_begin(results))};
  }

  Values branch(Value condition, llvm::function_ref<Values()> then, llvm::function_ref<Values()> otherwise) {
    auto region = [&](llvm::function_ref<Values()> values) {
      return [=, this](mlir::OpBuilder &inside, mlir::Location) {
        mlir::OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(inside.getInsertionBlock(), inside.getInsertionPoint());
        scf::YieldOp::create(b, loc, values());
      };
    };
    return Values(scf::IfOp::create(b, loc, condition, region(then), region(otherwise)).getResults());
  }

  /// A loop over so many vectors at a time from `lower` while they fit, which take turns with the chains of
  /// sums; returns where it ends, and its results.
  Ended vectorLoop(Value lower, Values partial, Value step, int64_t vectors, int64_t chains) {
    Value wide = step;
    if (vectors > 1)
      wide = arith::MulIOp::create(b, loc, step, arith::ConstantIndexOp::create(b, loc, vectors));
    // p < upper - (wide - 1) says p + wide <= upper without computing beyond the loop's own bounds.
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value limit = arith::SubIOp::create(b, loc, upper, arith::SubIOp::create(b, loc, wide, one));
    Values inits{lower};
    inits.append(partial);
    for (int64_t chain = 1; chain < chains; ++chain)
      for (auto [reduction, init] : llvm::zip_equal(plan.reductions, plan.loop.getInitArgs()))
        inits.push_back(startLanes(b, loc, reduction, lanes, init));

    auto loop = scf::ForOp::create(b, loc, lower, limit, wide, inits);
    keepAsItIs(loop);
    b.setInsertionPointToStart(loop.getBody());
    Values sums(loop.getRegionIterArgs().drop_front());
    const size_t count = plan.reductions.size();
    Value first = loop.getInductionVar();
    for (int64_t at = 0; at < vectors; ++at) {
      if (at > 0)
        first = arith::AddIOp::create(b, loc, first, step);
      BodyEmitter body(b, plan, lanes, first);
      const size_t chain = size_t(at % chains) * count;
      llvm::copy(body.emit(mlir::ValueRange(sums).slice(chain, count)), sums.begin() + chain);
      // The hardware sees such streams too, but each only up to the end of a page, while entries that gathers
      // wait for hold up the loads behind them; loads of neighbors wait for nothing (experiments 001 and
      // 009).
      if (plan.gathers && (!lanes.takesGathersApart() || !model.cpu.hardwarePrefetch))
        body.prefetch(model.cpu.prefetchEntries, at * lanes.count);
    }
    sums.insert(sums.begin(), arith::AddIOp::create(b, loc, loop.getInductionVar(), wide));
    scf::YieldOp::create(b, loc, sums);

    b.setInsertionPointAfter(loop);
    Values results(loop.getResults().slice(1, count));
    for (int64_t chain = 1; chain < chains; ++chain)
      for (auto [k, reduction] : llvm::enumerate(plan.reductions))
        results[k] = combine(b, loc, reduction, results[k], loop.getResult(1 + chain * count + k));
    return {loop.getResult(0), results};
  }

  /// Where the entries of the last row end, which the row of this loop is one of.
  Value endOf(scf::ForOp rows) {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(rows);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    mlir::IRMapping map;
    map.map(rows.getInductionVar(), arith::SubIOp::create(b, loc, rows.getUpperBound(), one).getResult());
    return clonePlace(b, plan.loop.getUpperBound(), rows.getBody(), map);
  }

  /// One more vector, whose lanes behind the end of the row are left out of the sums; a scalar rest where the
  /// last row has nothing behind it.
  void restReadingOn(Value position, Values partial) {
    scf::ForOp loop = plan.loop;
    Value count = arith::ConstantIndexOp::create(b, loc, lanes.count);
    Value behind = arith::AddIOp::create(b, loc, position, count);
    Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, behind, rowsEnd);
    auto either = scf::IfOp::create(b, loc, loop.getResultTypes(), fits, /*withElseRegion=*/true);
    loop.replaceAllUsesWith(either.getResults());
    b.setInsertionPointToStart(either.thenBlock());
    Value left = arith::SubIOp::create(b, loc, loop.getUpperBound(), position);
    BodyEmitter body(b, plan, lanes, position, firstLanes(b, loc, lanes, left));
    body.readWhereOff();
    scf::YieldOp::create(b, loc, combined(body.emit(partial)));
    b.setInsertionPointToStart(either.elseBlock());
    Values results = combined(partial);
    scalarRest(position, results);
    loop->moveBefore(either.elseBlock(), either.elseBlock()->end());
    b.setInsertionPointToEnd(either.elseBlock());
    scf::YieldOp::create(b, loc, loop.getResults());
  }

  /// The original loop, from where the vectors ended.
  void scalarRest(Value position, mlir::ValueRange inits) {
    plan.loop.getLowerBoundMutable().assign(position);
    plan.loop.getInitArgsMutable().assign(inits);
    keepAsItIs(plan.loop);
  }

  /// Neither unrolled nor vectorized again by LLVM: at most a few iterations remain, or each is already a
  /// vector.
  static void keepAsItIs(scf::ForOp loop) { keepScalar(loop); }
};

/// Says why an innermost loop stays scalar.
void missed(scf::ForOp loop, const Obstacle &obstacle) {
  bool innermost = !loop.getBody()
                        ->walk([](mlir::LoopLikeOpInterface) { return mlir::WalkResult::interrupt(); })
                        .wasInterrupted();
  if (!innermost)
    return;
  std::string reason = ("'" + obstacle.op->getName().getStringRef() + "' " + obstacle.why).str();
  mlir::remark::missed(obstacle.op->getLoc(),
                       mlir::remark::RemarkOpts::name("ScalarLoop").category("tulle-vectorize"))
      << mlir::remark::reason("{0}", reason);
}

/// Whether an iteration computes so much that a vector with lanes switched off takes less than some of them
/// one by one.
bool isHeavy(scf::ForOp loop) {
  int64_t work = 0;
  for (Operation &op : *loop.getBody())
    if (mlir::isa<arith::DivFOp, mlir::math::SqrtOp>(op))
      work += 8;
    else if (op.getNumResults() == 1 && mlir::isa<mlir::FloatType>(op.getResult(0).getType()) &&
             !mlir::isa<mlir::memref::LoadOp>(op))
      ++work;
  return work >= 8;
}

/// A loop of vectors without a rest: the lanes behind the end are off. Segments of stored entries are often
/// shorter than a vector. Whole vectors have a loop of their own where masks take time.
void allByMask(const VectorizationLegality &plan, const Lanes &lanes, bool wholeOnesApart) {
  scf::ForOp loop = plan.loop;
  mlir::OpBuilder b(loop);
  mlir::Location loc = loop.getLoc();
  Value step = arith::ConstantIndexOp::create(b, loc, lanes.count);
  Value position = loop.getLowerBound(), end = loop.getUpperBound();
  auto vectors = [&](Value limit, mlir::ValueRange carried, llvm::function_ref<Value(Value)> maskAt) {
    auto some = scf::ForOp::create(b, loc, position, limit, step, carried);
    keepScalar(some);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(some.getBody());
    BodyEmitter(b, plan, lanes, some.getInductionVar(), maskAt(some.getInductionVar())).emit({});
    return some;
  };
  if (wholeOnesApart) {
    Value limit = arith::SubIOp::create(b, loc, end, arith::ConstantIndexOp::create(b, loc, lanes.count - 1));
    scf::ForOp whole = vectors(limit, position, [](Value) { return Value(); });
    mlir::OpBuilder last = mlir::OpBuilder::atBlockEnd(whole.getBody());
    scf::YieldOp::create(last, loc,
                         arith::AddIOp::create(last, loc, whole.getInductionVar(), step).getResult());
    position = whole.getResult(0);
  }
  vectors(end, {},
          [&](Value first) { return firstLanes(b, loc, lanes, arith::SubIOp::create(b, loc, end, first)); });
  loop.erase();
}

struct VectorizePass : impl::VectorizeBase<VectorizePass> {
  using VectorizeBase::VectorizeBase;

  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    llvm::SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      Obstacle obstacle;
      std::optional<VectorizationLegality> plan = analyzeLoop(loop, &obstacle);
      if (!plan) {
        missed(loop, obstacle);
        continue;
      }
      // LLVM vectorizes consecutive accesses well, and elements scattered one by one cost what the scalar
      // loop costs.
      bool consecutive = !plan->gathers && !plan->branches && plan->reductions.empty();
      if (!vl && !scalable && consecutive && isRead(loop.getLowerBound()) && isHeavy(loop)) {
        Lanes lanes;
        lanes.count = model.rowVectorLength(plan->widestBits, model.vectorLength(plan->widestBits, 0).value);
        allByMask(*plan, lanes, !model.cpu.masks);
        continue;
      }
      if (!vl && (consecutive || plan->scatters))
        continue;
      Lanes lanes;
      const iteration::Choice<unsigned> length = model.vectorLength(plan->widestBits, vl, plan->gathers);
      lanes.count = length.value;
      // Loops over parts of a block, or over few entries, are left to LLVM, which unrolls them where it can.
      std::optional<int64_t> most = mostIterations(loop), exactly = constantIterations(loop);
      if (most && *most <= 4 * lanes.count && !(exactly && *exactly >= 2 * lanes.count))
        continue;
      dialect::explainChoice(loop, length.reason);
      if (plan->gathers && !vl && !model.cpu.gathers)
        dialect::explainChoice(loop, "gathers are a load for each lane: " + std::string(model.cpu.name) +
                                         " has no instruction that takes less");
      lanes.scalable = scalable;
      lanes.index32 = index32;
      lanes.gatherElements = gatherElements || (!vl && !model.cpu.gathers);
      // Rows of a dense operand are as long as a dimension, segments of stored entries are short.
      bool regular = !vl && !scalable && !plan->gathers && !plan->branches && !isRead(loop.getLowerBound());
      const unsigned rowLanes = regular ? model.rowVectorLength(plan->widestBits, lanes.count) : lanes.count;
      LoopEmitter emitter(std::move(*plan), lanes, rowLanes, model);
      emitter.run();
      for (auto [before, now] : emitter.replaced())
        for (scf::ForOp &other : loops)
          if (other.getOperation() == before)
            other = mlir::cast<scf::ForOp>(now);
    }
  }
};

} // namespace
} // namespace tulle::passes
