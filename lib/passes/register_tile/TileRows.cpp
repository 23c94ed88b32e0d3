// tulle-tile-rows: tile several rows of a product for registers.
//
// In `for i: for p: for k: C[i*n + k] += A[i, p] * B[p, k]` every row loads all of B. The elements of a few
// rows stay in registers together, so that what does not depend on i is loaded once for all of them. Where
// only some rows have an iteration over p (`if (t[i, p] >= 0)`), the others compute what one of these does,
// and leave it.
#include "dialect/Costs.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Passes.h"
#include "passes/analysis/ReductionNest.h"
#include "passes/analysis/RowGroups.h"
#include "passes/vectorize/BodyEmitter.h"
#include "llvm/Support/MathExtras.h"

namespace tulle::passes {
#define GEN_PASS_DEF_TILEROWS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;
using Values = SmallVector<Value>;
using Types = SmallVector<Type>;

/// Costly values of several groups are kept for so many iterations over p.
constexpr int64_t longestBuffered = 1 << 14;

/// Where at most this fraction of a tile's rows has an iteration, they are updated one by one: few
/// accumulators are bound by latency, so that a row by itself takes about twice its share of a tile.
constexpr int64_t fewRowsPart = 2;

/// `for i: (loads) [for k: C[f(i) + k] = constant] for p: … for k: C[f(i) + k] = g(C[f(i) + k], i, p, k)`,
/// where the bounds of the loops over p and k do not depend on i.
struct RowNest {
  scf::ForOp rows;
  ReductionNest nest;           ///< from the loops over p on
  std::optional<InitLoop> init; ///< what initializes the elements of a row
};

bool hasBoundsOutside(scf::ForOp loop, scf::ForOp rows) {
  return rows.isDefinedOutsideOfLoop(loop.getLowerBound()) &&
         rows.isDefinedOutsideOfLoop(loop.getUpperBound());
}

/// Whether the bounds of the loops over p and k are known before the rows. Of one loop over p, they may be
/// known at run time only: that they are equal for all rows, and for all p, is tested there.
bool knowsBounds(ReductionNest &nest, scf::ForOp rows) {
  return hasBoundsOutside(nest.inner, rows) &&
         llvm::all_of(nest.outers, [&](scf::ForOp loop) { return hasBoundsOutside(loop, rows); });
}

/// Whether something is read before the loops over p that may exist only where an iteration does something.
bool readsBeforeGuards(const ReductionNest &nest) {
  scf::ForOp inner = nest.inner;
  return llvm::any_of(inner.getOps<memref::LoadOp>(), [&](memref::LoadOp load) {
    return load != nest.load && nest.isOuterInvariant(load.getOperation());
  });
}

/// The nest at the end of a row.
std::optional<ReductionNest> nestOf(scf::ForOp rows) {
  auto outer = rows.getBody()->without_terminator().empty()
                   ? scf::ForOp()
                   : dyn_cast<scf::ForOp>(rows.getBody()->getTerminator()->getPrevNode());
  if (!outer)
    return std::nullopt;
  auto below = [](scf::ForOp loop) {
    scf::ForOp inner = innerLoop(loop);
    return inner ? inner : guardedLoop(loop);
  };
  for (scf::ForOp inner = below(outer); inner && below(inner); inner = below(inner))
    outer = inner;
  std::optional<ReductionNest> nest = matchReductionNest(outer, /*guarded=*/true);
  if (!nest || (nest->isGuarded() && readsBeforeGuards(*nest)) || nest->top()->getParentOp() != rows ||
      nest->load->getParentOp() != nest->inner || nest->legality.gathers || nest->legality.scatters ||
      nest->legality.branches)
    return std::nullopt;
  scf::ForOp inner = nest->inner;
  const bool sameBounds =
      knowsBounds(*nest, rows) ||
      (nest->outers.size() == 1 && isZero(nest->top().getLowerBound()) &&
       isSameForAll(inner.getLowerBound(), rows) && isSameForAll(inner.getUpperBound(), rows));
  return sameBounds ? nest : std::nullopt;
}

/// Whether the operations of a row before its nest only load, but for the initialization: then they may run
/// before the rows above are stored, since rows are independent.
bool onlyLoadsBefore(RowNest &found) {
  memref::StoreOp store = found.nest.store;
  return llvm::all_of(found.rows.getBody()->without_terminator(), [&](Operation &op) {
    if (&op == found.nest.top() || (found.init && &op == found.init->loop))
      return true;
    auto load = dyn_cast<memref::LoadOp>(op);
    return onlyLoads(&op) && !(load && load.getMemRef() == store.getMemRef());
  });
}

/// Whether the nest updates all elements that are initialized, if the inner loop is as long at run time.
bool updatesInitialized(RowNest &found) {
  memref::StoreOp store = found.nest.store;
  scf::ForOp inner = found.nest.inner, rows = found.rows;
  std::optional<Value> offset = offsetFrom(store.getIndices()[0], inner);
  return isZero(inner.getLowerBound()) && offset && *offset == found.init->offset &&
         rows.isDefinedOutsideOfLoop(found.init->size);
}

std::optional<RowNest> matchRowNest(scf::ForOp rows) {
  if (!canGroup(rows))
    return std::nullopt;
  std::optional<ReductionNest> nest = nestOf(rows);
  if (!nest || isBodyScheduled(nest->top()) || isPrefetchScheduled(nest->outer()) ||
      fixedLanes(nest->inner) != 0 || !sharesOperand(nest->legality, rows, nest->load))
    return std::nullopt;
  RowNest found{rows, std::move(*nest), {}};
  memref::StoreOp store = found.nest.store;
  found.init = findInitLoop(found.nest.top(), store.getMemRef());
  const bool known = knowsBounds(found.nest, rows);
  // Where a row's elements are for nothing but guarded iterations, they may not exist.
  const bool fits = found.init ? known && updatesInitialized(found)
                               : !known || !found.nest.isGuarded() || isAlwaysDereferenceable(store);
  return fits && onlyLoadsBefore(found) ? std::optional(std::move(found)) : std::nullopt;
}

/// What the loop over p, if there is but one, loads from in order, in a row's own part of a buffer that was
/// there before the function.
SmallVector<memref::LoadOp> streamsOf(RowNest &found) {
  SmallVector<memref::LoadOp> streams;
  scf::ForOp outer = found.nest.top(), rows = found.rows;
  if (found.nest.outers.size() > 1)
    return streams;
  for (memref::LoadOp load : outer.getBody()->getOps<memref::LoadOp>()) {
    std::optional<Value> start = offsetFrom(load.getIndices()[0], outer);
    auto isComputed = [&](Value value) -> std::optional<bool> {
      if (value == rows.getInductionVar() || rows.isDefinedOutsideOfLoop(value))
        return true;
      Operation *op = value.getDefiningOp();
      return op && isMemoryEffectFree(op) && op->getBlock() == rows.getBody() ? std::nullopt
                                                                              : std::optional(false);
    };
    if (isa<BlockArgument>(load.getMemRef()) && start && *start && acceptsSlice(*start, isComputed) &&
        !rows.isDefinedOutsideOfLoop(*start))
      streams.push_back(load);
  }
  return streams;
}

/// Values of an iteration over p, if that is one loop, that the inner loop uses and that take as long as
/// several of its vectors: each range of columns would compute them again.
SmallVector<Value> costlyValues(RowNest &found) {
  scf::ForOp outer = found.nest.top(), inner = found.nest.inner;
  llvm::SetVector<Value> values;
  if (found.nest.outers.size() > 1)
    return {};
  inner->walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      auto isCheap = [&](Value value) -> std::optional<bool> {
        Operation *of = value.getDefiningOp();
        if (!of || of->getBlock() != outer.getBody())
          return true;
        const bool costly =
            isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
                of) ||
            isa<math::MathDialect>(of->getDialect());
        return costly ? std::optional(false) : std::nullopt;
      };
      if (Operation *of = operand.getDefiningOp();
          of && of->getBlock() == outer.getBody() && of->getNumRegions() == 0 &&
          operand.getType().isIntOrFloat() && operand.getType().getIntOrFloatBitWidth() >= 8 &&
          !acceptsSlice(operand, isCheap))
        values.insert(operand);
    }
  });
  return values.takeVector();
}

