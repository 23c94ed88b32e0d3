// Where the loops over tiles, and those within one, begin and end: at coordinates, or at positions of an
// operand.
#include "passes/sparsify/Emitter.h"

namespace tulle::passes {
using namespace mlir;
using iteration::Position;

/// The spaces that loop `depth` visits, and a range where it visits coordinates that none of them has.
std::pair<Value, SmallVector<Value>> LoopEmitter::visitedSpaces(LoopState &s, unsigned depth,
                                                                const VisitedSet &set) {
  const iteration::LoopVar &loop = plan.order[depth];
  ArrayRef<unsigned> who = set.participants;
  const bool isTiled = statement.tiles.areOf(loop.index);
  const iteration::Fused *pair = loop.isOverTiles ? nullptr : statement.tiles.fusedOf(loop.index);
  if (isTiled && pair && pair->outer == loop.index)
    return rowsOfTile(s, *pair, who);
  const std::optional<Tile> positions = positionsIn(s, depth);
  Value range;
  if (set.hasGaps() || (isTiled && !(positions && who == ArrayRef(positions->counted->operand)))) {
    auto [lo, hi] = bounds(s, depth);
    range = dialect::RangeOp::create(b, loc, lo, hi);
  }
  SmallVector<Value> spaces = llvm::map_to_vector(who, [&](unsigned o) -> Value {
    Value all = space(s, o);
    if (positions && o == positions->counted->operand)
      return dialect::SliceOp::create(b, loc, all.getType(), all, positions->begin, positions->end);
    return isTiled ? dialect::RestrictOp::create(b, loc, all.getType(), all, range).getResult() : all;
  });
  return {set.hasGaps() ? range : Value(), std::move(spaces)};
}

/// What the outer one of two fused loops visits in a tile: the rows that it has entries of.
std::pair<Value, SmallVector<Value>> LoopEmitter::rowsOfTile(LoopState &s, const iteration::Fused &pair,
                                                             ArrayRef<unsigned> who) {
  const Tile tile =
      tileOf(s, pair.index, statement.tiles.innermostOf(pair.inner, nameOfIndices(statement.generic)));
  auto [all, tensor] = rows(s, pair, *tile.counted);
  Value rows = dialect::EnclosingOp::create(b, loc, all.getType(), all, tile.begin, tile.end, tensor);
  return who.empty() ? std::pair(rows, SmallVector<Value>()) : std::pair(Value(), SmallVector<Value>{rows});
}

/// All that the outer one of two fused loops visits outside of tiles; with the tensor that it is of, where
/// that is a range.
std::pair<Value, Value> LoopEmitter::rows(const LoopState &s, const iteration::Fused &pair,
                                          const SparseStatement::CountedLevel &counted) {
  if (plan.levels[counted.operand][counted.level - 1].mode == iteration::LevelMode::Locate)
    return {dialect::RangeOp::create(b, loc, constant(0), sizes[pair.outer]),
            statement.operands[counted.operand].tensor};
  return {space(reaching(s, counted.operand, counted.level - 1), counted.operand), Value()};
}

/// As it was outside of the loops that have led an operand further than to a level.
LoopState LoopEmitter::reaching(LoopState s, unsigned operand, size_t level) {
  s.operands[operand].iterators.resize(level);
  return s;
}

/// Where the coordinates of loop `depth` begin and end.
std::pair<Value, Value> LoopEmitter::bounds(LoopState &s, unsigned depth) {
  if (!statement.tiles.areOf(plan.order[depth].index))
    return {constant(0), extent(s, depth)};
  const Tile tile = tileAt(s, depth);
  return tile.counted ? coordinatesOf(s, tile) : std::pair(tile.begin, tile.end);
}

Tile LoopEmitter::tileAt(LoopState &s, unsigned depth) {
  const iteration::LoopVar &loop = plan.order[depth];
  return tileOf(s, loop.index,
                loop.isOverTiles ? plan.names[depth]
                                 : statement.tiles.innermostOf(loop.index, nameOfIndices(statement.generic)));
}

/// The positions that loop `depth` visits, of a tile that is counted by them.
std::optional<Tile> LoopEmitter::positionsIn(LoopState &s, unsigned depth) {
  const iteration::LoopVar &loop = plan.order[depth];
  if (!statement.tiles.areOf(loop.index) || loop.isOverTiles)
    return std::nullopt;
  const Tile tile = tileAt(s, depth);
  return tile.counted ? std::optional(tile) : std::nullopt;
}

Tile LoopEmitter::tileOf(LoopState &s, unsigned index, const std::string &loop) {
  if (const auto known = s.tiles.find(loop); known != s.tiles.end())
    return known->second;
  return s.tiles[loop] = makeTile(s, index, loop);
}

/// Tiles are counted from 0; those of coordinates within the coordinates of the loop that was split, those of
/// positions within what is stored there.
Tile LoopEmitter::makeTile(LoopState &s, unsigned index, const std::string &loop) {
  if (const Position *position = statement.tiles.countedBy(loop))
    return allPositions(s, index, *position);
  const iteration::Split *split = statement.tiles.madeBy(loop);
  if (!split)
    return {constant(0), sizes[index]};
  const Tile whole = tileOf(s, index, split->loop);
  Value size = constant(split->size), width = size,
        all = b.createOrFold<arith::SubIOp>(loc, whole.end, whole.begin);
  auto ceilDiv = [&](Value x, Value y) { return b.createOrFold<arith::CeilDivUIOp>(loc, x, y); };
  auto atLeastOne = [&](Value x) { return b.createOrFold<arith::MaxUIOp>(loc, x, constant(1)); };
  if (split->divides)
    width = ceilDiv(all, size);
  if (split->outer == loop) { // tiles that nothing is left for are not counted
    Value count = ceilDiv(all, split->divides ? atLeastOne(width) : width);
    // Coordinates without positions are in a tile, too.
    const bool visitsMore = whole.counted && !statement.visitsOnly(plan, *whole.counted);
    return {constant(0), visitsMore ? atLeastOne(count) : count};
  }
  const std::string tile = statement.tiles.innermost(split->outer);
  const auto at = size_t(llvm::find(plan.names, tile) - plan.names.begin());
  Value first = b.createOrFold<arith::AddIOp>(loc, whole.begin,
                                              b.createOrFold<arith::MulIOp>(loc, s.coordinates[at], width));
  Value next = b.createOrFold<arith::AddIOp>(loc, first, width);
  Tile part = whole;
  part.begin = first;
  part.end = b.createOrFold<arith::MinUIOp>(loc, whole.end, next);
  return part;
}

/// All that the operand stores in the coordinates of the loop that counts it.
Tile LoopEmitter::allPositions(LoopState &s, unsigned index, const Position &position) {
  Tile tile;
  tile.position = &position;
  tile.counted = statement.countedLevel(plan, position);
  if (s.operands[tile.counted->operand].absent) {
    tile.begin = tile.end = constant(0);
    return tile;
  }
  if (const iteration::Fused *pair = statement.tiles.fusedNamed(position.loop)) {
    auto [above, tensor] = rows(s, *pair, *tile.counted);
    auto below = dialect::BoundsBelowOp::create(b, loc, above, tensor);
    tile.begin = below.getBegin();
    tile.end = below.getEnd();
    return tile;
  }
  auto all = dialect::BoundsOp::create(b, loc, countedSpace(s, index, tile));
  tile.begin = all.getBegin();
  tile.end = all.getEnd();
  return tile;
}

/// What the operand stores in the coordinates of the loop that counts it, as a space.
Value LoopEmitter::countedSpace(LoopState &s, unsigned index, const Tile &tile) {
  Value all = space(reaching(s, tile.counted->operand, tile.counted->level), tile.counted->operand);
  if (!statement.tiles.madeBy(tile.position->loop))
    return all;
  const Tile part = tileOf(s, index, tile.position->loop);
  Value range = dialect::RangeOp::create(b, loc, part.begin, part.end);
  return dialect::RestrictOp::create(b, loc, all.getType(), all, range);
}

/// The coordinates of a tile of positions: from its first one to that of the next tile; the first and the
/// last tile have those before and behind all positions, too.
std::pair<Value, Value> LoopEmitter::coordinatesOf(LoopState &s, const Tile &tile) {
  const unsigned index = tile.position->index;
  const Tile all = tileOf(s, index, tile.position->loop);
  if (s.operands[tile.counted->operand].absent)
    return {all.begin, all.end};
  Value space = countedSpace(s, index, tile);
  auto positions = dialect::BoundsOp::create(b, loc, space);
  auto coordinateAt = [&](Value position, Value end, Value atEnd) {
    return levels::ifElse(
        b, loc, is(arith::CmpIPredicate::eq, position, end), b.getIndexType(), [&] { return Carried{atEnd}; },
        [&] { return Carried{dialect::IteratorAtOp::create(b, loc, space, position).getCoordinate()}; })[0];
  };
  return {coordinateAt(tile.begin, positions.getBegin(), all.begin),
          coordinateAt(tile.end, positions.getEnd(), all.end)};
}

} // namespace tulle::passes
