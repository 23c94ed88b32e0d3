// tulle-tile-rows: tile several rows of a product for registers.
//
// In `for i: for p: for k: C[i*n + k] += A[i, p] * B[p, k]` every row loads all of B. The elements of a few
// rows stay in registers together, so that what does not depend on i is loaded once for all of them. Of the
// loops below a branch (`if (t[i] >= 0) for p: …`, `for r: if (t[i, r] >= 0) for p: …`), the rows of a block
// that have them are packed into such tiles, for each r.
#include "dialect/Costs.h"
#include "passes/Passes.h"
#include "passes/analysis/RowGroups.h"
#include "passes/register_tile/RowNest.h"
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

/// Rows that are packed are of blocks of so many groups: the fewer of them there are, the more of the last
/// tile of each is computed in vain (experiment 116).
constexpr int64_t packedGroups = 16;

/// Rows behind the last whole group are a tile of packed rows where they are more than this part of one:
/// fewer take less time one by one.
constexpr int64_t leastPackedPart = 4;

struct Bounds {
  Value begin, end;
};

/// The loops over groups of rows, before the loop over rows, which is left with the others.
class TiledRows : levels::Indices {
public:
  TiledRows(RowNest found, const iteration::RowTile &shape, int64_t lineBits)
      : Indices(found.rows), rows(found.rows), streams(streamsOf(found)), costly(costlyValues(found)),
        nest(std::move(found.nest)), init(found.init), use(std::move(found.use)), shape(shape),
        lineBits(lineBits) {
    if (use)
      use->fuse(nest.top());
    for (size_t depth = 0; depth < nest.outers.size(); ++depth)
      if (nest.guard(depth)) {
        guarded = depth;
        this->shape.groups = packedGroups;
      }
  }

