// Recurses from the outermost loop to the innermost: each copy carries the vectors, and one of a tree of
// segments runs in the form that a test before it chose.
#include "passes/register_tile/TileLoops.h"
#include "dialect/Costs.h"

namespace tulle::passes {

using namespace mlir;
using arith::CmpIPredicate;

static bool mayReassociate(arith::ArithFastMathInterface op) {
  return arith::bitEnumContainsAll(op.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::reassoc);
}

/// Whether the value depends on the loop's index, or on an operation of its body outside of `inner`: that is
/// cloned as it is.
static bool variesIn(Value value, scf::ForOp loop, scf::ForOp inner) {
  return !acceptsSlice(value, [&](Value value) -> std::optional<bool> {
    if (value == loop.getInductionVar())
      return false;
    Operation *op = value.getDefiningOp();
    if (!op || !loop->isProperAncestor(op))
      return true;
    bool isCloned = op->getNumRegions() != 0 || !inner->isProperAncestor(op);
    return isCloned ? std::optional(false) : std::nullopt;
  });
}

static void collectFactors(Value value, scf::ForOp inner, SmallVectorImpl<Value> &factors) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product || product->getBlock() != inner.getBody() || !product->hasOneUse() ||
      !mayReassociate(product)) {
    factors.push_back(value);
    return;
  }
  collectFactors(product.getLhs(), inner, factors);
  collectFactors(product.getRhs(), inner, factors);
}

/// The factors of what is added to the element; none where it is no such sum.
static SmallVector<Value> summedFactors(const ReductionNest &nest, arith::AddFOp sum) {
  scf::ForOp inner = nest.inner;
  memref::LoadOp element = nest.load;
  if (!sum || sum->getBlock() != inner.getBody() || !sum->hasOneUse() || !mayReassociate(sum) ||
      !element->hasOneUse())
    return {};
  const bool onTheLeft = sum.getLhs() == element.getResult();
  if (!onTheLeft && sum.getRhs() != element.getResult())
    return {};
  SmallVector<Value> factors;
  collectFactors(onTheLeft ? sum.getRhs() : sum.getLhs(), inner, factors);
  return factors;
}

/// The loops from `tree` on each iterate over the segments of the one before: only there it is known which
/// iterations have entries. Nothing where no loop has such factors, or where sums must not be reassociated.
static std::optional<HoistFactors> hoistableFactors(const ReductionNest &nest, size_t tree) {
  memref::StoreOp store = nest.store;
  auto sum = store.getValueToStore().getDefiningOp<arith::AddFOp>();
  const size_t loops = nest.outers.size();
  HoistFactors found;
  found.of.resize(loops);
  for (Value factor : summedFactors(nest, sum)) {
    size_t depth = loops - 1;
    while (depth > 0 && !variesIn(factor, nest.outers[depth], nest.inner))
      --depth;
    found.of[depth].push_back(factor);
  }
  bool any = false;
  for (size_t depth = 0; depth + 1 < loops; ++depth) {
    SmallVector<Value> &own = found.of[depth];
    if (depth >= tree &&
        llvm::any_of(own, [&](Value factor) { return variesIn(factor, nest.inner, nest.inner); })) {
      any = true;
      continue;
    }
    // A scalar alone costs less with each entry than a sum of its own.
    llvm::append_range(found.of[depth + 1], own);
    own.clear();
  }
  if (!any || found.of.back().empty())
    return std::nullopt;
  found.flags = sum.getFastmathAttr();
  return found;
}

static size_t firstSegmentLoop(const ReductionNest &nest) {
  size_t first = nest.outers.size() - 1;
  while (first > 0 && iteratesSegments(nest.outers[first - 1], nest.outers[first]))
    --first;
  return first;
}

TileLoops::TileLoops(OpBuilder &builder, const ReductionNest &nest, const iteration::CostModel &model,
                     bool hoistsFactors)
    : IndicesAt(builder, nest.top().getLoc()), nest(nest), model(model),
      rows(builder, nest.outer(), nest.legality, model.cpu), tree(firstSegmentLoop(nest)) {
  if (hasSegmentTree())
    segmentRows.emplace(builder, nest.outers[last() - 1], nest.legality, model.cpu);
  // A factor may be infinite, and what it is multiplied with nothing, where no iteration enters the branch.
  if (hoistsFactors && !nest.innerGuard())
    factors = hoistableFactors(nest, tree);
  if (factors)
    dialect::explainChoice(nest.inner,
                           "factoring: factors that vary in an outer loop only are hoisted out of the "
                           "sums of the loops inside");
}

TileLoops::Values TileLoops::run(Value begin, Value end, ValueRange elements,
                                 MutableArrayRef<BodyEmitter> parts, const Lanes &lanes) {
  return loopsFrom(0, begin, end, {}, elements, {parts, lanes, Form::Nested});
}

