// tulle-cache-block: block the loop over the coordinates of an operand's rows, and interchange.
//
// In `for i: for q: for p: for k: C[i, k] += … D[crd[q], k]` every i reads most of D, from an outer cache
// each time. The loop over q is split where crd[q] passes multiples of a block, and the chunks of some i with
// the same block run one after another.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "levels/Indices.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/analysis/ReductionNest.h"
#include "passes/prefetch/PrefetchPlan.h"

namespace tulle::passes {
#define GEN_PASS_DEF_CACHEBLOCK
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;
using arith::CmpIPredicate;

/// `for i: (loads) for q: (loads) for p: (loads) for k: C[f(i, k)] = g(C[f(i, k)], …, D[crd[q]*n + k])`.
struct BlockableNest {
  scf::ForOp rows;    ///< over i
  ReductionNest nest; ///< from q on
  Value coordinate;   ///< crd[q]
};

std::optional<BlockableNest> matchBlockableNest(scf::ForOp loop, const iteration::Cpu &cpu) {
  std::optional<ReductionNest> nest = matchReductionNest(loop);
  if (!nest || nest->ivDependentBounds || nest->outers.size() != 2 || !nest->iteratesSegments())
    return std::nullopt;
  BlockableNest found{dyn_cast<scf::ForOp>(nest->top()->getParentOp()), std::move(*nest), {}};
  if (!isParallel(found.rows) || innerLoop(found.rows) != found.nest.top())
    return std::nullopt;
  OpBuilder b(loop);
  PrefetchPlan prefetches(b, found.nest.top(), found.nest.legality, cpu);
  if (prefetches.coordinateLoads().size() != 1)
    return std::nullopt;
  for (Operation *user : memref::LoadOp(prefetches.coordinateLoads()[0])->getUsers())
    if (auto cast = dyn_cast<arith::IndexCastUIOp>(user);
        cast && cast->getBlock() == found.nest.top().getBody())
      found.coordinate = cast;
  if (!found.coordinate || !found.rows.isDefinedOutsideOfLoop(found.nest.inner.getLowerBound()) ||
      !found.rows.isDefinedOutsideOfLoop(found.nest.inner.getUpperBound()))
    return std::nullopt;
  return found;
}

/// The blocked loops of a nest, where its sizes make them profitable. Invariant: `starts[i - first]` is where
/// the next chunk of row i of the group begins.
class BlockedNest : levels::Indices {
public:
  BlockedNest(BlockableNest found, const iteration::CostModel &model)
      : Indices(found.rows), rows(found.rows), segments(found.nest.top()), positions(found.nest.outer()),
        inner(found.nest.inner), coordinate(found.coordinate), model(model),
        rowBits(std::max(8u, found.nest.load.getType().getIntOrFloatBitWidth())) {}

  void emit() {
    Value columns = sub(inner.getUpperBound(), inner.getLowerBound());
    Value bytes = times(max(columns, constant(1)), constant(rowBits / 8));
    Value block = divide(constant(model.cpu.l1 / 8 * 3), bytes);
    auto branch = scf::IfOp::create(b, loc, isProfitable(block, bytes),
                                    /*withElseRegion=*/true);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    emitGroups(block);
    rows->moveBefore(branch.elseBlock()->getTerminator());
  }

private:
  using Values = levels::Values;

  scf::ForOp rows, segments, positions, inner;
  Value coordinate;
  const iteration::CostModel &model;
  int64_t rowBits;
  Value starts;
  Value meanSegments,
      meanPositions; ///< iterations of the two loops in a chunk of the group

  /// The segment of row i: first and last + 1.
  std::pair<Value, Value> segmentOf(Value i) { return cloneBounds(b, segments, rows, i); }
  Value coordinateAt(Value q) { return cloneSlice(b, coordinate, segments, q); }
  Value positionAt(Value q) { return cloneSlice(b, positions.getLowerBound(), segments, q); }

  /// At run time: many rows that name, each, most of what the first one reaches; more of that than the cache
  /// holds; and little else to read for each of these.
  Value isProfitable(Value block, Value bytes) {
    Value count = sub(rows.getUpperBound(), rows.getLowerBound());
    Value sizes = all({is(CmpIPredicate::sge, count, constant(2 * model.costs.cacheBlockResultRows)),
                       is(CmpIPredicate::sge, block, constant(model.costs.cacheBlockOperandRows))});
    return ifThen(sizes, [&] {
      auto [first, firstEnd] = segmentOf(rows.getLowerBound());
      auto [lastBegin, last] = segmentOf(sub(rows.getUpperBound(), constant(1)));
      return ifThen(isLess(first, firstEnd), [&, first = first, firstEnd = firstEnd, last = last] {
        Value reach = add(coordinateAt(sub(firstEnd, constant(1))), constant(1));
        Value named = sub(last, first), entries = sub(positionAt(last), positionAt(first));
        Value dense = is(CmpIPredicate::sge, times(named, constant(model.costs.cacheBlockSparsity)),
                         times(count, reach));
        Value large = is(CmpIPredicate::sgt, times(reach, bytes), constant(2 * model.cpu.l1));
        return all({dense, large, isLess(entries, times(named, constant(model.costs.shortSegment)))});
      });
    });
  }

