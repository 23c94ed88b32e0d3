// In-place analysis: whether every tensor value is in its storage wherever something reads or replaces it.
// Runs a function abstractly, in the order of execution, and keeps for each buffer of values which tensor
// value is in it. tulle-insert-copies: what reads or replaces values that a store in place has overwritten
// gets a copy of them.
#include "dialect/Scalars.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/Passes.h"
#include "passes/lower/Lowering.h"
#include "passes/parallel/SetLoops.h"
#include "passes/program/TensorFlow.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <set>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::passes {
#define GEN_PASS_DEF_INSERTCOPIES
#include "passes/Passes.h.inc"
} // namespace tulle::passes

namespace tulle::lower {

using parallel::initsOf;
using program::carriedArgument;
using program::isTensor;

namespace {

/// Tensors of stage 2 are values; at run time each is the content of a buffer that stores overwrite. A
/// conflict is a use of a tensor whose values another operation may have replaced by then.
struct Conflict {
  enum Kind : uint8_t {
    Read,  ///< the old values are read: a copy of them serves as well
    Write, ///< values are replaced: the result may have a buffer of its own
    Keep,  ///< what a region or a function ends with must be in the buffer it began with
  };
  Kind kind;
  OpOperand *use;
  Value version;        ///< the value that was in the buffer before; null if the use is of a buffer itself
  OpOperand *overwrite; ///< what replaced it; null if several may have
};

/// The op that gave a tensor's buffer, of which a memref is a view; null for memory of its own, which `base`
/// is then. Memory is not followed through block arguments: a tensor is bound to what is written by then.
ValuesOp valuesBehind(Value memref, Value &base) {
  base = memref::skipViewLikeOps(cast<MemrefValue>(memref));
  auto values = base.getDefiningOp<ValuesOp>();
  return values && !values.getLevel() ? values : ValuesOp();
}

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
using Buffers = DenseMap<Value, Contents>;

/// What is in each buffer that is known. What a region changes can be taken back: it costs as much as was
/// changed, however many buffers there are.
class State {
public:
  bool contains(Value buffer) const { return contents.contains(buffer); }
  /// Nothing for a buffer that is not known.
  const Contents &at(Value buffer) const {
    static const Contents nothing;
    auto found = contents.find(buffer);
    return found == contents.end() ? nothing : found->second;
  }
  void set(Value buffer, Contents now) {
    auto [found, isNew] = contents.try_emplace(buffer);
    if (!changes.empty())
      changes.back().try_emplace(buffer, isNew ? std::nullopt : std::optional(std::move(found->second)));
    found->second = std::move(now);
  }

  /// What `run` leaves in the buffers that it changes; they are as before then.
  Buffers outcomeOf(function_ref<void()> run) {
    changes.emplace_back();
    run();
    Buffers outcome;
    for (auto &[buffer, before] : changes.pop_back_val()) {
      auto now = contents.find(buffer);
      outcome[buffer] = std::move(now->second);
      if (before)
        now->second = std::move(*before);
      else
        contents.erase(now);
    }
    return outcome;
  }

private:
  Buffers contents;
  SmallVector<DenseMap<Value, std::optional<Contents>>> changes; ///< what was there, for each open region
};

class AbstractRun {
public:
  /// The first conflict in the order of execution; none if every store may be done in place.
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
    state.set(buffer, {{tensor, false}});
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
    if (llvm::any_of(state.at(buffer), [&](const Content &c) { return c.version != version; }))
      report(kind, use, version);
  }

  void replace(OpOperand &use, Value result) {
    expect(Conflict::Write, use);
    auto [buffer, version] = known.lookup(use.get());
    overwritten[version] = &use;
    known[result] = {buffer, result};
    state.set(buffer, {{result, true}});
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
    const Contents &contents = state.at(buffer);
    for (const Content &c : contents)
      if (depends && c.pure && (!own || c.version != own))
        report(Conflict::Read, use, own);
    if (!writes)
      return;
    for (const Content &c : contents)
      if (c.version)
        overwritten[c.version] = &use;
    state.set(buffer, {{Value(), false}});
  }