struct Bounds {
  Value begin, end;
};

/// The loops over groups of rows, before the loop over rows, which is left with the others.
class TiledRows : levels::Indices {
public:
  TiledRows(RowNest found, const iteration::RowTile &shape, int64_t lineBits)
      : Indices(found.rows), rows(found.rows), streams(streamsOf(found)), costly(costlyValues(found)),
        nest(std::move(found.nest)), init(found.init), shape(shape), lineBits(lineBits) {}

  void emit() {
    Value first = rows.getLowerBound(), behind = behindGroups(*this, rows, shape.rows);
    scf::ForOp outer = nest.top(), inner = nest.inner;
    iterations = {outer.getLowerBound(), outer.getUpperBound()};
    columns = {inner.getLowerBound(), inner.getUpperBound()};
    if (!knowsBounds(nest, rows))
      behind = select(testBounds(), behind, first);
    else if (!init && !isAlwaysDereferenceable(nest.store))
      behind = select(hasIterations(), behind, first);
    if (init)
      startsFromInit = is(arith::CmpIPredicate::eq, columns.end, init->size);
    Value step = constant(shape.rows * shape.groups);
    // Buffers of long rows take no more memory than the operand that rows share.
    if (!costly.empty())
      step = select(is(arith::CmpIPredicate::ugt, depth(), constant(longestBuffered)), constant(shape.rows),
                    step);
    Value least = min(behind, add(first, step));
    for (Value value : costly)
      buffers.push_back(memref::AllocOp::create(b, loc,
                                                MemRefType::get({ShapedType::kDynamic}, value.getType()),
                                                times(sub(least, first), depth())));
    forGroups(*this, rows, behind, step,
              [&](Value block) { emitBlock(block, min(add(block, step), behind)); });
    for (Value buffer : buffers)
      memref::DeallocOp::create(b, loc, buffer);
  }

private:
  scf::ForOp rows;
  SmallVector<memref::LoadOp> streams;
  SmallVector<Value> costly;
  Values buffers; ///< for each of these, its values in a block, row by row
  ReductionNest nest;
  std::optional<InitLoop> init;
  iteration::RowTile shape;
  int64_t lineBits;           ///< of the cache
  Bounds iterations, columns; ///< of the outermost loop over p, and of the loop over k
  Value startsFromInit; ///< at run time: whether the nest updates all that is initialized; null without that
  Value block;          ///< the first row of the block in the making

