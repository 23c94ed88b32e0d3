// Masked vectors of short segments: in a loop, or in registers from one loop to the next.
#include "passes/vectorize/Predicate.h"
#include "dialect/Costs.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "passes/analysis/LoopUtils.h"

namespace tulle::passes {

using namespace mlir;

namespace {

/// The masked vectors of one loop, which they replace.
class MaskedVectors : levels::Indices {
public:
  /// `distance`: how many entries ahead what is read in order is prefetched; 0: not at all.
  MaskedVectors(const VectorizationLegality &legality, const Lanes &lanes, int64_t distance = 0)
      : Indices(legality.loop), legality(legality), lanes(lanes), distance(distance),
        position(loop().getLowerBound()), end(loop().getUpperBound()) {
    for (auto [reduction, init] : llvm::zip_equal(legality.reductions, loop().getInitArgs()))
      partial.push_back(initialLanes(b, loc, reduction, lanes, init));
  }

  /// Loops over vectors up to `limit`; whole vectors end there at the latest, and need no mask.
  void emitLoop(Value limit, bool whole) {
    SmallVector<Value> carried(partial);
    if (whole)
      carried.push_back(position);
    Value step = elements();
    auto some = scf::ForOp::create(b, loc, position, limit, step, carried);
    disableLoopTransforms(some);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(some.getBody());
    Value first = some.getInductionVar();
    SmallVector<Value> next = emit(first, whole, some.getRegionIterArgs().take_front(partial.size()));
    if (whole)
      next.push_back(add(first, step));
    if (!next.empty())
      scf::YieldOp::create(b, loc, next);
    partial.assign(some.result_begin(), some.result_begin() + partial.size());
    if (whole)
      position = some.getResults().back();
  }

  /// Of a vector, as many as the registers hold where they are scalable.
  Value elements() {
    Value count = constant(lanes.count);
    return lanes.scalable ? times(count, vector::VectorScaleOp::create(b, loc)) : count;
  }

  /// Loops over whole vectors, and one masked vector behind them where iterations are left.
  void emitMaskedTail() {
    emitLoop(sub(end, sub(elements(), constant(1))), /*whole=*/true);
    emitLoop(end, /*whole=*/false);
  }

  /// Of `least` iterations or more, loops over `chains` whole vectors at a time, each with partial results of
  /// its own, which do not wait for each other. Whether there are is guessed right where rows are short.
  void emitChains(int64_t chains, int64_t least) {
    const size_t count = partial.size();
    SmallVector<Value> carried{position};
    carried.append(partial);
    for (int64_t chain = 1; chain < chains; ++chain)
      for (auto [reduction, init] : llvm::zip_equal(legality.reductions, loop().getInitArgs()))
        carried.push_back(initialLanes(b, loc, reduction, lanes, init));
    Value step = constant(chains * lanes.count);
    Value isLong = is(arith::CmpIPredicate::sge, sub(end, position), constant(least));
    Value limit = select(isLong, sub(end, constant(chains * lanes.count - 1)), position);
    auto many = scf::ForOp::create(b, loc, position, limit, step, carried);
    disableLoopTransforms(many);
    for (int64_t chain = 0; chain < chains; ++chain)
      for (auto [k, reduction] : llvm::enumerate(legality.reductions)) {
        Value own = many.getResult(unsigned(1 + chain * count + k));
        partial[k] = chain ? combine(b, loc, reduction, partial[k], own) : own;
      }
    position = many.getResult(0);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(many.getBody());
    Value first = many.getInductionVar();
    SmallVector<Value> next{add(first, step)};
    for (int64_t chain = 0; chain < chains; ++chain)
      next.append(emit(add(first, constant(chain * lanes.count)), /*whole=*/true,
                       many.getRegionIterArgs().slice(1 + chain * count, count)));
    scf::YieldOp::create(b, loc, next);
  }

  /// One vector, partial or not, even of none.
  void emitFirst() {
    partial = emit(position, /*whole=*/false, partial);
    position = add(position, constant(lanes.count));
  }

  /// So many vectors, of which the last one may be partial.
  void emitVectors(int64_t count) {
    for (int64_t k = 0; k < count; ++k)
      partial = emit(add(position, constant(k * lanes.count)), /*whole=*/k + 1 < count, partial);
  }

  void finish() {
    for (auto [reduction, value, init] : llvm::zip_equal(legality.reductions, partial, loop().getInitArgs()))
      value = reduceLanes(b, loc, reduction, value, init);
    loop().replaceAllUsesWith(partial);
    loop().erase();
  }

private:
  scf::ForOp loop() const { return legality.loop; }

  SmallVector<Value> emit(Value first, bool whole, ValueRange accumulators) {
    Value mask = whole ? Value() : activeLanes(b, loc, lanes, sub(end, first));
    BodyEmitter body(b, legality, lanes, first, mask);
    SmallVector<Value> next = body.emit(accumulators);
    if (distance)
      body.prefetch(distance);
    return next;
  }

