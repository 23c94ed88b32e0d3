// Ops with regions: branches and counted loops keep their form without the tensors; iterations become loops
// over positions.
#include "mlir/IR/Matchers.h"
#include "passes/lower/Lowering.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::lower {

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

Values Lowering::plain(ValueRange carried) const {
  Values result;
  for (Value value : carried)
    if (!isTensor(value))
      result.push_back(values.lookup(value));
  return result;
}

void Lowering::bindCarried(ValueRange targets, ValueRange inits, ValueRange plainValues) {
  unsigned next = 0;
  for (auto [target, init] : llvm::zip(targets, inits))
    if (isTensor(init))
      tensors[target] = tensors.lookup(init);
    else
      values.map(target, plainValues[next++]);
}

Values Lowering::yielded(Block &block, ValueRange inits) {
  Operation *terminator = block.getTerminator();
  for (auto [value, init] : llvm::zip(terminator->getOperands(), inits))
    if (isTensor(value) && tensors.lookup(value) != tensors.lookup(init)) {
      terminator->emitError(
          "the yielded tensor is not the storage of the tensor carried in: stores are in place");
      ok = false;
    }
  return plain(terminator->getOperands());
}

Values Lowering::emitBody(Region &region, Value coordinate, ArrayRef<Iterator> its, ValueRange inits,
                          ValueRange plainValues, ArrayRef<Value> flags) {
  Block &block = region.front();
  values.map(block.getArgument(0), coordinate);
  for (auto [arg, iterator] : llvm::zip(block.getArguments().drop_front(), its))
    iterators[arg] = iterator;
  for (auto [arg, flag] : llvm::zip(block.getArguments().drop_front(1 + its.size()), flags))
    values.map(arg, flag);
  bindCarried(block.getArguments().drop_front(1 + its.size() + flags.size()), inits, plainValues);
  lowerBlock(block);
  return yielded(block, inits);
}

void Lowering::lower(scf::IfOp op) {
  Value condition = values.lookup(op.getCondition());
  if (matchPattern(condition, m_One())) { // as where no slot lies outside the tensor
    lowerBlock(op.getThenRegion().front());
    ValueRange yields = op.getThenRegion().front().getTerminator()->getOperands();
    Values results = plain(yields);
    bindCarried(op.getResults(), yields, results);
    return;
  }
  SmallVector<Type> types =
      llvm::filter_to_vector(op.getResultTypes(), [](Type type) { return !isa<RankedTensorType>(type); });
  SmallVector<Value> stored(op.getNumResults());
  auto emit = [&](Region &region) {
    Values result;
    if (region.empty())
      return result;
    Block &block = region.front();
    lowerBlock(block);
    ValueRange operands = block.getTerminator()->getOperands();
    for (auto [slot, value] : llvm::zip(stored, operands)) {
      if (slot && isTensor(value) && tensors.lookup(slot) != tensors.lookup(value)) {
        op.emitError("the branches yield tensors of different storage: stores are in place");
        ok = false;
      }
      slot = value;
    }
    return plain(operands);
  };
  Values results = levels::ifElse(
      b, op.getLoc(), condition, types, [&] { return emit(op.getThenRegion()); },
      [&] { return emit(op.getElseRegion()); });
  bindCarried(op.getResults(), stored, results);
}

void Lowering::lower(scf::ForOp op) {
  Values inits = plain(op.getInitArgs());
  auto loop = scf::ForOp::create(b, op.getLoc(), values.lookup(op.getLowerBound()),
                                 values.lookup(op.getUpperBound()), values.lookup(op.getStep()), inits);
  loop->setAttrs(op->getAttrs());
  loop->setAttr(kLoopAttr, loopOf(op));
  bindCarried(op.getResults(), op.getInitArgs(), loop.getResults());
  OpBuilder::InsertionGuard guard(b);
  Block *block = loop.getBody();
  if (!block->empty())
    block->getTerminator()->erase();
  b.setInsertionPointToEnd(block);
  values.map(op.getInductionVar(), loop.getInductionVar());
  bindCarried(op.getRegionIterArgs(), op.getInitArgs(), loop.getRegionIterArgs());
  lowerBlock(*op.getBody());
  scf::YieldOp::create(b, op.getLoc(), yielded(*op.getBody(), op.getInitArgs()));
}