  void emit() {
    Value first = rows.getLowerBound(), behind = behindGroups(*this, rows, shape.rows);
    if (guarded) {
      Value end = rows.getUpperBound(), least = constant(shape.rows / leastPackedPart);
      behind = select(is(arith::CmpIPredicate::sgt, sub(end, behind), least), end, behind);
    }
    scf::ForOp outer = nest.top(), inner = nest.inner;
    iterations = {outer.getLowerBound(), outer.getUpperBound()};
    columns = {inner.getLowerBound(), inner.getUpperBound()};
    if (!knowsBounds(nest, rows))
      behind = select(testBounds(), behind, first);
    else if (!init && !isAlwaysDereferenceable(nest.store))
      behind = select(hasIterations(), behind, first);
    if (guarded)
      packed = memref::AllocOp::create(b, loc,
                                       MemRefType::get({shape.rows * (shape.groups + 1)}, b.getIndexType()));
    if (init && !use)
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
    if (packed)
      buffers.push_back(packed);
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
  std::optional<FusedUse> use; ///< of the elements of a row, which need no memory then
  std::optional<size_t>
      guarded;  ///< the innermost of the loops over p that only some rows have, if there is one
  Value packed; ///< then, the rows of a block that have it
  iteration::RowTile shape;
  int64_t lineBits;           ///< of the cache
  Bounds iterations, columns; ///< of the outermost loop over p, and of the loop over k
  Value startsFromInit; ///< at run time: whether the nest updates all that is initialized; null without that
                        ///< or where that is known
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
    if (startsFromInit)
      branch(b, loc, startsFromInit, [] {}, [&] { initialize(begin, end); });
    if (!costly.empty())
      computeCostly(begin, end);
    block = begin;
    const int64_t width = shape.vectors * shape.elements;
    Value whole = divide(max(sub(columns.end, columns.begin), constant(0)), constant(width));
    Value behind = add(columns.begin, times(whole, constant(width)));
    const Bounds some{packed ? firstPacked({begin, end}) : end, end};
    auto inGroups = [&](auto emit) { forSteps(b, loc, begin, some.begin, constant(shape.rows), emit); };
    auto rowsOf = [&](Value group) {
      return llvm::map_to_vector(llvm::seq(shape.rows), [&](int64_t r) { return add(group, constant(r)); });
    };
    forSteps(b, loc, columns.begin, behind, constant(width), [&](Value first) {
      Value isFirst = is(arith::CmpIPredicate::eq, first, columns.begin);
      inGroups([&](Value group) {
        if (!streams.empty())
          branch(b, loc, isFirst, [&] { prefetch(add(group, constant(shape.rows * shape.groups))); }, [] {});
        emitTile(rowsOf(group), {first, shape.vectors, {}});
      });
      emitPackedColumns(some, {first, shape.vectors, {}});
    });
    forSteps(b, loc, behind, columns.end, constant(shape.elements), [&](Value first) {
      Value mask = activeLanes(b, loc, lanes(), sub(columns.end, first));
      inGroups([&](Value group) { emitTile(rowsOf(group), {first, 1, mask}); });
      emitPackedColumns(some, {first, 1, mask});
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

  /// What a row does before its nest, or the branch that is it, but for its initialization.
  IRMapping beforeNest(Value row) {
    IRMapping map;
    map.map(rows.getInductionVar(), row);
    for (Operation &op : rows.getBody()->without_terminator())
      if (&op != nest.root() && !(init && &op == init->loop) && !(use && &op == use->done()))
        b.clone(op, map);
    return map;
  }

  Lanes lanes() const { return {.count = int64_t(shape.elements)}; }

  /// So many vectors of a row from element `first` on.
  struct Columns {
    Value first;
    int64_t vectors;
    Value mask;
  };

  /// The row of a block from which on some may lack the guarded loops; the groups before it have all of them.
  Value firstPacked(Bounds block) {
    Value groups = divide(sub(block.end, block.begin), constant(shape.rows));
    return select(haveGuardedLoops(block), add(block.begin, times(groups, constant(shape.rows))),
                  block.begin);
  }

  /// At run time: whether all rows of a block have the guarded loops, in all iterations of those around. Ends
  /// with the first of these where one has not.
  Value haveGuardedLoops(Bounds block, const IRMapping &around = {}, size_t depth = 0) {
    auto all = [&](Bounds bounds, auto holds) {
      return levels::forLoop(
          b, loc, bounds.begin, bounds.end, dialect::LoopKind::Reduction, boolean(true),
          [&](Value at, const levels::Values &soFar) { return levels::Values{holds(at, soFar[0])}; })[0];
    };
    if (depth == *guarded)
      return all(block, [&](Value row, Value soFar) {
        IRMapping map = beforeNest(row);
        return both(soFar, hasGuardedLoops(0, around, map));
      });
    return all(boundsOf(depth), [&](Value iteration, Value soFar) {
      return ifThen(soFar, [&] {
        IRMapping map = around;
        map.map(nest.outers[depth].getInductionVar(), iteration);
        return haveGuardedLoops(block, map, depth + 1);
      });
    });
  }

  /// These vectors of rows of a block, which have the guarded loops or not.
  void emitPackedColumns(Bounds block, const Columns &at) {
    if (!packed)
      return;
    auto start = [&] {
      forSteps(b, loc, block.begin, block.end, constant(1), [&](Value row) {
        std::vector<BodyEmitter> parts;
        addRow(beforeNest(row), at, parts);
        for (BodyEmitter &part : parts)
          part.storeHoisted(nest.store, part.splat(nest.load.getType(), init->value));
      });
    };
    auto update = [&] {
      if (init)
        branch(b, loc, startsFromInit, start, [] {});
      emitPacked(block, at);
    };
    branch(b, loc, isLess(block.begin, block.end), update, [] {});
  }

  /// These vectors of the rows of a block that have the guarded loops, for each iteration of the loops
  /// around.
  void emitPacked(Bounds block, const Columns &at, const IRMapping &around = {}, size_t depth = 0) {
    if (depth < *guarded) {
      scf::ForOp original = nest.outers[depth];
      const Bounds bounds = boundsOf(depth);
      auto inside = [&](Value iteration) {
        IRMapping map = around;
        map.map(original.getInductionVar(), iteration);
        emitPacked(block, at, map, depth + 1);
      };
      forSteps(b, loc, bounds.begin, bounds.end, original.getStep(), inside)->setAttrs(original->getAttrs());
      return;
    }
    forSteps(b, loc, constant(0), packRows(block, around), constant(shape.rows), [&](Value from) {
      const Values tile = llvm::map_to_vector(llvm::seq(shape.rows), [&](int64_t r) -> Value {
        return memref::LoadOp::create(b, loc, packed, add(from, constant(r)));
      });
      emitTile(tile, at, &around);
    });
  }

  /// Packs the rows of a block that have the guarded loops, and returns how many there are. Behind the last
  /// one it stands again, for the rest of a tile, which computes and stores the same several times.
  Value packRows(Bounds block, const IRMapping &around) {
    Value count =
        levels::forLoop(b, loc, block.begin, block.end, dialect::LoopKind::Reduction, constant(0),
                        [&](Value row, const levels::Values &soFar) {
                          memref::StoreOp::create(b, loc, row, packed, soFar[0]);
                          IRMapping map = beforeNest(row);
                          Value has = hasGuardedLoops(0, around, map);
                          return levels::Values{add(soFar[0], select(has, constant(1), constant(0)))};
                        })[0];
    Value last = memref::LoadOp::create(b, loc, packed, sub(max(count, constant(1)), constant(1)));
    for (int64_t r = 0; r + 1 < shape.rows; ++r)
      memref::StoreOp::create(b, loc, last, packed, add(count, constant(r)));
    return count;
  }

  /// Whether a row has the guarded loops, of which `map` has what is computed before the loop at this depth,
  /// or the branch around it.
  Value hasGuardedLoops(size_t depth, const IRMapping &around, IRMapping &map) {
    auto inside = [&] {
      scf::ForOp loop = nest.outers[depth];
      clonePrologue(b, loop, around.lookup(loop.getInductionVar()), map);
      return hasGuardedLoops(depth + 1, around, map);
    };
    scf::IfOp guard = nest.guard(depth);
    if (!guard)
      return inside();
    Value condition = map.lookupOrDefault(guard.getCondition());
    if (depth == *guarded)
      return condition;
    return ifThen(condition, [&] {
      enterBranch(depth, map);
      return inside();
    });
  }

  /// Extends the map of a row by what is computed in the branch around the loop at this depth, before it.
  void enterBranch(size_t depth, IRMapping &map) {
    if (scf::IfOp guard = nest.guard(depth))
      for (Operation &op : guard.thenBlock()->without_terminator())
        if (&op != nest.outers[depth])
          b.clone(op, map);
  }

  /// Extends the map of a row that has the loops below the one at this depth by what it computes before them.
  void enter(size_t depth, Value iteration, IRMapping &map) {
    clonePrologue(b, nest.outers[depth], iteration, map);
    if (depth + 1 < nest.outers.size())
      enterBranch(depth + 1, map);
  }

  /// Adds these vectors of a row, for which `map` has what is computed before its loops.
  void addRow(const IRMapping &map, const Columns &at, std::vector<BodyEmitter> &parts) {
    for (int64_t v = 0; v < at.vectors; ++v) {
      BodyEmitter &part =
          parts.emplace_back(b, nest.legality, lanes(), add(at.first, constant(v * shape.elements)), at.mask);
      part.bind(map);
      part.hoist([&](Operation *op) { return nest.isOuterInvariant(op); },
                 [&](Value condition) { return nest.isOuterInvariant(condition); });
    }
  }

  /// These vectors of each row of a tile, which has all loops over p; of packed rows, in an iteration of
  /// those around the guarded ones.
  void emitTile(ValueRange tile, const Columns &at, const IRMapping *around = nullptr) {
    const size_t from = around ? *guarded : 0;
    std::vector<IRMapping> maps;
    for (Value row : tile) {
      IRMapping &map = maps.emplace_back(beforeNest(row));
      enterBranch(0, map);
      for (size_t depth = 0; depth < from; ++depth)
        enter(depth, around->lookup(nest.outers[depth].getInductionVar()), map);
    }
    std::vector<BodyEmitter> parts; // row by row
    for (const IRMapping &map : maps)
      addRow(map, at, parts);
    const Values elements = updateFrom(from, maps, parts, initialElements(parts, /*isStarted=*/around));
    for (auto [k, part, element] : llvm::enumerate(parts, elements))
      if (use)
        use->emit(b, part.first(), at.mask, lanes(), element, &maps[k / size_t(at.vectors)]);
      else
        part.storeHoisted(nest.store, element);
  }

  Values initialElements(MutableArrayRef<BodyEmitter> parts, bool isStarted) {
    auto loads = [&] {
      return llvm::map_to_vector(parts, [&](BodyEmitter &part) { return part.loadHoisted(nest.load); });
    };
    if (!init || isStarted)
      return loads();
    memref::LoadOp load = nest.load;
    Value initial = parts.front().splat(load.getType(), init->value);
    Values initials(parts.size(), initial);
    if (use)
      return initials;
    return levels::ifElse(
        b, loc, startsFromInit, ValueRange(initials).getTypes(), [&] { return initials; },
        [&] { return Values(loads()); });
  }

  Bounds boundsOf(size_t depth) {
    scf::ForOp loop = nest.outers[depth];
    return depth == 0 ? iterations : Bounds{loop.getLowerBound(), loop.getUpperBound()};
  }

  /// The elements of all rows after the nest's loops from this one on.
  Values updateFrom(size_t depth, Maps maps, ArrayRef<BodyEmitter> parts, ValueRange elements) {
    if (depth == nest.outers.size())
      return update(maps, parts, elements);
    scf::ForOp original = nest.outers[depth];
    const Bounds bounds = boundsOf(depth);
    auto loop = scf::ForOp::create(b, loc, bounds.begin, bounds.end, original.getStep(), elements);
    loop->setAttrs(original->getAttrs());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    std::vector<IRMapping> inside(maps.begin(), maps.end());
    for (IRMapping &map : inside) {
      enter(depth, loop.getInductionVar(), map);
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
    bool changed = false;
    for (scf::ForOp rows : loopsIn(getOperation())) {
      std::optional<RowNest> found = matchRowNest(rows);
      if (!found)
        continue;
      const iteration::Choice<iteration::RowTile> shape = model.rowTile(found->nest.legality.widestBits, vl);
      scf::ForOp inner = found->nest.inner;
      // Rows of less than a vector are left to LLVM, but for those that start from memory, in a branch.
      if (std::optional<int64_t> most = maxTripCount(inner);
          most && *most < shape.value.elements && !found->nest.isGuarded())
        continue;
      if (std::optional<int64_t> most = maxTripCount(rows); most && *most < shape.value.rows)
        continue;
      dialect::explainChoice(inner, shape.reason);
      TiledRows(std::move(*found), shape.value, model.cpu.line * 8).emit();
      changed = true;
    }
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
