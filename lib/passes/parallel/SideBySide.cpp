// Loops that store to disjoint rows of one tensor, of operands that are parts of one: a task of one parallel
// region has a chunk of each, so that threads meet once, and a short loop costs no region of its own.
//
//   parallel: a chunk of loop 1         parallel: a chunk of loop 1
//   parallel: a chunk of loop 2    =>             a chunk of loop 2
#include "passes/parallel/SetLoops.h"
#include "passes/program/DisjointLoops.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::parallel {

/// Makes one region of two, of which the second goes on with the first tensor of the first. What combines
/// results of the first stays behind the region, in front of what combines those of the second.
static ParallelOp merge(ParallelOp first, ParallelOp second) {
  OpOperand &carried = second.getInitsMutable()[0];
  Value pattern = first.getInits()[0], between = carried.get();
  between.replaceUsesWithIf(pattern, [](OpOperand &use) { return program::readsPattern(use.getOwner()); });
  if (!program::hoistNeeds(second, first, carried))
    return second;
  OpBuilder b(first);
  SmallVector<Value> inits(first.getInits());
  llvm::append_range(inits, second.getInits().drop_front());
  auto merged = ParallelOp::create(b, first.getLoc(), ValueRange(inits).getTypes(), first.getTasks(), inits);
  merged.getBody().takeBody(first.getBody());
  Block *body = &merged.getBody().front(), *other = &second.getBody().front();
  SmallVector<Value> yielded(body->getTerminator()->getOperands());
  SmallVector<Value> arguments{body->getArgument(0), yielded[0]};
  for (Value init : second.getInits().drop_front())
    arguments.push_back(body->addArgument(init.getType(), second.getLoc()));
  body->getTerminator()->erase();
  IRRewriter rewriter(b);
  rewriter.mergeBlocks(other, body, arguments);
  ValueRange last = body->getTerminator()->getOperands();
  yielded[0] = last[0];
  llvm::append_range(yielded, last.drop_front());
  body->getTerminator()->setOperands(yielded);

  const unsigned own = first.getNumResults();
  first.replaceAllUsesWith(merged.getResults().take_front(own));
  between = carried.get(); // the first one's result, or what it has become behind the region
  second.getResult(0).replaceAllUsesWith(between);
  for (unsigned k = 1; k < second.getNumResults(); ++k)
    second.getResult(k).replaceAllUsesWith(merged.getResult(own + k - 1));
  second.erase();
  first.erase();
  return merged;
}

bool shareTasks(ArrayRef<IterateOp> loops, const Settings &settings, SharedTasks &shared) {
  IterateOp first = loops.front();
  for (IterateOp loop : loops.drop_front())
    if (!program::hoistNeeds(loop, first, loop.getInitsMutable()[0]))
      return false;
  OpBuilder b(first);
  Emitter emit(b, first.getLoc());
  for (IterateOp loop : loops)
    shared.work = shared.work ? emit.add(shared.work, work(b, loop)) : work(b, loop);
  shared.tasks = ThreadsOp::create(b, emit.loc, shared.work, settings.deterministic);
  shared.chunks = chunksFor(emit, shared.tasks, shared.work, settings.costs);
  return true;
}

void mergeRegions(ArrayRef<IterateOp> loops) {
  ParallelOp merged;
  for (IterateOp loop : loops) {
    auto region = cast<ParallelOp>(loop->getParentOp());
    merged = merged ? merge(merged, region) : region;
  }
}

} // namespace tulle::parallel
