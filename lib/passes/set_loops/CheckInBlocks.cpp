// tulle-check-in-blocks: integers are checked in the loops that read them, a block of them at a time.
//
//   %q = bounded_indices %p below %n           iterate k in the blocks
//   %s = one_hot %q of %n                         %part = partition %all, k of the blocks
//   iterate i in %all                  becomes    %q = bounded_indices %p below %n over %part
//     … %s at i …                                 %s = one_hot %q of %n
//                                                 iterate i in %part
//                                                   … %s at i …
#include "dialect/Costs.h"
#include "levels/Indices.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopUtils.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;
#define GEN_PASS_DEF_CHECKINBLOCKS
#include "passes/Passes.h.inc"

namespace {

/// A vector of integers, what they select, and the loops that read that.
struct Checked {
  BoundedIndicesOp check;
  SmallVector<OneHotOp> selections;
  llvm::SetVector<IterateOp> loops;
};

bool isInnermost(IterateOp loop) {
  return !anyIn(
      loop, [&](Operation *inner) { return inner != loop && isa<LoopLikeOpInterface, CoiterateOp>(inner); });
}

/// The range that the loop goes over, or over a chunk of which each task goes; null where it may not be all
/// of a dimension.
RangeOp wholeRange(IterateOp loop) {
  Value space = loop.getSpace();
  if (auto chunk = space.getDefiningOp<PartitionOp>(); chunk && !chunk.getTo())
    space = chunk.getSpace();
  auto range = space.getDefiningOp<RangeOp>();
  const bool isAll =
      range && matchPattern(range.getLo(), m_Zero()) && range.getHi().getDefiningOp<tensor::DimOp>();
  return isAll ? range : RangeOp();
}

/// The tensor that a task's is a part of.
Value ofAllTasks(Value tensor) {
  if (auto arg = dyn_cast<BlockArgument>(tensor))
    if (auto parallel = dyn_cast<ParallelOp>(arg.getOwner()->getParentOp());
        parallel && arg.getArgNumber() > 0)
      return ofAllTasks(parallel.getInits()[arg.getArgNumber() - 1]);
  return tensor;
}

/// Whether nothing is lost if the call ends in the middle of the loop: what it changes is new, or the loop
/// reads nothing of it.
bool mayEndAnywhere(IterateOp loop) {
  SmallVector<Value> old;
  for (Value init : loop.getInits())
    if (Value tensor = ofAllTasks(init);
        isa<RankedTensorType>(tensor.getType()) &&
        !isa_and_nonnull<FillOp, EmptyOp, tensor::EmptyOp>(tensor.getDefiningOp()))
      old.push_back(tensor);
  auto readsOld = [&](LoadOp load) {
    const bool isCarried = loop.getBody().isAncestor(load.getTensor().getParentRegion());
    return !old.empty() && (isCarried || llvm::is_contained(old, ofAllTasks(load.getTensor())))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  };
  return !loop.getBody().walk(readsOld).wasInterrupted();
}

/// The loop that reads what is selected at its own coordinate; null where there is none, or it may not be cut
/// into blocks.
IterateOp readerOf(LocateOp locate) {
  auto loop = dyn_cast<IterateOp>(locate->getParentOp());
  const bool isOwn = loop && !locate.getParent() && loop.getBody().getNumArguments() > 0 &&
                     locate.getCoordinate() == loop.getBody().getArgument(0);
  return isOwn && isa<RangeType>(loop.getSpace().getType()) && wholeRange(loop) && isInnermost(loop) &&
                 mayEndAnywhere(loop)
             ? loop
             : IterateOp();
}

/// Whether all that reads the integers are such loops; these are noted.
bool collect(Checked &checked) {
  BoundedIndicesOp check = checked.check;
  if (!check.isCheck() || check.getAt() || check.getOver() || check.getSource().getType().getRank() != 1)
    return false;
  for (Operation *user : check.getResult().getUsers()) {
    auto selection = dyn_cast<OneHotOp>(user);
    if (!selection)
      return false;
    checked.selections.push_back(selection);
    for (Operation *reader : selection.getResult().getUsers()) {
      if (isa<PartitionOp, WorkOp, PartitionBoundaryOp>(reader)) // counts entries: each integer is one
        continue;
      if (auto locate = dyn_cast<LocateOp>(reader)) {
        IterateOp loop = readerOf(locate);
        if (!loop)
          return false;
        checked.loops.insert(loop);
      } else if (!isa<SpaceOp>(reader)) {
        return false;
      }
    }
  }
  return !checked.loops.empty() && llvm::all_of(checked.selections, [&](OneHotOp selection) {
    return llvm::all_of(selection.getResult().getUsers(), [&](Operation *reader) {
      auto loop = dyn_cast<IterateOp>(reader->getParentOp());
      return !isa<SpaceOp>(reader) || (loop && checked.loops.contains(loop));
    });
  });
}

/// A loop over blocks of the loop's coordinates, with the loop in it.
class InBlocks : levels::Indices {
public:
  InBlocks(IterateOp loop, int64_t size) : Indices(loop), loop(loop), size(size) {}

