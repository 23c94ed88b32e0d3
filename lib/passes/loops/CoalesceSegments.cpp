// tulle-coalesce-segments: a loop over segments that does not ask which one it is in becomes a loop over all.
//
// What only the inner coordinate matters to (counting the entries of each column) gains nothing from rows:
// each is a loop to start and to leave, and rows are often shorter than that takes.
#include "dialect/Dialect.h"
#include "levels/Control.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"

namespace tulle::passes {
#define GEN_PASS_DEF_COALESCESEGMENTS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// An element of positions, as it is cast to an index.
struct Bound {
  memref::LoadOp load;
  Value at;
};

std::optional<Bound> matchBound(Value value, scf::ForOp rows) {
  if (auto cast = value.getDefiningOp<arith::IndexCastUIOp>())
    value = cast.getIn();
  auto load = value.getDefiningOp<memref::LoadOp>();
  if (!load || load->getBlock() != rows.getBody() || load.getIndices().size() != 1)
    return std::nullopt;
  return Bound{load, load.getIndices()[0]};
}

bool isNext(Value at, Value row) {
  auto add = at.getDefiningOp<arith::AddIOp>();
  return add && add.getLhs() == row && matchPattern(add.getRhs(), m_One());
}

/// The loop over segment i from positions[i] to positions[i + 1]: an argument of the function, which only
/// this one reads and nobody writes.
bool isSegment(scf::ForOp segment, scf::ForOp rows) {
  std::optional<Bound> begin = matchBound(segment.getLowerBound(), rows);
  std::optional<Bound> end = matchBound(segment.getUpperBound(), rows);
  if (!begin || !end || begin->load.getMemRef() != end->load.getMemRef() ||
      begin->at != rows.getInductionVar() || !isNext(end->at, rows.getInductionVar()))
    return false;
  auto positions = dyn_cast<BlockArgument>(begin->load.getMemRef());
  if (!positions || !isa<func::FuncOp>(positions.getOwner()->getParentOp()))
    return false;
  return llvm::all_of(positions.getUsers(), [](Operation *user) {
    return isa<memref::LoadOp, memref::DimOp, memref::PrefetchOp>(user);
  });
}

/// What the rows carry goes through the segment unchanged.
bool carriesTheSame(scf::ForOp segment, scf::ForOp rows) {
  auto yielded = cast<scf::YieldOp>(rows.getBody()->getTerminator()).getOperands();
  for (auto [carried, init] : llvm::zip_equal(rows.getRegionIterArgs(), segment.getInitArgs()))
    if (carried != init || !carried.hasOneUse())
      return false;
  return llvm::equal(yielded, segment.getResults());
}

/// Whether nothing inside the segment knows the row.
bool isForgetful(scf::ForOp segment, scf::ForOp rows) {
  WalkResult result = segment.getRegion().walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (operand.getParentBlock() == rows.getBody())
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return !result.wasInterrupted();
}

/// The only loop inside, where the two can become one.
scf::ForOp segmentOf(scf::ForOp rows) {
  scf::ForOp segment;
  for (Operation &op : rows.getBody()->without_terminator()) {
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && !segment)
      segment = loop;
    else if (op.getNumRegions() != 0 || !(isa<memref::LoadOp>(op) || isMemoryEffectFree(&op)))
      return {};
  }
  if (!segment || segment.getInitArgs().size() != rows.getInitArgs().size() ||
      !matchPattern(rows.getStep(), m_One()) || !matchPattern(segment.getStep(), m_One()) ||
      !rows->hasAttr(levels::kindAttr) || !segment->hasAttr(levels::kindAttr))
    return {};
  return isSegment(segment, rows) && carriesTheSame(segment, rows) && isForgetful(segment, rows)
             ? segment
             : scf::ForOp();
}

/// Where the segment of a row begins.
Value beginAt(OpBuilder &b, scf::ForOp segment, Value row) {
  Operation *bound = segment.getLowerBound().getDefiningOp();
  auto load = cast<memref::LoadOp>(isa<memref::LoadOp>(bound) ? bound : bound->getOperand(0).getDefiningOp());
  Value begin = memref::LoadOp::create(b, segment.getLoc(), load.getMemRef(), row);
  if (bound == load)
    return begin;
  IRMapping there;
  there.map(load.getResult(), begin);
  return b.clone(*bound, there)->getResult(0);
}

/// The one loop, before `rows`, which it replaces.
scf::ForOp join(scf::ForOp segment, scf::ForOp rows) {
  OpBuilder b(rows);
  // Without rows, the first need not have positions.
  Value first = rows.getLowerBound(), last = rows.getUpperBound();
  if (!matchPattern(first, m_Zero()))
    first = arith::MinUIOp::create(b, rows.getLoc(), first, last);
  auto all = scf::ForOp::create(b, rows.getLoc(), beginAt(b, segment, first), beginAt(b, segment, last),
                                segment.getStep(), rows.getInitArgs());
  Block *body = all.getBody();
  if (!body->empty()) // without carried values, scf.for is built with its terminator
    body->getTerminator()->erase();
  for (auto [from, to] : llvm::zip_equal(segment.getBody()->getArguments(), body->getArguments()))
    from.replaceAllUsesWith(to);
  body->getOperations().splice(body->end(), segment.getBody()->getOperations());
  Attribute kind = segment->getAttr(levels::kindAttr);
  bool same = rows->getAttr(levels::kindAttr) == kind;
  all->setAttr(levels::kindAttr,
               same ? kind : levels::kindValue(b.getContext(), dialect::LoopKind::Reduction));
  rows.replaceAllUsesWith(all.getResults());
  rows.erase();
  return all;
}

struct CoalesceSegments : impl::CoalesceSegmentsBase<CoalesceSegments> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForOp loop) { loops.push_back(loop); });
    SmallPtrSet<Operation *, 8> joined; ///< segments, which come later in the list
    for (scf::ForOp rows : loops)
      if (!joined.contains(rows))
        while (scf::ForOp segment = segmentOf(rows)) {
          joined.insert(segment);
          rows = join(segment, rows);
        }
  }
};

} // namespace
} // namespace tulle::passes
