// tulle-fuse-loops: a loop that reads what a loop before it stores, or reads, runs in its iterations.
//
// Two loops over the same space may become one if what each iteration stores and what each iteration of the
// second touches lies at the loop's own coordinate: then no iteration depends on a later one. Loops inside of
// the fused one follow. Values that are stored and read in one iteration pass in a register. Where iterations
// would wait for each other's reductions, one loop over blocks runs a block of both loops in turn.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "passes/Passes.h"
#include "passes/program/LoopBlocks.h"
#include "passes/program/LoopPair.h"
#include "passes/program/TensorFlow.h"
#include "passes/program/TileFusion.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;
#define GEN_PASS_DEF_FUSELOOPS
#include "passes/Passes.h.inc"

namespace {

using program::carriedArgument;
using program::isOutermostBesidesBlocks;
using program::isTensor;
using program::LoopPair;
using program::OwnAccesses;

struct FuseLoops : impl::FuseLoopsBase<FuseLoops> {
  using FuseLoopsBase::FuseLoopsBase;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    reasons.clear();
    tileObstacles.clear();
    for (IterateOp loop : getOperation().getOps<IterateOp>())
      readInPlace(loop);
    if (llvm::range_size(getOperation().getOps<IterateOp>()) > 1) {
      unify(getOperation());
      tileObstacles = program::fuseTiles(getOperation());
      unify(getOperation()); // bounds of tiles stand several times
      fuseIn(getOperation().getBody().front());
    }
    for (auto &[statements, why] : reasons)
      explainChoice(getOperation(),
                    ("not fusing " + statements.first + " and " + statements.second + ": " + why).str());
    if (failed(checkPlaces()))
      signalPassFailure();
  }

private:
  using Statements = std::pair<StringRef, StringRef>;
  llvm::MapVector<Statements, StringRef> reasons; ///< why loops of two statements are not one
  program::TileObstacles tileObstacles;

  /// An iteration that reads a tensor's old value where it stores the new one finds it there.
  static void readInPlace(IterateOp loop) {
    for (auto [k, init] : llvm::enumerate(loop.getInits())) {
      if (!isTensor(init))
        continue;
      BlockArgument carried = carriedArgument(loop, unsigned(k));
      OwnAccesses reads(loop), stores(loop);
      if (reads.add(init) && reads.level() && stores.add(carried) && stores.level() == reads.level())
        init.replaceUsesWithIf(carried, [&](OpOperand &use) {
          return loop->isProperAncestor(use.getOwner()) && !program::readsPattern(use.getOwner());
        });
    }
  }

