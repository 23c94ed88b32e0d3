// Runs a function abstractly, in the order of execution, and keeps for each buffer of values which tensor
// value is in it.
#include "passes/lower/InPlace.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/parallel/SetLoops.h"
#include "passes/program/TensorFlow.h"
#include <set>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::lower {

using parallel::carriedArgument;
using parallel::initsOf;

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

/// Loops that carry tensors, all of whose regions end in a yield of what they carry.
static bool carries(Operation *op) { return isa<IterateOp, CoiterateOp, ParallelOp, scf::ForOp>(op); }

/// The op that gave a tensor's buffer, of which a memref is a view; null for memory of its own, which `base`
/// is then. Memory is not followed through block arguments: a tensor is bound to what is written by then.
static ValuesOp valuesBehind(Value memref, Value &base) {
  base = memref;
  while (auto view = base.getDefiningOp<ViewLikeOpInterface>())
    base = view.getViewSource();
  auto values = base.getDefiningOp<ValuesOp>();
  return values && !values.getLevel() ? values : ValuesOp();
}

void continuations(OpOperand &use, SmallVectorImpl<Value> &results) {
  Operation *op = use.getOwner();
  unsigned number = use.getOperandNumber();
  if (isa<StoreOp, FillOp>(op) ? isTensor(use.get())
      : isa<LikeOp>(op)        ? number == 0
                               : isa<tensor::CastOp>(op))
    return results.push_back(op->getResult(0));
  if (carries(op) && isTensor(use.get())) {
    unsigned k = number - (op->getNumOperands() - op->getNumResults());
    results.push_back(op->getResult(k));
    for (Region &region : op->getRegions())
      results.push_back(carriedArgument(region, op, k));
  } else if (isa<YieldOp, scf::YieldOp>(op)) {
    results.push_back(op->getParentOp()->getResult(number));
  } else if (isa<ValuesOp>(op) || isa<ViewLikeOpInterface>(op)) {
    results.push_back(op->getResult(0));
  } else if (auto made = dyn_cast<WithValuesOp>(op); made && number == 1) {
    results.push_back(made.getResult());
  }
}

namespace {

/// What may be in a buffer: a tensor value, or none. `pure`: an op without memory effects wrote it last, so
/// that only SSA says when.
struct Content {
  Value version;
  bool pure = false;
  bool operator==(const Content &) const = default;
  bool operator<(const Content &other) const {
    return std::pair(version.getAsOpaquePointer(), pure) <
           std::pair(other.version.getAsOpaquePointer(), other.pure);
  }
};
/// One content for each way that leads here.
using Contents = std::set<Content>;
using State = DenseMap<Value, Contents>;

class AbstractRun {
public:
  std::optional<Conflict> run(func::FuncOp func) {
    for (BlockArgument arg : func.getArguments())
      if (isTensor(arg))
        start(arg, arg);
    run(func.getBody().front());
    return conflict;
  }

private:
  /// What is known of a tensor value: its buffer, and the value that stands for all that equal it.
  struct Known {
    Value buffer, version;
  };

  void start(Value tensor, Value buffer) {
    known[tensor] = {buffer, tensor};
    state[buffer] = {{tensor, false}};
  }

  void alias(Value result, Value of) { known[result] = known.lookup(of); }

  void report(Conflict::Kind kind, OpOperand &use, Value version) {
    if (!conflict)
      conflict = {kind, &use, version, overwritten.lookup(version)};
  }

  /// Expects a tensor's values to be in its buffer, now.
  void expect(Conflict::Kind kind, OpOperand &use) {
    auto [buffer, version] = known.lookup(use.get());
    if (!version)
      return; // of an op that lowering refuses
    if (llvm::any_of(state[buffer], [&](const Content &c) { return c.version != version; }))
      report(kind, use, version);
  }

  void replace(OpOperand &use, Value result) {
    expect(Conflict::Write, use);
    auto [buffer, version] = known.lookup(use.get());
    overwritten[version] = &use;
    known[result] = {buffer, result};
    state[buffer] = {{result, true}};
  }

