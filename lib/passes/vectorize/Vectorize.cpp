// tulle-vectorize: vectorize innermost loops that gather or reduce.
//
// A legal loop becomes a loop of whole vectors (for sums of consecutive data: two loops, the first with
// several independent accumulators), and a scalar epilogue. Rows of sparse matrices are short: on them a
// scalar epilogue is faster than a masked one, unless a sample finds that they differ,
// and half-width gathers are faster than full-width ones. Loops over consecutive elements are LLVM's, but for
// functions so long that it leaves them as they are.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Remarks.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopUtils.h"
#include "passes/prefetch/PrefetchPlan.h"
#include "passes/vectorize/BufferRows.h"
#include "passes/vectorize/Predicate.h"
#include "passes/vectorize/RowVersions.h"

namespace tulle::passes {
#define GEN_PASS_DEF_VECTORIZE
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;
using arith::CmpIPredicate;

//===--- Whole vectors and an epilogue ---===//

/// How one loop is vectorized.
struct VectorShape {
  Lanes lanes;
  unsigned unroll = 0; ///< so many vectors at a time, as the schedule says; 0: as is best
  unsigned rowLanes;   ///< of the wider vectors that long rows of a reduction begin with
  RowVersion rows = {};
};

/// Rewrites a legal loop: loops of whole vectors, then a scalar or an over-reading epilogue.
class VectorLoops : levels::Indices {
  using Values = SmallVector<Value>;

public:
  VectorLoops(VectorizationLegality legality, const VectorShape &shape, const iteration::CostModel &model)
      : Indices(legality.loop), legality(std::move(legality)), lanes(shape.lanes), unroll(shape.unroll),
        rowLanes(shape.rowLanes), rows(shape.rows), model(model), accumulator(this->legality, lanes) {
    scf::ForOp loop = this->legality.loop;
    b.setInsertionPoint(loop);
    upper = loop.getUpperBound();
    // Inactive lanes load the first element: where there is none, the scalar epilogue does everything.
    if (lanes.scalarizeGathers && !this->legality.guardedGathers.empty())
      upper = select(areNonEmpty(b, loc, this->legality.guardedGathers), upper, loop.getLowerBound());
    overReads = rows.overRead >= lanes.count && !accumulator;
  }

  void emit() {
    scf::ForOp loop = legality.loop;
    Value step = constant(lanes.count);
    if (lanes.scalable)
      step = times(step, vector::VectorScaleOp::create(b, loc));
    Values coordinates, results(loop.getInitArgs());
    // Elements that are prefetched are not local.
    if (!legality.branches && !legality.prefetches && !lanes.scalable && !lanes.scalarizeGathers &&
        model.cpu.localElements != 0)
      coordinates = gatherCoordinates(legality);
    // LLVM's SLP vectorizer would make gathers of the loads again.
    if (!coordinates.empty() || (legality.gathers && lanes.scalarizeGathers))
      loop->getParentOfType<func::FuncOp>()->setAttr(dialect::kScalarLanesAttr, b.getUnitAttr());
    auto vectors = [&] {
      State begin{loop.getLowerBound(), accumulator ? accumulator.before() : initial()};
      const bool either = !coordinates.empty() && !unroll && !(overReads && rows.loads);
      return either ? scalarizeWhereLocal(coordinates, begin, step) : vectorLoops(begin, step);
    };
    if (overReads)
      return overReadingRows(vectors);
    if (lanes.count >= manyLanes && legality.gathers && !legality.reductions.empty() && !accumulator)
      return vectorsWhereAny(step, vectors);
    State end = vectors();
    if (!accumulator)
      results = reduced(end.partial);
    scalarEpilogue(end.position, results);
    if (accumulator)
      accumulator.finish(end.partial);
  }

private:
  /// Many rows are shorter than so many lanes.
  static constexpr unsigned manyLanes = 8;

  /// Where the vectors of a loop end, and its vector accumulators there.
  struct State {
    Value position;
    Values partial;
  };