  /// The loops of the same block whose results a loop uses, in order.
  static SmallVector<IterateOp> loopsUsedBy(IterateOp second) {
    llvm::SetVector<Operation *> used;
    second->walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (auto loop = operand.getDefiningOp<IterateOp>(); loop && loop->getBlock() == second->getBlock())
          used.insert(loop);
    });
    auto loops = llvm::map_to_vector(used, llvm::CastTo<IterateOp>);
    llvm::sort(loops, [](IterateOp a, IterateOp b) { return a->isBeforeInBlock(b); });
    return loops;
  }

  /// The loops before it in the block that read what the loop reads, and that it needs nothing of, in order.
  static SmallVector<IterateOp> loopsReadingWith(IterateOp second) {
    SmallVector<IterateOp> loops;
    for (auto first : second->getBlock()->getOps<IterateOp>())
      if (first->isBeforeInBlock(second) && LoopPair(first, second).readsTogether())
        loops.push_back(first);
    return loops;
  }

  /// Fuses loops of a block until none can be, and then those inside of what was fused. Equal spaces are one
  /// value before; fusion makes none equal in this block.
  void fuseIn(Block &block) {
    llvm::SetVector<Operation *> fused;
    for (Operation *op = &block.front(); op;) {
      auto second = dyn_cast<IterateOp>(op);
      IterateOp one;
      auto fuseOneOf = [&](ArrayRef<IterateOp> loops) {
        for (IterateOp first : loops)
          if (!one && (one = fuse(first, second))) {
            fused.remove(first), fused.remove(second);
            fused.insert(one);
          }
      };
      if (second)
        fuseOneOf(loopsUsedBy(second));
      if (second && !one)
        fuseOneOf(loopsReadingWith(second));
      op = one ? one : op->getNextNode();
    }
    for (Operation *loop : fused) {
      forwardStores(cast<IterateOp>(loop));
      fuseIn(cast<IterateOp>(loop).getBody().front());
    }
  }

  IterateOp fuse(IterateOp first, IterateOp second) {
    if (program::blockOf(second))
      return {};
    const DirectivesAttr said = first.getLoop().getDirectives();
    const ArrayAttr place = said ? said.getComputeAt() : ArrayAttr();
    if (place && (place.empty() || !isOnTheWay(second, place.getValue().back())))
      return {};
    LoopPair pair(first, second);
    StringRef why = pair.whyNot();
    if (why.empty())
      why = pair.whyNotAsScheduled();
    const bool hasBlocks = bool(program::blockOf(first)),
               canHaveBlocks = isa<func::FuncOp>(first->getParentOp());
    bool inBlocks = false;
    if (why.empty()) {
      inBlocks =
          canHaveBlocks && (place ? hasBlocks || llvm::is_contained(place, second.getLoop().blockIndex())
                                  : !always && !pair.takesFromRegisters() && pair.isProfitableInBlocks());
      if (!place && !inBlocks && (hasBlocks || !(always || pair.isProfitable())))
        why = pair.whyNotProfitable();
    }
    if (!why.empty()) {
      if (first.getLoop().getOf() && (place || isOutermostBesidesBlocks(first)))
        reasons[{first.getLoop().lastStatement(), second.getLoop().lastStatement()}] = why;
      return {};
    }
    reasons.erase({first.getLoop().lastStatement(), second.getLoop().lastStatement()});
    if (!inBlocks)
      return pair.fuse("fusing: this loop does what two loops over the same coordinates did");
    pair.splitIntoBlocks();
    IterateOp blocks =
        pair.fuse("fusing: each block of this loop does what two loops over the same coordinates did");
    program::unifyBlocks(blocks);
    return blocks;
  }

  /// Whether loops of a statement whose place is the loop of that name go on with the loop: it is that one,
  /// or the place is inside of it.
  static bool isOnTheWay(IterateOp loop, Attribute place) {
    for (auto around = loop->getParentOfType<IterateOp>(); around;
         around = around->getParentOfType<IterateOp>())
      if (around.getLoop().getIndex() == place)
        return false;
    return place == loop.getLoop().blockIndex() ||
           loop->walk([&](IterateOp inner) {
                 return inner.getLoop().getIndex() == place ? WalkResult::interrupt() : WalkResult::advance();
               })
               .wasInterrupted();
  }

  /// Whether each statement that has a place is computed there, before another one.
  LogicalResult checkPlaces() {
    llvm::DenseSet<std::pair<Attribute, Attribute>> found; // statements and loops
    getOperation()->walk([&](IterateOp loop) {
      if (ArrayAttr of = loop.getLoop().getOf())
        for (Attribute statement : of.getValue().drop_back())
          found.insert({statement, loop.getLoop().getIndex()});
    });
    WalkResult result = getOperation()->walk([&](Operation *op) {
      const LoopAttr loop = loopOverSets(op);
      const DirectivesAttr said = loop ? loop.getDirectives() : DirectivesAttr();
      const ArrayAttr place = said ? said.getComputeAt() : ArrayAttr();
      if (!place || place.empty() || said.getIfPossible() || !loop.getOf() ||
          llvm::all_of(place,
                       [&](Attribute at) { return found.contains({loop.getOf().getValue().back(), at}); }))
        return WalkResult::advance();
      StringRef why = "it is known after loops of its own only, another statement stands between the two, or "
                      "they are in different functions";
      for (auto &[statements, reason] : reasons)
        if (statements.first == loop.lastStatement())
          why = reason;
      if (const auto *obstacle = tileObstacles.find(loop.lastStatement()); obstacle != tileObstacles.end())
        why = obstacle->second;
      emitError(locationOf(op, "compute_at"))
          << "what reads '" << loop.lastStatement() << "' has no loop over "
          << cast<StringAttr>(place.getValue().back()).getValue() << " that can compute it: " << why
          << "; compute_root(" << loop.lastStatement() << ") leaves its loops as they are";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  void unify(Operation *op) {
    IRRewriter rewriter(op);
    DominanceInfo dominance(op);
    eliminateCommonSubExpressions(rewriter, dominance, op);
  }

  /// Equal values of what was several loops become one; a value that is read where it was stored is known.
  void forwardStores(IterateOp loop) {
    unify(loop);
    loop.walk([](LoadOp load) {
      auto store = load.getTensor().getDefiningOp<StoreOp>();
      if (!store || store.getIterator() != load.getIterator())
        return;
      load.getResult().replaceAllUsesWith(store.getValue());
    });
    unify(loop); // without what only these loads needed
  }
};

} // namespace
} // namespace tulle::passes