  using Maps = ArrayRef<IRMapping>; ///< for each row, what its operations outside of the inner loop became

  /// At run time: whether the loops over p, whose bounds are known, have an iteration: elements of a row may
  /// be read and written.
  Value hasIterations() {
    Value all = boolean(true);
    for (scf::ForOp outer : nest.outers)
      all = both(all, isLess(outer.getLowerBound(), outer.getUpperBound()));
    return all;
  }

  /// At run time: whether all rows have the same iterations over p, some, and all of these the same columns;
  /// both are set.
  Value testBounds() {
    scf::ForOp outer = nest.top(), inner = nest.inner;
    Value first = rows.getLowerBound(), behind = rows.getUpperBound();
    auto areEqual = [&](Bounds x, std::pair<Value, Value> y) {
      return both(is(arith::CmpIPredicate::eq, x.begin, y.first),
                  is(arith::CmpIPredicate::eq, x.end, y.second));
    };
    auto all = [&](Value begin, Value end, Bounds as, auto bounds) {
      return levels::forLoop(b, loc, begin, end, dialect::LoopKind::Reduction, boolean(true),
                             [&](Value at, const levels::Values &soFar) {
                               return levels::Values{both(soFar[0], areEqual(as, bounds(at)))};
                             })[0];
    };
    auto test = [&]() -> levels::Values {
      const IRMapping row = beforeNest(first);
      auto columnsOf = [&](Value p) {
        IRMapping map = row;
        map.map(outer.getInductionVar(), p);
        Value begin = cloneSlice(b, inner.getLowerBound(), outer.getBody(), map);
        return std::pair(begin, cloneSlice(b, inner.getUpperBound(), outer.getBody(), map));
      };
      auto [begin, end] = cloneBounds(b, outer, rows, first);
      Bounds own{begin, end};
      Value same = all(first, behind, own, [&](Value at) { return cloneBounds(b, outer, rows, at); });
      Types types(2, b.getIndexType());
      types.push_back(b.getI1Type());
      levels::Values found = levels::ifElse(
          b, loc, isLess(begin, end), types,
          [&] {
            auto [lower, upper] = columnsOf(own.begin);
            return levels::Values{lower, upper, all(own.begin, own.end, {lower, upper}, columnsOf)};
          },
          [&] { return levels::Values{constant(0), constant(0), boolean(false)}; });
      return {own.begin, own.end, found[0], found[1], both(same, found[2])};
    };
    Types types(4, b.getIndexType());
    types.push_back(b.getI1Type());
    levels::Values found = levels::ifElse(b, loc, isLess(first, behind), types, test, [&] {
      return levels::Values{constant(0), constant(0), constant(0), constant(0), boolean(false)};
    });
    iterations = {found[0], found[1]};
    columns = {found[2], found[3]};
    return found[4];
  }

