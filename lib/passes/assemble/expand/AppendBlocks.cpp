#include "levels/Control.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/assemble/algorithms/AllocationPlan.h"
#include "passes/assemble/algorithms/Appender.h"
#include "passes/assemble/algorithms/ChunkedAppend.h"
#include "passes/assemble/algorithms/CloneLoops.h"
#include "passes/assemble/algorithms/FiberBoundaries.h"
#include "passes/assemble/choose/BlockLoops.h"
#include "passes/assemble/expand/Expansions.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;

namespace {

/// At most as many blocks: the entries of the tensor whose last level the pass goes through, where the loops
/// around walk its other levels and nothing else, so that no two passes have an entry in common.
Value boundBlocks(OpBuilder &b, AssembleOp op, const BlockLoops &pass) {
  Value tensor;
  IterateOp loop = pass.front();
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
    if (loop ? !parent || parent.getOwner()->getParentOp() != loop : around != op || space.getParent())
      return {};
  }
  if (op.getBody().isAncestor(tensor.getParentRegion()))
    return {};
  return StoredCountOp::create(b, op.getLoc(), tensor);
}

class Blocks {
public:
  Blocks(Target &target, AssembleOp op, const Order &order)
      : target(target), op(op), order(order), pass(*matchBlockLoops(target, op, order)) {
    this->order.unique = true; // of blocks
  }

  FailureOr<Value> lower(OpBuilder &b) {
    Value bound = boundBlocks(b, op, pass);
    if (!bound || !ChunkedAppend::possible(target, op, order)) {
      alone(b, target, bound);
      return target.finish(b);
    }
    ChunkedAppend chunked(b, target, order, bound);
    Target single = target;
    SmallVector<Type> types = levels::fieldTypes(target.storage.layout, target.storage.element);
    levels::Values buffers = levels::ifElse(
        b, target.loc, chunked.profitable(b), types,
        [&] {
          inChunks(b, chunked);
          return levels::Values(target.storage.fields);
        },
        [&] {
          alone(b, single, bound);
          return levels::Values(single.storage.fields);
        });
    target.storage.fields.assign(buffers.begin(), buffers.end());
    return target.finish(b);
  }

private:
  Target &target;
  AssembleOp op;
  Order order;
  BlockLoops pass;

  void alone(OpBuilder &b, Target &made, Value bound) const {
    auto count = [&](OpBuilder &b) {
      Appender counter(b, made, order, /*counting=*/true, /*wholeBlocks=*/true);
      appendAll(b, made, counter, /*counting=*/true);
      Values counts;
      for (unsigned r = 0; r < counter.runCount(); ++r)
        counts.push_back(counter.count(b, r));
      return counts;
    };
    Appender appender(b, made, order, /*counting=*/false, /*wholeBlocks=*/true);
    appender.allocate(b,
                      bound ? planPositions(b, made, bound, appender.runCount(), appender.blockSize(b), count)
                            : count(b));
    appendAll(b, made, appender, /*counting=*/false);
    appender.finish(b, /*loose=*/true);
  }

  void inChunks(OpBuilder &b, ChunkedAppend &chunked) const {
    Value block = Appender(b, target, order, /*counting=*/true, /*wholeBlocks=*/true).blockSize(b);
    auto work = [&](OpBuilder &b, Target &staging, ChunkedAppend::EachChunk eachChunk) {
      eachChunk([&](const parallel::Chunk &chunk, bool counting, ChunkedAppend::OnAppender begin,
                    ChunkedAppend::OnChunk end) {
        Appender appender(b, staging, order, counting, /*wholeBlocks=*/true);
        begin(appender);
        appendAll(b, staging, appender, counting, &chunk);
        end(appender, {});
      });
    };
    // To count a chunk its blocks need not be computed.
    chunked.assembleInPlace(b, order, block, work, /*copied=*/nullptr);
  }