  //===--- Buffers as memrefs ---===//

  Value bufferOf(Value memref) {
    Value base;
    ValuesOp values = valuesBehind(memref, base);
    return values ? known.lookup(values.getTensor()).buffer : base;
  }

  /// A memref sees what was written with effects, and the tensor that it is the buffer of; not what only SSA
  /// orders. `depends`: what the operation does depends on what is there.
  void accessMemory(OpOperand &use, bool depends, bool writes) {
    Value buffer = bufferOf(use.get()), base;
    if (!buffer || (!state.contains(buffer) && !valuesBehind(use.get(), base)))
      return; // holds no tensor so far
    ValuesOp values = valuesBehind(use.get(), base);
    Value own = values ? known.lookup(values.getTensor()).version : Value();
    Contents &contents = state[buffer];
    for (const Content &c : contents)
      if (depends && c.pure && (!own || c.version != own))
        report(Conflict::Read, use, own);
    if (!writes)
      return;
    for (const Content &c : contents)
      if (c.version)
        overwritten[c.version] = &use;
    contents = {{Value(), false}};
  }

  /// A tensor whose values are what the memory holds now.
  void bind(OpOperand &memory, Value tensor) {
    accessMemory(memory, /*depends=*/true, /*writes=*/false);
    Value buffer = bufferOf(memory.get());
    Contents &contents = state[buffer];
    const bool same = contents.size() == 1 && contents.begin()->version;
    if (!same)
      contents = {{tensor, false}};
    known[tensor] = {buffer, contents.begin()->version};
  }

  void accessMemory(Operation *op) {
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    SmallVector<MemoryEffects::EffectInstance> all;
    if (effects)
      effects.getEffects(all);
    // Of an op that does not say what it accesses, everything may be.
    const bool unknown = effects ? llvm::any_of(all, [](auto &effect) { return !effect.getValue(); })
                                 : op->getNumRegions() == 0;
    for (OpOperand &use : op->getOpOperands()) {
      if (!isa<MemRefType>(use.get().getType()))
        continue;
      bool depends = unknown, writes = unknown;
      for (const MemoryEffects::EffectInstance &effect : all)
        if (effect.getValue() == use.get()) {
          // A write may leave other elements as they are; memory that is freed has nothing any more.
          depends |= isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect());
          writes |= isa<MemoryEffects::Write, MemoryEffects::Free>(effect.getEffect());
        }
      if (depends || writes)
        accessMemory(use, depends, writes);
    }
  }

  //===--- Regions ---===//

  /// What either way leaves; a buffer that one of them does not know holds no tensor there.
  static State join(State a, const State &b) {
    const Contents none{{Value(), false}};
    for (auto &[buffer, contents] : a)
      llvm::for_each(b.contains(buffer) ? b.at(buffer) : none, [&](const Content &c) { contents.insert(c); });
    for (const auto &[buffer, contents] : b)
      if (auto [at, isNew] = a.try_emplace(buffer, none); isNew)
        at->second.insert(contents.begin(), contents.end());
    return a;
  }

  /// Regions that run any number of times, in any order: what one leaves, the next may find.
  void runLoop(Operation *op, function_ref<void(Region &)> enter, function_ref<void(Region &)> leave) {
    for (bool changed = true; changed && !conflict;) {
      const State before = state;
      State after = before;
      for (Region &region : op->getRegions()) {
        if (region.empty())
          continue;
        state = before;
        enter(region);
        run(region.front());
        leave(region);
        after = join(std::move(after), state);
      }
      changed = before != after;
      state = std::move(after);
    }
  }

