// Dense results that all tasks reduce into: each task has a private copy, which starts from the identity, and
// the copies are reduced into the result afterwards.
#include "dialect/Scalars.h"
#include "passes/analysis/LoopUtils.h"
#include "passes/parallel/SetLoops.h"
#include "passes/program/TensorFlow.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::parallel {

/// The tensors among the results of all ops in the loop, itself included, and the arguments of their blocks.
static void forTensors(Operation *loop, function_ref<void(Value)> each) {
  auto visit = [&](Value value) {
    if (isa<RankedTensorType>(value.getType()))
      each(value);
  };
  loop->walk([&](Operation *op) { llvm::for_each(op->getResults(), visit); });
  loop->walk([&](Block *block) { llvm::for_each(block->getArguments(), visit); });
}

Aliases::Aliases(Operation *loop) {
  SmallVector<Value> from{initsOf(loop)[0].get()};
  while (!from.empty())
    if (Value value = from.pop_back_val(); all.insert(value))
      program::sources(value, from);
  forTensors(loop, [&](Value value) { all.insert(value); });
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

Value copiesOf(Emitter &emit, Value tensor, size_t first, Value memory, Value count) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> sizes{count};
  for (size_t l = first; l < getEncoding(type).getValue().levels.size(); ++l)
    sizes.push_back(LevelSizeOp::create(emit.b, emit.loc, tensor, l));
  auto copies =
      RankedTensorType::get(SmallVector<int64_t>(sizes.size(), ShapedType::kDynamic), type.getElementType());
  return StorageOp::create(emit.b, emit.loc, copies, memory, sizes);
}

RankedTensorType denseResult(Operation *loop) {
  auto type = loop->getNumResults() == 1 ? dyn_cast<RankedTensorType>(loop->getResult(0).getType())
                                         : RankedTensorType();
  if (!type || type.getElementType().isInteger(1))
    return {};
  const format::Encoding &encoding = getEncoding(type).getValue();
  const bool dense = !encoding.levels.empty() && format::digits(encoding) &&
                     llvm::all_of(encoding.levels, [](const format::Level &level) {
                       return level.format.kind == format::LevelKind::Dense;
                     });
  return dense ? type : RankedTensorType();
}

void redirect(Operation *loop, const Aliases &aliases, Value copies, Value copy, LocateOp base) {
  auto type = cast<RankedTensorType>(copies.getType());
  EncodingAttr encoding = getEncoding(type);
  OpBuilder b(loop);
  if (!isOutside(loop, copy))
    b.setInsertionPointAfterValue(copy);
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
  forTensors(loop, [&](Value value) { value.setType(type); });
  loop->walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (aliases.contains(operand.get()) && isOutside(loop, operand.get()) && operand.get() != copies)
        operand.set(copies);
  });
}

Value startFromIdentity(Emitter &emit, Operation *combiner, Value copies, Value first, Value size) {
  Type element = getElementTypeOrSelf(copies.getType());
  Value start = materialize(emit.b, emit.loc, identity(combiner), element), values = emit.valuesOf(copies);
  emit.forEach(emit.constant(0), size, [&](Value at) { emit.store(start, values, emit.add(first, at)); });
  return emit.withValues(copies, values);
}

void addCopy(Emitter &emit, Operation *combiner, Value values, Value begin, Value end, Value copies,
             Value first) {
  emit.forEach(begin, end, [&](Value at) {
    Value own = emit.load(copies, emit.add(first, at));
    emit.store(combine(emit.b, combiner, emit.load(values, at), own), values, at);
  });
}

/// Reduces the copies into the tensor; several tasks take a chunk of its values each.
static Value reduceCopies(Emitter &emit, Operation *combiner, Value tensor, Value size, Value copies,
                          Value count) {
  Value tasks = ThreadsOp::create(emit.b, emit.loc, emit.times(size, count), /*fixed=*/false);
  Value summands = emit.valuesOf(copies);
  return region(emit.b, emit.loc, tasks, tensor, [&](Value task, ValueRange carried) {
    Value zero = emit.constant(0), values = emit.valuesOf(carried[0]);
    auto [begin, end] = chunkBounds(emit.b, emit.loc, size, {task, tasks});
    levels::forEach(emit.b, emit.loc, zero, count, LoopKind::Reduction,
                    [&, begin = begin, end = end](Value copy) {
                      addCopy(emit, combiner, values, begin, end, summands, emit.times(copy, size));
                    });
    return SmallVector<Value>{emit.withValues(carried[0], values)};
  })[0];
}

/// The loop on private copies of its result, the first tensor of `inits`, which are reduced into it.
static Value onCopies(Emitter &emit, Operation *loop, Operation *combiner, Value size, Value tasks) {
  OpBuilder &b = emit.b;
  Value result = initsOf(loop)[0].get();
  Value memory = emit.allocate(getElementTypeOrSelf(result.getType()), emit.times(tasks, size));
  Value copies = copiesOf(emit, result, /*first=*/0, memory, tasks);
  ValueRange reduced = region(b, emit.loc, tasks, copies, [&](Value task, ValueRange carried) {
    Value started = startFromIdentity(emit, combiner, carried[0], emit.times(task, size), size);
    Operation *own = b.clone(*loop);
    redirect(own, Aliases(own), started, task);
    OpBuilder before(own);
    restrictTo(before, own, {task, tasks});
    return SmallVector<Value>{own->getResult(0)};
  });
  Value sum = reduceCopies(emit, combiner, result, size, reduced[0], tasks);
  memref::DeallocOp::create(b, emit.loc, memory);
  return sum;
}

/// Whether loops around have located part of the result already: a row, at a coordinate that is the same in
/// all iterations.
static bool isLocatedOutside(Operation *loop, const Aliases &aliases) {
  return loop
      ->walk([&](Operation *op) {
        const bool found = llvm::any_of(op->getOperands(), [&](Value operand) {
          auto locate = operand.getDefiningOp<LocateOp>();
          return locate && isOutside(loop, operand) && aliases.contains(locate.getTensor());
        });
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

Operation *combinerOfCopies(Operation *loop) {
  if (!denseResult(loop) || !canPartition(loop))
    return nullptr;
  const Aliases aliases(loop);
  Operation *combiner = isLocatedOutside(loop, aliases) ? nullptr : combinerOfStores(loop, aliases);
  return combiner && identity(combiner) ? combiner : nullptr;
}

void addCopies(Operation *loop, Operation *combiner, const Settings &settings, int64_t workPerElement) {
  OpBuilder b(loop);
  Emitter emit(b, loop->getLoc());
  Value entries = work(b, loop), size = StoredCountOp::create(b, emit.loc, initsOf(loop)[0].get());
  Value tasks = ThreadsOp::create(b, emit.loc, entries, settings.deterministic);
  Value one = emit.constant(1), most = emit.divide(entries, emit.larger(size, one));
  if (workPerElement > 1)
    most = emit.divide(most, emit.constant(workPerElement));
  tasks = emit.smaller(tasks, most);
  Value several = emit.is(arith::CmpIPredicate::ugt, tasks, one);
  passes::addVersion(b, loop, several,
                     [&] { return levels::Values{onCopies(emit, loop, combiner, size, tasks)}; });
}

bool privatize(Operation *loop, const Settings &settings) {
  Operation *combiner = combinerOfCopies(loop);
  if (!combiner)
    return false;
  record(loop, Threads::Private);
  // A copy is written and read once: not profitable where the loop has less work than that.
  addCopies(loop, combiner, settings, /*workPerElement=*/1);
  return true;
}

} // namespace tulle::parallel
