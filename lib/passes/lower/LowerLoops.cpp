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

Values Lowering::emitBody(Region &region, Value coordinate, ArrayRef<levels::Iterator> its, ValueRange inits,
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

void Lowering::lowerIf(scf::IfOp op) {
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    if (!isa<RankedTensorType>(type))
      types.push_back(type);
  SmallVector<Value> stored(op.getNumResults());
  auto emit = [&](Region &region) {
    Values result;
    if (region.empty())
      return result;
    Block &block = region.front();
    lowerBlock(block);
    ValueRange operands = block.getTerminator()->getOperands();
    for (auto [slot, value] : llvm::zip(stored, operands)) {
      if (!isTensor(value))
        continue;
      if (slot && tensors.lookup(slot) != tensors.lookup(value)) {
        op.emitError("the branches yield tensors of different storage: stores are in place");
        ok = false;
      }
      slot = value;
    }
    return plain(operands);
  };
  Value condition = values.lookup(op.getCondition());
  if (matchPattern(condition, m_One())) { // as where no slot lies outside the tensor
    lowerBlock(op.getThenRegion().front());
    ValueRange yields = op.getThenRegion().front().getTerminator()->getOperands();
    Values results = plain(yields);
    bindCarried(op.getResults(), yields, results);
    return;
  }
  Values results = ifElse(
      b, op.getLoc(), condition, types, [&] { return emit(op.getThenRegion()); },
      [&] { return emit(op.getElseRegion()); });
  unsigned next = 0;
  for (auto [result, slot] : llvm::zip(op.getResults(), stored))
    if (isTensor(result))
      tensors[result] = tensors.lookup(slot);
    else
      values.map(result, results[next++]);
}

void Lowering::lowerFor(scf::ForOp op) {
  Values inits = plain(op.getInitArgs());
  auto loop = scf::ForOp::create(b, op.getLoc(), values.lookup(op.getLowerBound()),
                                 values.lookup(op.getUpperBound()), values.lookup(op.getStep()), inits);
  loop->setAttrs(op->getAttrs());
  loop->setAttr(kLoopAttr, loopOf(op));
  {
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
  bindCarried(op.getResults(), op.getInitArgs(), loop.getResults());
}

Values Lowering::walk(Location loc, const Space &space, Value begin, Value end, LoopAttr loop, bool each,
                      ValueRange carried,
                      function_ref<Values(Value, const levels::Iterator &, Values)> body) {
  const std::string name = loop.valueName(), positionName = name.empty() ? name : name + "_pos";
  // Empty slots are skipped.
  auto visit = [&](Value position, Value end, Value coordinate, Values now) -> Values {
    levels::named(position, positionName);
    levels::named(coordinate, name);
    Value entry = space.valid(b, loc, position, coordinate);
    auto run = [&] { return body(coordinate, space.at(position, end, coordinate), now); };
    return entry ? ifElse(b, loc, entry, ValueRange(now).getTypes(), run, [&] { return now; }) : run();
  };
  if (space.format->single(space.parent)) {
    auto only = [&] { return visit(begin, {}, space.coordinate(b, loc, begin), Values(carried)); };
    if (!space.maybeEmpty)
      return only();
    Value any = space.emitter(b, loc).compare(arith::CmpIPredicate::ult, begin, end);
    return ifElse(b, loc, any, carried.getTypes(), only, [&] { return Values(carried); });
  }
  if (space.unique() || each)
    return forLoop(b, loc, begin, end, loop, carried, [&](Value position, Values now) {
      return visit(position, {}, space.coordinate(b, loc, position), now);
    });
  // A nonunique level is walked segment by segment; where the next one starts is known only at the end of
  // this one.
  Values all{begin};
  llvm::append_range(all, carried);
  auto more = [&](Values at) { return space.emitter(b, loc).compare(arith::CmpIPredicate::ult, at[0], end); };
  auto segment = [&](Values at) {
    Value coordinate = space.coordinate(b, loc, at[0]);
    Values result{segmentEnd(b, loc, space, at[0], coordinate)};
    llvm::append_range(result, visit(at[0], result[0], coordinate, Values(llvm::drop_begin(at))));
    return result;
  };
  Values results = whileLoop(b, loc, all, more, segment);
  results.erase(results.begin());
  return results;
}

/// The coordinates of a full level below which something can be: all of them, unless the next level says
/// that its slot lies outside for some.
static std::optional<levels::PositionRange> boundedByChild(const levels::Emitter &emit, const Space &space) {
  unsigned next = space.level + 1;
  if (next >= space.storage->encoding.levels.size())
    return std::nullopt;
  const levels::LevelFormat *child = levels::find(space.storage->encoding.levels[next].format.kind);
  return child->parentCoordinates({emit, next}, space.parent);
}

void Lowering::lowerIterate(IterateOp op) {
  Location loc = op.getLoc();
  Values inits = plain(op.getInits()), results;
  auto range = ranges.find(op.getSpace());
  if (range != ranges.end()) {
    auto [lo, hi] = range->second;
    results = forLoop(b, loc, lo, hi, op.getLoop(), inits, [&](Value coordinate, Values carried) {
      return emitBody(op.getBody(), coordinate, {}, op.getInits(), carried);
    });
  } else {
    Space space = spaces.lookup(op.getSpace());
    if (space.format->full()) {
      // Counting coordinates instead of positions keeps the lower bound 0.
      levels::LevelEmitter emit = space.emitter(b, loc);
      std::optional<levels::PositionRange> bounds = boundedByChild(emit, space);
      Value begin = bounds ? bounds->begin : emit.constant(0);
      Value end = bounds ? bounds->end : emit.levelSize(space.level);
      if (space.slice) {
        begin = arith::MaxUIOp::create(b, loc, begin, space.slice->begin);
        end = arith::MinUIOp::create(b, loc, end, space.slice->end);
      }
      results = forLoop(b, loc, begin, end, op.getLoop(), inits, [&](Value coordinate, Values carried) {
        Value position = space.format->locate(emit, space.parent, coordinate);
        levels::Iterator iterator = space.at(position, {}, coordinate);
        iterator.bounded = bounds.has_value();
        return emitBody(op.getBody(), coordinate, iterator, op.getInits(), carried);
      });
    } else {
      results = walk(loc, space, space.range.begin, space.range.end, op.getLoop(), op.getEach(), inits,
                     [&](Value coordinate, const levels::Iterator &iterator, Values carried) {
                       prefetchAhead(op, space, iterator.position);
                       return emitBody(op.getBody(), coordinate, iterator, op.getInits(), carried);
                     });
    }
  }
  bindCarried(op.getResults(), op.getInits(), results);
}

} // namespace tulle::lower