  void runCarrying(Operation *op) {
    SmallVector<std::pair<unsigned, Value>> changed; // number, buffer
    for (auto [k, init] : llvm::enumerate(initsOf(op))) {
      if (!isTensor(init.get()))
        continue;
      auto yieldsIt = [&, k = k](Region &region) {
        return region.front().getTerminator()->getOperand(unsigned(k)) ==
               carriedArgument(region, op, unsigned(k));
      };
      if (llvm::all_of(op->getRegions(), yieldsIt)) {
        for (Region &region : op->getRegions())
          alias(carriedArgument(region, op, unsigned(k)), init.get());
        alias(op->getResult(unsigned(k)), init.get());
        continue;
      }
      replace(init, op->getResult(unsigned(k)));
      changed.push_back({unsigned(k), known.lookup(init.get()).buffer});
    }
    // At the head of an iteration, a carried buffer holds what the iteration is given, whichever iteration it
    // is.
    auto enter = [&](Region &region) {
      for (auto [k, buffer] : changed) {
        BlockArgument arg = carriedArgument(region, op, k);
        known[arg] = {buffer, arg};
        state[buffer] = {{arg, true}};
      }
    };
    auto leave = [&](Region &region) {
      for (auto [k, buffer] : changed) {
        expect(Conflict::Keep, region.front().getTerminator()->getOpOperand(k));
        state[buffer] = {{op->getResult(k), true}};
      }
    };
    runLoop(op, enter, leave);
  }

  void runIf(scf::IfOp op) {
    const State before = state;
    State after;
    for (Region *region : {&op.getThenRegion(), &op.getElseRegion()}) {
      state = before;
      if (!region->empty()) {
        run(region->front());
        for (OpOperand &use : region->front().getTerminator()->getOpOperands())
          if (isTensor(use.get()))
            expect(Conflict::Keep, use);
      }
      after = region == &op.getThenRegion() ? std::move(state) : join(std::move(after), state);
    }
    state = std::move(after);
    for (OpResult result : op.getResults()) {
      if (!isTensor(result))
        continue;
      unsigned k = result.getResultNumber();
      Known then = known.lookup(op.thenYield().getOperand(k)),
            other = known.lookup(op.elseYield().getOperand(k));
      if (then.version == other.version) {
        known[result] = then;
        continue;
      }
      known[result] = {then.buffer, result};
      state[then.buffer] = {{result, true}};
    }
  }

  void run(Block &block) {
    for (Operation &op : block) {
      if (conflict)
        return;
      visit(op);
    }
  }

  void visit(Operation &op) {
    if (isa<StoreOp, FillOp>(op))
      return replace(op.getOpOperand(1), op.getResult(0));
    if (isa<LikeOp, tensor::CastOp>(op))
      return alias(op.getResult(0), op.getOperand(0));
    if (isa<EmptyOp>(op))
      return start(op.getResult(0), op.getResult(0));
    if (auto made = dyn_cast<WithValuesOp>(op))
      return bind(made.getValuesMutable(), made.getResult());
    if (auto made = dyn_cast<StorageOp>(op)) {
      if (made.getBuffers().empty())
        return start(made, made);
      return bind(op.getOpOperand(made.getBuffers().size() - 1), made.getResult());
    }
    if (carries(&op))
      return runCarrying(&op);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return runIf(branch);
    if (isa<ValuesOp, YieldOp, scf::YieldOp>(op) || program::readsPattern(&op))
      return;
    for (OpOperand &use : op.getOpOperands())
      if (isTensor(use.get()))
        expect(isa<func::ReturnOp>(op) ? Conflict::Keep : Conflict::Read, use);
    accessMemory(&op);
    if (op.getNumRegions() > 0)
      runLoop(&op, [](Region &) {}, [](Region &) {});
  }

  DenseMap<Value, Known> known;
  State state;
  DenseMap<Value, OpOperand *> overwritten;
  std::optional<Conflict> conflict;
};

} // namespace

LogicalResult emitConflict(const Conflict &conflict) {
  InFlightDiagnostic error = conflict.use->getOwner()->emitError(
      "uses values of a tensor that may have been replaced by then: stores are in place; run "
      "tulle-insert-copies before");
  if (conflict.overwrite)
    error.attachNote(conflict.overwrite->getOwner()->getLoc()) << "replaced here";
  return error;
}

std::optional<Conflict> findConflict(func::FuncOp func) { return AbstractRun().run(func); }

} // namespace tulle::lower
