// Which loops take less time as one: fibers are short, so that inner loops are fast where iterations overlap,
// and what a block or a row leaves behind is worth something where a register or a cache still has it.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/program/LoopBlocks.h"
#include "passes/program/LoopPair.h"
#include "passes/program/TensorFlow.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::program {
using namespace mlir;
using namespace tulle::dialect;

namespace {

bool forInnerLoops(IterateOp loop, function_ref<bool(IterateOp)> holds) {
  return !loop.walk([&](IterateOp inner) {
                return inner == loop || holds(inner) ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Whether a loop, or one inside, adds up rows of a tensor: alone, it keeps a part of the row in registers
/// from one iteration to the next (tulle-register-tiles).
bool sumsRows(IterateOp loop) {
  return loop
      .walk([](IterateOp inner) {
        const bool sums =
            inner.getKind() == LoopKind::Reduction &&
            llvm::any_of(inner.getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
        return sums && hasLoops(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The level that all loops inside of a loop traverse, below the loop's own coordinate: they have no loops
/// inside, and read at their own coordinates only.
std::optional<std::pair<Value, uint64_t>> traversedSegments(IterateOp loop) {
  std::optional<std::pair<Value, uint64_t>> found;
  Block &body = loop.getBody().front();
  auto isOwn = [&](Value parent) {
    auto locate = parent ? parent.getDefiningOp<LocateOp>() : LocateOp();
    return locate ? locate.getCoordinate() == body.getArgument(0) : parent == body.getArgument(1);
  };
  auto add = [&](IterateOp inner) {
    auto space = inner.getSpace().getDefiningOp<SpaceOp>();
    if (!space || !isOwn(space.getParent()) || inner.getEach())
      return false;
    std::pair<Value, uint64_t> level{space.getTensor(), space.getLevel()};
    for (Operation &op : inner.getBody().front())
      if (op.getNumRegions() != 0 || isa<LocateOp>(op))
        return false;
    return std::exchange(found, level).value_or(level) == level;
  };
  for (Operation &op : body)
    if (isa<CoiterateOp>(op) || (isa<IterateOp>(op) && !add(cast<IterateOp>(op))))
      return std::nullopt;
  return found;
}

/// A number that is known of an argument of the function; 0 of other values, and where it is not known.
int64_t factOf(Value tensor, StringRef name) {
  auto argument = dyn_cast<BlockArgument>(tensor);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto fact =
      function ? function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), name) : IntegerAttr();
  return fact ? fact.getInt() : 0;
}

/// How many entries the segments that a loop traverses have in the mean; 0 where that is not known.
int64_t segmentLength(IterateOp loop) {
  auto space = loop.getSpace().getDefiningOp<SpaceOp>();
  return space ? factOf(space.getTensor(), kSegmentAttr) : 0;
}

/// How many bits of values the segments that a loop traverses have in the mean; 0 where that is not known.
int64_t segmentBits(IterateOp loop) {
  auto space = loop.getSpace().getDefiningOp<SpaceOp>();
  Type type = space ? getElementTypeOrSelf(space.getTensor().getType()) : Type();
  return type && type.isIntOrFloat() ? segmentLength(loop) * type.getIntOrFloatBitWidth() : 0;
}

/// Whether all loops inside are known to be over segments that are shorter, or not shorter, than a vector
/// in the mean.
bool hasShortRows(IterateOp loop) {
  return forInnerLoops(loop, [](IterateOp inner) {
    const int64_t bits = segmentBits(inner);
    return bits > 0 && bits < costModel(inner).cpu.vectorBits;
  });
}
bool fillsVectors(IterateOp loop) {
  return forInnerLoops(loop,
                       [](IterateOp inner) { return segmentBits(inner) >= costModel(inner).cpu.vectorBits; });
}

bool hasFunctions(IterateOp loop) {
  return loop.getBody()
      .walk([](Operation *op) {
        return isa<math::MathDialect>(op->getDialect()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What the loops inside of a loop read.
SmallVector<LoadOp> innerLoads(IterateOp loop) {
  SmallVector<LoadOp> loads;
  loop->walk([&](LoadOp load) {
    if (load->getParentOp() != loop && !(blockOf(loop) && load->getParentOp()->getParentOp() == loop))
      loads.push_back(load);
  });
  return loads;
}

using Tables = llvm::MapVector<Value, int64_t>; // and their bytes

/// Whether the coordinate is one that a loop inside of this one finds stored.
bool isStoredInside(IterateOp loop, Value coordinate) {
  auto argument = dyn_cast<BlockArgument>(coordinate);
  auto inner = argument ? dyn_cast<IterateOp>(argument.getOwner()->getParentOp()) : IterateOp();
  auto space = inner ? dyn_cast<SpaceType>(inner.getSpace().getType()) : SpaceType();
  return space && loop->isProperAncestor(inner) && argument.getArgNumber() == 0;
}

/// Whether the load is at a coordinate that a loop inside of this one finds stored.
bool isSelected(IterateOp loop, LoadOp load) {
  Value at = load.getIterator();
  while (auto locate = at ? at.getDefiningOp<LocateOp>() : LocateOp()) {
    if (isStoredInside(loop, locate.getCoordinate()))
      return true;
    at = locate.getParent();
  }
  return false;
}

/// The tensors known to be large of which a loop reads rows that stored coordinates select.
Tables selectedTables(IterateOp loop) {
  Tables tables;
  loop->walk([&](LoadOp load) {
    const int64_t bytes = factOf(load.getTensor(), kBytesAttr);
    if (bytes > 0 && isSelected(loop, load))
      tables[load.getTensor()] = bytes;
  });
  return tables;
}

} // namespace

/// The only operation with a region in a loop's body that is not followed by another one; null where the loop
/// before it, if there is one, does more than initialize.
static IterateOp lastLoopOf(IterateOp loop) {
  SmallVector<Operation *> inside;
  for (Operation &op : loop.getBody().front())
    if (op.getNumRegions() != 0)
      inside.push_back(&op);
  if (inside.empty() || inside.size() > 2)
    return {};
  if (inside.size() == 2) {
    auto start = dyn_cast<IterateOp>(inside.front());
    if (!start || hasLoops(start) || start.getKind() != LoopKind::Parallel ||
        !start.getBody().getOps<LoadOp>().empty())
      return {};
  }
  return dyn_cast<IterateOp>(inside.back());
}

/// Whether both loops are over the same range of coordinates.
static bool haveSameRange(IterateOp a, IterateOp b) {
  auto x = a.getSpace().getDefiningOp<RangeOp>(), y = b.getSpace().getDefiningOp<RangeOp>();
  return x && y && isEqualConstantIntOrValue(x.getLo(), y.getLo()) &&
         isEqualConstantIntOrValue(x.getHi(), y.getHi());
}

/// Whether each element at the loop's coordinate is computed from elements there, of the same width.
static bool isElementwise(IterateOp loop) {
  std::optional<unsigned> bits;
  auto hasWidth = [&](Type type) {
    return type.isIntOrFloat() &&
           type.getIntOrFloatBitWidth() == bits.value_or(type.getIntOrFloatBitWidth()) &&
           (bits = type.getIntOrFloatBitWidth());
  };
  return llvm::all_of(loop.getBody().front().without_terminator(), [&](Operation &op) {
    if (auto load = dyn_cast<LoadOp>(op))
      return hasWidth(load.getType());
    if (auto store = dyn_cast<StoreOp>(op))
      return hasWidth(store.getValue().getType());
    return isa<LocateOp>(op) || (op.getNumRegions() == 0 && isa<arith::ArithDialect>(op.getDialect()));
  });
}

bool LoopPair::takesFromRegisters() {
  IterateOp use = lastLoopOf(second), sums = lastLoopOf(first);
  if (first.getKind() != LoopKind::Parallel || second.getKind() != LoopKind::Parallel ||
      first.getNumResults() != 1 || !use || !sums || use.getKind() != LoopKind::Parallel || hasLoops(use) ||
      llvm::count_if(second.getBody().front(), [](Operation &op) { return op.getNumRegions() != 0; }) != 1 ||
      sums.getKind() != LoopKind::Reduction || !hasLoops(sums) || !isElementwise(use))
    return false;
  IterateOp row = sums;
  while (row && hasLoops(row))
    row = lastLoopOf(row);
  auto type = dyn_cast<RankedTensorType>(first.getResult(0).getType());
  const bool isDense = type && type.getRank() > 1 &&
                       llvm::all_of(getEncoding(type).getValue().levels, [](const format::Level &level) {
                         return level.format.kind == format::LevelKind::Dense;
                       });
  return isDense && row && row.getKind() == LoopKind::Parallel && haveSameRange(row, use) &&
         disappears(first->getResult(0));
}

/// The tensors outside of a loop of which it reads elements at its own coordinate, or did before it replaces
/// them.
static llvm::SmallPtrSet<Value, 4> ownReads(IterateOp loop) {
  llvm::SmallDenseMap<Value, Value> outside;
  for (auto [k, init] : llvm::enumerate(loop.getInits()))
    outside[carriedArgument(loop, unsigned(k))] = init;
  llvm::SmallPtrSet<Value, 4> read;
  for (LoadOp load : loop.getBody().getOps<LoadOp>())
    if (OwnAccesses accesses(loop); accesses.add(load.getTensor()) && accesses.level()) {
      Value carried = outside.lookup(load.getTensor());
      read.insert(carried ? carried : load.getTensor());
    }
  return read;
}

bool LoopPair::readsTogether() {
  if (first->getBlock() != second->getBlock() || !isOutermostBesidesBlocks(first) || hasLoops(first) ||
      hasLoops(second) || first.getSpace() != second.getSpace())
    return false;
  auto isUsed = [&](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) { return second->isAncestor(user); });
  };
  // What the first replaces, the second would find replaced.
  if (llvm::any_of(first->getResults(), isUsed) ||
      llvm::any_of(first.getInits(), [&](Value init) { return isTensor(init) && isUsed(init); }))
    return false;
  // What the second replaces, a loop between the two would find replaced: it would need a copy.
  auto isReadBetween = [&](Operation *user) {
    Operation *op = first->getBlock()->findAncestorOpInBlock(*user);
    return op && first->isBeforeInBlock(op) && op->isBeforeInBlock(second) && !readsPattern(user);
  };
  if (llvm::any_of(second.getInits(), [&](Value init) {
        return isTensor(init) && llvm::any_of(init.getUsers(), isReadBetween);
      }))
    return false;
  const auto ofFirst = ownReads(first);
  return llvm::any_of(ownReads(second), [&](Value tensor) { return ofFirst.contains(tensor); });
}

bool LoopPair::isProfitable() {
  if (takesFromRegisters())
    return true;
  return isOutermostBesidesBlocks(first) ? isProfitableOutermost()
                                         : !sumsRows(first) && !sumsRows(second) && !chainsReductions();
}

/// Whether iterations with a reduction each, of which several can be done at a time
/// (tulle-tile-reductions), would become those of another reduction (experiment 069).
bool LoopPair::chainsReductions() {
  return first.getKind() != second.getKind() &&
         hasLoops(first.getKind() == LoopKind::Parallel ? first : second);
}

/// Fibers are short: in one iteration, inner loops that need each other's results wait for each other,
/// where iterations of separate loops overlap (experiment 052). So both loops have inner loops only where a
/// tensor disappears, and nothing waits.
bool LoopPair::isProfitableOutermost() {
  if (sumsRows(first) || sumsRows(second))
    return false;
  if (!hasLoops(first) || !hasLoops(second) || staysInRegisters())
    return true;
  if (leavesFunctionsToBlocks())
    return false;
  return !waitsForReduction() &&
         llvm::any_of(first->getResults(), [&](OpResult result) { return disappears(result); });
}

/// Whether nothing but the second loop uses a tensor that the first makes.
bool LoopPair::disappears(OpResult result) {
  return isTensor(result) && llvm::all_of(result.getUses(), [&](OpOperand &use) {
           auto yield = dyn_cast<YieldOp>(use.getOwner());
           return second->isAncestor(use.getOwner()) ||
                  (yield && yield->getParentOp()->getResult(use.getOperandNumber()).use_empty());
         });
}

bool LoopPair::isProfitableInBlocks() {
  if (first.getKind() != LoopKind::Parallel || sumsLongRows() || exceedsSharedCache())
    return false;
  llvm::SmallPtrSet<Value, 8> read;
  for (LoadOp load : innerLoads(first))
    read.insert(load.getTensor());
  for (OpResult result : first->getResults())
    read.insert(result);
  return llvm::any_of(innerLoads(second), [&](LoadOp load) { return read.contains(load.getTensor()); });
}

/// Whether the first loop sums rows of a dense tensor that long segments select: between blocks of those, a
/// product of small dense factors costs more than the row that stays in the cache saves (experiment 063).
bool LoopPair::sumsLongRows() {
  return first
      .walk([&](IterateOp inner) {
        const bool sums =
            inner.getKind() == LoopKind::Reduction &&
            llvm::any_of(inner.getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
        return sums && hasLoops(inner) && segmentLength(inner) >= costModel(first).costs.longSummedRow
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether each loop selects rows of tensors that the other does not, and these together are larger than a
/// cache that all of one loop fits better: rows that come back often would displace each other (experiment
/// 072).
bool LoopPair::exceedsSharedCache() {
  const Tables ofFirst = selectedTables(first), ofSecond = selectedTables(second);
  auto others = [](const Tables &tables, const Tables &than) {
    return llvm::any_of(tables, [&](const auto &table) { return !than.contains(table.first); });
  };
  if (!others(ofFirst, ofSecond) || !others(ofSecond, ofFirst))
    return false;
  int64_t bytes = 0;
  for (const auto &table : ofFirst)
    bytes += table.second;
  for (const auto &table : ofSecond)
    bytes += ofFirst.contains(table.first) ? 0 : table.second;
  return bytes > costModel(first).cpu.sharedCache;
}

/// Whether the second loop's inner loops begin when those of the first have reduced.
bool LoopPair::waitsForReduction() {
  auto isReduced = [&](StoreOp store) {
    SetVector<Operation *> slice;
    BackwardSliceOptions options;
    options.filter = [&](Operation *op) { return first->isProperAncestor(op); };
    options.omitBlockArguments = options.inclusive = true;
    (void)getBackwardSlice(store.getValue(), &slice, options);
    return llvm::any_of(slice, llvm::IsaPred<IterateOp, CoiterateOp>);
  };
  return llvm::any_of(first.getBody().getOps<StoreOp>(), isReduced);
}

/// Where both loops traverse the same segments, short ones stay in vector registers from one to the other
/// (tulle-vectorize), if inactive lanes cost nothing, or little is done with each entry.
bool LoopPair::staysInRegisters() {
  auto level = traversedSegments(first);
  return level && level == traversedSegments(second) && !wastesLanes();
}

/// Functions run over all entries of a block, not row by row (tulle-distribute-functions).
bool LoopPair::leavesFunctionsToBlocks() {
  return isa<IterateOp>(first->getParentOp()) && wastesLanes() &&
         !(fillsVectors(first) && fillsVectors(second));
}

/// Whether functions of a row would be computed in lanes of no entry: rows are known to be short, or may be
/// and there are no masks. Functions of the second loop alone can still leave the rows (experiment 068).
bool LoopPair::wastesLanes() {
  return costModel(first).cpu.masks ? hasFunctions(first) && hasShortRows(first) && hasShortRows(second)
                                    : hasFunctions(first) || hasFunctions(second);
}

StringRef LoopPair::whyNotProfitable() {
  if (sumsLongRows())
    return "the first sums rows of many entries, which takes less time in loops of its own";
  if (exceedsSharedCache())
    return "the tensors that both select rows of are larger than the cache";
  return "inner loops would wait for each other's sums, rows would leave the registers, or no tensor would "
         "disappear";
}

} // namespace tulle::program
