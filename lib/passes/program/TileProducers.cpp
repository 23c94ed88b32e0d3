// From the last loop back to the tensor's destination; then what is loaded and stored, and which loop counts
// which level there.
#include "passes/program/TileProducers.h"
#include "dialect/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/program/TensorFlow.h"

namespace tulle::program {
using namespace mlir;
using namespace tulle::dialect;

ArrayAttr placeOf(IterateOp loop) {
  const DirectivesAttr said = loop.getLoop().getDirectives();
  return said ? said.getComputeAt() : ArrayAttr();
}

/// The last of the loops that go on with what a loop makes, and have no place of their own.
IterateOp lastOfProducers(IterateOp loop) {
  for (Operation *user : loop.getResult(0).getUsers()) {
    auto next = dyn_cast<IterateOp>(user);
    if (next && next->getBlock() == loop->getBlock() &&
        llvm::is_contained(next.getInits(), loop.getResult(0)) && next->getNumResults() == 1 &&
        (!placeOf(next) || placeOf(next) == placeOf(loop)))
      return lastOfProducers(next);
  }
  return loop;
}

/// From the last loop back to where the tensor begins.
StringRef TileProducers::findProducers() {
  Value init;
  for (IterateOp loop = last; loop; loop = init.getDefiningOp<IterateOp>()) {
    const ArrayAttr own = placeOf(loop);
    if (loop->getNumResults() != 1 || loop->getBlock() != last->getBlock() || !isTensor(loop.getResult(0)))
      return "its loops make something else, too";
    if (own && own != place)
      return "another statement that makes it has another place";
    if (loop != last && !llvm::all_of(loop.getResult(0).getUsers(), [&](Operation *user) {
          return user == producers.front() || readsPattern(user);
        }))
      return "it is read before all of it is there";
    producers.insert(producers.begin(), loop);
    init = loop.getInits()[0];
  }
  fill = init.getDefiningOp<FillOp>();
  destination = dyn_cast<BlockArgument>(fill ? fill.getTensor() : init);
  if ((fill &&
       !llvm::all_of(fill->getUsers(),
                     [&](Operation *user) { return user == producers.front() || readsPattern(user); })) ||
      !destination || destination.getOwner() != &function.getBody().front() ||
      !function.getArgAttr(destination.getArgNumber(), kStatementAttr))
    return "it begins with values that it had before";
  const format::Encoding &encoding = getEncoding(cast<RankedTensorType>(destination.getType())).getValue();
  if (!llvm::all_of(encoding.levels, [](const format::Level &level) {
        return level.format.kind == format::LevelKind::Dense && level.expr->kind == format::ExprKind::Dim;
      }))
    return "its levels are not its dimensions, all dense";
  return "";
}

/// What the producers load and store of the tensor.
StringRef TileProducers::findAccesses(ArrayRef<LoadOp> loads) {
  SmallVector<Value> work{fill ? fill.getResult() : Value(destination)};
  llvm::DenseSet<Value> known(work.begin(), work.end());
  while (!work.empty())
    for (OpOperand &use : work.pop_back_val().getUses()) {
      Operation *op = use.getOwner();
      const bool ofProducer = llvm::any_of(producers, [&](IterateOp loop) { return loop->isAncestor(op); });
      if (isa<LoadOp, StoreOp>(op) && ofProducer && !llvm::is_contained(accesses, op))
        accesses.push_back(op);
      if (isa<SpaceOp, WorkOp, PartitionOp, CoordinatesOp, StoredCountOp>(op))
        return "its levels are iterated as they are stored";
      if (op == fill || readsPattern(op) ||
          (isa<LoadOp>(op) && (ofProducer || llvm::is_contained(loads, op))))
        continue;
      SmallVector<Value> next = continuations(use);
      if (next.empty() || !ofProducer)
        return "it has memory of its own elsewhere";
      for (Value value : next)
        if (value != last.getResult(0) && known.insert(value).second)
          work.push_back(value);
    }
  return "";
}

/// Which loop counts which level, at each access.
StringRef TileProducers::findOwners(ArrayRef<TileAxis> axes) {
  for (Operation *access : accesses) {
    Value iterator =
        isa<LoadOp>(access) ? cast<LoadOp>(access).getIterator() : cast<StoreOp>(access).getIterator();
    std::optional<SmallVector<Value>> coordinates = coordinatesOf(iterator);
    if (!coordinates)
      return "it is made as it is stored";
    for (auto [a, axis] : llvm::enumerate(axes)) {
      Operation *coarser = nullptr;
      for (auto [d, level] : llvm::enumerate(axis.whole ? ArrayRef<TileAxis::Level>() : axis.levels)) {
        const Linear sum = Linear::of((*coordinates)[level.level]);
        IterateOp loop = sum.terms.size() == 1 && sum.terms.front().second == 1
                             ? loopOver(sum.terms.front().first)
                             : IterateOp();
        if (!loop || !loop->isProperAncestor(access) || last->getParentOp()->getBlock() == loop->getBlock())
          return "no loop counts the coordinates at which it is stored";
        auto space = dyn_cast<SpaceType>(loop.getSpace().getType());
        if (loop.getEach() || (space && (!space.getFormat().ordered || !space.getFormat().unique)) ||
            (!space && !loop.getSpace().getDefiningOp<RangeOp>()))
          return "the coordinates at which it is stored are not in order, each once, in its loops";
        auto [known, isNew] = owners.insert({loop, {level.level, sum.constant + level.shift, a, d}});
        if (!isNew &&
            (known->second.level != level.level || known->second.offset != sum.constant + level.shift))
          return "one of its loops counts several of its coordinates";
        if (coarser && !coarser->isProperAncestor(loop))
          return "its loop over a part of a row is not inside of that over the rows: reorder says so";
        coarser = loop;
      }
    }
  }
  for (IterateOp producer : producers)
    if (producer
            ->walk([&](Operation *loop) {
              return isLoop(loop) && isRepeated(loop, axes) ? WalkResult::interrupt() : WalkResult::advance();
            })
            .wasInterrupted())
      return "a reduction inside of it would be computed again in several iterations";
  return "";
}

/// Whether a loop computes what several tiles need: it stores no elements, and is not inside of all loops
/// that are restricted to a tile's.
bool TileProducers::isRepeated(Operation *loop, ArrayRef<TileAxis> axes) {
  if (owners.contains(loop) || llvm::any_of(accesses, [&](Operation *access) {
        return isa<StoreOp>(access) && loop->isAncestor(access);
      }))
    return false;
  unsigned inside = 0, levels = 0;
  for (auto &[owner, owned] : owners)
    inside += owner->isProperAncestor(loop);
  for (const TileAxis &axis : axes)
    levels += axis.whole ? 0 : unsigned(axis.levels.size());
  return inside < levels;
}

/// Whether a tensor that the producers read is replaced between them and the tile, or by the loops there.
bool TileProducers::areOperandsReplaced(IterateOp tile) {
  Block *block = last->getBlock();
  Operation *reader = block->findAncestorOpInBlock(*tile);
  auto isReplaced = [&](Value tensor) {
    return llvm::any_of(tensor.getUses(), [&](OpOperand &use) {
      Operation *at = block->findAncestorOpInBlock(*use.getOwner());
      return at && producers.front()->isBeforeInBlock(at) && !reader->isBeforeInBlock(at) &&
             !continuations(use).empty() && !llvm::is_contained(producers, at);
    });
  };
  bool changed = false;
  for (IterateOp producer : producers)
    producer->walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        changed |= isTensor(operand) && !readsPattern(op) && operand != destination &&
                   !producer->isAncestor(operand.getParentBlock()->getParentOp()) &&
                   operand.getDefiningOp() != fill &&
                   !llvm::is_contained(producers, operand.getDefiningOp()) && isReplaced(operand);
    });
  return changed;
}

} // namespace tulle::program
