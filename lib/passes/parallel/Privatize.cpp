// Dense results that all tasks reduce into.
#include "passes/parallel/Privatize.h"
#include "levels/Control.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/parallel/Combiner.h"
#include "passes/parallel/PartitionLoops.h"
#include "passes/program/TensorFlow.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::parallel {

Aliases::Aliases(Operation *loop) {
  SmallVector<Value> from{initsOf(loop)[0].get()};
  while (!from.empty())
    if (Value value = from.pop_back_val(); all.insert(value))
      program::sources(value, from);
  loop->walk([&](Operation *op) {
    auto add = [&](Value value) {
      if (isa<RankedTensorType>(value.getType()))
        all.insert(value);
    };
    llvm::for_each(op->getResults(), add);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), add);
  });
}

Operation *combinerOfStores(Operation *loop, const Aliases &aliases) {
  Operation *found = nullptr;
  llvm::SmallPtrSet<Operation *, 8> loads;
  WalkResult result = loop->walk([&](Operation *op) {
    bool touches = llvm::any_of(op->getOperands(), [&](Value v) { return aliases.contains(v); });
    // Shapes stay those of the result.
    if (touches && !isLoop(op) && !isa<LocateOp, LoadOp, StoreOp, YieldOp, scf::IfOp, scf::YieldOp>(op))
      return WalkResult::interrupt();
    auto store = dyn_cast<StoreOp>(op);
    if (!store)
      return WalkResult::advance();
    for (Operation *user : store.getIterator().getUsers()) {
      auto load = dyn_cast<LoadOp>(user);
      if (!load || !aliases.contains(load.getTensor()))
        continue;
      Operation *own = combinerOf(store.getValue(), load.getResult());
      if (!own || (found && found->getName() != own->getName()) || !loads.insert(load).second)
        return WalkResult::interrupt();
      found = own;
      return WalkResult::advance();
    }
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted() || !found)
    return nullptr;
  bool others = false;
  loop->walk([&](LoadOp load) { others |= aliases.contains(load.getTensor()) && !loads.contains(load); });
  return others ? nullptr : found;
}

static RankedTensorType copiesType(RankedTensorType type, size_t first) {
  size_t levels = getEncoding(type).getValue().levels.size() - first;
  return RankedTensorType::get(SmallVector<int64_t>(1 + levels, ShapedType::kDynamic), type.getElementType());
}

Value copiesOf(OpBuilder &b, Location loc, Value tensor, size_t first, Value memory, Value count) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> sizes{count};
  for (size_t l = first; l < getEncoding(type).getValue().levels.size(); ++l)
    sizes.push_back(LevelSizeOp::create(b, loc, tensor, b.getI64IntegerAttr(int64_t(l))));
  return StorageOp::create(b, loc, copiesType(type, first), memory, sizes);
}

bool isDense(RankedTensorType type) {
  const format::Encoding &encoding = getEncoding(type).getValue();
  return !encoding.levels.empty() && format::digits(encoding) &&
         llvm::all_of(encoding.levels, [](const format::Level &level) {
           return level.format.kind == format::LevelKind::Dense;
         });
}

void redirect(Operation *loop, const Aliases &aliases, Value copies, Value copy, LocateOp base) {
  auto type = cast<RankedTensorType>(copies.getType());
  EncodingAttr encoding = getEncoding(type);
  OpBuilder b(loop);
  auto iterator = [&](unsigned level) { return IteratorType::get(b.getContext(), encoding, level); };
  Value first =
      LocateOp::create(b, loop->getLoc(), iterator(0), copies, b.getI64IntegerAttr(0), Value(), copy);
  SmallVector<LocateOp> above;
  for (LocateOp at = base; at; at = at.getParent() ? at.getParent().getDefiningOp<LocateOp>() : LocateOp())
    above.push_back(at);
  const int64_t levels = int64_t(above.size());
  loop->walk([&](LocateOp locate) {
    if (!aliases.contains(locate.getTensor()) || llvm::is_contained(above, locate))
      return;
    int64_t level = locate.getLevel() - levels + 1;
    locate.setLevel(level);
    if (level == 1)
      locate.getParentMutable().assign(first);
    locate.getResult().setType(iterator(unsigned(level)));
  });
  for (LocateOp at : above)
    at.erase();
  loop->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto retype = [&](Value value) {
      if (isa<RankedTensorType>(value.getType()))
        value.setType(type);
    };
    llvm::for_each(op->getResults(), retype);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::for_each(block.getArguments(), retype);
    for (OpOperand &operand : op->getOpOperands())
      if (aliases.contains(operand.get()) &&
          !loop->isAncestor(operand.get().getParentBlock()->getParentOp()) && operand.get() != copies)
        operand.set(copies);
  });
}

