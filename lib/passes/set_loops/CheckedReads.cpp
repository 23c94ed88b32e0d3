#include "passes/set_loops/CheckedReads.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/analysis/LoopUtils.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;

static bool isInnermost(IterateOp loop) {
  return !anyIn(
      loop, [&](Operation *inner) { return inner != loop && isa<LoopLikeOpInterface, CoiterateOp>(inner); });
}

/// Whether the loop goes over all of a dimension, or over a chunk of which each task goes.
static bool isWhole(IterateOp loop) {
  Value space = loop.getSpace();
  if (auto chunk = space.getDefiningOp<PartitionOp>(); chunk && !chunk.getTo())
    space = chunk.getSpace();
  auto range = space.getDefiningOp<RangeOp>();
  return range && matchPattern(range.getLo(), m_Zero()) && range.getHi().getDefiningOp<tensor::DimOp>();
}

/// The loop that reads what is selected at its own coordinate; null where there is none, or it may not be cut
/// into blocks.
static IterateOp readerOf(LocateOp locate) {
  auto loop = dyn_cast<IterateOp>(locate->getParentOp());
  const bool isOwn = loop && !locate.getParent() && loop.getBody().getNumArguments() > 0 &&
                     locate.getCoordinate() == loop.getBody().getArgument(0);
  return isOwn && isa<RangeType>(loop.getSpace().getType()) && isWhole(loop) && isInnermost(loop)
             ? loop
             : IterateOp();
}

/// Notes what reads the selection; false if that is something else.
static bool addReaders(OneHotOp selection, CheckedReads &reads) {
  for (Operation *reader : selection.getResult().getUsers()) {
    if (isa<PartitionOp, WorkOp, PartitionBoundaryOp>(reader)) // counts entries: each integer is one
      continue;
    if (auto locate = dyn_cast<LocateOp>(reader)) {
      IterateOp loop = readerOf(locate);
      if (!loop)
        return false;
      reads.loops.insert(loop);
    } else if (!isa<SpaceOp>(reader)) {
      return false;
    }
  }
  return llvm::all_of(selection.getResult().getUsers(), [&](Operation *reader) {
    auto loop = dyn_cast<IterateOp>(reader->getParentOp());
    return !isa<SpaceOp>(reader) || (loop && reads.loops.contains(loop));
  });
}

std::optional<CheckedReads> checkedReads(BoundedIndicesOp check) {
  CheckedReads reads{check, {}, {}};
  if (!check.isCheck() || check.getAt() || check.getOver() || check.getSource().getType().getRank() != 1)
    return std::nullopt;
  for (Operation *user : check.getResult().getUsers()) {
    auto selection = dyn_cast<OneHotOp>(user);
    if (!selection || !addReaders(selection, reads))
      return std::nullopt;
    reads.selections.push_back(selection);
  }
  return reads.loops.empty() ? std::nullopt : std::optional(std::move(reads));
}

} // namespace tulle::passes
