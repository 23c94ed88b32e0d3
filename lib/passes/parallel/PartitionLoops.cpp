#include "passes/parallel/PartitionLoops.h"
#include "dialect/Costs.h"
#include "format/Expr.h"
#include "levels/Control.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/parallel/Combiner.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::parallel {

/// Whether iterations traverse rows that coordinates of an inner loop select: the entries by which the loop
/// is partitioned do not tell how long these are.
static bool selectsRows(Operation *loop) {
  return loop
      ->walk([&](SpaceOp space) {
        auto row = space.getParent() ? space.getParent().getDefiningOp<LocateOp>() : LocateOp();
        auto by = row ? dyn_cast<BlockArgument>(row.getCoordinate()) : BlockArgument();
        Operation *inner = by ? by.getOwner()->getParentOp() : nullptr;
        auto iterate = dyn_cast_or_null<IterateOp>(inner);
        bool selects = inner && loop->isProperAncestor(inner) && by.getArgNumber() == 0 &&
                       (isa<CoiterateOp>(inner) || (iterate && isa<SpaceType>(iterate.getSpace().getType())));
        return selects ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

Value chunksPerTask(OpBuilder &b, Location loc, Value tasks, Value each) {
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value many = arith::MulIOp::create(b, loc, tasks, each);
  Value alone = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, tasks, one);
  return arith::SelectOp::create(b, loc, alone, one, many);
}

bool partitionIterations(Operation *loop, const Settings &settings) {
  if (kindOf(loop) != LoopKind::Parallel || !carriesTensorsOnly(loop) || !canPartition(loop))
    return false;
  OpBuilder b(loop);
  Location loc = loop->getLoc();
  Value tasks = ThreadsOp::create(b, loc, work(b, loop), /*fixed=*/false);
  if (selectsRows(loop)) {
    Value each = arith::ConstantIndexOp::create(b, loc, settings.costs.unevenChunksPerThread);
    tasks = chunksPerTask(b, loc, tasks, each);
  }
  moveIntoRegion(b, loop, tasks, [&](Value task) { restrictTo(b, loop, {task, tasks}); });
  return true;
}

std::optional<Combiners> combinersOf(Operation *loop) {
  Combiners found;
  for (OpResult result : loop->getResults()) {
    // The loop is all that must use its init in this way, so any value may stand for it.
    Operation *combiner = nullptr;
    for (Region &region : loop->getRegions()) {
      Block &block = region.front();
      Value carried =
          block.getArgument(block.getNumArguments() - loop->getNumResults() + result.getResultNumber());
      Operation *own = combinerOf(block.getTerminator()->getOperand(result.getResultNumber()), carried);
      if (block.getTerminator()->getOperand(result.getResultNumber()) == carried)
        continue;
      if (!own || (combiner && combiner->getName() != own->getName()))
        return std::nullopt;
      combiner = own;
    }
    std::optional<TypedAttr> neutral = combiner ? identity(combiner) : std::nullopt;
    if (!neutral)
      return std::nullopt;
    found.operations.push_back(combiner);
    found.identities.push_back(*neutral);
  }
  return found;
}

bool reducesValues(Operation *loop) { return carriesValuesOnly(loop) && combinersOf(loop); }

bool reducePartials(Operation *loop, const Settings &settings) {
  if (!reducesValues(loop) || !canPartition(loop))
    return false;
  OpBuilder b(loop);
  Value tasks = ThreadsOp::create(b, loop->getLoc(), work(b, loop), settings.deterministic);
  reducePartials(loop, tasks, [&](OpBuilder &b, Value task) { restrictTo(b, loop, {task, tasks}); });
  return true;
}

ValueRange reducePartials(Operation *loop, Value tasks, function_ref<void(OpBuilder &, Value)> restrict) {
  const Combiners combiners = *combinersOf(loop);
  OpBuilder b(loop);
  Location loc = loop->getLoc();
  Value stride = arith::ConstantIndexOp::create(b, loc, kPartialStride);
  Value count = arith::MulIOp::create(b, loc, tasks, stride);
  SmallVector<Value> partials;
  for (Type type : loop->getResultTypes())
    partials.push_back(memref::AllocOp::create(b, loc, MemRefType::get({ShapedType::kDynamic}, type), count));
  SmallVector<Value> inits = initValues(loop), starts;
  for (TypedAttr attr : combiners.identities)
    starts.push_back(constant(b, loc, attr));

  b.setInsertionPointAfter(loop);
  levels::parallelTasks(b, loc, tasks, [&](Value task) {
    loop->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    initsOf(loop).assign(starts);
    b.setInsertionPoint(loop);
    restrict(b, task);
    b.setInsertionPointAfter(loop);
    Value at = arith::MulIOp::create(b, loc, task, stride);
    for (auto [result, partial] : llvm::zip(loop->getResults(), partials))
      memref::StoreOp::create(b, loc, result, partial, at);
  });

  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  auto all = scf::ForOp::create(b, loc, zero, tasks, one, inits);
  replaceUsesOutside(loop, all.getResults());
  for (Value partial : partials)
    memref::DeallocOp::create(b, loc, partial);
  b.setInsertionPointToEnd(all.getBody());
  SmallVector<Value> combined;
  Value at = arith::MulIOp::create(b, loc, all.getInductionVar(), stride);
  for (auto [combiner, partial, sum] : llvm::zip(combiners.operations, partials, all.getRegionIterArgs()))
    combined.push_back(combine(b, loc, combiner, sum, memref::LoadOp::create(b, loc, partial, at)));
  scf::YieldOp::create(b, loc, combined);
  return all.getResults();
}

//===--- Inner loops ---===//

/// Whether the coordinate is that of a dimension: iterations at other coordinates are elsewhere in it,
/// whatever the outer loops are at.
static bool locatesResult(IterateOp inner, Value coordinate) {
  if (coordinate == inner.getBody().getArgument(0))
    return isa<RangeType>(inner.getSpace().getType());
  auto op = coordinate.getDefiningOp<CoordinatesOp>();
  auto space = dyn_cast<SpaceType>(inner.getSpace().getType());
  if (!op || !space || getEncoding(op.getTensor().getType()) != space.getEncoding())
    return false;
  unsigned dim = cast<OpResult>(coordinate).getResultNumber();
  const format::Encoding &encoding = space.getEncoding().getValue();
  const format::Level &level = encoding.levels[space.getLevel()];
  return level.format.kind == format::LevelKind::Dense && level.expr &&
         level.expr->kind == format::ExprKind::Dim && level.expr->value == int64_t(dim);
}

/// Whether the inner loop's coordinate is part of the address of every store below.
static bool hasDisjointStores(Operation *loop, IterateOp inner) {
  WalkResult result = loop->walk([&](StoreOp store) {
    if (!inner->isAncestor(store))
      return WalkResult::interrupt();
    for (Value at = store.getIterator(); at;) {
      auto locate = at.getDefiningOp<LocateOp>();
      if (!locate)
        return WalkResult::interrupt();
      if (locatesResult(inner, locate.getCoordinate()))
        return WalkResult::advance();
      at = locate.getParent();
    }
    return WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

/// The outermost inner loop that can be partitioned, and how many coordinates it has.
static IterateOp findInnerLoop(OpBuilder &b, Operation *loop, Value &length) {
  auto outside = [&](Value value) { return !loop->isAncestor(value.getParentBlock()->getParentOp()); };
  IterateOp found;
  loop->walk<WalkOrder::PreOrder>([&](IterateOp inner) {
    if (inner == loop || inner.getKind() != LoopKind::Parallel || !carriesTensorsOnly(inner) ||
        !hasDisjointStores(loop, inner))
      return WalkResult::advance();
    if (auto range = inner.getSpace().getDefiningOp<RangeOp>();
        range && outside(range.getLo()) && outside(range.getHi())) {
      length = arith::SubIOp::create(b, loop->getLoc(), range.getHi(), range.getLo());
      found = inner;
      return WalkResult::interrupt();
    }
    if (auto space = inner.getSpace().getDefiningOp<SpaceOp>(); space && outside(space.getTensor())) {
      length = LevelSizeOp::create(b, loop->getLoc(), space.getTensor(), space.getLevel());
      found = inner;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return found;
}

bool partitionInnerLoop(Operation *loop, const Settings &settings) {
  if (!carriesTensorsOnly(loop))
    return false;
  OpBuilder b(loop);
  Location loc = loop->getLoc();
  Value length;
  IterateOp inner = findInnerLoop(b, loop, length);
  if (!inner)
    return false;
  Value tasks = ThreadsOp::create(b, loc, work(b, loop), /*fixed=*/false);
  Value fewest = arith::ConstantIndexOp::create(b, loc, settings.costs.innerChunk);
  Value most = arith::DivUIOp::create(b, loc, length, fewest);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  tasks = arith::MinUIOp::create(b, loc, tasks, arith::MaxUIOp::create(b, loc, most, one));
  moveIntoRegion(b, loop, tasks, [&](Value task) {
    b.setInsertionPoint(inner);
    restrictTo(b, inner, {task, tasks});
  });
  return true;
}

void partitionFill(FillOp fill, const Settings &settings) {
  auto type = cast<RankedTensorType>(fill.getTensor().getType());
  Type element = type.getElementType();
  if (element.isInteger(1) || getEncoding(type).getValue().levels.empty())
    return; // little to do
  OpBuilder b(fill);
  Location loc = fill.getLoc();
  Value size = StoredCountOp::create(b, loc, fill.getTensor());
  Value fills = arith::ConstantIndexOp::create(b, loc, settings.costs.fillsPerEntry);
  Value work = arith::DivUIOp::create(b, loc, size, fills);
  Value tasks = ThreadsOp::create(b, loc, work, /*fixed=*/false);
  fill.replaceAllUsesWith(region(b, loc, tasks, fill.getTensor(), [&](Value task, ValueRange carried) {
    auto buffer = MemRefType::get({ShapedType::kDynamic}, element);
    Value values = ValuesOp::create(b, loc, buffer, carried[0]);
    auto [begin, end] = chunkBounds(b, loc, size, {task, tasks});
    levels::forEach(b, loc, begin, end, LoopKind::Parallel,
                    [&](Value at) { memref::StoreOp::create(b, loc, fill.getValue(), values, at); });
    return SmallVector<Value>{WithValuesOp::create(b, loc, type, carried[0], values)};
  })[0]);
  fill.erase();
}

bool parallelize(Operation *loop, const Settings &settings) {
  struct Strategy {
    bool (*apply)(Operation *, const Settings &);
    const char *what;
  };
  static constexpr Strategy strategies[] = {
      {splitFibers, "the outermost loop in chunks of equal entries, which may begin inside of a long fiber"},
      {partitionIterations,
       "the outermost loop in chunks of equal entries; its iterations have disjoint stores"},
      {reducePartials, "the outermost loop in chunks of equal entries, each with a partial result"},
      {partitionInnerLoop,
       "an inner loop over all coordinates in equal chunks; iterations of the outer one may "
       "store to the same address"},
      {privatize, "the outermost loop in chunks of equal entries, each with a private copy of the result, as "
                  "iterations may store to the same address"},
  };
  // A loop that is partitioned is moved or replaced.
  Operation *function = loop->getParentOp();
  for (const Strategy &strategy : strategies)
    if (strategy.apply(loop, settings)) {
      dialect::explainChoice(function, ("threads: " + llvm::Twine(strategy.what) + "; another thread from " +
                                        llvm::Twine(settings.costs.workPerThread) + " entries on")
                                           .str());
      return true;
    }
  dialect::explainChoice(function,
                         "threads: none; the outermost loop cannot be partitioned, or its iterations "
                         "depend on each other");
  return false;
}

} // namespace tulle::parallel
