// tulle-lower-append-blocks: blocks that loops accumulate, appended before the loops and filled by them.
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/AllocationPlan.h"
#include "passes/assemble/algorithms/ChunkedAppend.h"
#include "passes/assemble/algorithms/FiberBoundaries.h"
#include "passes/assemble/algorithms/LowerBuild.h"
#include "passes/assemble/choose/Strategies.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
using namespace assemble;
#define GEN_PASS_DEF_LOWERAPPENDBLOCKS
#include "passes/Passes.h.inc"

using arith::CmpIPredicate;

namespace {

/// At most as many blocks: the entries of the tensor whose last level the outermost block loop iterates over,
/// where the loops around iterate over its other levels and nothing else, so that no two blocks have an entry
/// in common.
Value boundBlocks(const Target &target, const Stream &stream, const BlockLoops &blockLoops) {
  Value tensor;
  IterateOp loop = blockLoops.front();
  while (loop) {
    auto space = loop.getSpace().getDefiningOp<SpaceOp>();
    if (!space || (tensor && space.getTensor() != tensor))
      return {};
    if (!tensor && size_t(space.getLevel()) + 1 != encodingOf(space).levels.size())
      return {};
    tensor = space.getTensor();
    Operation *around = loop->getParentOp();
    loop = dyn_cast<IterateOp>(around);
    // The parent is the position of the loop around.
    auto parent = dyn_cast_or_null<BlockArgument>(space.getParent());
    if (loop ? !parent || parent.getOwner()->getParentOp() != loop
             : !isa<EntriesOp>(around) || space.getParent())
      return {};
  }
  if (stream.loops->isAncestor(tensor.getParentRegion()))
    return {};
  return make<StoredCountOp>(target, tensor);
}

/// Appends a block where its loops begin, if they have an iteration at all, and has them run behind that.
class AccumulatedBlocks : public AppendLoops {
public:
  AccumulatedBlocks(Target &target, const Stream &stream, const BlockLoops &blockLoops)
      : target(target), stream(stream), blockLoops(blockLoops) {}

  void append(Appender &appender, const parallel::Chunk *chunk) override {
    FiberBoundaries fibers(target, stream.order, appender.fiberLevels());
    appender.byFiber();
    Operation *counted = nullptr;
    auto insert = [&](ValueRange dims, Value value) {
      fibers.atInsert(dims);
      BlockLoops loops = loopsAround();
      Value begin = open(loops, appender, dims);
      if (appender.counting())
        counted = loops.front();
      else
        target.combineValue(positionInBlock(begin, dims), value);
    };
    cloneLoops(target.builder, stream, chunk, insert, appender.counting());
    if (appender.fiberLevels() > 0)
      fibers.finish([&](ValueRange fiber) { appender.closeFiber(fiber); });
    // What the loops do with a block's entries does not change the number of blocks.
    if (counted)
      counted->erase();
  }

private:
  /// The copies of the block's loops: the builder stands in the innermost.
  BlockLoops loopsAround() const {
    BlockLoops loops;
    for (Operation *loop = target.builder.getInsertionBlock()->getParentOp();
         loops.size() < blockLoops.size(); loop = loop->getParentOp())
      loops.insert(loops.begin(), cast<IterateOp>(loop));
    return loops;
  }

  /// Returns where the block begins; null where only blocks are counted.
  Value open(const BlockLoops &loops, Appender &appender, ValueRange dims) const {
    OpBuilder &b = target.builder;
    OpBuilder::InsertionGuard guard(b);
    IterateOp first = loops.front();
    b.setInsertionPoint(first);
    auto branch = scf::IfOp::create(b, target.loc, haveIterations(loops), /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    Value begin, block = appender.counting() ? Value() : appender.blockSize();
    if (!block) {
      appender.append(storedCoordinates(dims), {});
    } else {
      begin = appender.appendBlock(storedCoordinates(dims));
      forEach(target, target.constant(0), block, LoopKind::Parallel, [&](Value k) {
        storeAt(target, target.fillValue(), target.storage.fields.back(), target.add(begin, k));
      });
    }
    first->moveBefore(branch.thenBlock()->getTerminator());
    // Iterations do not change where the next one stores.
    for (auto [loop, original] : llvm::zip_equal(loops, blockLoops))
      IterateOp(loop).setLoopAttr(IterateOp(original).getLoop());
    return begin;
  }

  Value haveIterations(const BlockLoops &loops) const {
    Value all;
    for (IterateOp loop : loops) {
      Value some;
      if (auto range = loop.getSpace().getDefiningOp<RangeOp>())
        some = target.compare(CmpIPredicate::slt, range.getLo(), range.getHi());
      else
        some =
            target.compare(CmpIPredicate::ne, make<SpaceSizeOp>(target, loop.getSpace()), target.constant(0));
      all = all ? make<arith::AndIOp>(target, all, some) : some;
    }
    return all;
  }

  /// Those of the other dimensions are known inside only, and do not matter.
  Values storedCoordinates(ValueRange dims) const {
    Values known(dims.size(), target.constant(0));
    for (unsigned l = 0; l < target.storedLevels(); ++l) {
      auto dim = size_t(stream.order.levels[l]->value);
      known[dim] = dims[dim];
    }
    return target.levelCoordinates(known);
  }

  Value positionInBlock(Value begin, ValueRange dims) const {
    Values coordinates = target.levelCoordinates(dims);
    Value within;
    for (unsigned l = target.storedLevels(); l < target.levels(); ++l)
      within = within ? target.add(target.mul(within, target.levelSize(l)), coordinates[l]) : coordinates[l];
    return target.add(begin, within);
  }

  Target &target;
  const Stream &stream;
  const BlockLoops &blockLoops;
};

void lower(Target &target, const Stream &stream, AppendBlocksOp op) {
  const BlockLoops blockLoops = *matchBlockLoops(target, stream);
  auto loops = [&](Target &to, Value) { return std::make_unique<AccumulatedBlocks>(to, stream, blockLoops); };
  Value bound = boundBlocks(target, stream, blockLoops);
  Appender sizes(target, /*unique=*/true, /*counting=*/true, /*wholeBlocks=*/true);
  const Appending how{loops, /*unique=*/true, sizes.blockSize(), /*wholeBlocks=*/true};
  auto alone = [&] {
    appendAlone(target, how, [&](function_ref<Values()> count) {
      return planPositions(target, bound, sizes.allRuns().size(), how.block, count);
    });
  };
  if (!op.getParallel() || !bound || !ChunkedAppend::possible(target, stream))
    return alone();
  // To count a chunk its blocks need not be computed.
  ChunkedAppend chunked(target, stream, bound, ChunkedAppend::Mode::InPlace);
  target.either(chunked.profitable(), [&] { chunked.append(how); }, alone);
}

struct LowerAppendBlocks : impl::LowerAppendBlocksBase<LowerAppendBlocks> {
  void runOnOperation() override {
    if (failed(lowerBuild<AppendBlocksOp>(getOperation(), fitsAppendBlocks, lower)))
      signalPassFailure();
  }
};

} // namespace
} // namespace tulle::passes