  /// A copy of the loops, or of one chunk, that appends a block for each pass that has entries.
  void appendAll(OpBuilder &b, Target &made, Appender &appender, bool counting,
                 const parallel::Chunk *chunk = nullptr) const {
    FiberBoundaries groups(b, made, order, appender.groupLevels());
    Value block = appender.blockSize(b);
    Operation *counted = nullptr;
    auto append = [&](OpBuilder &b, ValueRange dims, Value value) {
      groups.atInsert(b, dims);
      BlockLoops loops = loopsAround(b);
      Value place = open(b, loops, made, appender, dims, counting ? Value() : block);
      if (counting)
        counted = loops.front();
      else
        made.combineValue(b, placeInBlock(b, made, place, dims), value);
    };
    cloneLoops(b, op, chunk, append, counting);
    if (appender.groups())
      groups.finish(b, [&](OpBuilder &b, ValueRange group) { appender.closeGroup(b, group); });
    // What a pass does with its entries does not change their number.
    if (counted)
      counted->erase();
  }

  /// The copies of the pass's loops: the builder stands in the innermost.
  BlockLoops loopsAround(OpBuilder &b) const {
    BlockLoops loops;
    for (Operation *loop = b.getInsertionBlock()->getParentOp(); loops.size() < pass.size();
         loop = loop->getParentOp())
      loops.insert(loops.begin(), cast<IterateOp>(loop));
    return loops;
  }

  /// Appends a block of so many values, where the loops have a pass at all, and has them run behind that.
  /// Returns where the block begins; null `block`: nothing is stored.
  Value open(OpBuilder &b, const BlockLoops &loops, Target &made, Appender &appender, ValueRange dims,
             Value block) const {
    OpBuilder::InsertionGuard guard(b);
    IterateOp first = loops.front();
    b.setInsertionPoint(first);
    auto branch = scf::IfOp::create(b, made.loc, haveIterations(b, made, loops), /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    Value begin = append(b, appender, storedCoordinates(b, made, dims), !block);
    if (block)
      levels::forLoop(b, made.loc, made.emitter(b).constant(0), block, LoopKind::Parallel, {},
                      [&](Value k, levels::Values) {
                        memref::StoreOp::create(b, made.loc, made.fill(b), made.storage.fields.back(),
                                                made.emitter(b).add(begin, k));
                        return levels::Values{};
                      });
    first->moveBefore(branch.thenBlock()->getTerminator());
    // Iterations do not change where the next one stores.
    for (auto [loop, original] : llvm::zip_equal(loops, pass))
      IterateOp(loop).setLoopAttr(IterateOp(original).getLoop());
    return begin;
  }

  static Value append(OpBuilder &b, Appender &appender, ValueRange coordinates, bool counting) {
    if (!counting)
      return appender.groups() ? appender.appendBlockInGroup(b, coordinates)
                               : appender.appendBlock(b, coordinates);
    if (appender.groups())
      appender.appendInGroup(b, coordinates, {});
    else
      appender.append(b, coordinates, {});
    return {};
  }

  static Value haveIterations(OpBuilder &b, const Target &made, const BlockLoops &loops) {
    Value all;
    for (IterateOp loop : loops) {
      Value some;
      if (auto range = loop.getSpace().getDefiningOp<RangeOp>())
        some = arith::CmpIOp::create(b, made.loc, CmpIPredicate::slt, range.getLo(), range.getHi());
      else
        some = arith::CmpIOp::create(b, made.loc, CmpIPredicate::ne,
                                     SpaceSizeOp::create(b, made.loc, loop.getSpace()),
                                     made.emitter(b).constant(0));
      all = all ? arith::AndIOp::create(b, made.loc, all, some).getResult() : some;
    }
    return all;
  }

  /// Those of the other dimensions are known inside only, and do not matter.
  Values storedCoordinates(OpBuilder &b, const Target &made, ValueRange dims) const {
    Values known(dims.size(), made.emitter(b).constant(0));
    for (unsigned l = 0; l < made.storedLevels(); ++l)
      known[size_t(order.levels[l]->value)] = dims[size_t(order.levels[l]->value)];
    return made.levelCoordinates(b, known);
  }

  static Value placeInBlock(OpBuilder &b, const Target &made, Value begin, ValueRange dims) {
    levels::Emitter emit = made.emitter(b);
    Values coordinates = made.levelCoordinates(b, dims);
    Value within;
    for (unsigned l = made.storedLevels(); l < made.levels(); ++l)
      within = within ? emit.add(emit.mul(within, emit.levelSize(l)), coordinates[l]) : coordinates[l];
    return emit.add(begin, within);
  }
};

} // namespace

FailureOr<Value> expandAppendBlocks(OpBuilder &b, Target &target, AssembleOp op, const Order &order) {
  return Blocks(target, op, order).lower(b);
}

} // namespace tulle::assemble