  /// Some groups of rows, all of them for one range of columns and then for the next: what rows share for
  /// these columns stays in the L1 cache.
  void emitBlock(Value begin, Value end) {
    if (init)
      branch(b, loc, startsFromInit, [] {}, [&] { initialize(begin, end); });
    if (!costly.empty())
      computeCostly(begin, end);
    block = begin;
    const int64_t width = shape.vectors * shape.elements;
    Value whole = divide(max(sub(columns.end, columns.begin), constant(0)), constant(width));
    Value behind = add(columns.begin, times(whole, constant(width)));
    auto inGroups = [&](auto emit) { forSteps(b, loc, begin, end, constant(shape.rows), emit); };
    forSteps(b, loc, columns.begin, behind, constant(width), [&](Value first) {
      Value isFirst = is(arith::CmpIPredicate::eq, first, columns.begin);
      inGroups([&](Value group) {
        if (!streams.empty())
          branch(b, loc, isFirst, [&] { prefetch(add(group, constant(shape.rows * shape.groups))); }, [] {});
        emitTile(group, first, shape.vectors, {});
      });
    });
    forSteps(b, loc, behind, columns.end, constant(shape.elements), [&](Value first) {
      Value mask = activeLanes(b, loc, lanes(), sub(columns.end, first));
      inGroups([&](Value group) { emitTile(group, first, 1, mask); });
    });
  }

  /// Prefetches what a group of rows reads in the order of the loop over p, while the block before it is
  /// computed: as many streams as there are rows are more than the hardware follows.
  void prefetch(Value group) {
    scf::ForOp outer = nest.top();
    for (memref::LoadOp load : streams) {
      const int64_t line = std::max<int64_t>(1, lineBits / bitsOf(load.getMemRefType().getElementType()));
      Values starts;
      for (int64_t r = 0; r < shape.rows; ++r)
        starts.push_back(
            cloneSlice(b, *offsetFrom(load.getIndices()[0], outer), rows, add(group, constant(r))));
      forSteps(b, loc, iterations.begin, iterations.end, constant(line), [&](Value p) {
        for (Value start : starts)
          memref::PrefetchOp::create(b, loc, load.getMemRef(), add(start, p), /*isWrite=*/false,
                                     /*localityHint=*/2, /*isDataCache=*/true);
      });
    }
  }

  /// The iterations over p, if that is one loop.
  Value depth() { return max(sub(iterations.end, iterations.begin), constant(0)); }

  /// Where the costly values of an iteration over p are, for a row of the block from `begin` on.
  Value numberOf(Value row, Value begin, Value p) {
    return add(times(sub(row, begin), depth()), sub(p, iterations.begin));
  }

  void computeCostly(Value begin, Value end) {
    scf::ForOp outer = nest.top();
    forSteps(b, loc, begin, end, constant(1), [&](Value row) {
      const IRMapping map = beforeNest(row);
      scf::ForOp loop = forSteps(b, loc, iterations.begin, iterations.end, constant(1), [&](Value p) {
        IRMapping inside = map;
        clonePrologue(b, outer, p, inside);
        Value number = numberOf(row, begin, p);
        for (auto [value, buffer] : llvm::zip_equal(costly, buffers))
          memref::StoreOp::create(b, loc, inside.lookup(value), buffer, number);
      });
      vectorize(loop);
    });
  }

  /// The values are costly: their loop is not left to LLVM, which takes it for a short one.
  void vectorize(scf::ForOp loop) {
    MLIRContext *context = b.getContext();
    auto attr = dialect::LoopAttr::get(context, dialect::LoopKind::Parallel);
    loop->setAttr(dialect::kLoopAttr, attr);
    std::optional<VectorizationLegality> legality = analyzeLoop(loop);
    if (legality && !legality->gathers && !legality->scatters)
      loop->setAttr(dialect::kLoopAttr,
                    attr.withDirectives(dialect::DirectivesAttr::get(
                        context, dialect::Directives{.vectorize = uint64_t(shape.elements)})));
  }

