// tulle-coalesce-segments: coalesce a loop over segments with the loop inside it, where the body does not
// depend on the segment.
//
// A computation on inner coordinates alone (counting the entries of each column) gains nothing from rows:
// each is a loop to start and to leave, and rows are often shorter than that takes.
//
// tulle-hoist-allocations: hoist an allocation, with its deallocation, out of loops.
//
// A row of sums is allocated where the row begins; the allocation takes longer than a short row's sums, and
// threads wait for each other there.
#include "dialect/Costs.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopUtils.h"

namespace tulle::passes {
#define GEN_PASS_DEF_COALESCESEGMENTS
#define GEN_PASS_DEF_HOISTALLOCATIONS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

//===--- Segments ---===//

/// Whether the positions of the segments are an argument that nobody writes.
bool hasConstantPositions(scf::ForOp segment) {
  auto positions =
      dyn_cast<BlockArgument>(segment.getLowerBound().getDefiningOp<dialect::SegmentOp>().getPositions());
  return positions && isa<func::FuncOp>(positions.getOwner()->getParentOp()) &&
         llvm::all_of(positions.getUsers(),
                      llvm::IsaPred<memref::LoadOp, memref::DimOp, memref::PrefetchOp, dialect::SegmentOp>);
}

/// Whether the loop around passes its loop-carried values through the segment unchanged.
bool carriesTheSame(scf::ForOp segment, scf::ForOp rows) {
  auto yielded = cast<scf::YieldOp>(rows.getBody()->getTerminator()).getOperands();
  for (auto [carried, init] : llvm::zip_equal(rows.getRegionIterArgs(), segment.getInitArgs()))
    if (carried != init || !carried.hasOneUse())
      return false;
  return llvm::equal(yielded, segment.getResults());
}

/// Whether the segment's body uses nothing of the loop around.
bool isIndependentOf(scf::ForOp segment, scf::ForOp rows) {
  return !anyIn(segment, [&](Operation *op) {
    return op != segment && llvm::any_of(op->getOperands(), [&](Value operand) {
             return operand.getParentBlock() == rows.getBody();
           });
  });
}

/// The only loop inside, where the two can be coalesced.
scf::ForOp coalescableSegment(scf::ForOp rows) {
  scf::ForOp segment;
  for (Operation &op : rows.getBody()->without_terminator()) {
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && !segment)
      segment = loop;
    else if (!onlyLoads(&op))
      return {};
  }
  if (!segment || segment.getInitArgs().size() != rows.getInitArgs().size() || !hasUnitStep(rows) ||
      !hasUnitStep(segment))
    return {};
  return iteratesSegments(rows, segment) && hasConstantPositions(segment) && carriesTheSame(segment, rows) &&
                 isIndependentOf(segment, rows)
             ? segment
             : scf::ForOp();
}

/// The coalesced loop, in place of `rows`.
scf::ForOp coalesce(scf::ForOp segment, scf::ForOp rows) {
  OpBuilder b(rows);
  // Without rows, the first need not have positions.
  Value first = rows.getLowerBound(), last = rows.getUpperBound();
  if (!isZero(first))
    first = arith::MinUIOp::create(b, rows.getLoc(), first, last);
  Value begin = cloneSlice(b, segment.getLowerBound(), rows, first);
  Value end = cloneSlice(b, segment.getLowerBound(), rows, last);
  auto all = scf::ForOp::create(b, rows.getLoc(), begin, end, segment.getStep(), rows.getInitArgs());
  Block *body = all.getBody();
  if (!body->empty()) // without carried values, scf.for is built with its
                      // terminator
    body->getTerminator()->erase();
  IRRewriter(b).mergeBlocks(segment.getBody(), body, body->getArguments());
  dialect::LoopAttr loop = dialect::loopOf(segment);
  bool same = dialect::loopOf(rows).getKind() == loop.getKind();
  all->setAttr(dialect::kLoopAttr, same ? loop : loop.withKind(dialect::LoopKind::Reduction));
  rows.replaceAllUsesWith(all.getResults());
  rows.erase();
  return all;
}

struct CoalesceSegments : impl::CoalesceSegmentsBase<CoalesceSegments> {
  void runOnOperation() override {
    SmallPtrSet<Operation *, 8> coalesced; ///< segments, which come later in the list
    for (scf::ForOp rows : loopsIn<WalkOrder::PreOrder>(getOperation()))
      if (!coalesced.contains(rows))
        while (scf::ForOp segment = coalescableSegment(rows)) {
          coalesced.insert(segment);
          dialect::explainChoice(rows, "coalescing: one loop over all segments, on "
                                       "whose number the body does not depend");
          rows = coalesce(segment, rows);
        }
    if (coalesced.empty())
      markAllAnalysesPreserved();
  }
};

//===--- Allocations ---===//

/// What gives the memory back in the block of the allocation; it has no use beyond an iteration then.
Operation *endOf(Operation *alloc) {
  for (Operation *user : alloc->getUsers())
    if (isa<memref::DeallocOp, dialect::ReturnFilledBufferOp>(user) && user->getBlock() == alloc->getBlock())
      return user;
  return nullptr;
}

/// The outermost loop around the operation that its operands do not depend on; null without one. The search
/// stops at parallel regions: each thread has memory of its own.
Operation *outermostLoop(Operation *alloc) {
  Operation *found = nullptr;
  for (Operation *around = alloc->getParentOp(); isa<scf::ForOp, scf::WhileOp, scf::IfOp>(around);
       around = around->getParentOp()) {
    if (llvm::any_of(alloc->getOperands(),
                     [&](Value v) { return around->isAncestor(v.getParentBlock()->getParentOp()); }))
      break;
    if (!isa<scf::IfOp>(around))
      found = around;
  }
  return found;
}

struct HoistAllocations : impl::HoistAllocationsBase<HoistAllocations> {
  void runOnOperation() override {
    bool changed = false;
    getOperation()->walk([&](Operation *alloc) {
      if (!isa<memref::AllocOp, dialect::FilledBufferOp>(alloc))
        return;
      Operation *end = endOf(alloc), *loop = end ? outermostLoop(alloc) : nullptr;
      if (!loop)
        return;
      dialect::explainChoice(loop, "hoisting: an allocation in this loop is made once, before it");
      alloc->moveBefore(loop);
      end->moveAfter(loop);
      changed = true;
    });
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
