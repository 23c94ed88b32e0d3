#include "passes/register_tile/TileLoops.h"
#include "dialect/Attributes.h"
#include "levels/Control.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tulle::passes {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
using arith::CmpIPredicate;
using mlir::Value;

static size_t firstOfTree(const ReductionNest &nest) {
  size_t first = nest.outers.size() - 1;
  while (first > 0 && walksSegments(nest.outers[first - 1], nest.outers[first]))
    --first;
  return first;
}

TileLoops::TileLoops(mlir::OpBuilder &builder, const ReductionNest &nest, const iteration::CostModel &model,
                     bool takesFactorsOut)
    : b(builder), loc(nest.top().getLoc()), nest(nest), model(model),
      ahead(nest.outer(), nest.plan, model.cpu), tree(firstOfTree(nest)) {
  if (walksTree())
    segmentsAhead.emplace(nest.outers[last() - 1], nest.plan, model.cpu);
  if (takesFactorsOut)
    factors = findFactors(nest, tree);
}

TileLoops::Values TileLoops::run(Value begin, Value end, mlir::ValueRange elements,
                                 llvm::MutableArrayRef<BodyEmitter> parts, const Lanes &lanes) {
  return loopsFrom(0, begin, end, {}, elements, {parts, lanes, Walk::Each});
}

Value TileLoops::constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
Value TileLoops::next(Value segment) { return arith::AddIOp::create(b, loc, segment, constant(1)); }
Value TileLoops::is(CmpIPredicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(b, loc, predicate, x, y);
}

/// The outer loops from one on, for its steps `begin` … `end - 1`; `map` has copies of what is around it.
TileLoops::Values TileLoops::loopsFrom(size_t depth, Value begin, Value end, const mlir::IRMapping &map,
                                       mlir::ValueRange elements, Tile tile) {
  if (isWide(tile) && walksTree() && depth == tree)
    return treeFrom(begin, end, map, elements, tile);
  if (depth == innermost(tile.walk) && tile.walk == Walk::Joined)
    return joinedLoop(begin, end, map, elements, tile);
  // Rows whose ends move are diagonals: what they read follows what the tile before has read.
  if (depth < last() || walksTree() || !ahead.any() || nest.movingBounds || !isWide(tile))
    return loopOver(depth, begin, end, map, elements, tile);
  auto withWalk = [&](Walk walk) {
    return [&, walk] { return loopOver(depth, begin, end, map, elements, {tile.parts, tile.lanes, walk}); };
  };
  auto scattered = [&] {
    return levels::ifElse(b, loc, ahead.areFar(b, loc, map, begin, end, model.cpu.prefetchRows),
                          elements.getTypes(), withWalk(Walk::Fetching), withWalk(Walk::Each));
  };
  if (model.cpu.prefetchConsecutive == 0)
    return scattered();
  return levels::ifElse(b, loc, ahead.follow(b, loc, map, begin, end, model.cpu.prefetchConsecutive),
                        elements.getTypes(), withWalk(Walk::Following), scattered);
}

TileLoops::Values TileLoops::loopOver(size_t depth, Value begin, Value end, mlir::IRMapping map,
                                      mlir::ValueRange elements, const Tile &tile) {
  scf::ForOp original = nest.outers[depth];
  auto loop = scf::ForOp::create(b, loc, begin, end, original.getStep(), elements);
  loop->setAttrs(original->getAttrs());
  mlir::OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  map.map(original.getInductionVar(), loop.getInductionVar());
  cloneReads(b, original, map);
  Values updated;
  const bool fetches = tile.walk == Walk::Fetching;
  if (depth == last()) {
    if (fetches)
      fetch(ahead, loop.getInductionVar(), map, tile, /*lineStep=*/1);
    updated = update(map, loop.getRegionIterArgs(), tile);
  } else {
    if (fetches && depth + 1 == last())
      fetch(*segmentsAhead, loop.getInductionVar(), map, tile, /*lineStep=*/1);
    scf::ForOp inside = nest.outers[depth + 1];
    Value from = map.lookupOrDefault(inside.getLowerBound()),
          to = map.lookupOrDefault(inside.getUpperBound());
    updated = isSum(depth, tile.walk) ? sumOf(depth, from, to, map, loop.getRegionIterArgs(), tile)
                                      : loopsFrom(depth + 1, from, to, map, loop.getRegionIterArgs(), tile);
  }
  scf::YieldOp::create(b, loc, updated);
  return llvm::map_to_vector(loop.getResults(), [](mlir::OpResult r) -> Value { return r; });
}

//===--- What is summed ---===//

