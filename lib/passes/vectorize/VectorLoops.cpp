#include "passes/vectorize/VectorLoops.h"
#include "dialect/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/analysis/LoopAnnotation.h"
#include "passes/prefetch/GatherLocality.h"
#include "passes/prefetch/RowPrefetch.h"

namespace tulle::passes {

using namespace mlir;
using arith::CmpIPredicate;

VectorLoops::VectorLoops(VectorizationLegality legality, const VectorShape &shape,
                         const iteration::CostModel &model)
    : Indices(legality.loop), legality(std::move(legality)), lanes(shape.lanes), rowLanes(shape.rowLanes),
      model(model), accumulator(this->legality, lanes) {
  scf::ForOp loop = this->legality.loop;
  b.setInsertionPoint(loop);
  upper = loop.getUpperBound();
  // Inactive lanes load the first element: where there is none, the scalar epilogue does everything.
  if (lanes.scalarizesGathers() && !this->legality.guardedGathers.empty())
    upper = select(areNonEmpty(b, loc, this->legality.guardedGathers), upper, loop.getLowerBound());
  if (shape.overReads && lanes.scalarizesGathers() && !accumulator && !this->legality.branches)
    endOfRows = lastEntry(rowLoopOf(loop));
}

void VectorLoops::emit() {
  scf::ForOp loop = legality.loop;
  Value step = constant(lanes.count);
  if (lanes.scalable)
    step = times(step, vector::VectorScaleOp::create(b, loc));
  Values coordinates, results(loop.getInitArgs());
  if (!legality.branches && !lanes.scalable && !lanes.scalarizeGathers)
    coordinates = gatherCoordinates(legality);
  // LLVM's SLP vectorizer would make gathers of the loads again.
  if (!coordinates.empty() || (legality.gathers && lanes.scalarizesGathers()))
    loop->getParentOfType<func::FuncOp>()->setAttr(dialect::kScalarLanesAttr, b.getUnitAttr());
  State end{loop.getLowerBound(), accumulator ? accumulator.before() : initial()};
  end = coordinates.empty() ? vectorLoops(end, step) : scalarizeWhereLocal(coordinates, end, step);
  if (endOfRows)
    return overReadingEpilogue(end);
  if (!accumulator)
    results = reduced(end.partial);
  scalarEpilogue(end.position, results);
  if (accumulator)
    accumulator.finish(end.partial);
}

/// The vectors of every reduction before the first iteration.
VectorLoops::Values VectorLoops::initial() {
  Values vectors;
  for (auto [reduction, init] : llvm::zip_equal(legality.reductions, legality.loop.getInitArgs()))
    vectors.push_back(initialLanes(b, loc, reduction, lanes, init));
  return vectors;
}

/// Gathers already keep many loads in flight; sums of consecutive elements wait for the adder unless it has
/// several chains.
VectorLoops::State VectorLoops::vectorLoops(State from, Value step) {
  if (!legality.gathers && !legality.reductions.empty()) {
    if (!accumulator && rowLanes > lanes.count) {
      prefetchLaterRows(legality, model);
      from = wideLoops(from.position);
    } else {
      from = vectorLoop(from, step, 4, 4);
    }
  }
  if (legality.gathers && model.cpu.vectorsPerPrefetch > 1)
    from = vectorLoop(from, step, model.cpu.vectorsPerPrefetch, 1);
  return vectorLoop(from, step, 1, 1);
}

/// Loops of wider vectors, whose halves are combined behind them.
VectorLoops::State VectorLoops::wideLoops(Value position) {
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
VectorLoops::State VectorLoops::vectorLoop(State from, Value step, int64_t vectors, int64_t chains) {
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
    // that gathers wait for hold up the loads behind them; local loads wait for nothing (experiments 001 and
    // 009).
    if (legality.gathers && (!lanes.scalarizesGathers() || !model.cpu.hardwarePrefetch))
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

/// Where a row gathers from local elements, scalarized gathers are faster than the instruction; a row must be
/// worth the test.
VectorLoops::State VectorLoops::scalarizeWhereLocal(ArrayRef<Value> coordinates, State from, Value step) {
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
  Values results = levels::ifElse(b, loc, areRowsLocal(coordinates, from.position, step),
                                  ValueRange(carried).getTypes(), vectors(true), vectors(false));
  return {results[0], Values(llvm::drop_begin(results))};
}

/// At run time: there are iterations for some vectors, and they gather from local elements. What the first
/// and the last iteration gather tells how far a row reaches, since its coordinates ascend as a rule.
Value VectorLoops::areRowsLocal(ArrayRef<Value> coordinates, Value lower, Value step) {
  Value one = constant(1), least = constant(accumulator ? 1 : 2);
  Value last = sub(upper, times(step, least));
  return ifThen(is(CmpIPredicate::sle, lower, last), [&] {
    IRMapping first, last;
    first.map(legality.loop.getInductionVar(), lower);
    last.map(legality.loop.getInductionVar(), sub(upper, one));
    return areLocal(b, loc, legality, coordinates, first, last);
  });
}

/// The horizontal reductions.
VectorLoops::Values VectorLoops::reduced(Values partial) {
  for (auto [reduction, value, init] :
       llvm::zip_equal(legality.reductions, partial, legality.loop.getInitArgs()))
    value = reduceLanes(b, loc, reduction, value, init);
  return partial;
}

/// Where the entries of the last row end.
Value VectorLoops::lastEntry(scf::ForOp rows) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(rows);
  return cloneSlice(b, legality.loop.getUpperBound(), rows, sub(rows.getUpperBound(), constant(1)));
}

/// One more vector, whose lanes behind the end of the row are inactive in the sums; the scalar epilogue where
/// too few entries are behind the row.
void VectorLoops::overReadingEpilogue(const State &end) {
  scf::ForOp loop = legality.loop;
  Value behind = add(end.position, constant(lanes.count));
  Value fits = is(CmpIPredicate::sle, behind, endOfRows);
  auto either = scf::IfOp::create(b, loc, loop.getResultTypes(), fits, /*withElseRegion=*/true);
  loop.replaceAllUsesWith(either.getResults());
  b.setInsertionPointToStart(either.thenBlock());
  Value left = sub(loop.getUpperBound(), end.position);
  BodyEmitter body(b, legality, lanes, end.position, activeLanes(b, loc, lanes, left));
  body.readInactiveLanes();
  scf::YieldOp::create(b, loc, reduced(body.emit(end.partial)));
  b.setInsertionPointToStart(either.elseBlock());
  scalarEpilogue(end.position, reduced(end.partial));
  loop->moveBefore(either.elseBlock(), either.elseBlock()->end());
  b.setInsertionPointToEnd(either.elseBlock());
  scf::YieldOp::create(b, loc, loop.getResults());
}

/// The original loop, from where the vectors ended.
void VectorLoops::scalarEpilogue(Value position, ValueRange inits) {
  legality.loop.getLowerBoundMutable().assign(position);
  legality.loop.getInitArgsMutable().assign(inits);
  disableLoopTransforms(legality.loop);
}

} // namespace tulle::passes
