// Positions below a parent, and how to move along them: linear, binary and galloping search. Intersections of
// many coordinates at a time:
//
// Two sorted lists: blocks of coordinates of either are compared all with all, and the block that ends
// first gives way to the next; or, where one list is much longer, its blocks are galloped over until one can
// hold the next coordinate of the shorter list. Neither has a branch for each coordinate, which a merge of
// like lists mispredicts half of the time. Measured on lists of 1e5 (ns for each coordinate, two-finger merge
// / branch-free merge / this): 3.4 / 2.6 / 1.3 where half of them meet, 3.4 / 1.9 / 0.5 where few do, 0.9
// / 2.0 / 0.16 at 1:10; by blocks of sixteen in experiment 016.
// Two bitmaps: a word of either at a time, and a step for each bit that both have.
#include "passes/lower/Space.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
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
  Space space{emit, levels::find(emit.storage.encoding.levels[level].format), level};
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
  return llvm::any_of(upToHere, [](const format::Level &l) { return levels::find(l.format)->leavesGaps(); });
}

PositionRange Space::bounds() const {
  if (!full())
    return range;
  return slice ? *slice : PositionRange{emit.constant(0), levelSize()};
}

void Space::limit(PositionRange part) {
  if (full())
    slice = part;
  else
    range = part;
}