  VectorizationLegality legality;
  Lanes lanes;
  unsigned unroll, rowLanes;
  RowVersion rows;
  const iteration::CostModel &model;
  VectorAccumulator accumulator;
  Value upper;    ///< where the vectors end
  bool overReads; ///< the last vector of a row may over-read into the next one

  /// The vectors of every reduction before the first iteration.
  Values initial() {
    Values vectors;
    for (auto [reduction, init] : llvm::zip_equal(legality.reductions, legality.loop.getInitArgs()))
      vectors.push_back(initialLanes(b, loc, reduction, lanes, init));
    return vectors;
  }

  /// Gathers already keep many loads in flight; sums of consecutive elements wait for the adder unless it has
  /// several chains.
  State vectorLoops(State from, Value step) {
    if (unroll)
      return vectorLoop(unroll > 1 ? vectorLoop(from, step, unroll, unroll) : from, step, 1, 1);
    if (!legality.gathers && !legality.reductions.empty()) {
      if (!accumulator && rowLanes > lanes.count) {
        prefetchLaterRows();
        from = wideLoops(from.position);
      } else {
        from = vectorLoop(from, step, 4, 4);
      }
    }
    if (legality.gathers && model.cpu.vectorsPerPrefetch > 1)
      from = vectorLoop(from, step, model.cpu.vectorsPerPrefetch, 1);
    return vectorLoop(from, step, 1, 1);
  }

  void prefetchLaterRows() {
    auto around = dyn_cast<scf::ForOp>(legality.loop->getParentOp());
    std::optional<LaterRows> rows;
    if (around)
      rows.emplace(around, legality, model);
    if (!rows || !rows->any())
      return;
    rows->emitBefore();
    rows->emitAt(b, around.getInductionVar());
  }

  /// Loops of wider vectors, whose halves are combined behind them.
  State wideLoops(Value position) {
    const Lanes narrow = lanes;
    lanes.count = rowLanes;
    Value step = constant(lanes.count);
    State end{position, initial()};
    for (int64_t chains : {4, 1})
      end = vectorLoop(end, step, chains, chains);
    for (auto [reduction, value] : llvm::zip_equal(legality.reductions, end.partial))
      for (int64_t half = lanes.count / 2; half >= narrow.count; half /= 2) {
        auto part = [&](int64_t first) {
          return vector::ExtractStridedSliceOp::create(b, loc, value, first, half, 1);
        };
        value = combine(b, loc, reduction, part(0), part(half));
      }
    lanes = narrow;
    return end;
  }

  /// A loop over so many vectors at a time while they fit, which alternate between the chains of sums.
  State vectorLoop(State from, Value step, int64_t vectors, int64_t chains) {
    Value wide = vectors > 1 ? times(step, constant(vectors)) : step;
    // p < upper - (wide - 1) says p + wide <= upper without computing beyond the loop's own bounds.
    Value one = constant(1);
    Value limit = sub(upper, sub(wide, one));
    Values inits{from.position};
    inits.append(from.partial);
    for (int64_t chain = 1; chain < chains; ++chain)
      inits.append(initial());

    auto loop = scf::ForOp::create(b, loc, from.position, limit, wide, inits);
    disableLoopTransforms(loop);
    b.setInsertionPointToStart(loop.getBody());
    Values sums(loop.getRegionIterArgs().drop_front());
    const size_t count = legality.reductions.size();
    Value first = loop.getInductionVar();
    for (int64_t at = 0; at < vectors; ++at) {
      if (at > 0)
        first = add(first, step);
      BodyEmitter body(b, legality, lanes, first);
      const size_t chain = size_t(at % chains) * count;
      llvm::copy(body.emit(ValueRange(sums).slice(chain, count)), sums.begin() + chain);
      // The hardware prefetcher covers such streams too, but each only up to the end of a page, while entries
      // that gathers wait for hold up the loads behind them; local loads wait for nothing (experiments 001
      // and 009).
      if (legality.gathers && (!lanes.scalarizeGathers || !model.cpu.hardwarePrefetch))
        body.prefetch(model.cpu.prefetchEntries, at * lanes.count);
    }
    sums.insert(sums.begin(), add(loop.getInductionVar(), wide));
    scf::YieldOp::create(b, loc, sums);

    b.setInsertionPointAfter(loop);
    Values results(loop.getResults().slice(1, count));
    for (int64_t chain = 1; chain < chains; ++chain)
      for (auto [k, reduction] : llvm::enumerate(legality.reductions))
        results[k] = combine(b, loc, reduction, results[k], loop.getResult(1 + chain * count + k));
    return {loop.getResult(0), results};
  }