Values Lowering::iterate(Location loc, const Space &space, Value begin, Value end, LoopAttr loop, bool each,
                         ValueRange carried, function_ref<Values(Value, const Iterator &, Values)> body) {
  const std::string name = loop.valueName(), positionName = name.empty() ? name : name + "_pos";
  // Padding is skipped.
  auto visit = [&](Value position, Value end, Value coordinate, Values now) -> Values {
    levels::named(position, positionName);
    levels::named(coordinate, name);
    Value entry = space.valid(position, coordinate);
    auto run = [&] { return body(coordinate, space.at(position, end, coordinate), now); };
    return entry ? space.emit.branch(entry, ValueRange(now).getTypes(), run, [&] { return now; }) : run();
  };
  if (space.format->single(space.parent)) {
    auto only = [&] { return visit(begin, {}, space.coordinate(begin), Values(carried)); };
    if (!space.maybeEmpty)
      return only();
    return space.emit.branch(space.emit.isLess(begin, end), carried.getTypes(), only,
                             [&] { return Values(carried); });
  }
  if (space.unique() || each)
    return forLoop(b, loc, begin, end, loop, carried, [&](Value position, Values now) {
      return visit(position, {}, space.coordinate(position), now);
    });
  // A nonunique level is iterated segment by segment; where the next one starts is known only at the end of
  // this one.
  auto more = [&](Values at) { return space.emit.isLess(at[0], end); };
  auto segment = [&](Values at) {
    Value coordinate = space.coordinate(at[0]), next = space.segmentEnd(at[0], coordinate);
    return concat({next}, visit(at[0], next, coordinate, dropFront(at, 1)));
  };
  return dropFront(whileLoop(b, loc, concat({begin}, carried), more, segment), 1);
}

/// The coordinates of a full level below which something can be: all of them, unless the next level says
/// that its slot lies outside for some.
static std::optional<PositionRange> boundedByChild(const Space &space) {
  unsigned next = space.level + 1;
  if (next >= space.storage().encoding.levels.size())
    return std::nullopt;
  const levels::LevelFormat *child = levels::find(space.storage().encoding.levels[next].format.kind);
  return child->parentCoordinates({space.emit, next}, space.parent);
}

void Lowering::lower(IterateOp op) {
  Location loc = op.getLoc();
  const Space space = spaces.at(op.getSpace());
  auto emit = [&](Value coordinate, ArrayRef<Iterator> at, Values carried) {
    return emitBody(op.getBody(), coordinate, at, op.getInits(), carried);
  };
  Values inits = plain(op.getInits()), results;
  if (!space.format) {
    results = forLoop(b, loc, space.range.begin, space.range.end, op.getLoop(), inits,
                      [&](Value coordinate, Values carried) { return emit(coordinate, {}, carried); });
  } else if (space.full()) {
    // Counting coordinates instead of positions keeps the lower bound 0.
    std::optional<PositionRange> bounds = boundedByChild(space);
    Value begin = bounds ? bounds->begin : space.emit.constant(0);
    Value end = bounds ? bounds->end : space.levelSize();
    if (space.slice) {
      begin = space.emit.greatest(begin, space.slice->begin);
      end = space.emit.least(end, space.slice->end);
    }
    results = forLoop(b, loc, begin, end, op.getLoop(), inits, [&](Value coordinate, Values carried) {
      Iterator iterator = space.at(space.locate(coordinate), {}, coordinate);
      iterator.bounded = bounds.has_value();
      return emit(coordinate, iterator, carried);
    });
  } else {
    results = iterate(loc, space, space.range.begin, space.range.end, op.getLoop(), op.getEach(), inits,
                      [&](Value coordinate, const Iterator &iterator, Values carried) {
                        prefetch(op, space, iterator.position);
                        return emit(coordinate, iterator, carried);
                      });
  }
  bindCarried(op.getResults(), op.getInits(), results);
}

} // namespace tulle::lower