/// The outer loops from one on, for its iterations `begin` … `end - 1`; `map` has clones of what is around
/// it.
TileLoops::Values TileLoops::loopsFrom(size_t depth, Value begin, Value end, const IRMapping &map,
                                       ValueRange elements, Tile tile) {
  if (isPrefetched(tile) && hasSegmentTree() && depth == tree)
    return segmentLoops(begin, end, map, elements, tile);
  if (depth == innermost(tile.form) && tile.form == Form::Coalesced)
    return coalescedLoop(begin, end, map, elements, tile);
  // Rows with iv-dependent bounds are diagonals: what they load follows what the tile before has loaded.
  if (depth < last() || hasSegmentTree() || !rows.any() || nest.ivDependentBounds || !isPrefetched(tile))
    return loopOver(depth, begin, end, map, elements, tile);
  auto inForm = [&](Form form) {
    return [&, form] { return loopOver(depth, begin, end, map, elements, {tile.parts, tile.lanes, form}); };
  };
  auto remote = [&] {
    return levels::ifElse(b, loc, rows.areRemote(map, begin, end, model.cpu.prefetchRows),
                          elements.getTypes(), inForm(Form::PrefetchRemote), inForm(Form::Nested));
  };
  if (model.cpu.prefetchConsecutive == 0)
    return remote();
  return levels::ifElse(b, loc, rows.areConsecutive(map, begin, end, model.cpu.prefetchConsecutive),
                        elements.getTypes(), inForm(Form::PrefetchConsecutive), remote);
}

TileLoops::Values TileLoops::loopOver(size_t depth, Value begin, Value end, IRMapping map,
                                      ValueRange elements, const Tile &tile) {
  scf::ForOp original = nest.outers[depth];
  auto loop = scf::ForOp::create(b, loc, begin, end, original.getStep(), elements);
  loop->setAttrs(original->getAttrs());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  clonePrologue(b, original, loop.getInductionVar(), map);
  Values updated;
  const bool prefetches = tile.form == Form::PrefetchRemote;
  if (depth == last()) {
    if (prefetches)
      prefetch(rows, loop.getInductionVar(), map, tile, /*lineStep=*/1);
    updated = guardedUpdate(map, loop.getRegionIterArgs(), tile);
  } else {
    if (prefetches && depth + 1 == last())
      prefetch(*segmentRows, loop.getInductionVar(), map, tile, /*lineStep=*/1);
    scf::ForOp inside = nest.outers[depth + 1];
    Value from = map.lookupOrDefault(inside.getLowerBound()),
          to = map.lookupOrDefault(inside.getUpperBound());
    updated = isSum(depth, tile.form) ? sumOf(depth, from, to, map, loop.getRegionIterArgs(), tile)
                                      : loopsFrom(depth + 1, from, to, map, loop.getRegionIterArgs(), tile);
  }
  scf::YieldOp::create(b, loc, updated);
  return llvm::map_to_vector(loop.getResults(), [](OpResult r) -> Value { return r; });
}

//===--- Sums with factors hoisted ---===//

/// Adds the sum of the loop inside times this loop's factors. Without an entry below nothing is added: a
/// factor may be infinite.
TileLoops::Values TileLoops::sumOf(size_t depth, Value begin, Value end, const IRMapping &map,
                                   ValueRange elements, const Tile &tile) {
  auto addSum = [&] {
    Type element = memref::LoadOp(nest.load).getType();
    auto zero = cast<TypedAttr>(b.getZeroAttr(element));
    Values zeros;
    for (BodyEmitter &part : tile.parts)
      zeros.push_back(part.splat(element, zero));
    Values results, sums = loopsFrom(depth + 1, begin, end, map, zeros, tile);
    for (auto [part, before, sum] : llvm::zip_equal(tile.parts, elements, sums)) {
      BodyEmitter emitter = part;
      emitter.bind(map);
      Value added = product(emitter, factors->of[depth], sum);
      results.push_back(arith::AddFOp::create(b, loc, before, added, factors->flags));
    }
    return results;
  };
  return levels::ifElse(b, loc, hasEntries(depth + 1, begin, end, map), elements.getTypes(), addSum,
                        [&] { return Values(elements); });
}

/// At run time: whether these iterations of a loop of the tree have an iteration of the innermost loop below.
Value TileLoops::hasEntries(size_t depth, Value begin, Value end, const IRMapping &map) {
  Value some = isLess(begin, end);
  if (depth == last())
    return some;
  return ifThen(some, [&] {
    return hasEntries(depth + 1, segmentStart(depth + 1, begin, map), segmentStart(depth + 1, end, map), map);
  });
}