Iterator Space::at(Value position, Value end, Value coordinate) const {
  Iterator result{position, unique() ? Value() : end, format->separatesBatches() ? position : parent.batch,
                  parent.coordinates};
  result.coordinates.push_back(stored(coordinate));
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

//===--- Intersections ---===//

using arith::CmpIPredicate;
using dialect::Strategy;
using format::LevelKind;

namespace {

/// Coordinates of the longer list that one of the shorter list is compared with.
constexpr int64_t kGallopBlock = 16;
/// A segment starts at any bit, so a word holds this many of its bits wherever it starts within a byte.
constexpr int64_t kWordBits = 56;

/// What all of these loops share: two operands, vectors of their coordinates, and sets of bits.
class Intersection : Emitter {
public:
  Intersection(const Emitter &emit, const Space &x, const Space &y, Meet meet)
      : Emitter(emit.builder, emit.loc), b(builder), spaces{x, y}, meet(meet) {}

  /// Blocks of so many coordinates, while both have as many left.
  Values compareBlocks(int64_t lanes, const iteration::Cpu &cpu, Values carried) {
    Value size = constant(lanes), last = constant(lanes - 1);
    auto running = [&](Values now) {
      return both(isAtMost(add(now[0], size), spaces[0].range.end),
                  isAtMost(add(now[1], size), spaces[1].range.end));
    };
    auto body = [&](Values now) {
      // Before the blocks, or else they are taken out of vectors, which the next blocks wait for: lists of
      // 1e6 of which a tenth meet, 0.98 ms so, 1.40 behind them.
      Value xLast = spaces[0].coordinate(add(now[0], last)), yLast = spaces[1].coordinate(add(now[1], last));
      Value x = block(0, now[0], lanes), y = block(1, now[1], lanes);
      auto [ofX, ofY] = compareAll(x, y, cpu);
      Values rest = dropFront(now, 2);
      const bool paired = bool(ofY);
      Values done = forBits(ofX, paired ? concat({ofY}, rest) : rest, [&](Value lane, Values left) {
        Value at = add(now[0], lane), coordinate = spaces[0].coordinate(at);
        Value other = lowest(paired ? left[0] : bits(isEqual(y, splat(coordinate, lanes))));
        Values next = paired ? Values{withoutLowest(left[0])} : Values();
        return concat(next, meet(coordinate, at, add(now[1], other), dropFront(left, paired)));
      });
      // Of the difference: two comparisons of coordinates become one of vectors, whose lanes the next block
      // waits for.
      Value ahead = arith::SubIOp::create(b, loc, xLast, yLast);
      Value xEnds = compare(CmpIPredicate::sle, ahead, constant(0));
      Value yEnds = compare(CmpIPredicate::sge, ahead, constant(0));
      Values next{select(xEnds, add(now[0], size), now[0]), select(yEnds, add(now[1], size), now[1])};
      return concat(next, dropFront(done, paired));
    };
    return whileLoop(b, loc, carried, running, body);
  }

  /// Operand `shorter` is followed entry by entry, the other one by blocks.
  Values gallopBlocks(unsigned shorter, Values carried) {
    const unsigned longer = 1 - shorter;
    const Space &few = spaces[shorter], &many = spaces[longer];
    Value size = constant(kGallopBlock), last = constant(kGallopBlock - 1);
    auto fits = [&](Value position) { return isAtMost(add(position, size), many.range.end); };
    auto running = [&](Values now) { return both(few.hasEntries(now[shorter]), fits(now[longer])); };
    auto body = [&](Values now) {
      Value target = few.coordinate(now[shorter]);
      Value at = choose(
          isLess(many.coordinate(add(now[longer], last)), target),
          [&] { return many.gallop(now[longer], target, kGallopBlock); }, [&] { return now[longer]; });
      Values rest = dropFront(now, 2), unchanged = concat({now[shorter]}, rest);
      auto compareBlock = [&] {
        Value hits = bits(isEqual(block(longer, at, kGallopBlock), splat(target, kGallopBlock)));
        Values inner = branch(
            isAny(hits), ValueRange(rest).getTypes(),
            [&] {
              Value other = add(at, lowest(hits));
              return shorter == 0 ? meet(target, now[0], other, rest) : meet(target, other, now[1], rest);
            },
            [&] { return rest; });
        return concat({next(now[shorter])}, inner);
      };
      Values after =
          branch(fits(at), ValueRange(unchanged).getTypes(), compareBlock, [&] { return unchanged; });
      Values positions(2);
      positions[shorter] = after[0];
      positions[longer] = at;
      return concat(positions, dropFront(after, 1));
    };
    return whileLoop(b, loc, carried, running, body);
  }

  Values compareWords(Values carried) {
    const PositionRange &x = spaces[0].range, &y = spaces[1].range;
    Value size = least(sub(x.end, x.begin), sub(y.end, y.begin));
    auto more = [&](Values now) { return isLess(now[0], size); };
    Values done = whileLoop(b, loc, concat({constant(0)}, carried), more, [&](Values now) {
      Value from = now[0], xFrom = add(x.begin, from), yFrom = add(y.begin, from);
      Value taken =
          arith::IndexCastUIOp::create(b, loc, b.getI64Type(), least(sub(size, from), constant(kWordBits)));
      Value limit = arith::ShLIOp::create(b, loc, integer(1), taken);
      Value mask = arith::SubIOp::create(b, loc, limit, integer(1));
      Value common = both(both(wordAt(spaces[0], xFrom), wordAt(spaces[1], yFrom)), mask);
      Values inner = forBits(common, dropFront(now, 1), [&](Value lane, Values left) {
        return meet(add(from, lane), add(xFrom, lane), add(yFrom, lane), left);
      });
      return concat({add(from, constant(kWordBits))}, inner);
    });
    return dropFront(done, 1);
  }

private:
  int64_t lanesOf(Value vector) const { return cast<VectorType>(vector.getType()).getNumElements(); }
  /// The type in which coordinates are compared.
  Type coordinateType() const {
    unsigned width = 0;
    for (const Space &space : spaces)
      width = std::max(width, cast<MemRefType>(space.coordinateBuffer().getType()).getElementTypeBitWidth());
    return b.getIntegerType(width);
  }
  /// `lanes` coordinates of operand k from a position on.
  Value block(unsigned k, Value position, int64_t lanes) const {
    Value buffer = spaces[k].coordinateBuffer();
    Type element = cast<MemRefType>(buffer.getType()).getElementType();
    Value loaded =
        vector::LoadOp::create(b, loc, VectorType::get({lanes}, element), buffer, ValueRange{position});
    return b.createOrFold<arith::ExtUIOp>(loc, VectorType::get({lanes}, coordinateType()), loaded);
  }
  Value rotated(Value lanes, int64_t by) const {
    const int64_t count = lanesOf(lanes);
    auto order = llvm::map_to_vector(llvm::seq(count), [&](int64_t l) { return (l + by) % count; });
    return vector::ShuffleOp::create(b, loc, lanes, lanes, order);
  }
  /// A coordinate in every lane.
  Value splat(Value coordinate, int64_t lanes) const {
    Value element = arith::IndexCastUIOp::create(b, loc, coordinateType(), coordinate);
    return vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, element.getType()), element);
  }
  /// The lanes of a block of either operand that meet one of the other: the k-th of x meets the k-th of y.
  /// Without the second the lane of y is searched for.
  std::pair<Value, Value> compareAll(Value x, Value y, const iteration::Cpu &cpu) const {
    const int64_t lanes = lanesOf(x);
    if (cpu.intersects && coordinateType().isInteger(32) && lanes == 16) {
      auto both = x86vector::Vp2IntersectOp::create(b, loc, x, y);
      return {bits(both.getK1()), bits(both.getK2())};
    }
    Value hits = isEqual(x, y);
    for (int64_t r = 1; r < lanes; ++r)
      hits = either(hits, isEqual(x, rotated(y, r)));
    return {bits(hits), Value()};
  }

  Value integer(int64_t value) const { return arith::ConstantIntOp::create(b, loc, value, 64); }
  /// The bits of a vector as one integer.
  Value asInteger(Value lanes, unsigned bits) const {
    Value cast = vector::BitCastOp::create(b, loc, VectorType::get({1}, b.getIntegerType(bits)), lanes);
    return vector::ExtractOp::create(b, loc, cast, int64_t(0));
  }
  /// A bit for each lane of a comparison, as i64.
  Value bits(Value lanes) const {
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), asInteger(lanes, unsigned(lanesOf(lanes))));
  }
  Value isAny(Value bits) const { return compare(CmpIPredicate::ne, bits, integer(0)); }
  /// The number of the lowest bit; the bits are not all 0.
  Value lowest(Value bits) const {
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(),
                                        math::CountTrailingZerosOp::create(b, loc, bits));
  }
  Value withoutLowest(Value bits) const {
    return arith::AndIOp::create(b, loc, bits, arith::SubIOp::create(b, loc, bits, integer(1)));
  }
  /// `body(lane, carried) -> carried` for each bit, lowest first.
  Values forBits(Value bits, Values carried, function_ref<Values(Value, Values)> body) const {
    Values done = whileLoop(
        b, loc, concat({bits}, carried), [&](Values left) { return isAny(left[0]); },
        [&](Values left) {
          Value lane = lowest(left[0]), rest = withoutLowest(left[0]);
          return concat({rest}, body(lane, dropFront(left, 1)));
        });
    return dropFront(done, 1);
  }
  /// At least kWordBits bits from a position on, or those up to the end of the buffer, which has whole words.
  Value wordAt(const Space &space, Value position) const {
    Value bytes = space.storage().fields[*space.storage().layout.bits[space.level]];
    Value size = memref::DimOp::create(b, loc, bytes, 0);
    Value start = least(shiftRight(position, 3), sub(size, constant(8)));
    Value shift = sub(position, mul(start, constant(8)));
    Value loaded =
        vector::LoadOp::create(b, loc, VectorType::get({8}, b.getI8Type()), bytes, ValueRange{start});
    return arith::ShRUIOp::create(b, loc, asInteger(loaded, 64),
                                  arith::IndexCastUIOp::create(b, loc, b.getI64Type(), shift));
  }

  OpBuilder &b;
  Space spaces[2];
  Meet meet;
};

