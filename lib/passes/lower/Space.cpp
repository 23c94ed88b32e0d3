// Positions below a parent, and how to move along them: linear, binary and galloping search.
#include "passes/lower/Space.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tulle::lower {

const levels::Storage Emitter::none{};

Value Emitter::guarded(Value inBounds, function_ref<Value()> test) const {
  return branch(
      inBounds, builder.getI1Type(), [&] { return Values{test()}; }, [&] { return Values{bit(false)}; })[0];
}

Value Emitter::binarySearch(Value begin, Value end, function_ref<Value(Value)> isBelow, int64_t width) const {
  Value last = constant(width - 1);
  auto open = [&](Values at) { return isLess(add(at[0], last), at[1]); };
  auto halve = [&](Values at) -> Values {
    Value middle = add(at[0], shiftRight(sub(at[1], at[0]), 1));
    Value below = isBelow(middle);
    return {select(below, next(middle), at[0]), select(below, at[1], middle)};
  };
  return whileLoop(builder, loc, ValueRange{begin, end}, open, halve)[0];
}

Space Space::create(Emitter emit, unsigned level, std::optional<Iterator> parent, Value condition) {
  Space space{emit, levels::find(emit.storage.encoding.levels[level].format.kind), level};
  space.parent = parent ? *parent : Iterator{emit.constant(0), {}, {}, {}};
  if (!condition) {
    space.range = space.format->positions({emit, level}, space.parent);
    return space;
  }
  space.maybeEmpty = true;
  Type index = emit.builder.getIndexType();
  Values bounds = emit.branch(
      condition, {index, index},
      [&] {
        PositionRange range = space.format->positions({emit, level}, space.parent);
        return Values{range.begin, range.end};
      },
      [&] { return Values{emit.constant(0), emit.constant(0)}; });
  space.range = {bounds[0], bounds[1]};
  return space;
}

bool Space::hasGaps() const {
  auto upToHere = llvm::ArrayRef(storage().encoding.levels).take_front(level + 1);
  return llvm::any_of(upToHere,
                      [](const format::Level &l) { return levels::find(l.format.kind)->leavesGaps(); });
}

Iterator Space::at(Value position, Value end, Value coordinate) const {
  Iterator result{position, unique() ? Value() : end, format->separatesBatches() ? position : parent.batch,
                  parent.coordinates};
  result.coordinates.push_back(coordinate);
  return result;
}

Value Space::nextEntry(Value position) const {
  if (!hasPadding())
    return position;
  auto isEmpty = [&](Values at) {
    return emit.guarded(hasEntries(at[0]), [&]() -> Value {
      Value entry = valid(at[0], coordinate(at[0]));
      return entry ? emit.negate(entry) : emit.bit(false);
    });
  };
  return whileLoop(emit.builder, emit.loc, position, isEmpty,
                   [&](Values at) { return Values{emit.next(at[0])}; })[0];
}

Value Space::firstFrom(Value lo) const {
  return nextEntry(matchPattern(lo, m_Zero()) ? range.begin : lowerBound(range.begin, range.end, lo));
}

Value Space::segmentEnd(Value position, Value coordinate) const {
  Value next = emit.next(position);
  if (unique())
    return next;
  if (one)
    return range.end;
  auto same = [&](Values at) {
    return emit.guarded(hasEntries(at[0]), [&] { return emit.isEqual(this->coordinate(at[0]), coordinate); });
  };
  return whileLoop(emit.builder, emit.loc, next, same,
                   [&](Values at) { return Values{emit.next(at[0])}; })[0];
}

Value Space::lowerBound(Value begin, Value end, Value target) const {
  return emit.binarySearch(begin, end, [&](Value at) { return emit.isLess(coordinate(at), target); });
}

Value Space::gallop(Value begin, Value target, int64_t width) const {
  Value last = emit.constant(width - 1);
  auto isBelow = [&](Value at) { return emit.isLess(coordinate(at), target); };
  // Carried: a position known to be below the target, and the next step. Steps double, so they stay below
  // twice the length of the segment and cannot wrap.
  auto stillBelow = [&](Values at) {
    Value probe = emit.add(emit.add(at[0], at[1]), last);
    return emit.guarded(hasEntries(probe), [&] { return isBelow(probe); });
  };
  auto leap = [&](Values at) -> Values { return {emit.add(at[0], at[1]), emit.add(at[1], at[1])}; };
  Values reached =
      whileLoop(emit.builder, emit.loc, ValueRange{begin, emit.constant(width)}, stillBelow, leap);
  Value low = emit.add(reached[0], emit.constant(width));
  Value high = emit.least(emit.add(emit.add(reached[0], reached[1]), last), range.end);
  return emit.binarySearch(low, high, isBelow, width);
}

Value Space::sentinelCoordinate(Value position) const {
  return emit.choose(
      hasEntries(position), [&] { return coordinate(position); },
      [&] { return emit.constant(std::numeric_limits<int64_t>::max()); });
}

Value Space::advance(Value position, Value has, Value coordinate) const {
  if (unique() && !hasPadding())
    return emit.add(position,
                    arith::IndexCastUIOp::create(emit.builder, emit.loc, emit.builder.getIndexType(), has));
  return emit.choose(has, [&] { return after(position, coordinate); }, [&] { return position; });
}

} // namespace tulle::lower
