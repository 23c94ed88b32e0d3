// tulle-fuse-loops: a loop that reads what the loop before it stores runs in its iterations.
//
// Two loops over the same space may become one if what each iteration stores and what each iteration of the
// second touches lies at the loop's own coordinate: then no iteration depends on a later one. Loops inside of
// the fused one follow. Values that are stored and read in one iteration pass in a register.
#include "dialect/Costs.h"
#include "dialect/Dialect.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "passes/Passes.h"
#include "passes/program/TensorFlow.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;
#define GEN_PASS_DEF_FUSELOOPS
#include "passes/Passes.h.inc"

namespace {

bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

/// The level of a tensor at which every access that leads to `iterator` is at the loop's own coordinate: it
/// is located at that, or is the loop's iterator. Accesses of different iterations are then apart.
std::optional<uint64_t> ownLevel(Value iterator, IterateOp loop) {
  while (iterator) {
    if (auto locate = iterator.getDefiningOp<LocateOp>()) {
      if (locate.getCoordinate() == loop.getBody().getArgument(0))
        return locate.getLevel();
      iterator = locate.getParent();
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(iterator);
    auto around = argument ? dyn_cast<IterateOp>(argument.getOwner()->getParentOp()) : IterateOp();
    auto space = around ? around.getSpace().getDefiningOp<SpaceOp>() : SpaceOp();
    if (!space || argument.getArgNumber() != 1)
      return std::nullopt;
    if (around == loop)
      return space.getLevel();
    iterator = space.getParent();
  }
  return std::nullopt;
}

/// The one level at which all reads and stores of a tensor value inside of a loop, and of what becomes of it
/// there, are at the loop's own coordinate. None if they are elsewhere, too, or something else uses it.
class OwnAccesses {
public:
  explicit OwnAccesses(IterateOp loop) : loop(loop) {}

  bool add(Value tensor) {
    if (!seen.insert(tensor).second)
      return true;
    return llvm::all_of(tensor.getUses(), [&](OpOperand &use) {
      Operation *op = use.getOwner();
      if (!loop->isProperAncestor(op) || program::readsPattern(op))
        return true;
      if (auto load = dyn_cast<LoadOp>(op))
        return isOwn(load.getIterator());
      if (auto store = dyn_cast<StoreOp>(op); store && !isOwn(store.getIterator()))
        return false;
      SmallVector<Value> next = program::continuations(use);
      if (op == loop.getBody().front().getTerminator())
        return true; // the next iteration's
      return !next.empty() && llvm::all_of(next, [&](Value value) { return add(value); });
    });
  }

  /// Null without any access.
  std::optional<uint64_t> level() const { return at; }

private:
  bool isOwn(Value iterator) {
    std::optional<uint64_t> found = ownLevel(iterator, loop);
    if (!found || (at && *at != *found))
      return false;
    at = found;
    return true;
  }

  IterateOp loop;
  std::optional<uint64_t> at;
  llvm::DenseSet<Value> seen;
};

BlockArgument carriedArgument(IterateOp loop, unsigned number) {
  Block &body = loop.getBody().front();
  return body.getArgument(unsigned(body.getNumArguments() - loop.getInits().size()) + number);
}

/// A pair of loops in one block, the first of which makes what the second uses.
class Pair {
public:
  Pair(IterateOp first, IterateOp second, bool always) : first(first), second(second), always(always) {}

  bool canFuse() {
    // With `each`, several iterations have one coordinate.
    if (first.getSpace() != second.getSpace() || first.getEach() || second.getEach() ||
        (isOutermost() && first.getKind() != second.getKind()))
      return false;
    return collectBetween() && passesTensorsOnly() && keepsOrder() && (always || isProfitable());
  }

  IterateOp fuse() {
    for (Operation *op : between)
      op->moveBefore(first);
    SmallVector<Value> inits(first.getInits());
    SmallVector<unsigned> slots; // of the second loop's carried values
    for (Value init : second.getInits()) {
      auto result = dyn_cast<OpResult>(init);
      if (result && result.getOwner() == first) {
        slots.push_back(result.getResultNumber());
        continue;
      }
      slots.push_back(unsigned(inits.size()));
      inits.push_back(init);
    }
    return build(inits, slots);
  }

private:
  bool isOutermost() { return isa<func::FuncOp>(first->getParentOp()); }

  /// What the second loop needs of the operations between the two; false if that depends on the first loop.
  bool collectBetween() {
    llvm::SetVector<Operation *> needed;
    SmallVector<Operation *> work{second};
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      bool ok = true;
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands()) {
          Operation *maker = operand.getDefiningOp();
          if (maker && maker->getBlock() != first->getBlock())
            maker = first->getBlock()->findAncestorOpInBlock(*maker);
          if (!maker || maker == op || !first->isBeforeInBlock(maker)) {
            ok &= maker != first || op == second;
            continue;
          }
          if (maker->getBlock() == first->getBlock() && maker != second && needed.insert(maker))
            work.push_back(maker);
        }
      });
      if (!ok || (op != second && !isMemoryEffectFree(op)))
        return false;
    }
    between = needed.takeVector();
    llvm::sort(between, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    return true;
  }

  /// The second loop uses tensors of the first, at its own coordinate, and no value that the first only has
  /// at its end.
  bool passesTensorsOnly() {
    bool uses = false;
    for (OpResult result : first->getResults()) {
      bool passed =
          llvm::any_of(result.getUsers(), [&](Operation *user) { return second->isAncestor(user); });
      if (!passed)
        continue;
      if (!isTensor(result) || !isPassed(result))
        return false;
      uses = true;
    }
    return uses;
  }

  bool isPassed(OpResult result) {
    OwnAccesses stores(first), reads(second);
    if (!stores.add(carriedArgument(first, result.getResultNumber())) || !stores.level())
      return false;
    for (auto [k, init] : llvm::enumerate(second.getInits()))
      if (init == result) {
        // The second loop's stores take the place of the first one's result.
        if (!llvm::all_of(result.getUsers(), [&](Operation *user) { return second->isAncestor(user); }))
          return false;
        if (!reads.add(carriedArgument(second, unsigned(k))))
          return false;
      }
    return reads.add(result) && (!reads.level() || reads.level() == stores.level());
  }

  /// What the second loop replaces, the first one reads at its own coordinate only.
  bool keepsOrder() {
    for (auto [k, init] : llvm::enumerate(second.getInits())) {
      if (!isTensor(init) || init.getDefiningOp() == first)
        continue;
      OwnAccesses reads(first), stores(second);
      if (!reads.add(init))
        return false;
      if (!reads.level())
        continue;
      if (!stores.add(carriedArgument(second, unsigned(k))) || stores.level() != reads.level())
        return false;
    }
    return true;
  }

  static bool hasLoops(IterateOp loop) {
    return loop.getBody()
        .walk([](Operation *op) {
          return isa<IterateOp, CoiterateOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Whether the second loop's inner loops begin when those of the first have reduced.
  bool waitsForReduction() {
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

  /// Fibers are short: in one iteration, inner loops that need each other's results wait for each other,
  /// where iterations of separate loops overlap (experiment 052). So both loops have inner loops only where a
  /// tensor disappears, and nothing waits.
  bool isProfitable() {
    if (!hasLoops(first) || !hasLoops(second))
      return true;
    auto usedHere = [&](Operation *user) { return second->isAncestor(user); };
    auto disappears = [&](OpResult result) {
      return isTensor(result) && llvm::all_of(result.getUsers(), usedHere);
    };
    return !waitsForReduction() && llvm::any_of(first->getResults(), disappears);
  }

  IterateOp build(ArrayRef<Value> inits, ArrayRef<unsigned> slots) {
    IRRewriter rewriter(first);
    LoopAttr loop = first.getLoop();
    if (second.getKind() == LoopKind::Reduction)
      loop = second.getLoop();
    auto fused = IterateOp::create(rewriter, first.getLoc(), ValueRange(inits).getTypes(), first.getSpace(),
                                   inits, loop, first.getEach());
    Block &a = first.getBody().front(), &b = second.getBody().front();
    const unsigned leading = unsigned(a.getNumArguments() - first.getInits().size());
    SmallVector<Type> types(ValueRange(a.getArguments().take_front(leading)).getTypes());
    llvm::append_range(types, ValueRange(inits).getTypes());
    Block *body = rewriter.createBlock(&fused.getBody(), {}, types,
                                       SmallVector<Location>(types.size(), first.getLoc()));
    // The first loop reads what the second replaces as the iteration finds it.
    for (auto [k, slot] : llvm::enumerate(slots))
      if (slot >= first.getInits().size() && isTensor(second.getInits()[k])) {
        Value outside = second.getInits()[k];
        outside.replaceUsesWithIf(body->getArgument(leading + slot), [&](OpOperand &use) {
          return first->isProperAncestor(use.getOwner()) && !program::readsPattern(use.getOwner());
        });
      }
    SmallVector<Value> args(body->getArguments().take_front(leading + first.getInits().size()));
    rewriter.mergeBlocks(&a, body, args);
    SmallVector<Value> made(body->getTerminator()->getOperands()), yielded(made);
    rewriter.eraseOp(body->getTerminator());
    args.assign(body->args_begin(), body->args_begin() + leading);
    for (unsigned slot : slots) {
      bool shared = slot < made.size();
      args.push_back(shared ? made[slot] : Value(body->getArgument(leading + slot)));
      if (!shared)
        yielded.push_back(Value());
    }
    rewriter.mergeBlocks(&b, body, args);
    for (auto [k, value] : llvm::enumerate(body->getTerminator()->getOperands()))
      yielded[slots[k]] = value;
    rewriter.eraseOp(body->getTerminator());
    // Within an iteration, the first loop's tensors are what its part of it has made.
    for (auto [k, result] : llvm::enumerate(first->getResults())) {
      Value inside = made[k];
      result.replaceUsesWithIf(inside,
                               [&](OpOperand &use) { return fused->isProperAncestor(use.getOwner()); });
    }
    for (Value &value : yielded)
      for (auto [k, result] : llvm::enumerate(first->getResults()))
        if (value == result)
          value = made[k];
    rewriter.setInsertionPointToEnd(body);
    YieldOp::create(rewriter, first.getLoc(), yielded);
    for (auto [k, slot] : llvm::enumerate(slots))
      rewriter.replaceAllUsesWith(second.getResult(unsigned(k)), fused.getResult(slot));
    for (auto [k, result] : llvm::enumerate(first->getResults()))
      rewriter.replaceAllUsesWith(result, fused.getResult(unsigned(k)));
    rewriter.eraseOp(second);
    rewriter.eraseOp(first);
    return fused;
  }

  IterateOp first, second;
  bool always;
  SmallVector<Operation *> between; ///< in order
};

struct FuseLoops : impl::FuseLoopsBase<FuseLoops> {
  using FuseLoopsBase::FuseLoopsBase;
  void runOnOperation() override {
    if (!getOperation().isExternal())
      fuseIn(getOperation().getBody().front());
  }

private:
  static bool uses(IterateOp second, IterateOp first) {
    return llvm::any_of(first->getUsers(), [&](Operation *user) { return second->isAncestor(user); });
  }

  /// Fuses loops of a block until none can be, and those inside of what was fused.
  void fuseIn(Block &block) {
    while (IterateOp fused = fuseOne(block)) {
      explainChoice(fused, "fusing: this loop does what two loops over the same coordinates did");
      forwardStores(fused);
      fuseIn(fused.getBody().front());
    }
  }

  IterateOp fuseOne(Block &block) {
    SmallVector<IterateOp> loops(block.getOps<IterateOp>());
    bool shared = false;
    const bool isInner = !isa<func::FuncOp>(block.getParentOp());
    for (auto [k, second] : llvm::enumerate(loops))
      for (IterateOp first : ArrayRef(loops).take_front(k)) {
        if (!uses(second, first))
          continue;
        if (!shared) // equal spaces become one value
          unify(block.getParentOp());
        shared = true;
        if (Pair pair(first, second, always || isInner); pair.canFuse())
          return pair.fuse();
      }
    return {};
  }

  void unify(Operation *op) {
    IRRewriter rewriter(op);
    DominanceInfo dominance(op);
    eliminateCommonSubExpressions(rewriter, dominance, op);
  }

  /// A value that is read where it was stored is known.
  void forwardStores(IterateOp loop) {
    unify(loop);
    loop.walk([](LoadOp load) {
      auto store = load.getTensor().getDefiningOp<StoreOp>();
      if (!store || store.getIterator() != load.getIterator())
        return;
      load.getResult().replaceAllUsesWith(store.getValue());
      load.erase();
    });
  }
};

} // namespace
} // namespace tulle::passes