/// Adds the sum of the loop inside times this loop's factors. Where no entry is below nothing is added: a
/// factor may be infinite.
TileLoops::Values TileLoops::sumOf(size_t depth, Value begin, Value end, const mlir::IRMapping &map,
                                   mlir::ValueRange elements, const Tile &tile) {
  auto add = [&] {
    mlir::Type element = mlir::memref::LoadOp(nest.load).getType();
    auto zero = mlir::cast<mlir::TypedAttr>(b.getZeroAttr(element));
    Values zeros;
    for (BodyEmitter &part : tile.parts)
      zeros.push_back(part.splat(loc, element, zero));
    Values results, sums = loopsFrom(depth + 1, begin, end, map, zeros, tile);
    for (auto [part, before, sum] : llvm::zip_equal(tile.parts, elements, sums)) {
      BodyEmitter emitter = part;
      emitter.bind(map);
      Value added = product(emitter, factors->of[depth], sum);
      results.push_back(arith::AddFOp::create(b, loc, before, added, factors->flags));
    }
    return results;
  };
  return levels::ifElse(b, loc, hasEntries(depth + 1, begin, end, map), elements.getTypes(), add,
                        [&] { return Values(elements); });
}

/// At run time: whether a position of the innermost loop is below these steps of a loop of the tree.
Value TileLoops::hasEntries(size_t depth, Value begin, Value end, const mlir::IRMapping &map) {
  Value some = is(CmpIPredicate::slt, begin, end);
  if (depth == last())
    return some;
  return levels::ifElse(
      b, loc, some, b.getI1Type(),
      [&] {
        return Values{hasEntries(depth + 1, segmentStart(depth + 1, begin, map),
                                 segmentStart(depth + 1, end, map), map)};
      },
      [&] { return Values{arith::ConstantOp::create(b, loc, b.getBoolAttr(false))}; })[0];
}

Value TileLoops::product(BodyEmitter &emitter, llvm::ArrayRef<Value> of, Value first) {
  Value result = first;
  for (Value factor : of) {
    Value value = emitter.valueOf(factor);
    result = result ? arith::MulFOp::create(b, loc, result, value, factors->flags).getResult() : value;
  }
  return result;
}

/// Elements between the fetch of what a tile reads in order and its use, or 0.
int64_t TileLoops::fetchedAhead(Walk walk) const {
  if (nest.plan.gathers)
    return model.cpu.hardwarePrefetch ? 0 : model.cpu.prefetchGathers;
  if (walk == Walk::Following)
    return model.cpu.prefetchConsecutive;
  return nest.movingBounds ? model.cpu.prefetchTiles : 0;
}

/// The tile after one step of the outer loops, which `map` has copies of.
TileLoops::Values TileLoops::update(const mlir::IRMapping &map, mlir::ValueRange elements, const Tile &tile) {
  bool isPart = false; // of the factors: the others are multiplied with the sum
  for (size_t depth = 0; depth < last(); ++depth)
    isPart |= isSum(depth, tile.walk);
  Values summed;
  if (isPart)
    for (size_t depth = innermost(tile.walk); depth <= last(); ++depth)
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
    emitter.emit(mlir::ValueRange());
    updated.push_back(emitter.storedValue());
    if (int64_t elements = fetchedAhead(tile.walk))
      emitter.prefetch(elements, offset);
    offset += tile.lanes.count;
  }
  return updated;
}

//===--- Trees of segments ---===//

/// The first position that a loop walks for a step of the one around it, where it walks segments: the one
/// behind the last of the step before.
Value TileLoops::segmentStart(size_t depth, Value segment, mlir::IRMapping map) {
  scf::ForOp around = nest.outers[depth - 1], walk = nest.outers[depth];
  map.map(around.getInductionVar(), segment);
  return clonePlace(b, walk.getLowerBound(), around.getBody(), map);
}

/// The loops of the tree: the innermost two as one where segments are short, since the end of a short loop is
/// not foreseen. Asked once for all of them.
TileLoops::Values TileLoops::treeFrom(Value begin, Value end, const mlir::IRMapping &map,
                                      mlir::ValueRange elements, Tile tile) {
  auto withWalk = [&](Walk walk) {
    return [&, walk] {
      const Tile own{tile.parts, tile.lanes, walk};
      return walk == Walk::Joined && tree == innermost(walk) ? joinedLoop(begin, end, map, elements, own)
                                                             : loopOver(tree, begin, end, map, elements, own);
    };
  };
  // They are short there, and registers that a loop for each would take are free for this one (AVX2: two of
  // eight sums stayed in memory).
  if (scf::ForOp(nest.outers[last() - 1])->hasAttr(dialect::kNearAttr))
    return withWalk(Walk::Joined)();
  Value areLong, sample;
  std::tie(areLong, sample) = lengths(begin, end, map);
  auto inLoops = [&] {
    if (!ahead.any())
      return withWalk(Walk::Each)();
    return levels::ifElse(b, loc, areFar(sample, map), elements.getTypes(), withWalk(Walk::Fetching),
                          withWalk(Walk::Each));
  };
  return levels::ifElse(b, loc, areLong, elements.getTypes(), inLoops, withWalk(Walk::Joined));
}

