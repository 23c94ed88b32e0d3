// tulle-cache-block: rows of a result share the rows of an operand while these are in the innermost cache.
//
// In `for i: for q: for p: for k: C[i, k] += … D[crd[q], k]` every i reads most of D, from an outer cache
// each time. The loop over q is cut where crd[q] passes multiples of a block, and the pieces of some i with
// the same block run one after another.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "levels/Control.h"
#include "levels/Indices.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/analysis/ReductionNest.h"
#include "passes/prefetch/PrefetchPlan.h"

namespace tulle::passes {
#define GEN_PASS_DEF_CACHEBLOCK
#include "passes/Passes.h.inc"

namespace {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using arith::CmpIPredicate;
using mlir::Operation;
using mlir::Value;

/// `for i: (reads) for q: (reads) for p: (reads) for k: C[f(i, k)] = g(C[f(i, k)], …, D[crd[q]*n + k])`.
struct Rows {
  scf::ForOp rows;    ///< over i
  ReductionNest nest; ///< from q on
  Value coordinate;   ///< crd[q]
};

std::optional<Rows> matchRows(scf::ForOp loop, const iteration::Cpu &cpu) {
  std::optional<ReductionNest> nest = matchReductionNest(loop);
  if (!nest || nest->movingBounds || nest->outers.size() != 2 || !walksSegments(*nest))
    return std::nullopt;
  Rows found{mlir::dyn_cast<scf::ForOp>(nest->top()->getParentOp()), std::move(*nest), {}};
  auto kind = found.rows ? found.rows->getAttrOfType<mlir::StringAttr>(levels::kindAttr) : mlir::StringAttr();
  if (!kind || kind.getValue() != "parallel" || innerLoop(found.rows) != found.nest.top())
    return std::nullopt;
  PrefetchPlan ahead(found.nest.top(), found.nest.plan, cpu);
  if (ahead.names().size() != 1)
    return std::nullopt;
  for (Operation *user : memref::LoadOp(ahead.names()[0])->getUsers())
    if (auto cast = mlir::dyn_cast<arith::IndexCastUIOp>(user);
        cast && cast->getBlock() == found.nest.top().getBody())
      found.coordinate = cast;
  if (!found.coordinate || !found.rows.isDefinedOutsideOfLoop(found.nest.inner.getLowerBound()) ||
      !found.rows.isDefinedOutsideOfLoop(found.nest.inner.getUpperBound()))
    return std::nullopt;
  return found;
}

class Cutter : levels::Indices {
public:
  Cutter(Rows found, const iteration::CostModel &model)
      : Indices(found.rows), rows(found.rows), segments(found.nest.top()), walk(found.nest.outer()),
        inner(found.nest.inner), coordinate(found.coordinate), model(model),
        rowBits(std::max(8u, found.nest.load.getType().getIntOrFloatBitWidth())) {}

  void run() {
    Value columns = sub(inner.getUpperBound(), inner.getLowerBound());
    Value bytes = times(max(columns, constant(1)), constant(rowBits / 8));
    Value block = arith::DivUIOp::create(b, loc, constant(model.cpu.l1 / 8 * 3), bytes);
    auto branch = scf::IfOp::create(b, loc, pays(block, bytes), /*withElseRegion=*/true);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    groups(block);
    rows->moveBefore(branch.elseBlock()->getTerminator());
  }

private:
  using Values = levels::Values;

  scf::ForOp rows, segments, walk, inner;
  Value coordinate;
  const iteration::CostModel &model;
  int64_t rowBits;
  Value starts;                    ///< for each row of a group, where its next piece begins
  Value usualSegments, usualSteps; ///< of a piece of the group: rounds of the two loops, in the mean

