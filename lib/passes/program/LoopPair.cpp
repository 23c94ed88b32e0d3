// Legality of loop fusion, and fusion itself: no iteration may depend on a later one.
#include "passes/program/LoopPair.h"
#include "dialect/Costs.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/program/Combiners.h"
#include "passes/program/LoopBlocks.h"
#include "passes/program/TensorFlow.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::program {
using namespace mlir;
using namespace tulle::dialect;

/// Why the loops cannot be one; empty if they can.
StringRef LoopPair::whyNot() {
  if (spaceOf(first) != spaceOf(second))
    return "their loops do not visit the same coordinates";
  if (first.getEach() || second.getEach())
    return "several iterations have one coordinate";
  if (isOutermostBesidesBlocks(first) && first.getKind() != second.getKind() && !keepsTasksApart())
    return "iterations of one of them depend on each other";
  if (!collectBetween())
    return "what is computed between them needs all of the first";
  if (!passesTensorsOnly())
    return "the second reads what the first has at its end only, or reads it at other coordinates";
  return keepsOrder() ? "" : "the second replaces what the first reads at other coordinates";
}

/// A loop of both kinds can still run in tasks: what it reduces into are values, of which each task has a
/// partial one, and what it stores is at its own coordinate.
bool LoopPair::keepsTasksApart() {
  auto storesOwn = [](IterateOp loop) {
    return llvm::all_of(llvm::seq<unsigned>(0, loop.getNumResults()), [&](unsigned k) {
      return !isTensor(loop.getResult(k)) || OwnAccesses(loop).add(carriedArgument(loop, k));
    });
  };
  return storesOwn(first) && storesOwn(second) && combinersOf(first) && combinersOf(second);
}

/// What the second loop needs of the operations between the two; false if that depends on the first loop.
bool LoopPair::collectBetween() {
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
/// at its end; or nothing of it, but reads what it reads.
bool LoopPair::passesTensorsOnly() {
  bool uses = false;
  for (OpResult result : first->getResults()) {
    bool passed = llvm::any_of(result.getUsers(), [&](Operation *user) { return second->isAncestor(user); });
    if (!passed)
      continue;
    if (!isTensor(result) || !isPassed(result))
      return false;
    uses = true;
  }
  return uses || readsTogether();
}

bool LoopPair::isPassed(OpResult result) {
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
bool LoopPair::keepsOrder() {
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

/// What the second loop needs is there before the first one.
void LoopPair::moveBetween() {
  for (Operation *op : between)
    if (first->isBeforeInBlock(op))
      op->moveBefore(first);
}

/// Puts each loop that is not yet over blocks into one.
void LoopPair::splitIntoBlocks() {
  moveBetween();
  PartitionOp block = blockOf(first);
  OpBuilder b(first);
  Value estimate = first.getWorkEstimate() ? first.getWorkEstimate() : second.getWorkEstimate();
  const Blocks blocks = block ? blocksOf(first, block) : blocksOf(b, first, estimate, costModel(first).costs);
  if (!block)
    first = inBlocks(first, blocks);
  second = inBlocks(second, blocks);
}

IterateOp LoopPair::fuse(StringRef reason) {
  moveBetween();
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

StringRef LoopPair::whyNotAsScheduled() {
  auto own = [](IterateOp loop) {
    const DirectivesAttr said = loop.getLoop().getDirectives();
    return said ? said.withoutPlace() : said;
  };
  const DirectivesAttr a = own(first), b = own(second);
  if (a && b && a.orElse(b) != b.orElse(a))
    return "the schedule says different things of the two loops";
  auto isVector = [](DirectivesAttr said) { return said && said.getVectorize() > 1; };
  return (isVector(a) && hasLoops(second)) || (isVector(b) && hasLoops(first))
             ? "the schedule makes vectors of iterations, in which no other loop stands"
             : "";
}

/// The place of the first statement is this loop, by the name that it has in what reads it; that of the
/// second is still to be found.
LoopAttr LoopPair::attr() {
  const LoopAttr a = first.getLoop(), b = second.getLoop();
  llvm::SetVector<Attribute> of;
  for (LoopAttr loop : {a, b})
    if (loop.getOf())
      of.insert_range(loop.getOf());
  DirectivesAttr directives = b.getDirectives();
  if (DirectivesAttr own = a.getDirectives(); own && own.withoutPlace())
    directives = directives ? directives.orElse(own.withoutPlace()) : own.withoutPlace();
  const bool reduces = LoopKind::Reduction == a.getKind() || LoopKind::Reduction == b.getKind();
  return LoopAttr::get(a.getContext(), reduces ? LoopKind::Reduction : LoopKind::Parallel,
                       b.getIndex() ? b.getIndex() : a.getIndex(),
                       of.empty() ? ArrayAttr() : ArrayAttr::get(a.getContext(), of.getArrayRef()),
                       directives, /*cacheResident=*/false, a.getBlocks(), /*rare=*/false);
}

IterateOp LoopPair::build(ArrayRef<Value> inits, ArrayRef<unsigned> slots) {
  IRRewriter rewriter(first);
  auto fused =
      IterateOp::create(rewriter, rewriter.getFusedLoc({second.getLoc(), first.getLoc()}),
                        ValueRange(inits).getTypes(), first.getSpace(), inits, attr(), first.getEach());
  renameScheduled(first, first.getLoop(), fused.getLoop().getIndex());
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
        return fused->isProperAncestor(use.getOwner()) && !readsPattern(use.getOwner());
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
    result.replaceUsesWithIf(inside, [&](OpOperand &use) { return fused->isProperAncestor(use.getOwner()); });
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

} // namespace tulle::program