  void initialize(Value begin, Value end) {
    forSteps(b, loc, begin, end, constant(1), [&](Value row) {
      IRMapping map = beforeNest(row);
      b.clone(*init->loop, map);
    });
  }

  /// What a row does before its nest, but for its initialization.
  IRMapping beforeNest(Value row) {
    IRMapping map;
    map.map(rows.getInductionVar(), row);
    for (Operation &op : rows.getBody()->without_terminator())
      if (&op != nest.top() && !(init && &op == init->loop))
        b.clone(op, map);
    return map;
  }

  Lanes lanes() const { return {.count = int64_t(shape.elements)}; }

  /// So many vectors of each row of a group from element `first` on.
  void emitTile(Value group, Value first, int64_t vectors, Value mask) {
    std::vector<IRMapping> maps;
    for (int64_t r = 0; r < shape.rows; ++r)
      maps.push_back(beforeNest(add(group, constant(r))));
    std::vector<BodyEmitter> parts; // row by row
    for (const IRMapping &map : maps)
      for (int64_t v = 0; v < vectors; ++v) {
        BodyEmitter &part =
            parts.emplace_back(b, nest.legality, lanes(), add(first, constant(v * shape.elements)), mask);
        part.bind(map);
        part.hoist([&](Operation *op) { return nest.isOuterInvariant(op); },
                   [&](Value condition) { return nest.isOuterInvariant(condition); });
      }
    Values elements = initialElements(parts);
    elements = updateFrom(0, maps, parts, elements);
    for (auto [part, element] : llvm::zip_equal(parts, elements))
      part.storeHoisted(nest.store, element);
  }

  Values initialElements(MutableArrayRef<BodyEmitter> parts) {
    auto loads = [&] {
      return llvm::map_to_vector(parts, [&](BodyEmitter &part) { return part.loadHoisted(nest.load); });
    };
    if (!init)
      return loads();
    memref::LoadOp load = nest.load;
    Value initial = parts.front().splat(load.getType(), init->value);
    Values initials(parts.size(), initial);
    return levels::ifElse(
        b, loc, startsFromInit, ValueRange(initials).getTypes(), [&] { return initials; },
        [&] { return Values(loads()); });
  }

  /// The elements after the nest's loops from this one on.
  Values updateFrom(size_t depth, Maps maps, ArrayRef<BodyEmitter> parts, ValueRange elements) {
    if (depth == nest.outers.size())
      return update(maps, parts, elements);
    return nest.guard(depth) ? updateSome(depth, maps, parts, elements)
                             : updateAll(depth, maps, parts, elements);
  }

  /// Where some rows have no such iteration: those that have it one by one, where they are few, else all.
  Values updateSome(size_t depth, Maps maps, ArrayRef<BodyEmitter> parts, ValueRange elements) {
    Values conditions;
    Value count = constant(0);
    for (const IRMapping &map : maps) {
      conditions.push_back(map.lookupOrDefault(nest.guard(depth).getCondition()));
      count = add(count, select(conditions.back(), constant(1), constant(0)));
    }
    Value few = is(arith::CmpIPredicate::ule, count, constant(shape.rows / fewRowsPart));
    return levels::ifElse(
        b, loc, few, elements.getTypes(),
        [&] { return updateEach(depth, maps, conditions, parts, elements); },
        [&] { return updateMasked(depth, maps, conditions, parts, elements); });
  }

  Values updateEach(size_t depth, Maps maps, ValueRange conditions, ArrayRef<BodyEmitter> parts,
                    ValueRange elements) {
    Values updated;
    const size_t vectors = parts.size() / maps.size();
    for (auto [r, map, condition] : llvm::enumerate(maps, conditions)) {
      ValueRange own = elements.slice(r * vectors, vectors);
      auto update = [&] {
        const IRMapping inside = insideGuard(depth, map, map.lookup(rows.getInductionVar()));
        return updateAll(depth, inside, parts.slice(r * vectors, vectors), own);
      };
      llvm::append_range(
          updated, levels::ifElse(b, loc, condition, own.getTypes(), update, [&] { return Values(own); }));
    }
    return updated;
  }