Value TileLoops::product(BodyEmitter &emitter, ArrayRef<Value> of, Value first) {
  Value result = first;
  for (Value factor : of) {
    Value value = emitter.valueOf(factor);
    result = result ? arith::MulFOp::create(b, loc, result, value, factors->flags).getResult() : value;
  }
  return result;
}

/// The prefetch distance, in elements, of what a tile loads in order, or 0.
int64_t TileLoops::prefetchDistance(Form form) const {
  if (nest.legality.gathers)
    return model.cpu.hardwarePrefetch ? 0 : model.cpu.prefetchGathers;
  if (form == Form::PrefetchConsecutive)
    return model.cpu.prefetchConsecutive;
  return nest.ivDependentBounds ? model.cpu.prefetchTiles : 0;
}

/// The tile after one iteration of the outer loops, which `map` has clones of: as it was where the iteration
/// does not enter the branch around the inner loop.
TileLoops::Values TileLoops::guardedUpdate(IRMapping map, ValueRange elements, const Tile &tile) {
  scf::IfOp guard = nest.innerGuard();
  if (!guard)
    return update(map, elements, tile);
  auto inBranch = [&] {
    for (Operation &op : guard.thenBlock()->without_terminator())
      if (&op != scf::ForOp(nest.inner))
        b.clone(op, map);
    return update(map, elements, tile);
  };
  return levels::ifElse(b, loc, map.lookupOrDefault(guard.getCondition()), elements.getTypes(), inBranch,
                        [&] { return Values(elements); });
}

/// The same of one that does.
TileLoops::Values TileLoops::update(const IRMapping &map, ValueRange elements, const Tile &tile) {
  bool isPart = false; // only some factors: the others are multiplied with the sum
  for (size_t depth = 0; depth < last(); ++depth)
    isPart |= isSum(depth, tile.form);
  Values summed;
  if (isPart)
    for (size_t depth = innermost(tile.form); depth <= last(); ++depth)
      llvm::append_range(summed, factors->of[depth]);
  Values updated;
  int64_t offset = 0;
  for (auto [part, element] : llvm::zip_equal(tile.parts, elements)) {
    BodyEmitter emitter = part;
    emitter.bind(map);
    if (isPart) {
      updated.push_back(arith::AddFOp::create(b, loc, element, product(emitter, summed), factors->flags));
      continue;
    }
    emitter.keepInRegister(nest.load, element, nest.store);
    emitter.emit(ValueRange());
    updated.push_back(emitter.storedValue());
    if (int64_t distance = prefetchDistance(tile.form))
      emitter.prefetch(distance, offset);
    offset += tile.lanes.count;
  }
  return updated;
}

//===--- Trees of segments ---===//

/// The first position of a segment: the one behind the last of the segment before.
Value TileLoops::segmentStart(size_t depth, Value segment, IRMapping map) {
  scf::ForOp around = nest.outers[depth - 1], loop = nest.outers[depth];
  map.map(around.getInductionVar(), segment);
  return cloneSlice(b, loop.getLowerBound(), around.getBody(), map);
}

/// The loops of the tree: the innermost two coalesced where segments are short, since the end of a short loop
/// is mispredicted. Tested once for all of them.
TileLoops::Values TileLoops::segmentLoops(Value begin, Value end, const IRMapping &map, ValueRange elements,
                                          Tile tile) {
  auto inForm = [&](Form form) {
    return [&, form] {
      const Tile own{tile.parts, tile.lanes, form};
      return form == Form::Coalesced && tree == innermost(form)
                 ? coalescedLoop(begin, end, map, elements, own)
                 : loopOver(tree, begin, end, map, elements, own);
    };
  };
  // They are short there, and registers that nested loops would take are free (experiment 041).
  if (dialect::loopOf(nest.outers[last() - 1]).getCacheResident())
    return inForm(Form::Coalesced)();
  Value areLong, sample;
  std::tie(areLong, sample) = lengths(begin, end, map);
  auto inLoops = [&] {
    if (!rows.any())
      return inForm(Form::Nested)();
    return levels::ifElse(b, loc, areRowsRemote(sample, map), elements.getTypes(),
                          inForm(Form::PrefetchRemote), inForm(Form::Nested));
  };
  return levels::ifElse(b, loc, areLong, elements.getTypes(), inLoops, inForm(Form::Coalesced));
}

