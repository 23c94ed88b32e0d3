// tulle-cache-block: block the loop over the coordinates of an operand's rows, and interchange.
//
// In `for i: for q: for p: for k: C[i, k] += … D[crd[q], k]` every i reads most of D, from an outer cache
// each time. The loop over q is split where crd[q] passes multiples of a block, and the chunks of some i with
// the same block run one after another.
//
// tulle-pack-operands: pack an operand of a product over a dense range into panels that fit L1, and block the
// loops for them.
//
// In `for i: for g: for k: C[i, k] += … B[g, k]` every i loads all of B. Where that is more than L1 holds, a
// block of g and a tile of k are done for all i, with that part of B packed into a panel: rows a power of two
// apart would conflict in the cache.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "passes/Passes.h"
#include "passes/analysis/ReductionNest.h"
#include "passes/prefetch/PrefetchPlan.h"

namespace tulle::passes {
#define GEN_PASS_DEF_CACHEBLOCK
#define GEN_PASS_DEF_PACKOPERANDS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;
using arith::CmpIPredicate;

//===--- Blocks of rows ---===//

/// `for i: (loads) for q: (loads) for p: (loads) for k: C[f(i, k)] = g(C[f(i, k)], …, D[crd[q]*n + k])`.
struct BlockableNest {
  scf::ForOp rows;    ///< over i
  ReductionNest nest; ///< from q on
  Value coordinate;   ///< crd[q]
};

std::optional<BlockableNest> matchBlockableNest(scf::ForOp loop, const iteration::Cpu &cpu) {
  std::optional<ReductionNest> nest = matchReductionNest(loop);
  if (!nest || nest->ivDependentBounds || nest->outers.size() != 2 || !nest->iteratesSegments() ||
      isHoldScheduled(loop))
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
    addVersion(b, rows, isProfitable(block, bytes), [&] { emitGroups(block); });
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
    forSteps(b, loc, rows.getLowerBound(), rows.getUpperBound(), size, [&](Value first) {
      Value last = min(add(first, size), rows.getUpperBound()), limit = initializeStarts(first, last);
      computeMeans(first, last, limit, block);
      forSteps(b, loc, constant(0), limit, block, [&](Value begin) {
        Value stop = add(begin, block), isLast = is(CmpIPredicate::sge, stop, limit);
        forSteps(b, loc, first, last, constant(1), [&](Value i) {
          emitChunk(i, first, stop, isLast);
        })->setAttrs(rows->getAttrs());
      });
    });
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
    clonePrologue(b, rows, i, map);
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
      if (index != loop.getInductionVar() || !rows.isDefinedOutsideOfLoop(buffer) ||
          isPrefetchScheduled(loop, buffer))
        continue;
      Type type = cast<MemRefType>(buffer.getType()).getElementType();
      const int64_t bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
      Value line = constant(std::max<int64_t>(1, model.cpu.line * 8 / bits));
      forSteps(b, loc, begin, add(begin, add(mean, line)), line,
               [&](Value at) { emitPrefetch(b, loc, buffer, at); });
    }
  }
};

struct CacheBlockPass : impl::CacheBlockBase<CacheBlockPass> {
  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    bool changed = false;
    for (scf::ForOp loop : loopsIn(getOperation()))
      if (std::optional<BlockableNest> found = matchBlockableNest(loop, model.cpu)) {
        dialect::explainChoice(
            found->rows, "cache blocking: groups of " + std::to_string(model.costs.cacheBlockResultRows) +
                             " rows of the result share blocks of an operand that L1 holds, "
                             "where rows select most of it, at run time");
        BlockedNest(std::move(*found), model).emit();
        changed = true;
      }
    if (!changed)
      markAllAnalysesPreserved();
  }
};

//===--- Panels ---===//

/// A panel is as large as L1, and as wide as a register tile (experiment 043).
constexpr int64_t panelRowBytes = 256;
/// Rows of B that an iteration of the range may choose from.
constexpr int64_t mostScale = 32;
/// Rows of the result for which packing is profitable.
constexpr int64_t fewRows = 32;

/// `for i: (loads) [for k: C[base(i) + k] = constant] for g: … for k: C[base(i) + k] += … B[row(g) * length +
/// k]`.
struct Product {
  scf::ForOp rows, init, range; ///< over i; over k, or null; over g
  ReductionNest nest;
  Value base;
  memref::LoadOp load; ///< of B
  Value row, length;
  int64_t scale = 0; ///< scale * g <= row < scale * (g + 1)
};