  /// Where a row gathers from local elements, scalarized gathers are faster than the instruction, if the row
  /// is long enough for the test to be profitable, or all rows are known to.
  State scalarizeWhereLocal(ArrayRef<Value> coordinates, State from, Value step) {
    auto vectors = [&](bool scalarized) {
      return [&, scalarized] {
        lanes.scalarizeGathers = scalarized;
        State end = vectorLoop(from, step, 1, 1);
        lanes.scalarizeGathers = false;
        end.partial.insert(end.partial.begin(), end.position);
        return end.partial;
      };
    };
    Values carried{from.position};
    carried.append(from.partial);
    Value local = rows.loads ? rows.loads : areRowsLocal(coordinates, from.position, step);
    Values results =
        levels::ifElse(b, loc, local, ValueRange(carried).getTypes(), vectors(true), vectors(false));
    return {results[0], Values(llvm::drop_begin(results))};
  }

  /// At run time: there are iterations for some vectors, and they gather from local elements. What the first
  /// and the last iteration gather tells how far a row reaches, since its coordinates ascend as a rule.
  Value areRowsLocal(ArrayRef<Value> coordinates, Value lower, Value step) {
    Value one = constant(1), least = constant(accumulator ? 1 : 2);
    Value last = sub(upper, times(step, least));
    return ifThen(is(CmpIPredicate::sle, lower, last),
                  [&] { return areLocal(b, loc, legality, coordinates, model.cpu, lower, sub(upper, one)); });
  }

  /// The horizontal reductions.
  Values reduced(Values partial) {
    for (auto [reduction, value, init] :
         llvm::zip_equal(legality.reductions, partial, legality.loop.getInitArgs()))
      value = reduceLanes(b, loc, reduction, value, init);
    return partial;
  }

  /// Each row becomes vectors, behind which nothing is left: whole ones and an over-reading one, or, where
  /// gathers are loads, over-reading ones alone.
  void overReadingRows(function_ref<State()> vectors) {
    auto whole = [&] {
      State end = vectors();
      Value left = sub(legality.loop.getUpperBound(), end.position);
      return reduced(overReading(end.position, activeLanes(b, loc, lanes, left), end.partial));
    };
    scf::ForOp loop = legality.loop;
    Values results;
    if (rows.loads && !unroll)
      results =
          levels::ifElse(b, loc, areLoads(), loop.getResultTypes(), [&] { return overReadingRow(); }, whole);
    else
      results = whole();
    noteLanes(loop);
    loop.replaceAllUsesWith(results);
    loop.erase();
  }

  /// `rows.loads`, as a test of the row: of a condition that is the same for all rows, LLVM would make a loop
  /// over rows for each answer. Here it gains nothing, and takes time to compile (experiment 125).
  Value areLoads() {
    scf::ForOp around = rowLoopOf(legality.loop);
    levels::Indices before(around);
    Value end = before.select(rows.loads, around.getUpperBound(), around.getLowerBound());
    return is(CmpIPredicate::slt, around.getInductionVar(), end);
  }

