// A fiber ends with an iteration where its coordinates are those of the loops around each other, and of no
// other loop.
#include "passes/assemble/choose/FiberAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/assemble/choose/InsertLoops.h"
#include <set>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::ExprKind;

static void collectDims(const format::Expr &e, std::set<unsigned> &dims) {
  if (!e)
    return;
  if (e->kind == ExprKind::Dim)
    dims.insert(unsigned(e->value));
  collectDims(e->lhs, dims);
  collectDims(e->rhs, dims);
}

/// The dimensions whose coordinates make the fiber.
std::vector<unsigned> FiberAnalysis::fiberDims() const {
  std::set<unsigned> dims;
  for (unsigned l = 0; l < levels; ++l)
    collectDims(order.levels[l], dims);
  return {dims.begin(), dims.end()};
}

FiberAnalysis::Point FiberAnalysis::definedAt(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return {argument.getOwner(), nullptr};
  return {value.getDefiningOp()->getBlock(), value.getDefiningOp()};
}

/// Of two points that both dominate an insert.
FiberAnalysis::Point FiberAnalysis::laterOf(const Point &a, const Point &c) const {
  if (a.block != c.block)
    return a.block->findAncestorOpInBlock(*c.block->getParentOp()) ? c : a;
  if (!a.after || !c.after)
    return a.after ? a : c;
  return a.after->isBeforeInBlock(c.after) ? c : a;
}

void FiberAnalysis::add(Operation *marker, ValueRange dims) {
  Insert insert{marker, SmallVector<Value>(dims), {}};
  Block *at = marker->getBlock();
  Point latest;
  for (unsigned d : fiberDims()) {
    Point point = definedAt(insert.dims[d]);
    // What is defined outside of the loops is known everywhere.
    bool inside = point.block != root && root->findAncestorOpInBlock(*point.block->getParentOp());
    if (inside)
      latest = latest.block ? laterOf(latest, point) : point;
  }
  insert.point = latest.block ? latest : Point{at, marker};
  inserts.push_back(insert);
}

/// No other insert, of perhaps another fiber, runs between the point and this insert.
bool FiberAnalysis::canHoist(const Insert &insert) const {
  Operation *scope = insert.point.block->getParentOp();
  for (const Insert &other : inserts) {
    bool same = other.point == insert.point &&
                llvm::all_of(fiberDims(), [&](unsigned d) { return other.dims[d] == insert.dims[d]; });
    if (!same && scope->isProperAncestor(other.marker) &&
        insert.point.block->findAncestorOpInBlock(*other.marker))
      return false;
  }
  return true;
}

/// A loop that has an iteration for each coordinate, not for each position that has it.
static bool visitsOnce(Operation *loop) {
  if (isa<CoiterateOp>(loop))
    return true;
  auto iterate = dyn_cast<IterateOp>(loop);
  if (!iterate || !iterate.getEach())
    return bool(iterate);
  auto space = dyn_cast<SpaceType>(iterate.getSpace().getType());
  return !space || space.getEncoding().getValue().levels[size_t(space.getLevel())].format.unique;
}

/// Each iteration of the block is one fiber, and the only one with these coordinates: the fiber is made of
/// the coordinates of loops around each other, with no other loop around or between them.
bool FiberAnalysis::isOneIteration(const Insert &insert) const {
  std::vector<Value> wanted;
  for (unsigned l = 0; l < levels; ++l) {
    if (order.levels[l]->kind != ExprKind::Dim)
      return false;
    wanted.push_back(insert.dims[size_t(order.levels[l]->value)]);
  }
  if (insert.point.after)
    return false;
  for (Block *block = insert.point.block; block != root; block = block->getParentOp()->getBlock()) {
    Operation *loop = block->getParentOp();
    if (isa<scf::IfOp>(loop))
      continue;
    if (!visitsOnce(loop) || wanted.empty() || wanted.back() != block->getArgument(0))
      return false;
    wanted.pop_back();
  }
  return wanted.empty();
}

bool FiberAnalysis::endsKnown() const {
  return levels > 0 && llvm::all_of(inserts, [&](const Insert &insert) {
           return isOneIteration(insert) && canHoist(insert);
         });
}

bool FiberAnalysis::oneIterationEach(const Stream &stream, unsigned levels) {
  FiberAnalysis fibers(stream.order, levels, &stream.loops->front());
  for (InsertOp insert : insertsOf(*stream.loops))
    fibers.add(insert, insert.getCoordinates());
  return fibers.endsKnown();
}

} // namespace tulle::assemble