bool isBitmap(const Space &space) { return space.levelFormat().kind == LevelKind::Bitmap; }

} // namespace

bool comparesBlocks(const Space &x, const Space &y) {
  return llvm::all_of(ArrayRef{&x, &y}, [](const Space *space) {
    LevelKind kind = space->levelFormat().kind;
    if ((kind != LevelKind::Compressed && kind != LevelKind::LooseCompressed) || !space->unique() ||
        space->hasPadding() || space->shift)
      return false;
    const format::Layout &layout = space->storage().layout;
    const format::CoordinateRef &ref = *layout.coordinates[space->level];
    const format::Field &field = layout.fields[ref.field];
    return ref.stride == 1 && ref.offset == 0 && field.width >= 8 && !field.isSigned;
  });
}

Values intersectBlocks(const Emitter &emit, const Space &x, const Space &y, Strategy how,
                       const iteration::CostModel &model, Values carried, Meet meet) {
  Intersection pair(emit, x, y, meet);
  // What is left by wide blocks may fill narrow ones: rows of matrices are short.
  auto blocks = [&] {
    Values left = carried;
    for (int64_t lanes = model.comparedLanes(); lanes >= iteration::CostModel::fewestCompared; lanes /= 2)
      left = pair.compareBlocks(lanes, model.cpu, left);
    return left;
  };
  if (how == Strategy::Blocks)
    return blocks();
  auto longEnough = [&](Value longer, Value shorter) {
    return emit.isAtMost(emit.mul(shorter, emit.constant(model.blockGallopRatio())), longer);
  };
  Value xLength = emit.sub(x.range.end, carried[0]), yLength = emit.sub(y.range.end, carried[1]);
  TypeRange types = ValueRange(carried).getTypes();
  auto gallopX = [&] { return pair.gallopBlocks(0, carried); };
  auto gallopY = [&] { return pair.gallopBlocks(1, carried); };
  if (how == Strategy::Gallop)
    return emit.branch(emit.isAtMost(xLength, yLength), types, gallopX, gallopY);
  return emit.branch(longEnough(yLength, xLength), types, gallopX,
                     [&] { return emit.branch(longEnough(xLength, yLength), types, gallopY, blocks); });
}

bool comparesWords(const Space &x, const Space &y) { return isBitmap(x) && isBitmap(y); }

Values intersectWords(const Emitter &emit, const Space &x, const Space &y, Values carried, Meet meet) {
  return Intersection(emit, x, y, meet).compareWords(carried);
}

bool visitsEachEntry(dialect::IterateOp op) {
  if (op.getEach())
    return true;
  mlir::Block &body = op.getBody().front();
  auto inner = mlir::dyn_cast_or_null<dialect::IterateOp>(body.getTerminator()->getPrevNode());
  auto space = inner ? inner.getSpace().getDefiningOp<dialect::SpaceOp>() : dialect::SpaceOp();
  const Value coordinate = body.getArgument(0), iterator = body.getArgument(1);
  return space && coordinate.use_empty() && iterator.hasOneUse() && *iterator.user_begin() == space &&
         space->getNextNode() == inner && &body.front() == space &&
         inner.getInits() == body.getArguments().drop_front(2) &&
         inner.getResults() == body.getTerminator()->getOperands() &&
         (space.getResult().getType().getFormat().unique || visitsEachEntry(inner));
}

} // namespace tulle::lower
