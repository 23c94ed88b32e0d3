#include "passes/lower/Space.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tulle::lower {

using arith::CmpIPredicate;

Space makeSpace(OpBuilder &b, Location loc, const levels::Storage &storage, unsigned level,
                std::optional<levels::Iterator> parent, Value condition) {
  Space space{&storage, level, {}, levels::find(storage.encoding.levels[level].format.kind), {}, {}};
  levels::LevelEmitter emit = space.emitter(b, loc);
  space.parent = parent ? *parent : levels::Iterator{emit.constant(0), {}, {}, {}};
  if (!condition) {
    space.range = space.format->positions(emit, space.parent);
    return space;
  }
  space.maybeEmpty = true;
  Values bounds = ifElse(
      b, loc, condition, {b.getIndexType(), b.getIndexType()},
      [&] {
        levels::PositionRange range = space.format->positions(emit, space.parent);
        return Values{range.begin, range.end};
      },
      [&] { return Values{emit.constant(0), emit.constant(0)}; });
  space.range = {bounds[0], bounds[1]};
  return space;
}

bool Space::hasGaps() const {
  auto upToHere = llvm::ArrayRef(storage->encoding.levels).take_front(level + 1);
  return llvm::any_of(upToHere,
                      [](const format::Level &l) { return levels::find(l.format.kind)->leavesGaps(); });
}

Value guarded(OpBuilder &b, Location loc, Value inBounds, function_ref<Value()> test) {
  auto no = [&] { return Values{arith::ConstantIntOp::create(b, loc, 0, 1)}; };
  return ifElse(b, loc, inBounds, b.getI1Type(), [&] { return Values{test()}; }, no)[0];
}

Value nextEntry(OpBuilder &b, Location loc, const Space &space, Value position) {
  if (!space.hasPadding())
    return position;
  levels::Emitter emit = space.emitter(b, loc);
  auto isEmpty = [&](Values at) {
    return guarded(b, loc, emit.compare(CmpIPredicate::ult, at[0], space.range.end), [&]() -> Value {
      Value entry = space.valid(b, loc, at[0], space.coordinate(b, loc, at[0]));
      Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
      return entry ? Value(arith::XOrIOp::create(b, loc, entry, yes))
                   : Value(arith::ConstantIntOp::create(b, loc, 0, 1));
    });
  };
  return whileLoop(b, loc, position, isEmpty,
                   [&](Values at) { return Values{emit.add(at[0], emit.constant(1))}; })[0];
}

Value segmentEnd(OpBuilder &b, Location loc, const Space &space, Value position, Value coordinate) {
  levels::Emitter emit = space.emitter(b, loc);
  Value next = emit.add(position, emit.constant(1));
  if (space.unique())
    return next;
  if (space.one)
    return space.range.end;
  auto same = [&](Values at) {
    return guarded(b, loc, emit.compare(CmpIPredicate::ult, at[0], space.range.end), [&] {
      return emit.compare(CmpIPredicate::eq, space.coordinate(b, loc, at[0]), coordinate);
    });
  };
  return whileLoop(b, loc, next, same,
                   [&](Values at) { return Values{emit.add(at[0], emit.constant(1))}; })[0];
}

Value lowerBound(OpBuilder &b, Location loc, const Space &space, Value begin, Value end, Value target) {
  levels::Emitter emit = space.emitter(b, loc);
  auto open = [&](Values at) { return emit.compare(CmpIPredicate::ult, at[0], at[1]); };
  auto halve = [&](Values at) -> Values {
    Value half = arith::ShRUIOp::create(b, loc, emit.sub(at[1], at[0]), emit.constant(1));
    Value middle = emit.add(at[0], half);
    Value below = emit.compare(CmpIPredicate::ult, space.coordinate(b, loc, middle), target);
    Value above = emit.add(middle, emit.constant(1));
    return {arith::SelectOp::create(b, loc, below, above, at[0]),
            arith::SelectOp::create(b, loc, below, at[1], middle)};
  };
  return whileLoop(b, loc, ValueRange{begin, end}, open, halve)[0];
}

Value gallop(OpBuilder &b, Location loc, const Space &space, Value begin, Value end, Value target) {
  levels::Emitter emit = space.emitter(b, loc);
  // Carried: a position known to be below the target, and the next step. Steps double, so they stay below
  // twice the length of the segment and cannot wrap.
  auto stillBelow = [&](Values at) {
    Value probe = emit.add(at[0], at[1]);
    return guarded(b, loc, emit.compare(CmpIPredicate::ult, probe, end),
                   [&] { return emit.compare(CmpIPredicate::ult, space.coordinate(b, loc, probe), target); });
  };
  auto leap = [&](Values at) -> Values { return {emit.add(at[0], at[1]), emit.add(at[1], at[1])}; };
  Values last = whileLoop(b, loc, ValueRange{begin, emit.constant(1)}, stillBelow, leap);
  Value limit = arith::MinUIOp::create(b, loc, emit.add(last[0], last[1]), end);
  return lowerBound(b, loc, space, emit.add(last[0], emit.constant(1)), limit, target);
}

Value hasEntries(OpBuilder &b, Location loc, const Space &space, Value position) {
  return space.emitter(b, loc).compare(CmpIPredicate::ult, position, space.range.end);
}

Value sentinelCoordinate(OpBuilder &b, Location loc, const Space &space, Value position) {
  return ifElse(
      b, loc, hasEntries(b, loc, space, position), b.getIndexType(),
      [&] { return Values{space.coordinate(b, loc, position)}; },
      [&] { return Values{space.emitter(b, loc).constant(std::numeric_limits<int64_t>::max())}; })[0];
}

Value after(OpBuilder &b, Location loc, const Space &space, Value position, Value coordinate) {
  return nextEntry(b, loc, space, segmentEnd(b, loc, space, position, coordinate));
}

Value advance(OpBuilder &b, Location loc, const Space &space, Value position, Value has, Value coordinate) {
  if (space.unique() && !space.hasPadding()) {
    Value step = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), has);
    return space.emitter(b, loc).add(position, step);
  }
  return ifElse(
      b, loc, has, b.getIndexType(), [&] { return Values{after(b, loc, space, position, coordinate)}; },
      [&] { return Values{position}; })[0];
}

Value firstFrom(OpBuilder &b, Location loc, const Space &space, Value lo) {
  if (matchPattern(lo, m_Zero()))
    return nextEntry(b, loc, space, space.range.begin);
  return nextEntry(b, loc, space, lowerBound(b, loc, space, space.range.begin, space.range.end, lo));
}

} // namespace tulle::lower