  /// Rows without such an iteration read what one reads that has it, which exists, and keep their elements.
  Values updateMasked(size_t depth, Maps maps, ValueRange conditions, ArrayRef<BodyEmitter> parts,
                      ValueRange elements) {
    auto rowOf = [&](const IRMapping &map) { return map.lookup(rows.getInductionVar()); };
    Value having = rowOf(maps.back());
    for (auto [condition, map] : llvm::reverse(llvm::zip_equal(conditions, maps)))
      having = select(condition, rowOf(map), having);
    std::vector<IRMapping> inside;
    for (auto [condition, map] : llvm::zip_equal(conditions, maps))
      inside.push_back(insideGuard(depth, map, select(condition, rowOf(map), having)));
    Values updated = updateAll(depth, inside, parts, elements);
    const size_t vectors = parts.size() / maps.size();
    for (auto [k, element, now] : llvm::enumerate(elements, updated))
      now = arith::SelectOp::create(b, loc, conditions[k / vectors], now, element);
    return updated;
  }

  /// What a row computes before the loops at this depth, in the iterations of the loops around these.
  IRMapping insideGuard(size_t depth, const IRMapping &iterations, Value row) {
    IRMapping map = beforeNest(row);
    for (size_t d = 0; d < depth; ++d) {
      scf::ForOp loop = nest.outers[d];
      clonePrologue(b, loop, iterations.lookup(loop.getInductionVar()), map);
      if (scf::IfOp guard = nest.guard(d + 1))
        for (Operation &op : guard.thenBlock()->without_terminator())
          if (&op != nest.outers[d + 1])
            b.clone(op, map);
    }
    return map;
  }

  /// The elements of all rows after the nest's loops from this one on.
  Values updateAll(size_t depth, Maps maps, ArrayRef<BodyEmitter> parts, ValueRange elements) {
    scf::ForOp original = nest.outers[depth];
    const Bounds bounds =
        depth == 0 ? iterations : Bounds{original.getLowerBound(), original.getUpperBound()};
    auto loop = scf::ForOp::create(b, loc, bounds.begin, bounds.end, original.getStep(), elements);
    loop->setAttrs(original->getAttrs());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    std::vector<IRMapping> inside(maps.begin(), maps.end());
    for (IRMapping &map : inside) {
      clonePrologue(b, original, loop.getInductionVar(), map);
      for (auto [value, buffer] : llvm::zip_equal(costly, buffers)) {
        Value number = numberOf(map.lookup(rows.getInductionVar()), block, loop.getInductionVar());
        map.map(value, memref::LoadOp::create(b, loc, buffer, number));
      }
    }
    scf::YieldOp::create(b, loc, updateFrom(depth + 1, inside, parts, loop.getRegionIterArgs()));
    return llvm::map_to_vector(loop.getResults(), [](OpResult result) -> Value { return result; });
  }

  Values update(Maps maps, ArrayRef<BodyEmitter> parts, ValueRange elements) {
    Values updated;
    const size_t vectors = parts.size() / maps.size();
    for (auto [k, part, element] : llvm::enumerate(parts, elements)) {
      BodyEmitter emitter = part;
      emitter.bind(maps[k / vectors]);
      emitter.keepInRegister(nest.load, element, nest.store);
      emitter.emit(ValueRange());
      updated.push_back(emitter.storedValue());
    }
    return updated;
  }
};

struct TileRowsPass : impl::TileRowsBase<TileRowsPass> {
  using TileRowsBase::TileRowsBase;

  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    for (scf::ForOp rows : loopsIn(getOperation())) {
      std::optional<RowNest> found = matchRowNest(rows);
      if (!found)
        continue;
      const iteration::Choice<iteration::RowTile> shape = model.rowTile(found->nest.legality.widestBits, vl);
      scf::ForOp inner = found->nest.inner;
      if (std::optional<int64_t> most = maxTripCount(inner); most && *most < shape.value.elements)
        continue;
      if (std::optional<int64_t> most = maxTripCount(rows); most && *most < shape.value.rows)
        continue;
      dialect::explainChoice(inner, shape.reason);
      TiledRows(std::move(*found), shape.value, model.cpu.line * 8).emit();
    }
  }
};

} // namespace
} // namespace tulle::passes
