// What threads share: parallel regions keep their form without the tensors, and pieces of spaces become
// bounds.
#include "passes/lower/Lowering.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::lower {

using arith::CmpIPredicate;

void Lowering::lowerParallel(ParallelOp op) {
  Block &source = op.getBody().front();
  parallelParts(b, op.getLoc(), values.lookup(op.getParts()), [&](Value part) {
    values.map(source.getArgument(0), part);
    bindCarried(source.getArguments().drop_front(), op.getInits(), {});
    lowerBlock(source);
    yielded(source, op.getInits());
  });
  bindCarried(op.getResults(), op.getInits(), {});
}

void Lowering::lowerThreads(ThreadsOp op) {
  Location loc = op.getLoc();
  StringRef name = op.getFixed() ? "tulle_parts" : "tulle_threads";
  auto module = func->getParentOfType<ModuleOp>();
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(module.getBody());
    function = func::FuncOp::create(b, loc, name, b.getFunctionType(b.getI64Type(), b.getI64Type()));
    function.setPrivate();
  }
  Value work = arith::IndexCastOp::create(b, loc, b.getI64Type(), values.lookup(op.getWork()));
  Value parts = func::CallOp::create(b, loc, function, work).getResult(0);
  values.map(op.getResult(), arith::IndexCastOp::create(b, loc, b.getIndexType(), parts));
}

namespace {

/// Counts what is stored before a position: the position itself, and the entries below the positions before
/// it.
class Weight {
public:
  Weight(levels::Emitter emit, unsigned level) : emit(emit), level(level) {}

  Value before(Value position) const {
    Value total = position, at = position;
    for (unsigned l = level + 1; l < emit.storage.encoding.levels.size(); ++l) {
      switch (emit.storage.encoding.levels[l].format.kind) {
      case format::LevelKind::Compressed:
        at = emit.load(*emit.storage.layout.positions[l], at);
        break;
      case format::LevelKind::Dense:
        at = emit.mul(at, emit.levelSize(l));
        break;
      case format::LevelKind::Singleton:
        break;
      default:
        return total; // positions further below are not known to ascend
      }
      total = at;
    }
    return total == position ? position : emit.add(total, position);
  }

private:
  levels::Emitter emit;
  unsigned level;
};

/// `part` of `parts` equal shares of `total` ends where the next one begins: here. Nothing wraps.
Value shareBegin(const levels::Emitter &emit, Value total, Value part, Value parts) {
  OpBuilder &b = emit.builder;
  Value each = arith::DivUIOp::create(b, emit.loc, total, parts);
  Value rest = arith::RemUIOp::create(b, emit.loc, total, parts);
  return emit.add(emit.mul(each, part), arith::MinUIOp::create(b, emit.loc, part, rest));
}

/// The first position from `begin` on before which there is at least share `part`.
Value cut(const levels::Emitter &emit, const Weight *weight, Value begin, Value end, Value part,
          Value parts) {
  OpBuilder &b = emit.builder;
  Location loc = emit.loc;
  if (!weight)
    return emit.add(begin, shareBegin(emit, emit.sub(end, begin), part, parts));
  Value first = weight->before(begin);
  Value target = emit.add(first, shareBegin(emit, emit.sub(weight->before(end), first), part, parts));
  auto open = [&](Values at) { return emit.compare(CmpIPredicate::ult, at[0], at[1]); };
  auto halve = [&](Values at) -> Values {
    Value half = arith::ShRUIOp::create(b, loc, emit.sub(at[1], at[0]), emit.constant(1));
    Value middle = emit.add(at[0], half);
    Value below = emit.compare(CmpIPredicate::ult, weight->before(middle), target);
    return {arith::SelectOp::create(b, loc, below, emit.add(middle, emit.constant(1)), at[0]),
            arith::SelectOp::create(b, loc, below, at[1], middle)};
  };
  return whileLoop(b, loc, ValueRange{begin, end}, open, halve)[0];
}

/// Moves a cut inside the segment of one coordinate to the segment's end.
Value afterSegment(OpBuilder &b, Location loc, const Space &space, Value position) {
  levels::Emitter emit = space.emitter(b, loc);
  Value inside = arith::AndIOp::create(b, loc, emit.compare(CmpIPredicate::ugt, position, space.range.begin),
                                       emit.compare(CmpIPredicate::ult, position, space.range.end));
  return ifElse(
      b, loc, inside, b.getIndexType(),
      [&] {
        Value last = emit.sub(position, emit.constant(1));
        return Values{segmentEnd(b, loc, space, last, space.coordinate(b, loc, last))};
      },
      [&] { return Values{position}; })[0];
}

} // namespace

void Lowering::lowerPart(PartOp op) {
  Location loc = op.getLoc();
  Value part = values.lookup(op.getPart()), parts = values.lookup(op.getParts());
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value next = arith::AddIOp::create(b, loc, part, one);
  auto pieces = [&](const levels::Emitter &emit, const Weight *weight, Value begin, Value end) {
    return levels::PositionRange{cut(emit, weight, begin, end, part, parts),
                                 cut(emit, weight, begin, end, next, parts)};
  };
  if (auto range = ranges.find(op.getSpace()); range != ranges.end()) {
    auto [lo, hi] = range->second;
    // An empty range may have its end before its beginning.
    hi = arith::MaxSIOp::create(b, loc, lo, hi);
    static const levels::Storage none{};
    const levels::Storage *weights = op.getWeights() ? tensors.lookup(op.getWeights()) : nullptr;
    levels::Emitter emit(b, loc, weights ? *weights : none);
    Weight weight(emit, 0);
    auto [begin, end] = pieces(emit, weights ? &weight : nullptr, lo, hi);
    ranges[op.getResult()] = {begin, end};
    return;
  }
  Space space = spaces.lookup(op.getSpace());
  levels::Emitter emit = space.emitter(b, loc);
  Weight weight(emit, space.level);
  if (space.format->single(space.parent)) {
    op.emitError("expected a space that can hold several coordinates: this one cannot be cut");
    ok = false;
    return;
  }
  if (space.format->full()) {
    levels::PositionRange all =
        space.slice.value_or(levels::PositionRange{emit.constant(0), emit.levelSize(space.level)});
    space.slice = pieces(emit, space.level == 0 ? &weight : nullptr, all.begin, all.end);
  } else {
    levels::PositionRange piece = pieces(emit, &weight, space.range.begin, space.range.end);
    if (!space.unique())
      piece = {afterSegment(b, loc, space, piece.begin), afterSegment(b, loc, space, piece.end)};
    space.range = piece;
  }
  spaces[op.getResult()] = space;
}

} // namespace tulle::lower