  const VectorizationLegality &legality;
  Lanes lanes;
  int64_t distance;
  Value position, end;
  SmallVector<Value> partial;
};

} // namespace

void predicate(const VectorizationLegality &legality, const Lanes &lanes, const iteration::CostModel &model) {
  MaskedVectors vectors(legality, lanes);
  levels::Indices at(legality.loop);
  Value end = scf::ForOp(legality.loop).getUpperBound();
  if (!model.cpu.masks)
    vectors.emitLoop(at.sub(end, at.constant(lanes.count - 1)), /*whole=*/true);
  else if (!legality.reductions.empty())
    vectors.emitChains(4, model.costs.longSegmentVectors * lanes.count);
  vectors.emitLoop(end, /*whole=*/false);
  vectors.finish();
}

void maskRow(const VectorizationLegality &legality, const Lanes &lanes, const iteration::CostModel &model) {
  MaskedVectors vectors(legality, lanes, model.cpu.prefetchEntries);
  vectors.emitFirst();
  vectors.emitLoop(scf::ForOp(legality.loop).getUpperBound(), /*whole=*/false);
  vectors.finish();
}

void maskTail(const VectorizationLegality &legality, const Lanes &lanes) {
  MaskedVectors vectors(legality, lanes);
  vectors.emitMaskedTail();
  vectors.finish();
}

void maskVectors(const VectorizationLegality &legality, const Lanes &lanes, int64_t count) {
  MaskedVectors vectors(legality, lanes);
  vectors.emitVectors(count);
  vectors.finish();
}

//===--- Versions without loops ---===//

namespace {

/// The loops in a body, where all of them traverse one segment and can be masked vectors.
SmallVector<scf::ForOp> segmentLoops(scf::ForOp rows) {
  SmallVector<scf::ForOp> loops;
  for (Operation &op : rows.getBody()->without_terminator()) {
    if (op.getNumRegions() == 0)
      continue;
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || !isInnermost(loop) || !isLoaded(loop.getLowerBound()) ||
        (!loops.empty() && (loop.getLowerBound() != loops[0].getLowerBound() ||
                            loop.getUpperBound() != loops[0].getUpperBound())))
      return {};
    std::optional<VectorizationLegality> legality = analyzeLoop(loop);
    if (!legality || legality->gathers || legality->scatters || legality->branches)
      return {};
    loops.push_back(loop);
  }
  return loops;
}

/// Replaces the loops in a block by so many vectors each, whose widest element decides the lanes.
void emitVectors(Block &block, const Lanes &lanes, int64_t count) {
  for (scf::ForOp loop : llvm::to_vector(block.getOps<scf::ForOp>())) {
    const VectorizationLegality legality = *analyzeLoop(loop);
    MaskedVectors vectors(legality, lanes);
    vectors.emitVectors(count);
    vectors.finish();
  }
}

/// The store that a load reads from: the last one before it into its buffer, of the same lanes. The vectors
/// of a segment are apart from each other, and buffers from other buffers.
template <typename Load, typename Store> Store storeBefore(Load load) {
  for (Operation *op = load->getPrevNode(); op; op = op->getPrevNode())
    if (auto store = dyn_cast<Store>(op);
        store && store.getBase() == load.getBase() && store.getIndices() == load.getIndices())
      return store;
  return {};
}

void forwardStores(Block &block) {
  for (auto load : llvm::to_vector(block.getOps<vector::MaskedLoadOp>())) {
    auto store = storeBefore<vector::MaskedLoadOp, vector::MaskedStoreOp>(load);
    if (!store || store.getMask() != load.getMask())
      continue;
    OpBuilder b(load);
    Value stored = arith::SelectOp::create(b, load.getLoc(), load.getMask(), store.getValueToStore(),
                                           load.getPassThru());
    load.replaceAllUsesWith(stored);
    load.erase();
  }
  for (auto load : llvm::to_vector(block.getOps<vector::LoadOp>()))
    if (auto store = storeBefore<vector::LoadOp, vector::StoreOp>(load)) {
      load.replaceAllUsesWith(store.getValueToStore());
      load.erase();
    }
}

} // namespace

void versionShortSegments(scf::ForOp rows, const iteration::CostModel &model) {
  if (!model.cpu.masks || rows.getNumResults() != 0)
    return;
  SmallVector<scf::ForOp> loops = segmentLoops(rows);
  if (loops.size() < 2)
    return;
  unsigned bits = 0;
  for (scf::ForOp loop : loops)
    bits = std::max(bits, analyzeLoop(loop)->widestBits);
  Lanes lanes;
  lanes.count = model.rowVectorLength(bits, model.vectorLength(bits).value);
  // What comes behind the bounds depends on the version.
  Block &body = *rows.getBody();
  auto bounds = loops[0].getLowerBound().getDefiningOp();
  if (Operation *upper = loops[0].getUpperBound().getDefiningOp(); bounds->isBeforeInBlock(upper))
    bounds = upper;
  SmallVector<Operation *> versioned;
  for (Operation &op : llvm::make_range(std::next(bounds->getIterator()), std::prev(body.end())))
    versioned.push_back(&op);
  levels::Indices at(versioned[0]);
  Value length = at.sub(loops[0].getUpperBound(), loops[0].getLowerBound());
  for (int64_t count = 1; count <= model.costs.registerVectors; ++count) {
    Value fits = at.is(arith::CmpIPredicate::sle, length, at.constant(count * lanes.count));
    auto version = scf::IfOp::create(at.b, at.loc, fits, /*withElseRegion=*/true);
    at.b.setInsertionPoint(version.thenYield());
    IRMapping map;
    for (Operation *op : versioned)
      at.b.clone(*op, map);
    emitVectors(*version.thenBlock(), lanes, count);
    at.b.setInsertionPoint(version.elseYield());
    IRRewriter rewriter(at.b);
    DominanceInfo dominance;
    eliminateCommonSubExpressions(rewriter, dominance, version);
    forwardStores(*version.thenBlock());
  }
  for (Operation *op : versioned)
    op->moveBefore(at.b.getInsertionBlock(), at.b.getInsertionPoint());
  dialect::explainChoice(rows, "segments of up to " +
                                   std::to_string(model.costs.registerVectors * lanes.count) +
                                   " entries: what the loops over one store stays in registers");
}

} // namespace tulle::passes