bool isBelow(Value value, int64_t limit) {
  if (auto mask = value.getDefiningOp<arith::AndIOp>())
    return isBelow(mask.getRhs(), limit) || isBelow(mask.getLhs(), limit);
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return 0 <= *constant && *constant < limit;
  auto loop = dyn_cast_or_null<scf::ForOp>(value.getParentBlock()->getParentOp());
  return loop && value == loop.getInductionVar() && isZero(loop.getLowerBound()) &&
         getConstantIntValue(loop.getUpperBound()).value_or(limit + 1) <= limit;
}

/// How many rows of B iteration g of the range chooses from, the first being g times that; 0 where unknown.
int64_t scaleOf(Value row, Value g) {
  if (row == g)
    return 1;
  auto sum = row.getDefiningOp<arith::AddIOp>();
  if (!sum)
    return 0;
  for (auto [block, within] : {std::pair(sum.getLhs(), sum.getRhs()), {sum.getRhs(), sum.getLhs()}}) {
    Value factor = otherOperand<arith::MulIOp>(block, g);
    std::optional<int64_t> scale = factor ? getConstantIntValue(factor) : std::nullopt;
    if (scale && *scale > 0 && *scale <= mostScale && isBelow(within, *scale))
      return *scale;
  }
  return 0;
}

bool matchOperand(Product &p) {
  scf::ForOp inner = p.nest.inner;
  Value k = inner.getInductionVar();
  unsigned loads = 0;
  inner.walk([&](memref::LoadOp load) {
    ++loads;
    if (load != p.nest.load)
      p.load = load;
  });
  if (loads != 2 || !p.load || !p.rows.isDefinedOutsideOfLoop(p.load.getMemRef()))
    return false;
  Value start = otherOperand<arith::AddIOp>(p.load.getIndices()[0], k);
  auto product = start ? start.getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  if (!product)
    return false;
  for (auto [row, length] :
       {std::pair(product.getLhs(), product.getRhs()), {product.getRhs(), product.getLhs()}}) {
    if (!p.rows.isDefinedOutsideOfLoop(length))
      continue;
    p.row = row;
    p.length = length;
    p.scale = scaleOf(row, p.range.getInductionVar());
    return p.scale != 0;
  }
  return false;
}

/// Whether the rest of an iteration only loads, and initializes the row.
bool matchPrologue(Product &p) {
  memref::StoreOp written = p.nest.store;
  for (Operation &op : p.rows.getBody()->without_terminator()) {
    if (&op == p.range || isMemoryEffectFree(&op))
      continue;
    if (auto load = dyn_cast<memref::LoadOp>(op); load && load.getMemRef() != written.getMemRef())
      continue;
    std::optional<InitLoop> init = p.init ? std::nullopt : asInitLoop(&op, written.getMemRef());
    if (!init || init->offset != p.base || !p.rows.isDefinedOutsideOfLoop(init->size))
      return false;
    p.init = init->loop;
  }
  return true;
}

std::optional<Product> matchProduct(scf::ForOp loop) {
  std::optional<ReductionNest> nest = matchReductionNest(loop);
  if (!nest || nest->ivDependentBounds || nest->legality.gathers || nest->legality.scatters ||
      nest->legality.branches || isHoldScheduled(loop))
    return std::nullopt;
  Product p;
  p.nest = std::move(*nest);
  p.range = p.nest.top();
  p.rows = dyn_cast<scf::ForOp>(p.range->getParentOp());
  scf::ForOp inner = p.nest.inner;
  if (!isParallel(p.rows) || p.rows.getNumRegionIterArgs() != 0 ||
      p.range->getNextNode() != p.rows.getBody()->getTerminator() || !isZero(p.range.getLowerBound()) ||
      !isZero(inner.getLowerBound()) || !p.rows.isDefinedOutsideOfLoop(p.range.getUpperBound()) ||
      !p.rows.isDefinedOutsideOfLoop(inner.getUpperBound()))
    return std::nullopt;
  p.base = otherOperand<arith::AddIOp>(p.nest.store.getIndices()[0], inner.getInductionVar());
  if (!p.base || !p.base.getDefiningOp() || p.base.getDefiningOp()->getBlock() != p.rows.getBody())
    return std::nullopt;
  if (!matchOperand(p) || !matchPrologue(p))
    return std::nullopt;
  return p;
}

/// The blocked loops over panels of B, where the sizes make them profitable.
class PackedProduct : levels::Indices {
public:
  PackedProduct(Product product, const iteration::Cpu &cpu)
      : Indices(product.rows), p(std::move(product)),
        panelBytes(std::max(cpu.l1, panelRowBytes * mostScale)) {}

