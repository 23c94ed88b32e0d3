// tulle-fuse-loops: a loop that reads what the loop before it stores runs in its iterations.
//
// Two loops over the same space may become one if what each iteration stores and what each iteration of the
// second touches lies at the loop's own coordinate: then no iteration depends on a later one. Loops inside of
// the fused one follow. Values that are stored and read in one iteration pass in a register. Where iterations
// would wait for each other's reductions, one loop over blocks runs a block of both loops in turn.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "dialect/Dialect.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "passes/Passes.h"
#include "passes/program/Combiners.h"
#include "passes/program/LoopBlocks.h"
#include "passes/program/TensorFlow.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;
#define GEN_PASS_DEF_FUSELOOPS
#include "passes/Passes.h.inc"

namespace {

using program::carriedArgument;
using program::combinersOf;
using program::OwnAccesses;

bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

/// Whether a loop is in no other loop, or in one over blocks only.
bool isOutermost(IterateOp loop) {
  auto around = dyn_cast<IterateOp>(loop->getParentOp());
  return isa<func::FuncOp>(loop->getParentOp()) || (around && program::blockOf(around));
}

/// A pair of loops in one block, the first of which makes what the second uses.
class Pair {
public:
  Pair(IterateOp first, IterateOp second) : first(first), second(second) {}

  /// Why the loops cannot be one; empty if they can.
  StringRef whyNot() {
    if (program::spaceOf(first) != program::spaceOf(second))
      return "their loops do not visit the same coordinates";
    if (first.getEach() || second.getEach())
      return "several iterations have one coordinate";
    if (isOutermost(first) && first.getKind() != second.getKind() && !keepsTasksApart())
      return "iterations of one of them depend on each other";
    if (!collectBetween())
      return "what is computed between them needs all of the first";
    if (!passesTensorsOnly())
      return "the second reads what the first has at its end only, or reads it at other coordinates";
    return keepsOrder() ? "" : "the second replaces what the first reads at other coordinates";
  }

  bool isProfitableHere() {
    return isOutermost(first) ? isProfitable() : !sumsRows(first) && !sumsRows(second) && !chainsReductions();
  }

  /// Whether iterations with a reduction each, of which several can be done at a time
  /// (tulle-tile-reductions), would become those of another reduction (experiment 069).
  bool chainsReductions() {
    return first.getKind() != second.getKind() &&
           hasLoops(first.getKind() == LoopKind::Parallel ? first : second);
  }

  /// Fibers are short: in one iteration, inner loops that need each other's results wait for each other,
  /// where iterations of separate loops overlap (experiment 052). So both loops have inner loops only where a
  /// tensor disappears, and nothing waits.
  bool isProfitable() {
    if (sumsRows(first) || sumsRows(second))
      return false;
    if (!hasLoops(first) || !hasLoops(second) || staysInRegisters())
      return true;
    if (leavesFunctionsToBlocks())
      return false;
    auto disappears = [&](OpResult result) {
      return isTensor(result) && llvm::all_of(result.getUses(), [&](OpOperand &use) {
               auto yield = dyn_cast<YieldOp>(use.getOwner());
               return second->isAncestor(use.getOwner()) ||
                      (yield && yield->getParentOp()->getResult(use.getOperandNumber()).use_empty());
             });
    };
    return !waitsForReduction() && llvm::any_of(first->getResults(), disappears);
  }

