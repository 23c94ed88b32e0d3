// An index that loops inside of a tile count is between sums of their bounds. Intervals of different tiles
// are apart where one begins at a multiple of what is at least its width.
#include "passes/program/TileReads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::program {

std::optional<SmallVector<Value>> coordinatesOf(Value iterator) {
  SmallVector<Value> coordinates;
  while (iterator) {
    auto locate = iterator.getDefiningOp<LocateOp>();
    if (!locate)
      return std::nullopt;
    coordinates.insert(coordinates.begin(), locate.getCoordinate());
    iterator = locate.getParent();
  }
  return coordinates;
}

IterateOp loopOver(Value coordinate) {
  auto argument = dyn_cast<BlockArgument>(coordinate);
  auto loop = argument ? dyn_cast<IterateOp>(argument.getOwner()->getParentOp()) : IterateOp();
  return loop && argument.getArgNumber() == 0 ? loop : IterateOp();
}

static Value coordinateOf(IterateOp loop) { return loop.getBody().getArgument(0); }

/// Whether an index is computed from what a loop counts.
static bool dependsOn(Value index, IterateOp loop) {
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto of = dyn_cast<IterateOp>(argument.getOwner()->getParentOp());
    return of == loop || (of && dependsOn(of.getSpace(), loop));
  }
  return llvm::any_of(index.getDefiningOp()->getOperands(),
                      [&](Value operand) { return dependsOn(operand, loop); });
}

/// The sums of which a bound is the least.
static std::vector<Linear> leastOf(Value bound) {
  Operation *op = bound.getDefiningOp();
  if (!isa_and_nonnull<arith::MinUIOp, arith::MinSIOp>(op))
    return {Linear::of(bound)};
  std::vector<Linear> sums = leastOf(op->getOperand(0));
  llvm::append_range(sums, leastOf(op->getOperand(1)));
  return sums;
}

TileReads::TileReads(IterateOp tile, ArrayRef<LoadOp> loads, Block *outside, ArrayRef<CountedNumber> numbers)
    : tile(tile), loads(loads), numbers(numbers) {
  for (Block *block = &tile.getBody().front(); block; block = branchWithAll()) {
    first = nullptr;
    for (LoadOp load : loads) {
      Operation *op = block->findAncestorOpInBlock(*load);
      if (!first || op->isBeforeInBlock(first))
        first = op;
    }
  }
  for (Operation *op = tile;; op = op->getParentOp()) {
    around.push_back(op);
    if (op->getBlock() == outside)
      break;
  }
}

/// The part of an iteration that runs under a condition, or once at most, if all that is read is in there:
/// where integers are no coordinate, nothing is read.
Block *TileReads::branchWithAll() const {
  auto hasAll = [&](Block &block) {
    return llvm::all_of(loads, [&](LoadOp load) { return block.findAncestorOpInBlock(*load); });
  };
  auto loop = dyn_cast<IterateOp>(first);
  auto space = loop ? loop.getSpace().getDefiningOp<SpaceOp>() : SpaceOp();
  const bool once = space && space.getTensor().getDefiningOp<OneHotOp>();
  if (isa<scf::IfOp>(first) || once)
    for (Region &region : first->getRegions())
      if (!region.empty() && hasAll(region.front()))
        return &region.front();
  return nullptr;
}

StringRef TileReads::whyNot() {
  for (LoadOp load : loads) {
    std::optional<SmallVector<Value>> coordinates = coordinatesOf(load.getIterator());
    if (!coordinates)
      return "it is read as it is stored";
    std::vector<TileAxis> axes = axesOf(*coordinates);
    auto isSame = [](const TileAxis &a, const TileAxis &b) {
      return a.whole == b.whole && a.selection == b.selection && a.levels.size() == b.levels.size() &&
             llvm::all_of(llvm::zip(a.levels, b.levels),
                          [](auto pair) {
                            auto [x, y] = pair;
                            return x.level == y.level && x.stride == y.stride;
                          }) &&
             a.begin == b.begin && a.ends == b.ends;
    };
    if (load != loads.front() &&
        (axes.size() != found.size() ||
         !llvm::all_of(llvm::zip(axes, found), [&](auto pair) { return std::apply(isSame, pair); })))
      return "an iteration reads several sets of its elements";
    found = std::move(axes);
  }
  if (llvm::all_of(found, [](const TileAxis &axis) { return axis.whole; }))
    return "an iteration may read any of its elements";
  if (llvm::count_if(found, [](const TileAxis &axis) { return bool(axis.selection); }) > 1)
    return "integers of tensors select several of its coordinates";
  if (!llvm::all_of(around, llvm::IsaPred<IterateOp>))
    return "the loop is in one over what several operands store";
  for (Operation *loop : around)
    if (!llvm::any_of(found, [&](const TileAxis &axis) {
          return isApart(cast<IterateOp>(loop), axis) || isSelectedBy(cast<IterateOp>(loop), axis);
        }))
      return "several iterations may read the same elements, which each would compute again";
  return "";
}