  void emit() {
    const int64_t bytes = std::max(1u, p.load.getType().getIntOrFloatBitWidth() / 8);
    width = constant(panelRowBytes / bytes);
    height = constant(panelBytes / panelRowBytes / p.scale);
    addVersion(b, p.rows, isProfitable(bytes), [&] { emitPanels(); });
  }

private:
  Product p;
  int64_t panelBytes;
  Value width, height; ///< of a panel: elements, and iterations of the range

  Value columns() { return p.nest.inner.getUpperBound(); }

  /// At run time: many rows, more of B than a panel holds, and columns that are within the rows of B and are
  /// those that are initialized.
  Value isProfitable(int64_t bytes) {
    Value count = sub(p.rows.getUpperBound(), p.rows.getLowerBound());
    Value needed = times(times(p.range.getUpperBound(), constant(p.scale)), columns());
    SmallVector<Value> conditions{is(CmpIPredicate::sge, count, constant(fewRows)),
                                  is(CmpIPredicate::sgt, needed, constant(panelBytes / bytes)),
                                  is(CmpIPredicate::sge, p.length, columns()),
                                  is(CmpIPredicate::sgt, columns(), constant(0))};
    if (p.init)
      conditions.push_back(is(CmpIPredicate::eq, p.init.getUpperBound(), columns()));
    return all(conditions);
  }

  void emitPanels() {
    Type element = p.load.getType();
    auto type = MemRefType::get({ShapedType::kDynamic}, element);
    Value steps = constant(panelBytes / panelRowBytes / p.scale * p.scale);
    Value panel = memref::AllocOp::create(b, loc, type, times(steps, width), b.getI64IntegerAttr(64));
    Value stored = divide(sizeOf(p.load.getMemRef()), p.length); // rows that B has
    forSteps(b, loc, constant(0), columns(), width, [&](Value column) {
      Value zero = constant(0), wide = min(width, sub(columns(), column));
      forSteps(b, loc, zero, p.range.getUpperBound(), height, [&](Value begin) {
        Value end = min(add(begin, height), p.range.getUpperBound());
        Value scale = constant(p.scale), first = times(begin, scale);
        pack(panel, first, min(times(end, scale), stored), column, wide);
        Value initialized = select(is(CmpIPredicate::eq, begin, zero), wide, zero);
        emitRows(begin, end, panel, first, column, wide, initialized);
      });
    });
    memref::DeallocOp::create(b, loc, panel);
  }

  /// Copies the columns from `column` on of rows first <= r < last of B.
  void pack(Value panel, Value first, Value last, Value column, Value wide) {
    forSteps(b, loc, first, last, constant(1), [&](Value row) {
      Value from = add(times(row, p.length), column), to = times(sub(row, first), width);
      levels::forEach(b, loc, constant(0), wide, dialect::LoopKind::Parallel, [&](Value k) {
        Value element = memref::LoadOp::create(b, loc, p.load.getMemRef(), add(from, k));
        memref::StoreOp::create(b, loc, element, panel, add(to, k));
      });
    });
  }

  /// All rows, for this block of the range and this tile of the columns.
  void emitRows(Value begin, Value end, Value panel, Value first, Value column, Value wide,
                Value initialized) {
    IRMapping map;
    b.clone(*p.rows, map);
    auto copyOf = [&](auto op) { return cast<decltype(op)>(map.lookup(op.getOperation())); };
    Value base = map.lookup(p.base);
    b.setInsertionPointAfterValue(base);
    Value shifted = add(base, column);
    base.replaceAllUsesExcept(shifted, shifted.getDefiningOp());
    if (p.init)
      copyOf(p.init).getUpperBoundMutable().assign(initialized);
    scf::ForOp range = copyOf(p.range), inner = copyOf(p.nest.inner);
    range.getLowerBoundMutable().assign(begin);
    range.getUpperBoundMutable().assign(end);
    inner.getUpperBoundMutable().assign(wide);
    memref::LoadOp load = copyOf(p.load);
    b.setInsertionPoint(inner);
    Value start = times(sub(map.lookupOrDefault(p.row), first), width);
    b.setInsertionPoint(load);
    load.getMemrefMutable().assign(panel);
    load.getIndicesMutable().assign(add(start, inner.getInductionVar()));
  }
};

struct PackOperandsPass : impl::PackOperandsBase<PackOperandsPass> {
  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    bool changed = false;
    for (scf::ForOp loop : loopsIn(getOperation()))
      if (std::optional<Product> product = matchProduct(loop)) {
        dialect::explainChoice(product->rows, "packing: where an operand is larger than L1, panels of it are "
                                              "packed for all rows, at run time");
        PackedProduct(std::move(*product), model.cpu).emit();
        changed = true;
      }
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