  /// The segment of row i: first and last + 1.
  std::pair<Value, Value> segmentOf(Value i) {
    mlir::IRMapping map;
    map.map(rows.getInductionVar(), i);
    Value begin = clonePlace(b, segments.getLowerBound(), rows.getBody(), map);
    return {begin, clonePlace(b, segments.getUpperBound(), rows.getBody(), map)};
  }
  Value coordinateAt(Value q) {
    mlir::IRMapping map;
    map.map(segments.getInductionVar(), q);
    return clonePlace(b, coordinate, segments.getBody(), map);
  }
  Value positionAt(Value q) {
    mlir::IRMapping map;
    map.map(segments.getInductionVar(), q);
    return clonePlace(b, walk.getLowerBound(), segments.getBody(), map);
  }

  /// Many rows that name, each, most of what the first one reaches; more of that than the cache holds; and
  /// little else to read for each of these.
  Value pays(Value block, Value bytes) {
    Value count = sub(rows.getUpperBound(), rows.getLowerBound());
    Value shapes = all({is(CmpIPredicate::sge, count, constant(2 * model.costs.cacheBlockResultRows)),
                        is(CmpIPredicate::sge, block, constant(model.costs.cacheBlockOperandRows))});
    auto some = scf::IfOp::create(b, loc, b.getI1Type(), shapes, /*withElseRegion=*/true);
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(some.elseBlock());
    Value no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
    scf::YieldOp::create(b, loc, no);
    b.setInsertionPointToStart(some.thenBlock());
    auto [first, firstEnd] = segmentOf(rows.getLowerBound());
    auto [lastBegin, last] = segmentOf(sub(rows.getUpperBound(), constant(1)));
    auto any = scf::IfOp::create(b, loc, b.getI1Type(), is(CmpIPredicate::slt, first, firstEnd),
                                 /*withElseRegion=*/true);
    scf::YieldOp::create(b, loc, any.getResult(0));
    b.setInsertionPointToStart(any.elseBlock());
    no = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
    scf::YieldOp::create(b, loc, no);
    b.setInsertionPointToStart(any.thenBlock());
    Value reach = add(coordinateAt(sub(firstEnd, constant(1))), constant(1));
    Value named = sub(last, first), entries = sub(positionAt(last), positionAt(first));
    Value dense =
        is(CmpIPredicate::sge, times(named, constant(model.costs.cacheBlockSparsity)), times(count, reach));
    Value large = is(CmpIPredicate::sgt, times(reach, bytes), constant(2 * model.cpu.l1));
    Value few = is(CmpIPredicate::slt, entries, times(named, constant(model.costs.shortSegment)));
    scf::YieldOp::create(b, loc, all({dense, large, few}));
    return some.getResult(0);
  }

  /// All rows, some at a time.
  void groups(Value block) {
    auto table = mlir::MemRefType::get({model.costs.cacheBlockResultRows}, b.getIndexType());
    starts = memref::AllocOp::create(b, loc, table);
    auto loop = scf::ForOp::create(b, loc, rows.getLowerBound(), rows.getUpperBound(),
                                   constant(model.costs.cacheBlockResultRows));
    {
      mlir::OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      Value first = loop.getInductionVar();
      Value last = min(add(first, constant(model.costs.cacheBlockResultRows)), rows.getUpperBound());
      Value limit = begin(first, last);
      measure(first, last, limit, block);
      auto blocks = scf::ForOp::create(b, loc, constant(0), limit, block);
      b.setInsertionPointToStart(blocks.getBody());
      Value stop = add(blocks.getInductionVar(), block), isLast = is(CmpIPredicate::sge, stop, limit);
      auto pieces = scf::ForOp::create(b, loc, first, last, constant(1));
      pieces->setAttrs(rows->getAttrs());
      b.setInsertionPointToStart(pieces.getBody());
      piece(pieces.getInductionVar(), first, stop, isLast);
    }
    memref::DeallocOp::create(b, loc, starts);
  }