/// The number, if levels are its digits: but for constants, in each.
std::optional<TileAxis> TileReads::axisOf(const CountedNumber &number, ArrayRef<Value> coordinates) {
  TileAxis axis;
  for (const CountedNumber::Digit &digit : number.digits) {
    auto isDigit = [&](Value coordinate) { return digit.value.minus(Linear::of(coordinate)).isConstant(); };
    const Value *found = llvm::find_if(coordinates, isDigit);
    if (found == coordinates.end())
      return std::nullopt;
    axis.levels.push_back({unsigned(found - coordinates.begin()), digit.stride, digit.modulus,
                           digit.value.minus(Linear::of(*found)).constant});
  }
  axis.begin = number.begin;
  axis.ends = number.ends;
  axis.counted = true;
  return axis;
}

/// The axes of the coordinates, in the order of the levels that are their finest digits.
std::vector<TileAxis> TileReads::axesOf(ArrayRef<Value> coordinates) const {
  const auto digits = llvm::map_to_vector(coordinates, [](Value c) { return DigitOf(c); });
  std::vector<TileAxis> axes;
  llvm::SmallDenseSet<unsigned> done;
  auto addNumber = [&](unsigned finest) {
    TileAxis axis;
    const DigitOf *finer = nullptr;
    for (unsigned level = finest;;) {
      axis.levels.insert(axis.levels.begin(), {level, digits[level].divisor, digits[level].modulus});
      finer = &digits[level];
      if (finer->modulus == 0)
        break;
      const auto *next = llvm::find_if(digits, [&](const DigitOf &digit) {
        return digit.of == finer->of && digit.divisor == finer->divisor * finer->modulus;
      });
      if (next == digits.end())
        return false;
      level = unsigned(next - digits.begin());
    }
    if (axis.levels.size() < 2 || !findInterval(axis, finer->of))
      return false;
    for (const TileAxis::Level &level : axis.levels)
      done.insert(level.level);
    axes.push_back(std::move(axis));
    return true;
  };
  auto isNew = [&](const TileAxis::Level &level) { return !done.contains(level.level); };
  for (const CountedNumber &number : numbers)
    if (std::optional<TileAxis> axis = axisOf(number, coordinates);
        axis && llvm::all_of(axis->levels, isNew)) {
      for (const TileAxis::Level &level : axis->levels)
        done.insert(level.level);
      axes.push_back(std::move(*axis));
    }
  for (unsigned level = 0; level < digits.size(); ++level)
    if (!done.contains(level) && digits[level].divisor == 1 && digits[level].modulus != 0)
      addNumber(level);
  for (unsigned level = 0; level < digits.size(); ++level)
    if (!done.contains(level)) {
      TileAxis axis;
      axis.levels.push_back({level, 1, 0});
      axis.whole = !findInterval(axis, coordinates[level]) && !findSelection(axis, coordinates[level]);
      axes.push_back(std::move(axis));
    }
  llvm::sort(axes, [](const TileAxis &a, const TileAxis &b) {
    return a.levels.back().level < b.levels.back().level;
  });
  return axes;
}

/// Whether the value is there before what reads.
bool TileReads::isAvailable(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner()->findAncestorOpInBlock(*first);
  Operation *op = value.getDefiningOp(), *reader = op->getBlock()->findAncestorOpInBlock(*first);
  return reader && op->isBeforeInBlock(reader);
}

/// From an index to its bounds, loop by loop.
bool TileReads::findInterval(TileAxis &axis, Value index) const {
  axis.begin = Linear::of(index);
  axis.ends = {axis.begin};
  axis.ends.front().constant += 1;
  while (true) {
    const auto *inner = llvm::find_if(axis.begin.terms, [&](auto term) { return !isAvailable(term.first); });
    if (inner == axis.begin.terms.end())
      break;
    const auto [value, times] = *inner;
    IterateOp loop = loopOver(value);
    auto range = loop ? loop.getSpace().getDefiningOp<RangeOp>() : RangeOp();
    if (!range || times < 0)
      return false;
    Linear own; // what the loop's coordinate adds
    own.terms[value] = times;
    axis.begin = axis.begin.minus(own);
    axis.begin.add(Linear::of(range.getLo()), times);
    std::vector<Linear> ends;
    for (const Linear &end : axis.ends)
      for (Linear last : leastOf(range.getHi())) {
        last.constant -= 1;
        ends.push_back(end.minus(own));
        ends.back().add(last, times);
      }
    axis.ends = std::move(ends);
  }
  llvm::erase_if(axis.ends, [&](const Linear &end) {
    return llvm::any_of(end.terms, [&](auto term) { return !isAvailable(term.first); });
  });
  return !axis.ends.empty();
}