  /// A block stays in the cache: what the inner loops of both read is read from memory once.
  bool isProfitableInBlocks() {
    if (first.getKind() != LoopKind::Parallel || sumsLongRows())
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
  bool sumsLongRows() {
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

  /// Puts each loop that is not yet over blocks into one.
  void splitIntoBlocks(int64_t entries) {
    PartitionOp block = program::blockOf(first);
    OpBuilder b(first);
    Value estimate = first.getWorkEstimate() ? first.getWorkEstimate() : second.getWorkEstimate();
    const program::Blocks blocks =
        block ? program::blocksOf(first, block) : program::blocksOf(b, first, estimate, entries);
    if (!block)
      first = program::inBlocks(first, blocks);
    second = program::inBlocks(second, blocks);
  }

  IterateOp fuse(StringRef reason) {
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
    IterateOp fused = build(inits, slots);
    explainChoice(fused, reason);
    return fused;
  }

private:
  /// A loop of both kinds can still run in tasks: what it reduces into are values, of which each task has a
  /// partial one, and what it stores is at its own coordinate.
  bool keepsTasksApart() {
    auto storesOwn = [](IterateOp loop) {
      return llvm::all_of(llvm::seq<unsigned>(0, loop.getNumResults()), [&](unsigned k) {
        return !isTensor(loop.getResult(k)) || OwnAccesses(loop).add(carriedArgument(loop, k));
      });
    };
    return storesOwn(first) && storesOwn(second) && combinersOf(first) && combinersOf(second);
  }

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

  /// Whether a loop, or one inside, adds up rows of a tensor: alone, it keeps a part of the row in registers
  /// from one iteration to the next (tulle-register-tiles).
  static bool sumsRows(IterateOp loop) {
    return loop
        .walk([](IterateOp inner) {
          const bool sums =
              inner.getKind() == LoopKind::Reduction &&
              llvm::any_of(inner.getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
          return sums && hasLoops(inner) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
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

  /// The level that all loops inside of a loop traverse, below the loop's own coordinate: they have no loops
  /// inside, and read at their own coordinates only.
  static std::optional<std::pair<Value, uint64_t>> traversedSegments(IterateOp loop) {
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

  /// Where both loops traverse the same segments, short ones stay in vector registers from one to the other
  /// (tulle-vectorize), if inactive lanes cost nothing, or little is done with each entry.
  bool staysInRegisters() {
    auto level = traversedSegments(first);
    return level && level == traversedSegments(second) && !wastesLanes();
  }

  /// Functions run over all entries of a block, not row by row (tulle-distribute-functions).
  bool leavesFunctionsToBlocks() {
    return isa<IterateOp>(first->getParentOp()) && wastesLanes() &&
           !(fillsVectors(first) && fillsVectors(second));
  }

  /// Whether functions of a row would be computed in lanes of no entry: rows are known to be short, or may be
  /// and there are no masks. Functions of the second loop alone can still leave the rows (experiment 068).
  bool wastesLanes() {
    return costModel(first).cpu.masks ? hasFunctions(first) && hasShortRows(first) && hasShortRows(second)
                                      : hasFunctions(first) || hasFunctions(second);
  }

  /// Whether all loops inside are known to be over segments that are shorter, or not shorter, than a vector
  /// in the mean.
  static bool hasShortRows(IterateOp loop) {
    return forInnerLoops(loop, [](IterateOp inner) {
      const int64_t bits = segmentBits(inner);
      return bits > 0 && bits < costModel(inner).cpu.vectorBits;
    });
  }
  static bool fillsVectors(IterateOp loop) {
    return forInnerLoops(
        loop, [](IterateOp inner) { return segmentBits(inner) >= costModel(inner).cpu.vectorBits; });
  }

  static bool forInnerLoops(IterateOp loop, function_ref<bool(IterateOp)> holds) {
    return !loop.walk([&](IterateOp inner) {
                  return inner == loop || holds(inner) ? WalkResult::advance() : WalkResult::interrupt();
                })
                .wasInterrupted();
  }

  /// How many bits of values the segments that a loop traverses have in the mean; 0 where that is not known.
  static int64_t segmentBits(IterateOp loop) {
    auto space = loop.getSpace().getDefiningOp<SpaceOp>();
    Type type = space ? getElementTypeOrSelf(space.getTensor().getType()) : Type();
    return type && type.isIntOrFloat() ? segmentLength(loop) * type.getIntOrFloatBitWidth() : 0;
  }

  /// How many entries the segments that a loop traverses have in the mean; 0 where that is not known.
  static int64_t segmentLength(IterateOp loop) {
    auto space = loop.getSpace().getDefiningOp<SpaceOp>();
    auto tensor = space ? dyn_cast<BlockArgument>(space.getTensor()) : BlockArgument();
    auto function = tensor ? dyn_cast<func::FuncOp>(tensor.getOwner()->getParentOp()) : func::FuncOp();
    auto length = function ? function.getArgAttrOfType<IntegerAttr>(tensor.getArgNumber(), kSegmentAttr)
                           : IntegerAttr();
    return length ? length.getInt() : 0;
  }

  static bool hasFunctions(IterateOp loop) {
    return loop.getBody()
        .walk([](Operation *op) {
          return isa<math::MathDialect>(op->getDialect()) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// What the loops inside of a loop read.
  static SmallVector<LoadOp> innerLoads(IterateOp loop) {
    SmallVector<LoadOp> loads;
    loop->walk([&](LoadOp load) {
      if (load->getParentOp() != loop &&
          !(program::blockOf(loop) && load->getParentOp()->getParentOp() == loop))
        loads.push_back(load);
    });
    return loads;
  }

  /// The place of the first statement is this loop; that of the second is still to be found.
  LoopAttr attr() {
    const LoopAttr a = first.getLoop(), b = second.getLoop();
    llvm::SetVector<Attribute> of;
    for (LoopAttr loop : {a, b})
      if (loop.getOf())
        of.insert_range(loop.getOf());
    DirectivesAttr directives = b.getDirectives();
    if (DirectivesAttr own = a.getDirectives(); own && own.withoutPlace())
      directives = directives ? directives.orElse(own.withoutPlace()) : own.withoutPlace();
    const bool reduces = LoopKind::Reduction == a.getKind() || LoopKind::Reduction == b.getKind();
    return LoopAttr::get(a.getContext(), reduces ? LoopKind::Reduction : LoopKind::Parallel, a.getIndex(),
                         of.empty() ? ArrayAttr() : ArrayAttr::get(a.getContext(), of.getArrayRef()),
                         directives, /*cacheResident=*/false, a.getBlocks(), /*rare=*/false);
  }

  IterateOp build(ArrayRef<Value> inits, ArrayRef<unsigned> slots) {
    IRRewriter rewriter(first);
    auto fused =
        IterateOp::create(rewriter, rewriter.getFusedLoc({second.getLoc(), first.getLoc()}),
                          ValueRange(inits).getTypes(), first.getSpace(), inits, attr(), first.getEach());
    const auto kept = unsigned(first.getInits().size());
    fused.getBody().takeBody(first.getBody());
    Block *body = &fused.getBody().front(), &b = second.getBody().front();
    const unsigned leading = body->getNumArguments() - kept;
    for (Value init : inits.drop_front(kept))
      body->addArgument(init.getType(), first.getLoc());
    // The first loop reads what the second replaces as the iteration finds it.
    for (auto [k, slot] : llvm::enumerate(slots))
      if (slot >= kept && isTensor(second.getInits()[k])) {
        Value outside = second.getInits()[k];
        outside.replaceUsesWithIf(body->getArgument(leading + slot), [&](OpOperand &use) {
          return fused->isProperAncestor(use.getOwner()) && !program::readsPattern(use.getOwner());
        });
      }
    SmallVector<Value> made(body->getTerminator()->getOperands()), yielded(made);
    rewriter.eraseOp(body->getTerminator());
    SmallVector<Value> args(body->getArguments().take_front(leading));
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
      if (auto result = dyn_cast<OpResult>(value); result && result.getOwner() == first)
        value = made[result.getResultNumber()];
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
  SmallVector<Operation *> between; ///< in order
};

struct FuseLoops : impl::FuseLoopsBase<FuseLoops> {
  using FuseLoopsBase::FuseLoopsBase;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    reasons.clear();
    for (IterateOp loop : getOperation().getOps<IterateOp>())
      readInPlace(loop);
    if (llvm::any_of(getOperation().getOps<IterateOp>(),
                     [](IterateOp loop) { return !loopsUsedBy(loop).empty(); })) {
      unify(getOperation());
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

  /// Fuses loops of a block until none can be, and then those inside of what was fused. Equal spaces are one
  /// value before; fusion makes none equal in this block.
  void fuseIn(Block &block) {
    llvm::SetVector<Operation *> fused;
    for (Operation *op = &block.front(); op;) {
      auto second = dyn_cast<IterateOp>(op);
      IterateOp one;
      if (second)
        for (IterateOp first : loopsUsedBy(second)) {
          one = fuse(first, second);
          if (!one)
            continue;
          fused.remove(first), fused.remove(second);
          fused.insert(one);
          break;
        }
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
    Pair pair(first, second);
    StringRef why = pair.whyNot();
    const bool hasBlocks = bool(program::blockOf(first)),
               canHaveBlocks = isa<func::FuncOp>(first->getParentOp());
    bool inBlocks = false;
    if (why.empty()) {
      inBlocks =
          canHaveBlocks && (place ? hasBlocks || llvm::is_contained(place, second.getLoop().blockIndex())
                                  : !always && pair.isProfitableInBlocks());
      if (!place && !inBlocks && (hasBlocks || !(always || pair.isProfitableHere())))
        why = pair.sumsLongRows()
                  ? "the first sums rows of many entries, which takes less time in loops of its own"
                  : "inner loops would wait for each other's sums, rows would leave the "
                    "registers, or no tensor would disappear";
    }
    if (!why.empty()) {
      if (first.getLoop().getOf() && (place || isOutermost(first)))
        reasons[{first.getLoop().lastStatement(), second.getLoop().lastStatement()}] = why;
      return {};
    }
    reasons.erase({first.getLoop().lastStatement(), second.getLoop().lastStatement()});
    if (!inBlocks)
      return pair.fuse("fusing: this loop does what two loops over the same coordinates did");
    pair.splitIntoBlocks(dialect::costModel(first).costs.fusedBlockEntries);
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
      if (!place || place.empty() || !loop.getOf() || llvm::all_of(place, [&](Attribute at) {
            return found.contains({loop.getOf().getValue().back(), at});
          }))
        return WalkResult::advance();
      StringRef why = "it is known after loops of its own only, another statement stands between the two, or "
                      "they are in different functions";
      for (auto &[statements, reason] : reasons)
        if (statements.first == loop.lastStatement())
          why = reason;
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