  /// It runs at least one vector, so that no branch depends on the row's length while that is at most one.
  Values overReadingRow() {
    const Lanes narrow = lanes;
    lanes.count = kRowLanes;
    Value begin = legality.loop.getLowerBound(), end = legality.loop.getUpperBound();
    auto row = scf::ForOp::create(b, loc, begin, max(end, add(begin, constant(1))), constant(lanes.count),
                                  initial());
    disableLoopTransforms(row);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(row.getBody());
      Value position = row.getInductionVar();
      Value active =
          model.cpu.masks ? laneBits(sub(end, position)) : activeLanes(b, loc, lanes, sub(end, position));
      scf::YieldOp::create(b, loc, overReading(position, active, row.getRegionIterArgs()));
    }
    Values results = reduced(Values(row.getResults()));
    lanes = narrow;
    return results;
  }

  /// A mask of the first `left` of eight lanes, made of an integer. Before a comparison of vectors, LLVM
  /// loads the coordinates of all lanes, for which it has not enough registers (experiment 125).
  Value laneBits(Value left) {
    static_assert(kRowLanes == 8);
    Type wide = b.getI32Type(), bits = b.getI8Type();
    Value all = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(-1));
    Value count = arith::IndexCastOp::create(b, loc, wide, min(left, constant(kRowLanes)));
    Value behind = arith::ShLIOp::create(b, loc, all, count);
    Value first = arith::TruncIOp::create(b, loc, bits, arith::XOrIOp::create(b, loc, behind, all));
    Value lane = vector::BroadcastOp::create(b, loc, VectorType::get({1}, bits), first);
    return vector::BitCastOp::create(b, loc, lanes.of(b.getI1Type()), lane);
  }

  /// The sums after a vector at `position`, which lanes that are not active do not change. Few lanes are
  /// loaded sooner than by an instruction for all.
  Values overReading(Value position, Value active, ValueRange sums) {
    Lanes loaded = lanes;
    loaded.scalarizeGathers = true;
    BodyEmitter body(b, legality, loaded, position, active);
    body.readInactiveLanes();
    return body.emit(sums);
  }

  /// Rows shorter than a vector reduce no lanes, and prefetch what their scalar loop streams, which no vector
  /// does for them (experiment 071).
  void vectorsWhereAny(Value step, function_ref<State()> vectors) {
    scf::ForOp loop = legality.loop;
    Value lower = loop.getLowerBound();
    Values carried{lower};
    carried.append(loop.getInitArgs().begin(), loop.getInitArgs().end());
    Value any = is(CmpIPredicate::sle, lower, sub(upper, step));
    Values ends = levels::ifElse(
        b, loc, any, ValueRange(carried).getTypes(),
        [&] {
          State end = vectors();
          Values results = reduced(end.partial);
          results.insert(results.begin(), end.position);
          return results;
        },
        [&] {
          BodyEmitter(b, legality, lanes, lower).prefetch(model.cpu.prefetchEntries);
          return carried;
        });
    scalarEpilogue(ends[0], ValueRange(ends).drop_front());
  }

  /// The original loop, from where the vectors ended.
  void scalarEpilogue(Value position, ValueRange inits) {
    legality.loop.getLowerBoundMutable().assign(position);
    legality.loop.getInitArgsMutable().assign(inits);
    disableLoopTransforms(legality.loop);
    noteLanes(legality.loop);
    dropDirectives(legality.loop);
  }
};

/// Says why an innermost loop stays scalar.
void remarkMissed(scf::ForOp loop, const MissedVectorization &missed) {
  std::string reason = ("'" + missed.op->getName().getStringRef() + "' " + missed.why).str();
  remark::missed(missed.op->getLoc(), remark::RemarkOpts::name("ScalarLoop").category("tulle-vectorize"))
      << remark::reason("{0}", reason);
}

/// Whether the loop runs over a segment of stored entries, or counts from 0 to its length.
bool isSegment(scf::ForOp loop) {
  auto length = loop.getUpperBound().getDefiningOp<arith::SubIOp>();
  return isLoaded(loop.getLowerBound()) || (length && isLoaded(length.getLhs()) && isLoaded(length.getRhs()));
}