SmallVector<Operation *> TileReads::selectingOps(const TileAxis &axis) const {
  llvm::SetVector<Operation *> found;
  found.insert(axis.selection);
  for (size_t k = 0; k < found.size(); ++k)
    for (Value operand : found[k]->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && !isAvailable(operand))
        found.insert(op);
  SmallVector<Operation *> ops = found.takeVector();
  if (llvm::all_of(ops, [&](Operation *op) { return op->getBlock() == axis.selection->getBlock(); }))
    llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

/// Integers that a loop inside of the tile reads, each a coordinate.
bool TileReads::findSelection(TileAxis &axis, Value coordinate) const {
  auto at = coordinate.getDefiningOp<IteratorAtOp>();
  auto space = at ? at.getSpace().getDefiningOp<SpaceOp>() : SpaceOp();
  auto loop = at ? dyn_cast<IterateOp>(at->getParentOp()) : IterateOp();
  if (!space || coordinate != at.getCoordinate() || !space.getTensor().getDefiningOp<OneHotOp>() || !loop ||
      !tile->isProperAncestor(loop) || !findInterval(axis, coordinateOf(loop)))
    return false;
  axis.selection = at;
  return llvm::all_of(selectingOps(axis), [&](Operation *op) {
    return op->getBlock() == at->getBlock() && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return operand.getDefiningOp() || operand == coordinateOf(loop) || isAvailable(operand);
           });
  });
}

/// A factor of what the loop counts that the loop does not change.
static std::optional<Linear> stepOf(Value value, int64_t times, IterateOp loop) {
  if (value == coordinateOf(loop))
    return Linear::of(times);
  auto product = value.getDefiningOp<arith::MulIOp>();
  if (product && times == 1)
    for (unsigned k : {0U, 1U})
      if (product->getOperand(k) == coordinateOf(loop) && !dependsOn(product->getOperand(1 - k), loop))
        return Linear::of(product->getOperand(1 - k));
  return std::nullopt;
}

/// Whether the intervals of different iterations of a loop around have no element in common: they begin at
/// multiples of at least their width.
bool TileReads::isApart(IterateOp loop, const TileAxis &axis) const {
  if (axis.whole || axis.selection)
    return false;
  Linear start = axis.begin, step;
  for (auto [value, times] : axis.begin.terms) {
    const bool ofInner = llvm::any_of(around, [&, index = value](Operation *op) {
      return loop->isProperAncestor(op) && dependsOn(index, cast<IterateOp>(op));
    });
    // What loops inside of this one add, which is not negative, belongs to the iteration.
    if (ofInner && times > 0)
      start.terms.erase(value);
    else if (std::optional<Linear> factor = stepOf(value, times, loop); factor && step.isConstant())
      step = std::move(*factor);
    else if (ofInner || dependsOn(value, loop))
      return false;
  }
  return llvm::any_of(axis.ends, [&](const Linear &end) {
    const Linear rest = step.minus(end.minus(start));
    return rest.isConstant() && rest.constant >= 0;
  });
}

/// Whether integers of a tensor, one for each iteration of the loop, say which element it is: iterations may
/// have the same one.
bool TileReads::isSelectedBy(IterateOp loop, const TileAxis &axis) const {
  if (IteratorAtOp selection = axis.selection)
    return dependsOn(selection.getCoordinate(), loop);
  return !axis.whole && llvm::any_of(axis.begin.terms, [&](auto term) {
    Value coordinate = term.first;
    auto at = coordinate.getDefiningOp<IteratorAtOp>();
    IterateOp over = loopOver(coordinate);
    Value of = at && coordinate == at.getCoordinate() ? at.getSpace() : over ? over.getSpace() : Value();
    auto space = of ? of.getDefiningOp<SpaceOp>() : SpaceOp();
    return space && space.getTensor().getDefiningOp<OneHotOp>() && dependsOn(coordinate, loop);
  });
}

Value TileReads::indexOf(OpBuilder &b, LoadOp load, const TileAxis &axis) {
  const SmallVector<Value> coordinates = *coordinatesOf(load.getIterator());
  Value coordinate = coordinates[axis.levels.back().level];
  if (!axis.counted)
    return axis.levels.size() == 1 ? coordinate : DigitOf(coordinate).of;
  Linear number;
  for (const TileAxis::Level &level : axis.levels) {
    number.add(Linear::of(coordinates[level.level]), level.stride);
    number.constant += level.shift * level.stride;
  }
  return number.emit(b, load.getLoc());
}

Value TileReads::width(OpBuilder &b, Location loc, const TileAxis &axis) const {
  auto isOutside = [&](const Linear &sum) {
    return llvm::all_of(sum.terms, [&](auto term) {
      return llvm::none_of(around,
                           [&](Operation *loop) { return dependsOn(term.first, cast<IterateOp>(loop)); });
    });
  };
  Value least;
  auto add = [&](const Linear &sum) {
    if (!isOutside(sum))
      return;
    Value value = sum.emit(b, loc);
    least = least ? b.createOrFold<arith::MinUIOp>(loc, least, value) : value;
  };
  for (const Linear &end : axis.ends) {
    add(end.minus(axis.begin));
    if (!axis.begin.isConstant())
      add(end); // from 0, the begin is never negative
  }
  return least;
}

} // namespace tulle::program
