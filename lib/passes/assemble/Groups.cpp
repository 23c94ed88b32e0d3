#include "passes/assemble/Groups.h"
#include "levels/Control.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <set>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;
using format::ExprKind;

Groups::Groups(OpBuilder &b, const Target &target, const Order &order, unsigned levels)
    : Groups(target, order, levels, b.getInsertionBlock()) {
  // No coordinate is -1 in a map of digits, so that the first entry starts a group.
  Value none = arith::ConstantIndexOp::create(b, target.loc, -1);
  for (unsigned l = 0; l < levels; ++l)
    current.emplace_back(b, target.loc, none);
}

static void collectDims(const format::Expr &e, std::set<unsigned> &dims) {
  if (!e)
    return;
  if (e->kind == ExprKind::Dim)
    dims.insert(unsigned(e->value));
  collectDims(e->lhs, dims);
  collectDims(e->rhs, dims);
}

/// The dimensions whose coordinates make the group.
std::vector<unsigned> Groups::groupDims() const {
  std::set<unsigned> dims;
  for (unsigned l = 0; l < levels; ++l)
    collectDims(order.levels[l], dims);
  return {dims.begin(), dims.end()};
}

Groups::Point Groups::definedAt(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return {argument.getOwner(), nullptr};
  return {value.getDefiningOp()->getBlock(), value.getDefiningOp()};
}

/// Of two points that both dominate an insert.
Groups::Point Groups::laterOf(const Point &a, const Point &c) const {
  if (a.block != c.block)
    return a.block->findAncestorOpInBlock(*c.block->getParentOp()) ? c : a;
  if (!a.after || !c.after)
    return a.after ? a : c;
  return a.after->isBeforeInBlock(c.after) ? c : a;
}

void Groups::place(Insert &insert) const {
  Block *at = insert.marker->getBlock();
  Point latest;
  for (unsigned d : groupDims()) {
    Point point = definedAt(insert.dims[d]);
    // What is defined outside of the loops is known everywhere.
    bool inside = point.block != root && root->findAncestorOpInBlock(*point.block->getParentOp());
    if (inside)
      latest = latest.block ? laterOf(latest, point) : point;
  }
  insert.point = latest.block ? latest : Point{at, insert.marker};
}

void Groups::atInsert(OpBuilder &b, ValueRange dims) {
  if (levels == 0)
    return;
  Operation *marker = arith::ConstantIndexOp::create(b, target.loc, 0);
  inserts.push_back({marker, Values(dims), {}});
  place(inserts.back());
}

/// No other insert, of perhaps another group, runs between the point and this insert.
bool Groups::canHoist(const Insert &insert) const {
  Operation *scope = insert.point.block->getParentOp();
  for (const Insert &other : inserts) {
    bool same = other.point.block == insert.point.block && other.point.after == insert.point.after &&
                llvm::all_of(groupDims(), [&](unsigned d) { return other.dims[d] == insert.dims[d]; });
    if (!same && scope->isProperAncestor(other.marker) &&
        insert.point.block->findAncestorOpInBlock(*other.marker))
      return false;
  }
  return true;
}

/// A loop that has a pass for each coordinate, not for each position that has it.
static bool visitsOnce(Operation *loop) {
  if (isa<CoiterateOp>(loop))
    return true;
  auto iterate = dyn_cast<IterateOp>(loop);
  if (!iterate || !iterate.getEach())
    return bool(iterate);
  auto space = dyn_cast<SpaceType>(iterate.getSpace().getType());
  return !space || space.getEncoding().getValue().levels[size_t(space.getLevel())].format.unique;
}

/// Each pass through the block is one group, and the only one with these coordinates: the group is made of
/// the coordinates of loops around each other, with no other loop around or between them.
bool Groups::onePassEach(const Insert &insert) const {
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

Values Groups::coordinates(OpBuilder &b, const Insert &insert) const {
  // Coordinates of other dimensions may not be known here, and do not matter.
  Values known(insert.dims.size(), arith::ConstantIndexOp::create(b, target.loc, 0));
  for (unsigned d : groupDims())
    known[d] = insert.dims[d];
  Values all = target.levelCoordinates(b, known);
  return Values(ArrayRef<Value>(all).take_front(levels));
}

static Values valuesOf(OpBuilder &b, const std::vector<Register> &registers) {
  Values values;
  for (const Register &r : registers)
    values.push_back(r.get(b));
  return values;
}

/// When the group changes, the one before is complete.
void Groups::checkAt(OpBuilder &b, const Insert &insert, Complete complete) const {
  Values now = coordinates(b, insert), before = valuesOf(b, current);
  Value changed;
  for (unsigned l = 0; l < levels; ++l) {
    Value differs = arith::CmpIOp::create(b, target.loc, CmpIPredicate::ne, now[l], before[l]);
    changed = changed ? Value(arith::OrIOp::create(b, target.loc, changed, differs)) : differs;
  }
  auto branch = scf::IfOp::create(b, target.loc, changed, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  complete(b, before);
  for (unsigned l = 0; l < levels; ++l)
    current[l].set(b, now[l]);
}

bool Groups::endsKnown() const {
  return levels > 0 &&
         llvm::all_of(inserts, [&](const Insert &insert) { return onePassEach(insert) && canHoist(insert); });
}

bool Groups::arePasses(const Target &target, AssembleOp op, const Order &order, unsigned levels) {
  Groups groups(target, order, levels, &op.getBody().front());
  op->walk([&](InsertOp insert) {
    groups.inserts.push_back({insert, Values(insert.getCoordinates()), {}});
    groups.place(groups.inserts.back());
  });
  return groups.endsKnown();
}

void Groups::finish(OpBuilder &b, Complete complete) {
  std::vector<Insert> done;
  bool atEnds = endsKnown();
  for (const Insert &insert : inserts) {
    bool hoisted = canHoist(insert);
    if (hoisted && llvm::any_of(done, [&](const Insert &other) {
          return other.point.block == insert.point.block && other.point.after == insert.point.after;
        }))
      continue;
    OpBuilder::InsertionGuard guard(b);
    if (hoisted)
      done.push_back(insert);
    if (atEnds) {
      b.setInsertionPoint(insert.point.block->getTerminator());
      complete(b, coordinates(b, insert));
      continue;
    }
    const Point &point = hoisted ? insert.point : Point{insert.marker->getBlock(), insert.marker};
    if (point.after)
      b.setInsertionPointAfter(point.after);
    else
      b.setInsertionPointToStart(point.block);
    checkAt(b, insert, complete);
  }
  if (!atEnds)
    complete(b, valuesOf(b, current));
}

} // namespace tulle::assemble