/// At run time: whether the innermost segments hold many positions each, in the mean; and one of them. Levels
/// without segments need not have positions: they are loaded where there are entries.
std::pair<Value, Value> TileLoops::lengths(Value begin, Value end, const IRMapping &map) {
  Values found = levels::ifElse(
      b, loc, hasEntries(tree, begin, end, map), {b.getI1Type(), b.getIndexType()},
      [&] {
        Value first = begin, behind = end, segments, sample;
        for (size_t depth = tree + 1; depth <= last(); ++depth) {
          segments = sub(behind, first);
          Value half = divide(segments, constant(2));
          sample = add(first, half);
          first = segmentStart(depth, first, map);
          behind = segmentStart(depth, behind, map);
        }
        Value few = times(segments, constant(model.costs.shortSegment));
        Value positions = sub(behind, first);
        return Values{is(CmpIPredicate::sge, positions, few), sample};
      },
      [&] { return Values{boolean(false), constant(0)}; });
  return {found[0], found[1]};
}

/// At run time: whether the rows that one of the innermost segments selects are remote. Which one of the
/// others it is in is not known: where rows depend on that too, no.
Value TileLoops::areRowsRemote(Value segment, IRMapping map) {
  for (size_t depth = tree; depth + 1 < last(); ++depth)
    if (rows.dependsOnLoop(nest.outers[depth]))
      return boolean(false);
  Value first = segmentStart(last(), segment, map), behind = segmentStart(last(), next(segment), map);
  scf::ForOp segments = nest.outers[last() - 1];
  clonePrologue(b, segments, segment, map);
  return rows.areRemote(map, first, behind, model.cpu.prefetchRows);
}

/// One loop over the positions of all these segments, which carries the segment: the same iterations in the
/// same order.
TileLoops::Values TileLoops::coalescedLoop(Value begin, Value end, IRMapping map, ValueRange elements,
                                           const Tile &tile) {
  scf::ForOp segments = nest.outers[last() - 1];
  auto loopOverAll = [&] {
    Value first = segmentStart(last(), begin, map), behind = segmentStart(last(), end, map);
    Values inits{begin, segmentStart(last(), next(begin), map)};
    inits.append(elements.begin(), elements.end());
    auto loop = scf::ForOp::create(b, loc, first, behind, constant(1), inits);
    loop->setAttrs(nest.outer()->getAttrs());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value position = loop.getInductionVar();
    auto [segment, stop] = segmentOf(position, loop.getRegionIterArg(0), loop.getRegionIterArg(1), map);
    clonePrologue(b, segments, segment, map);
    clonePrologue(b, nest.outer(), position, map);
    if (!dialect::loopOf(segments).getCacheResident())
      prefetch(*segmentRows, segment, map, tile, model.costs.prefetchLineStride);
    prefetch(rows, position, map, tile, model.costs.prefetchLineStride);
    Values yielded{segment, stop};
    yielded.append(guardedUpdate(map, loop.getRegionIterArgs().drop_front(2), tile));
    scf::YieldOp::create(b, loc, yielded);
    return llvm::map_to_vector(loop.getResults().drop_front(2), [](OpResult r) -> Value { return r; });
  };
  return levels::ifElse(b, loc, isLess(begin, end), elements.getTypes(), loopOverAll,
                        [&] { return Values(elements); });
}

/// The segment of a position, and its end, from those of the position before: the same or the next one,
/// without a branch, or, which is rare, one behind empty ones.
std::pair<Value, Value> TileLoops::segmentOf(Value position, Value segment, Value end, const IRMapping &map) {
  auto isBehind = [&](Value stop) { return is(CmpIPredicate::sge, position, stop); };
  Value step = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), isBehind(end));
  segment = add(segment, step);
  Values found = levels::whileLoop(
      b, loc, ValueRange{segment, segmentStart(last(), next(segment), map)},
      [&](levels::Values at) { return isBehind(at[1]); },
      [&](levels::Values at) {
        return levels::Values{next(at[0]), segmentStart(last(), next(next(at[0])), map)};
      });
  return {found[0], found[1]};
}

/// Prefetches the rows of a later iteration of a loop, one of so many lines.
void TileLoops::prefetch(PrefetchPlan &plan, Value iteration, const IRMapping &map, const Tile &tile,
                         int64_t lineStep) {
  const int64_t vectorBits = tile.lanes.count * nest.legality.widestBits;
  const bool isWideRow = int64_t(tile.parts.size()) * vectorBits >= model.costs.wideRow * model.cpu.line * 8;
  const int64_t distance = hasSegmentTree() ? model.cpu.prefetchTrees
                           : isWideRow      ? model.cpu.prefetchWideRows
                                            : model.cpu.prefetchRows;
  IRMapping later = map;
  plan.cloneAddresses(add(iteration, constant(distance)), later);
  Values lines;
  for (size_t v = 0; v < tile.parts.size();
       v += std::max<int64_t>(1, lineStep * model.cpu.line * 8 / vectorBits))
    lines.push_back(tile.parts[v].first());
  plan.prefetch(later, lines, !hasSegmentTree() && model.cpu.prefetchIntoL2);
}

} // namespace tulle::passes