  /// Checks the integers in each block.
  void check(ArrayRef<Checked *> read) {
    IterateOp blocks = makeBlocks();
    for (Checked *checked : read) {
      auto over = cast<BoundedIndicesOp>(b.clone(*checked->check));
      over.getOverMutable().assign(loop.getSpace());
      for (OneHotOp selection : checked->selections) {
        auto own = cast<OneHotOp>(b.clone(*selection));
        own.getSourceMutable().assign(over);
        selection.getResult().replaceUsesWithIf(
            own.getResult(), [&](OpOperand &use) { return loop->isProperAncestor(use.getOwner()); });
      }
    }
    loop->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    b.setInsertionPointAfter(loop);
    loop.getResults().replaceAllUsesWith(blocks.getResults());
    YieldOp::create(b, loc, loop.getResults());
  }

private:
  IterateOp loop;
  int64_t size;

  /// The builder is left in its body, in which the loop goes over a block of what it went over.
  IterateOp makeBlocks() {
    RangeOp range = wholeRange(loop);
    Value all = sub(range.getHi(), range.getLo());
    if (auto chunk = loop.getSpace().getDefiningOp<PartitionOp>())
      all = arith::CeilDivUIOp::create(b, loc, all, chunk.getChunks());
    Value count = arith::CeilDivUIOp::create(b, loc, all, constant(size));
    Value numbers = RangeOp::create(b, loc, constant(0), count);
    auto made = IterateOp::create(b, loc, loop.getResultTypes(), numbers, loop.getInits(),
                                  LoopAttr::get(b.getContext(), LoopKind::Reduction), /*each=*/false);
    SmallVector<Type> types{b.getIndexType()};
    llvm::append_range(types, loop.getResultTypes());
    Block *body = b.createBlock(&made.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
    Value part = PartitionOp::create(b, loc, loop.getSpace().getType(), loop.getSpace(), body->getArgument(0),
                                     Value(), count, Value());
    loop.getSpaceMutable().assign(part);
    loop.getInitsMutable().assign(body->getArguments().drop_front());
    return made;
  }
};

struct CheckInBlocks : impl::CheckInBlocksBase<CheckInBlocks> {
  void runOnOperation() override {
    SmallVector<Checked> all;
    getOperation()->walk([&](BoundedIndicesOp check) {
      Checked checked{check, {}, {}};
      if (collect(checked))
        all.push_back(std::move(checked));
    });
    llvm::MapVector<Operation *, SmallVector<Checked *>> readBy;
    for (Checked &checked : all)
      for (IterateOp loop : checked.loops)
        readBy[loop].push_back(&checked);
    const int64_t size = dialect::costModel(getOperation()).costs.checkedBlock;
    for (auto &[loop, read] : readBy)
      InBlocks(cast<IterateOp>(loop), size).check(read);
    for (Checked &checked : all) { // what is left only counts entries
      checked.check.getResult().replaceAllUsesWith(checked.check.getSource());
      checked.check.erase();
    }
  }
};

} // namespace
} // namespace tulle::passes