  /// A tensor whose values are what the memory holds now.
  void bind(OpOperand &memory, Value tensor) {
    accessMemory(memory, /*depends=*/true, /*writes=*/false);
    Value buffer = bufferOf(memory.get());
    const Contents &contents = state.at(buffer);
    const bool same = contents.size() == 1 && contents.begin()->version;
    if (!same)
      state.set(buffer, {{tensor, false}});
    known[tensor] = {buffer, state.at(buffer).begin()->version};
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

  static const Contents &orUnknown(const Contents &contents) {
    static const Contents unknown{{Value(), false}};
    return contents.empty() ? unknown : contents;
  }

  /// What either way leaves; a buffer that one of them does not know holds no tensor there.
  static Contents join(const Contents &a, const Contents &b) {
    Contents both = orUnknown(a);
    both.insert(orUnknown(b).begin(), orUnknown(b).end());
    return both;
  }

  /// What runs any number of times: what it leaves, it may find.
  void runToFixedPoint(function_ref<Buffers()> outcomeOfOne) {
    for (bool changed = true; changed && !conflict;) {
      changed = false;
      for (auto &[buffer, contents] : outcomeOfOne())
        if (Contents now = join(state.at(buffer), contents); now != state.at(buffer)) {
          changed = true;
          state.set(buffer, std::move(now));
        }
    }
  }

  /// Regions that run any number of times, in any order: what one leaves, the next may find.
  void runLoop(Operation *op, function_ref<void(Region &)> enter, function_ref<void(Region &)> leave) {
    runToFixedPoint([&] {
      Buffers after;
      for (Region &region : op->getRegions()) {
        if (region.empty())
          continue;
        Buffers outcome = state.outcomeOf([&] {
          enter(region);
          run(region.front());
          leave(region);
        });
        for (auto &[buffer, contents] : outcome)
          after[buffer].insert(contents.begin(), contents.end());
      }
      return after;
    });
  }

  void runCarrying(Operation *op) {
    SmallVector<std::pair<unsigned, Value>> changed; // number, buffer
    for (auto [k, init] : llvm::enumerate(initsOf(op))) {
      if (!isTensor(init.get()))
        continue;
      auto yieldsIt = [&, k = k](Region &region) {
        return region.front().getTerminator()->getOperand(unsigned(k)) ==
               carriedArgument(region, unsigned(k));
      };
      if (llvm::all_of(op->getRegions(), yieldsIt)) {
        for (Region &region : op->getRegions())
          alias(carriedArgument(region, unsigned(k)), init.get());
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
        BlockArgument arg = carriedArgument(region, k);
        known[arg] = {buffer, arg};
        state.set(buffer, {{arg, true}});
      }
    };
    auto leave = [&](Region &region) {
      for (auto [k, buffer] : changed) {
        expect(Conflict::Keep, region.front().getTerminator()->getOpOperand(k));
        state.set(buffer, {{op->getResult(k), true}});
      }
    };
    runLoop(op, enter, leave);
  }

  /// Checks and bodies alternate: what leaves the loop is what the last check passes on.
  void runWhile(scf::WhileOp op) {
    const Block::BlockArgListType begin = op.getBeforeArguments();
    scf::ConditionOp condition = op.getConditionOp();
    // A tensor that the check and the body pass on as it is stays the init.
    auto passedOn = [&](unsigned k) { return op.getYieldOp().getResults()[k]; };
    auto isUnchanged = [&](unsigned k) {
      auto end = dyn_cast<BlockArgument>(passedOn(k));
      return end && end.getOwner() == op.getAfterBody() &&
             condition.getArgs()[end.getArgNumber()] == begin[k];
    };
    auto holds = [&](Value tensor, Value buffer) {
      known[tensor] = {buffer, tensor};
      state.set(buffer, {{tensor, true}});
    };
    SmallVector<unsigned> changed;
    for (auto [k, init] : llvm::enumerate(op.getInitsMutable())) {
      if (!isTensor(init.get()))
        continue;
      if (isUnchanged(unsigned(k))) {
        alias(begin[k], init.get());
      } else {
        replace(init, begin[k]);
        changed.push_back(unsigned(k));
      }
    }
    auto isAliased = [&](Value given) {
      auto arg = dyn_cast<BlockArgument>(given);
      return arg && arg.getOwner() == op.getBeforeBody() && !llvm::is_contained(changed, arg.getArgNumber());
    };
    auto check = [&] {
      run(*op.getBeforeBody());
      for (OpOperand &use : condition.getArgsMutable())
        if (isTensor(use.get()) && !isAliased(use.get()))
          expect(Conflict::Keep, use);
    };
    auto passOn = [&](ValueRange to) {
      for (auto [given, value] : llvm::zip_equal(condition.getArgs(), to))
        if (isTensor(value) && isAliased(given))
          alias(value, given);
        else if (isTensor(value))
          holds(value, known.lookup(given).buffer);
    };
    check();
    runToFixedPoint([&] {
      return state.outcomeOf([&] {
        passOn(op.getAfterArguments());
        run(*op.getAfterBody());
        for (unsigned k : changed) {
          expect(Conflict::Keep, op.getYieldOp()->getOpOperand(k));
          holds(begin[k], known.lookup(passedOn(k)).buffer);
        }
        check();
      });
    });
    passOn(op.getResults());
  }

  void runIf(scf::IfOp op) {
    auto outcomeOf = [&](Region &region) {
      return state.outcomeOf([&] {
        if (region.empty())
          return;
        run(region.front());
        for (OpOperand &use : region.front().getTerminator()->getOpOperands())
          if (isTensor(use.get()))
            expect(Conflict::Keep, use);
      });
    };
    const Buffers then = outcomeOf(op.getThenRegion()), other = outcomeOf(op.getElseRegion());
    auto merge = [&](const Buffers &one, const Buffers &another) {
      for (const auto &[buffer, contents] : one)
        if (auto found = another.find(buffer); &one == &then || found == another.end())
          state.set(buffer, join(contents, found == another.end() ? state.at(buffer) : found->second));
    };
    merge(then, other);
    merge(other, then);
    for (OpResult result : op.getResults()) {
      if (!isTensor(result))
        continue;
      unsigned k = result.getResultNumber();
      Known one = known.lookup(op.thenYield().getOperand(k)),
            another = known.lookup(op.elseYield().getOperand(k));
      if (one.version == another.version) {
        known[result] = one;
        continue;
      }
      known[result] = {one.buffer, result};
      state.set(one.buffer, {{result, true}});
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
    if (isa<ReshapeOp>(op))
      return alias(op.getResult(0), op.getOperand(0));
    if (auto bounded = dyn_cast<BoundedIndicesOp>(op)) {
      expect(Conflict::Read, bounded.getSourceMutable());
      return bounded.isCheck() ? alias(bounded, bounded.getSource()) : start(bounded, bounded);
    }
    if (auto distinct = dyn_cast<DistinctIndicesOp>(op)) {
      expect(Conflict::Read, distinct.getSourceMutable());
      return alias(distinct, distinct.getSource());
    }
    if (auto selection = dyn_cast<OneHotOp>(op)) {
      selections.insert(selection);
      return alias(selection, selection.getSource());
    }
    if (isa<EmptyOp>(op))
      return start(op.getResult(0), op.getResult(0));
    if (auto made = dyn_cast<WithValuesOp>(op))
      return bind(made.getValuesMutable(), made.getResult());
    if (auto made = dyn_cast<StorageOp>(op)) {
      if (made.getBuffers().empty())
        return start(made, made);
      return bind(op.getOpOperand(made.getBuffers().size() - 1), made.getResult());
    }
    if (program::carriesTensors(&op))
      return runCarrying(&op);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return runWhile(loop);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return runIf(branch);
    // The coordinates of a selection are the values of another tensor.
    auto isSelection = [&](Value operand) { return selections.contains(operand); };
    const bool pattern = program::readsPattern(&op) && llvm::none_of(op.getOperands(), isSelection);
    if (isa<ValuesOp, YieldOp, scf::YieldOp, scf::ConditionOp>(op) || pattern)
      return;
    for (OpOperand &use : op.getOpOperands())
      if (isTensor(use.get()))
        expect(isa<func::ReturnOp>(op) ? Conflict::Keep : Conflict::Read, use);
    accessMemory(&op);
    if (op.getNumRegions() > 0)
      runLoop(&op, [](Region &) {}, [](Region &) {});
  }

  DenseMap<Value, Known> known;
  DenseSet<Value> selections;
  State state;
  DenseMap<Value, OpOperand *> overwritten;
  std::optional<Conflict> conflict;
};

/// Reports a conflict that nothing mends.
LogicalResult emitConflict(const Conflict &conflict) {
  InFlightDiagnostic error = conflict.use->getOwner()->emitError(
      "uses values of a tensor that may have been replaced by then: stores are in place; run "
      "tulle-insert-copies before");
  if (conflict.overwrite)
    error.attachNote(conflict.overwrite->getOwner()->getLoc()) << "replaced here";
  return error;
}

//===--- Copies ---===//

/// Whether what becomes of a tensor here is a result of the function: that stays in the caller's buffer.
bool reachesReturn(OpOperand &use, llvm::SmallPtrSetImpl<Value> &seen) {
  if (isa<func::ReturnOp>(use.getOwner()))
    return true;
  SmallVector<Value> next = program::continuations(use);
  // What is written to the buffer of a tensor becomes another one.
  Operation *op = use.getOwner();
  if (auto made = dyn_cast<WithValuesOp>(op);
      isa<ValuesOp, ViewLikeOpInterface>(op) || (made && &use == &made.getValuesMutable()))
    next.push_back(op->getResult(0));
  return llvm::any_of(next, [&](Value value) {
    return seen.insert(value).second &&
           llvm::any_of(value.getUses(), [&](OpOperand &other) { return reachesReturn(other, seen); });
  });
}

/// Whether nothing writes through the memref, or passes it on to where that is not known.
bool isOnlyRead(Value memref) {
  return llvm::all_of(memref.getUsers(), [&](Operation *user) {
    if (isa<ViewLikeOpInterface>(user))
      return isOnlyRead(user->getResult(0));
    return isa<memref::LoadOp, memref::DimOp>(user);
  });
}

struct InsertCopies : passes::impl::InsertCopiesBase<InsertCopies> {
  void runOnOperation() override {
    copies.clear();
    func::FuncOp func = getOperation();
    if (func.isExternal() || !func.getBody().hasOneBlock())
      return; // tulle-lower says what it expects
    // Every step gives one use a tensor of its own, so they come to an end.
    while (std::optional<Conflict> conflict = AbstractRun().run(func))
      if (!resolve(*conflict)) {
        (void)emitConflict(*conflict);
        return signalPassFailure();
      }
  }

  bool resolve(const Conflict &conflict) {
    OpOperand &use = *conflict.use;
    if (!conflict.version)
      return false;
    if (conflict.kind == Conflict::Read)
      return read(use, conflict.version);
    OpOperand *other = conflict.overwrite;
    const bool isOwn = other && isa<RankedTensorType>(other->get().getType());
    // A store that finds what it left in the iteration before starts from a copy in each iteration, made
    // right before.
    llvm::SmallPtrSet<Value, 8> seen;
    if (isOwn && (other == &use || !reachesReturn(*other, seen))) {
      note(*other);
      OpBuilder b(other->getOwner());
      other->set(makeCopy(b, other->get()));
      return true;
    }
    if (conflict.kind != Conflict::Write || !isa<RankedTensorType>(use.get().getType()))
      return false;
    note(use);
    use.set(castTo(copyAfter(conflict.version), use));
    return true;
  }

  /// Lets a use that only reads have the copy that all such share.
  bool read(OpOperand &use, Value version) {
    OpOperand *from = &use;
    if (isa<MemRefType>(use.get().getType())) {
      Value base;
      ValuesOp values = valuesBehind(use.get(), base);
      if (!values || !isOnlyRead(base))
        return false;
      from = &values.getTensorMutable();
    }
    Value &copy = copies[version];
    if (from->get() == copy)
      return false;
    note(use);
    if (!copy)
      copy = copyAfter(version);
    from->set(castTo(copy, *from));
    return true;
  }

  static void note(OpOperand &use) {
    explainChoice(use.getOwner(), "copied: a tensor's old values are needed after a store has replaced them");
  }

  static Value copyAfter(Value version) {
    OpBuilder b(version.getContext());
    b.setInsertionPointAfterValue(version);
    return makeCopy(b, version);
  }

  static Value castTo(Value copy, OpOperand &use) {
    if (copy.getType() == use.get().getType())
      return copy;
    OpBuilder b(copy.getContext());
    b.setInsertionPointAfterValue(copy);
    return tensor::CastOp::create(b, copy.getLoc(), use.get().getType(), copy);
  }

  /// A tensor with the pattern and the values of another, until the end of the block.
  static Value makeCopy(OpBuilder &b, Value tensor) {
    Location loc = tensor.getLoc();
    auto type = cast<RankedTensorType>(tensor.getType());
    auto memory = MemRefType::get({ShapedType::kDynamic}, memoryType(type.getElementType()));
    Value count = StoredCountOp::create(b, loc, tensor);
    Value from = ValuesOp::create(b, loc, memory, tensor),
          to = memref::AllocOp::create(b, loc, memory, count);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    levels::forEach(b, loc, zero, count, LoopKind::Parallel, [&](Value at) {
      memref::StoreOp::create(b, loc, memref::LoadOp::create(b, loc, from, at).getResult(), to, at);
    });
    Value copy = WithValuesOp::create(b, loc, type, tensor, to);
    Block *block = b.getInsertionBlock();
    OpBuilder end =
        block->mightHaveTerminator() ? OpBuilder(block->getTerminator()) : OpBuilder::atBlockEnd(block);
    memref::DeallocOp::create(end, loc, to);
    return copy;
  }

  DenseMap<Value, Value> copies; ///< of values, for those that read them
};

} // namespace

LogicalResult checkInPlace(func::FuncOp func) {
  std::optional<Conflict> conflict = AbstractRun().run(func);
  return conflict ? emitConflict(*conflict) : success();
}

} // namespace tulle::lower