  /// Every piece begins where its row does; returns what the last coordinates of all rows are below.
  Value begin(Value first, Value last) {
    return levels::forLoop(b, loc, first, last, dialect::LoopKind::Reduction, constant(0),
                           [&](Value i, Values limit) {
                             auto [from, to] = segmentOf(i);
                             memref::StoreOp::create(b, loc, from, starts, sub(i, first));
                             Value own = levels::ifElse(
                                 b, loc, is(CmpIPredicate::slt, from, to), b.getIndexType(),
                                 [&] { return Values{add(coordinateAt(sub(to, constant(1))), constant(1))}; },
                                 [&] { return Values{constant(0)}; })[0];
                             return Values{max(limit[0], own)};
                           })[0];
  }

  void measure(Value first, Value last, Value limit, Value block) {
    Value from = segmentOf(first).first, to = segmentOf(sub(last, constant(1))).second;
    Value blocks = arith::CeilDivUIOp::create(b, loc, max(limit, constant(1)), block);
    Value pieces = times(blocks, sub(last, first));
    usualSegments = arith::DivUIOp::create(b, loc, sub(to, from), pieces);
    usualSteps = arith::DivUIOp::create(b, loc, sub(positionAt(to), positionAt(from)), pieces);
  }

  /// Row i, as long as its coordinates are below `stop`; all that is left in the last block.
  void piece(Value i, Value first, Value stop, Value isLast) {
    mlir::IRMapping map;
    map.map(rows.getInductionVar(), i);
    cloneReads(b, rows, map);
    Value from = memref::LoadOp::create(b, loc, starts, sub(i, first));
    Value end = map.lookupOrDefault(segments.getUpperBound());
    Value to = levels::whileLoop(
        b, loc, from,
        [&](Values q) {
          return levels::ifElse(
              b, loc, is(CmpIPredicate::slt, q[0], end), b.getI1Type(),
              [&] { return Values{is(CmpIPredicate::slt, coordinateAt(q[0]), stop)}; },
              [&] { return Values{arith::ConstantOp::create(b, loc, b.getBoolAttr(false))}; })[0];
        },
        [&](Values q) { return Values{add(q[0], constant(1))}; })[0];
    to = arith::SelectOp::create(b, loc, isLast, end, to);
    memref::StoreOp::create(b, loc, to, starts, sub(i, first));
    fetchLater(segments, from, to, usualSegments);
    fetchLater(walk, positionAt(from), positionAt(to), usualSteps);
    auto part = mlir::cast<scf::ForOp>(b.clone(*segments, map));
    part.getLowerBoundMutable().assign(from);
    part.getUpperBoundMutable().assign(to);
    part->setAttr(dialect::kNearAttr, b.getUnitAttr());
  }

  /// Asks for what the piece after the next of this row reads in a loop's order: no sooner, as it would not
  /// arrive before its turn. As many lines for every piece: a loop of another length each time is
  /// mispredicted. Into the innermost cache: 0.96 of the time with the second one (Zen 5).
  void fetchLater(scf::ForOp loop, Value from, Value to, Value usual) {
    Value begin = add(to, sub(to, from));
    for (auto load : loop.getBody()->getOps<memref::LoadOp>()) {
      const int64_t bits = load.getType().isIndex() ? 64 : load.getType().getIntOrFloatBitWidth();
      if (load.getIndices()[0] != loop.getInductionVar() || !rows.isDefinedOutsideOfLoop(load.getMemRef()))
        continue;
      Value line = constant(std::max<int64_t>(1, model.cpu.line * 8 / bits));
      auto lines = scf::ForOp::create(b, loc, begin, add(begin, add(usual, line)), line);
      mlir::OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(lines.getBody());
      memref::PrefetchOp::create(b, loc, load.getMemRef(), lines.getInductionVar(), /*isWrite=*/false,
                                 /*localityHint=*/3, /*isDataCache=*/true);
    }
  }
};

struct CacheBlockPass : impl::CacheBlockBase<CacheBlockPass> {
  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    llvm::SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (std::optional<Rows> found = matchRows(loop, model.cpu))
        Cutter(std::move(*found), model).run();
  }
};

} // namespace
} // namespace tulle::passes