/// At run time: whether the innermost segments hold many positions each, in the mean; and one of them. Levels
/// without segments need not have positions: they are read where there are entries.
std::pair<Value, Value> TileLoops::lengths(Value begin, Value end, const mlir::IRMapping &map) {
  Values found = levels::ifElse(
      b, loc, hasEntries(tree, begin, end, map), {b.getI1Type(), b.getIndexType()},
      [&] {
        Value first = begin, behind = end, segments, sample;
        for (size_t depth = tree + 1; depth <= last(); ++depth) {
          segments = arith::SubIOp::create(b, loc, behind, first);
          Value half = arith::DivUIOp::create(b, loc, segments, constant(2));
          sample = arith::AddIOp::create(b, loc, first, half);
          first = segmentStart(depth, first, map);
          behind = segmentStart(depth, behind, map);
        }
        Value few = arith::MulIOp::create(b, loc, segments, constant(model.costs.shortSegment));
        Value positions = arith::SubIOp::create(b, loc, behind, first);
        return Values{is(CmpIPredicate::sge, positions, few), sample};
      },
      [&] { return Values{arith::ConstantOp::create(b, loc, b.getBoolAttr(false)), constant(0)}; });
  return {found[0], found[1]};
}

/// At run time: whether the rows that one of the innermost segments names are far from each other. Which one
/// of the others it is in is not known: where rows are named by that too, no.
Value TileLoops::areFar(Value segment, mlir::IRMapping map) {
  for (size_t depth = tree; depth + 1 < last(); ++depth)
    if (ahead.isNamedBy(nest.outers[depth]))
      return arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
  Value first = segmentStart(last(), segment, map), behind = segmentStart(last(), next(segment), map);
  scf::ForOp segments = nest.outers[last() - 1];
  map.map(segments.getInductionVar(), segment);
  cloneReads(b, segments, map);
  return ahead.areFar(b, loc, map, first, behind, model.cpu.prefetchRows);
}

/// One loop over the positions of all these segments, which carries the segment: the same steps in the same
/// order.
TileLoops::Values TileLoops::joinedLoop(Value begin, Value end, mlir::IRMapping map,
                                        mlir::ValueRange elements, const Tile &tile) {
  scf::ForOp segments = nest.outers[last() - 1];
  auto walk = [&] {
    Value first = segmentStart(last(), begin, map), behind = segmentStart(last(), end, map);
    Values inits{begin, segmentStart(last(), next(begin), map)};
    inits.append(elements.begin(), elements.end());
    auto loop = scf::ForOp::create(b, loc, first, behind, constant(1), inits);
    loop->setAttrs(nest.outer()->getAttrs());
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value position = loop.getInductionVar();
    auto [segment, stop] = segmentOf(position, loop.getRegionIterArg(0), loop.getRegionIterArg(1), map);
    map.map(segments.getInductionVar(), segment);
    cloneReads(b, segments, map);
    map.map(nest.outer().getInductionVar(), position);
    cloneReads(b, nest.outer(), map);
    if (!segments->hasAttr(dialect::kNearAttr))
      fetch(*segmentsAhead, segment, map, tile, model.costs.prefetchLineStride);
    fetch(ahead, position, map, tile, model.costs.prefetchLineStride);
    Values yielded{segment, stop};
    yielded.append(update(map, loop.getRegionIterArgs().drop_front(2), tile));
    scf::YieldOp::create(b, loc, yielded);
    return llvm::map_to_vector(loop.getResults().drop_front(2), [](mlir::OpResult r) -> Value { return r; });
  };
  return levels::ifElse(b, loc, is(CmpIPredicate::slt, begin, end), elements.getTypes(), walk,
                        [&] { return Values(elements); });
}

/// The segment of a position, and its end, from those of the position before: the same or the next one,
/// without a branch, or, which is rare, one behind empty ones.
std::pair<Value, Value> TileLoops::segmentOf(Value position, Value segment, Value end,
                                             const mlir::IRMapping &map) {
  auto isBehind = [&](Value stop) { return is(CmpIPredicate::sge, position, stop); };
  Value step = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), isBehind(end));
  segment = arith::AddIOp::create(b, loc, segment, step);
  Values found = levels::whileLoop(
      b, loc, mlir::ValueRange{segment, segmentStart(last(), next(segment), map)},
      [&](levels::Values at) { return isBehind(at[1]); },
      [&](levels::Values at) {
        return levels::Values{next(at[0]), segmentStart(last(), next(next(at[0])), map)};
      });
  return {found[0], found[1]};
}

/// Fetches the rows of a later step of a loop, one of so many lines.
void TileLoops::fetch(const PrefetchPlan &rows, Value step, const mlir::IRMapping &map, const Tile &tile,
                      int64_t lineStep) {
  const int64_t vectorBits = tile.lanes.count * nest.plan.widestBits;
  const bool isWideRow = int64_t(tile.parts.size()) * vectorBits >= model.costs.wideRow * model.cpu.line * 8;
  const int64_t rounds = walksTree() ? model.cpu.prefetchTrees
                         : isWideRow ? model.cpu.prefetchWideRows
                                     : model.cpu.prefetchRows;
  mlir::IRMapping later = map;
  rows.at(b, loc, arith::AddIOp::create(b, loc, step, constant(rounds)), later);
  Values lines;
  for (size_t v = 0; v < tile.parts.size();
       v += std::max<int64_t>(1, lineStep * model.cpu.line * 8 / vectorBits))
    lines.push_back(tile.parts[v].first());
  rows.fetch(b, loc, later, lines);
}

} // namespace tulle::passes