/// Whether the loop writes a segment of an outer loop's iteration elsewhere: what a vector leaves are a few
/// entries of each (docs/experiments/126).
bool isCopiedRow(const VectorizationLegality &legality) {
  scf::ForOp loop = legality.loop;
  return !legality.scatters && loop->getParentOfType<scf::ForOp>() &&
         llvm::any_of(loop.getBody()->getOps<memref::StoreOp>(),
                      [&](memref::StoreOp store) { return store.getIndices()[0] != loop.getInductionVar(); });
}

/// Whether an iteration computes so much that a masked vector is faster than some of them one by one.
bool isComputeIntensive(scf::ForOp loop) {
  int64_t work = 0;
  for (Operation &op : *loop.getBody())
    if (isa<arith::DivFOp, math::SqrtOp>(op))
      work += 8;
    else if (op.getNumResults() == 1 && isa<FloatType>(op.getResult(0).getType()) && !isa<memref::LoadOp>(op))
      ++work;
  return work >= 8;
}

/// Whether the loop prefetches elements that later iterations select, and does little with them: vectors
/// would wait for the same memory (experiment 131).
bool isBoundByPrefetch(const VectorizationLegality &legality) {
  auto prefetches = scf::ForOp(legality.loop).getBody()->getOps<memref::PrefetchOp>();
  return !isComputeIntensive(legality.loop) && llvm::any_of(prefetches, [&](memref::PrefetchOp prefetch) {
    return legality.shapeOf(prefetch.getIndices()[0]) == LaneShape::Varying;
  });
}

//===--- The pass ---===//

struct VectorizePass : impl::VectorizeBase<VectorizePass> {
  using VectorizeBase::VectorizeBase;

  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    isLong = instructionsIn(getOperation()) > model.costs.longModule;
    SmallPtrSet<Operation *, 4> withoutVectors;
    if (!vl && !scalable && !isMasked())
      for (scf::ForOp loop : loopsIn(getOperation()))
        if (!isScheduled(loop)) {
          versionShortSegments(loop, model);
          if (scf::ForOp version = versionByMeanLength(loop, model))
            withoutVectors.insert(version);
        }
    llvm::DenseMap<Operation *, RowVersion> rowVersions;
    if (sampleRows && !isMasked() && !scalable)
      for (scf::ForOp loop : loopsIn(getOperation()))
        if (fixedLanes(loop) != 1 && !withoutVectors.contains(loop))
          versionRows(loop, model, fixedLanes(loop) ? fixedLanes(loop) : vl, rowVersions);
    // The loops around these may be replaced by ones that carry vectors.
    SmallVector<scf::ForOp> innermost = llvm::filter_to_vector(loopsIn(getOperation()), isInnermost);
    for (scf::ForOp loop : innermost) {
      const unsigned scheduled = fixedLanes(loop);
      if (withoutVectors.contains(loop)) {
        disableLoopTransforms(loop);
        continue;
      }
      if (scheduled == 1) {
        disableVectorization(loop);
        noteLanes(loop);
        continue;
      }
      useRowsOfBuffers(loop);
      MissedVectorization missed;
      std::optional<VectorizationLegality> legality = analyzeLoop(loop, &missed);
      if (!legality && scheduled) {
        refuse(loop, missed);
        return signalPassFailure();
      }
      if (!legality) {
        remarkMissed(loop, missed);
        continue;
      }
      if (!scheduled && !scheduledUnroll(loop) && !vl && !isMasked() && isBoundByPrefetch(*legality)) {
        disableLoopTransforms(loop);
        if (auto rows = loop->getParentOfType<scf::ForOp>(); rows && !hasLoopAnnotation(rows))
          disableUnrolling(rows);
        continue;
      }
      if (!scheduled && !scheduledUnroll(loop) && isPredicated(*legality, model)) {
        const unsigned bits = legality->widestBits;
        Lanes lanes;
        lanes.count = model.rowVectorLength(bits, model.vectorLength(bits, 0).value);
        predicate(*legality, lanes, model);
        continue;
      }
      std::optional<VectorShape> shape = shapeOf(*legality, model);
      if (!shape) {
        if (isConsecutive(*legality))
          leaveRow(*legality, model);
        continue;
      }
      if (isMasked() && !shape->unroll) {
        noteLanes(loop);
        // No lane may load for another one where a branch guards the buffer, which may be empty.
        shape->lanes.scalarizeGathers &= legality->guardedGathers.empty();
        maskTail(*legality, shape->lanes);
        continue;
      }
      if (std::optional<int64_t> exactly = exactTripCount(loop);
          exactly && !scheduled && !shape->unroll && isShortSum(*legality, *exactly, shape->lanes, model)) {
        noteLanes(loop);
        if (*exactly > 2 * shape->lanes.count)
          shape->lanes.count = shape->rowLanes;
        maskVectors(*legality, shape->lanes, llvm::divideCeil(*exactly, shape->lanes.count));
        continue;
      }
      shape->rows = rowVersions.lookup(loop);
      if (shape->rows.overRead && !vl && !scheduled && !shape->unroll && model.cpu.maskedRows &&
          isRowMasked(*legality, shape->lanes)) {
        shape->lanes.count = kRowLanes;
        maskRow(*legality, shape->lanes, model);
        continue;
      }
      // A row has vectors of its own; copies of it would be code that takes time to compile.
      if (scf::ForOp rows = rowVersions.contains(loop) ? rowLoopOf(loop) : scf::ForOp();
          rows && !hasLoopAnnotation(rows))
        disableUnrolling(rows);
      VectorLoops(std::move(*legality), *shape, model).emit();
    }
  }