/// Reduces the copies into the tensor; several tasks take a chunk of its values each.
static Value reduceCopies(OpBuilder &b, Location loc, Operation *combiner, Value tensor, Value size,
                          Value copies, Value count) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value work = arith::MulIOp::create(b, loc, size, count);
  Value tasks = ThreadsOp::create(b, loc, work, /*fixed=*/false);
  auto memory = MemRefType::get({ShapedType::kDynamic}, type.getElementType());
  Value summands = ValuesOp::create(b, loc, memory, copies);
  return region(b, loc, tasks, tensor, [&](Value task, ValueRange carried) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
    Value values = ValuesOp::create(b, loc, memory, carried[0]);
    auto [begin, end] = chunkBounds(b, loc, size, {task, tasks});
    auto copy = scf::ForOp::create(b, loc, zero, count, one);
    OpBuilder inCopy = OpBuilder::atBlockBegin(copy.getBody());
    Value first = arith::MulIOp::create(inCopy, loc, copy.getInductionVar(), size);
    levels::forEach(inCopy, loc, begin, end, LoopKind::Parallel, [&, &b = inCopy](Value at) {
      Value from = arith::AddIOp::create(b, loc, first, at);
      Value own = memref::LoadOp::create(b, loc, summands, from);
      Value sum = combine(b, loc, combiner, memref::LoadOp::create(b, loc, values, at), own);
      memref::StoreOp::create(b, loc, sum, values, at);
    });
    return SmallVector<Value>{WithValuesOp::create(b, loc, tensor.getType(), carried[0], values)};
  })[0];
}

/// The loop on private copies of its result, the first tensor of `inits`, which are reduced into it.
static Value onCopies(OpBuilder &b, Operation *loop, Operation *combiner, Value size, Value tasks) {
  Location loc = loop->getLoc();
  Value result = initsOf(loop)[0].get();
  auto buffer =
      MemRefType::get({ShapedType::kDynamic}, cast<RankedTensorType>(result.getType()).getElementType());
  Value elements = arith::MulIOp::create(b, loc, tasks, size);
  Value memory = memref::AllocOp::create(b, loc, buffer, elements);
  Value copies = copiesOf(b, loc, result, /*first=*/0, memory, tasks);
  ValueRange reduced = region(b, loc, tasks, copies, [&](Value task, ValueRange carried) {
    Value start = constant(b, loc, *identity(combiner)), zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value first = arith::MulIOp::create(b, loc, task, size);
    Value values = ValuesOp::create(b, loc, buffer, carried[0]);
    levels::forEach(b, loc, zero, size, LoopKind::Parallel, [&](Value at) {
      memref::StoreOp::create(b, loc, start, values, arith::AddIOp::create(b, loc, first, at).getResult());
    });
    Value started = WithValuesOp::create(b, loc, copies.getType(), carried[0], values);
    Operation *own = b.clone(*loop);
    Aliases same(own);
    redirect(own, same, started, task);
    OpBuilder before(own);
    restrictTo(before, own, {task, tasks});
    return SmallVector<Value>{own->getResult(0)};
  });
  Value sum = reduceCopies(b, loc, combiner, result, size, reduced[0], tasks);
  memref::DeallocOp::create(b, loc, memory);
  return sum;
}

bool privatize(Operation *loop, const Settings &settings) {
  auto type = loop->getNumResults() == 1 ? dyn_cast<RankedTensorType>(loop->getResult(0).getType())
                                         : RankedTensorType();
  if (!type || !canPartition(loop) || type.getElementType().isInteger(1) || !isDense(type))
    return false;
  Operation *combiner = combinerOfStores(loop, Aliases(loop));
  if (!combiner || !identity(combiner))
    return false;

  OpBuilder b(loop);
  Location loc = loop->getLoc();
  Value entries = work(b, loop), size = StoredCountOp::create(b, loc, initsOf(loop)[0].get());
  Value tasks = ThreadsOp::create(b, loc, entries, settings.deterministic);
  // A copy is written and read once: not profitable where the loop has less work than that.
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value most = arith::DivUIOp::create(b, loc, entries, arith::MaxUIOp::create(b, loc, size, one));
  tasks = arith::MinUIOp::create(b, loc, tasks, most);
  Value several = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, tasks, one);
  auto branch = scf::IfOp::create(b, loc, type, several, /*withElseRegion=*/true);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, onCopies(b, loop, combiner, size, tasks));

  loop->replaceAllUsesWith(branch);
  loop->moveBefore(branch.elseBlock(), branch.elseBlock()->begin());
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, loc, loop->getResults());
  return true;
}

} // namespace tulle::parallel