  /// All rows, a group at a time.
  void emitGroups(Value block) {
    auto table = MemRefType::get({model.costs.cacheBlockResultRows}, b.getIndexType());
    starts = memref::AllocOp::create(b, loc, table);
    Value size = constant(model.costs.cacheBlockResultRows);
    auto loop = scf::ForOp::create(b, loc, rows.getLowerBound(), rows.getUpperBound(), size);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value first = loop.getInductionVar(), last = min(add(first, size), rows.getUpperBound());
      Value limit = initializeStarts(first, last);
      computeMeans(first, last, limit, block);
      auto blocks = scf::ForOp::create(b, loc, constant(0), limit, block);
      b.setInsertionPointToStart(blocks.getBody());
      Value stop = add(blocks.getInductionVar(), block), isLast = is(CmpIPredicate::sge, stop, limit);
      auto chunks = scf::ForOp::create(b, loc, first, last, constant(1));
      chunks->setAttrs(rows->getAttrs());
      b.setInsertionPointToStart(chunks.getBody());
      emitChunk(chunks.getInductionVar(), first, stop, isLast);
    }
    memref::DeallocOp::create(b, loc, starts);
  }

  /// Returns an upper bound of the coordinates of all rows of the group.
  Value initializeStarts(Value first, Value last) {
    return levels::forLoop(b, loc, first, last, dialect::LoopKind::Reduction, constant(0),
                           [&](Value i, Values limit) {
                             auto [from, to] = segmentOf(i);
                             memref::StoreOp::create(b, loc, from, starts, sub(i, first));
                             Value own = levels::ifElse(
                                 b, loc, isLess(from, to), b.getIndexType(),
                                 [&] { return Values{add(coordinateAt(sub(to, constant(1))), constant(1))}; },
                                 [&] { return Values{constant(0)}; })[0];
                             return Values{max(limit[0], own)};
                           })[0];
  }

  void computeMeans(Value first, Value last, Value limit, Value block) {
    Value from = segmentOf(first).first, to = segmentOf(sub(last, constant(1))).second;
    Value blocks = arith::CeilDivUIOp::create(b, loc, max(limit, constant(1)), block);
    Value chunks = times(blocks, sub(last, first));
    meanSegments = divide(sub(to, from), chunks);
    meanPositions = divide(sub(positionAt(to), positionAt(from)), chunks);
  }

  /// Row i, as long as its coordinates are below `stop`; all that is left in the last block.
  void emitChunk(Value i, Value first, Value stop, Value isLast) {
    IRMapping map;
    map.map(rows.getInductionVar(), i);
    clonePrologue(b, rows, map);
    Value from = memref::LoadOp::create(b, loc, starts, sub(i, first));
    Value end = map.lookupOrDefault(segments.getUpperBound());
    Value to = levels::whileLoop(
        b, loc, from,
        [&](Values q) { return ifThen(isLess(q[0], end), [&] { return isLess(coordinateAt(q[0]), stop); }); },
        [&](Values q) { return Values{add(q[0], constant(1))}; })[0];
    to = select(isLast, end, to);
    memref::StoreOp::create(b, loc, to, starts, sub(i, first));
    prefetchNextChunk(segments, from, to, meanSegments);
    prefetchNextChunk(positions, positionAt(from), positionAt(to), meanPositions);
    auto chunk = cast<scf::ForOp>(b.clone(*segments, map));
    chunk.getLowerBoundMutable().assign(from);
    chunk.getUpperBoundMutable().assign(to);
    chunk->setAttr(dialect::kLoopAttr, dialect::loopOf(chunk).withCacheResident());
  }

  /// Prefetches into L1 what the chunk after the next of this row loads at a loop's index: later lines would
  /// be evicted before use. As many lines for every chunk: a trip count that varies is mispredicted
  /// (experiment 041).
  void prefetchNextChunk(scf::ForOp loop, Value from, Value to, Value mean) {
    Value begin = add(to, sub(to, from));
    for (Operation &op : *loop.getBody()) {
      Value buffer, index;
      if (auto load = dyn_cast<memref::LoadOp>(op))
        std::tie(buffer, index) = std::pair(load.getMemRef(), load.getIndices()[0]);
      else if (auto segment = dyn_cast<dialect::SegmentOp>(op))
        std::tie(buffer, index) = std::pair(segment.getPositions(), segment.getAt());
      if (index != loop.getInductionVar() || !rows.isDefinedOutsideOfLoop(buffer))
        continue;
      Type type = cast<MemRefType>(buffer.getType()).getElementType();
      const int64_t bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
      Value line = constant(std::max<int64_t>(1, model.cpu.line * 8 / bits));
      auto lines = scf::ForOp::create(b, loc, begin, add(begin, add(mean, line)), line);
      OpBuilder inside = OpBuilder::atBlockBegin(lines.getBody());
      emitPrefetch(inside, loc, buffer, lines.getInductionVar());
    }
  }
};

struct CacheBlockPass : impl::CacheBlockBase<CacheBlockPass> {
  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    for (scf::ForOp loop : loopsIn(getOperation()))
      if (std::optional<BlockableNest> found = matchBlockableNest(loop, model.cpu)) {
        dialect::explainChoice(
            found->rows, "cache blocking: groups of " + std::to_string(model.costs.cacheBlockResultRows) +
                             " rows of the result share blocks of an operand that L1 holds, "
                             "where rows select most of it, at run time");
        BlockedNest(std::move(*found), model).emit();
      }
  }
};

} // namespace
} // namespace tulle::passes