private:
  bool isLong = false; ///< LLVM leaves the function's loops as they are

  bool isMasked() const { return tail == Tail::Mask; }

  /// Of a program of several statements. Others become as long by copies of one loop, which have their
  /// vectors.
  bool isLeftByLlvm(scf::ForOp loop) const {
    const dialect::LoopAttr attr = dialect::loopOf(loop);
    return isLong && attr && attr.getOf() && !maxTripCount(loop);
  }

  /// Of the LLVM code that it becomes: about 15 for two loops or accesses to memory (experiment 073), which
  /// are as many whatever simplifies the function.
  static int64_t instructionsIn(func::FuncOp function) {
    int64_t found = 0;
    function.walk([&](Operation *op) {
      found += isa<scf::ForOp>(op) || (op->getNumRegions() == 0 && !isMemoryEffectFree(op));
    });
    return found * 15 / 2;
  }

  /// Whether the schedule says something of the loops inside.
  static bool isScheduled(scf::ForOp loop) {
    return isBodyScheduled(loop) || anyIn(loop, [](Operation *op) {
             auto inner = dyn_cast<scf::ForOp>(op);
             return (inner && fixedLanes(inner) != 0) || isa<memref::PrefetchOp>(op);
           });
  }

  static void refuse(scf::ForOp loop, const MissedVectorization &missed) {
    StringAttr index = dialect::loopOf(loop).getIndex();
    mlir::emitError(dialect::locationOf(loop, ("vectorize " + index.getValue()).str()))
        << "the loop over " << index.getValue() << " cannot be vectorized: '" << missed.op->getName() << "' "
        << missed.why;
  }

  /// LLVM vectorizes consecutive accesses well, but not in large modules, nor the loops that powers become.
  static bool isConsecutive(const VectorizationLegality &legality) {
    return !legality.gathers && !legality.branches && !legality.prefetches && legality.reductions.empty() &&
           !anyIn(legality.loop, [](Operation *op) { return isa<math::IPowIOp>(op); });
  }

  /// Rows of a constant number of elements are vectors of their own, be it that LLVM unrolls them: behind
  /// that it would make vectors of several rows, whose elements lie apart (experiment 122).
  void leaveRow(const VectorizationLegality &legality, const iteration::CostModel &model) const {
    scf::ForOp loop = legality.loop;
    const int64_t elements = exactTripCount(loop).value_or(0);
    if (elements == 0 || scheduledUnroll(loop) || hasLoopAnnotation(loop))
      return;
    const unsigned lanes = model.cpu.vectorBits / std::max(legality.widestBits, 1u);
    if (elements % std::max(lanes, 1u) == 0)
      return disableUnrolling(loop);
    if (auto rows = dyn_cast<scf::ForOp>(loop->getParentOp()); rows && !hasLoopAnnotation(rows))
      disableVectorization(rows);
  }

  /// The horizontal reductions of others may be deferred (VectorAccumulator).
  static bool isFinal(scf::ForOp loop) {
    return llvm::none_of(loop->getUsers(), llvm::IsaPred<scf::YieldOp>);
  }

  bool isPredicated(const VectorizationLegality &legality, const iteration::CostModel &model) const {
    scf::ForOp loop = legality.loop;
    return !vl && !scalable && !isMasked() && !legality.gathers && !legality.branches && isFinal(loop) &&
           isSegment(loop) &&
           (isComputeIntensive(loop) ||
            (model.cpu.masks && (!legality.reductions.empty() || isCopiedRow(legality))));
  }

  /// Whether a sum of a few vectors, the last one partial, has no loop: the iterations of a scalar epilogue
  /// would wait for each other (experiment 122).
  static bool isShortSum(const VectorizationLegality &legality, int64_t iterations, const Lanes &lanes,
                         const iteration::CostModel &model) {
    return !legality.reductions.empty() && !legality.gathers && !legality.branches && !lanes.scalable &&
           model.cpu.masks && iterations < 4 * lanes.count && iterations % lanes.count != 0;
  }

  /// Whether a masked vector takes the place of what over-reads into the next row.
  static bool isRowMasked(const VectorizationLegality &legality, const Lanes &lanes) {
    return !legality.branches && !lanes.scalable && !lanes.scalarizeGathers &&
           legality.guardedGathers.empty() && isFinal(legality.loop);
  }

  /// The vectors of a loop; nothing where it is left to LLVM.
  std::optional<VectorShape> shapeOf(const VectorizationLegality &legality,
                                     const iteration::CostModel &model) const {
    scf::ForOp loop = legality.loop;
    const unsigned scheduled = fixedLanes(loop), vl = scheduled ? scheduled : unsigned(this->vl);
    // Scalarized scatters cost what the scalar loop costs.
    if (!vl && !isMasked() && (legality.scatters || (isConsecutive(legality) && !isLeftByLlvm(loop))))
      return std::nullopt;
    Lanes lanes;
    const iteration::Choice<unsigned> length = model.vectorLength(legality.widestBits, vl, legality.gathers);
    lanes.count = length.value;
    // Short loops, over a block or over few entries, are left to LLVM, which unrolls them where it can; of
    // unrolled sums it makes no vectors.
    std::optional<int64_t> most = maxTripCount(loop), exactly = exactTripCount(loop);
    int64_t worthwhile = 2 * lanes.count;
    if (!scheduled && !legality.reductions.empty())
      worthwhile =
          exactly && isShortSum(legality, *exactly, lanes, model) ? lanes.count / 2 + 1 : lanes.count;
    if (most && *most <= (scheduled ? lanes.count - 1 : 4 * lanes.count) &&
        !(exactly && *exactly >= worthwhile))
      return std::nullopt;
    dialect::explainChoice(loop, length.reason);
    if (legality.gathers && !vl && !model.cpu.gathers)
      dialect::explainChoice(loop, "gathers are scalarized: " + std::string(model.cpu.name) +
                                       " has no instruction that takes less");
    lanes.index32 = index32;
    lanes.scalable = scalable;
    lanes.scalarizeGathers = !vl && !scalable && !model.cpu.gathers;
    // Rows of a dense operand are as long as a dimension, segments of stored entries are short.
    bool regular =
        !vl && !scalable && !legality.gathers && !legality.branches && !isLoaded(loop.getLowerBound());
    return VectorShape{lanes, scheduledUnroll(loop),
                       regular ? model.rowVectorLength(legality.widestBits, lanes.count)
                               : unsigned(lanes.count)};
  }
};

} // namespace
} // namespace tulle::passes
