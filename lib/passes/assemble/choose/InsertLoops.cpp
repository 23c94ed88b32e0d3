// Finds the loops by their structure: no op but the outermost loop has an effect. A fiber ends with an
// iteration where its coordinates are those of the loops around each other, and of no other loop.
#include "passes/assemble/choose/InsertLoops.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/parallel/SetLoops.h"
#include <set>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::ExprKind;
using format::LevelKind;

SmallVector<InsertOp> insertsIn(ArrayRef<Operation *> ops) {
  SmallVector<InsertOp> inserts;
  for (Operation *op : ops)
    op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
      if (isa<AssembleOp, EntriesOp>(inner))
        return WalkResult::skip();
      if (auto insert = dyn_cast<InsertOp>(inner))
        inserts.push_back(insert);
      return WalkResult::advance();
    });
  return inserts;
}

static SmallVector<Operation *> opsOf(Region &loops) {
  return llvm::map_to_vector(loops.front(), [](Operation &inner) { return &inner; });
}

SmallVector<InsertOp> insertsOf(Region &loops) { return insertsIn(opsOf(loops)); }

SmallVector<Operation *> outermostLoops(ArrayRef<Operation *> ops) {
  SmallVector<Operation *> found;
  for (Operation *op : ops) {
    if (isMemoryEffectFree(op))
      continue;
    if (!parallel::isLoop(op))
      return {};
    found.push_back(op);
  }
  return found;
}

SmallVector<Operation *> outermostLoops(Region &loops) { return outermostLoops(opsOf(loops)); }

Operation *outermostLoop(ArrayRef<Operation *> ops) {
  const SmallVector<Operation *> found = outermostLoops(ops);
  return found.size() == 1 ? found.front() : nullptr;
}

Operation *outermostLoop(Region &loops) { return outermostLoop(opsOf(loops)); }

bool canPartition(Region &loops) {
  auto loop = dyn_cast_or_null<IterateOp>(outermostLoop(loops));
  return loop && loop.getNumResults() == 0 && parallel::canPartition(loop);
}

std::optional<int64_t> alignmentOf(Region &loops, const format::Encoding &target) {
  Operation *loop = outermostLoop(loops);
  if (!loop || target.levels.empty())
    return std::nullopt;
  // Variables of `let` would have to be written out; no block's first level has any.
  format::Expr e = target.levels[0].expr;
  int64_t alignment = 1;
  if (e->kind == ExprKind::FloorDiv && e->rhs->kind == ExprKind::Constant) {
    alignment = e->rhs->value;
    e = e->lhs;
  }
  if (e->kind != ExprKind::Dim || alignment < 1)
    return std::nullopt;
  auto iterate = dyn_cast<IterateOp>(loop);
  auto space = iterate ? dyn_cast<SpaceType>(iterate.getSpace().getType()) : SpaceType();
  bool full = iterate && (!space || space.getEncoding().getValue().levels[space.getLevel()].format.kind ==
                                        LevelKind::Dense);
  if (alignment > 1 && !full)
    return std::nullopt;
  bool all = llvm::all_of(insertsOf(loops), [&](InsertOp insert) {
    auto argument = dyn_cast<BlockArgument>(insert.getCoordinates()[size_t(e->value)]);
    return argument && argument.getArgNumber() == 0 && argument.getOwner()->getParentOp() == loop;
  });
  return all ? std::optional(alignment) : std::nullopt;
}

namespace {

/// A sum of sizes of dimensions and a number.
struct SizeSum {
  SmallVector<std::pair<Value, int64_t>> sizes; ///< of a dimension of a tensor
  int64_t number = 0;

  bool add(Value value) {
    APInt known;
    if (matchPattern(value, m_ConstantInt(&known)))
      return number += known.getSExtValue(), true;
    if (auto sum = value.getDefiningOp<arith::AddIOp>())
      return add(sum.getLhs()) && add(sum.getRhs());
    auto size = value.getDefiningOp<tensor::DimOp>();
    const std::optional<int64_t> dim = size ? size.getConstantIndex() : std::nullopt;
    if (dim)
      sizes.push_back({size.getSource(), *dim});
    return bool(dim);
  }
  void add(TypedValue<RankedTensorType> tensor, int64_t dim) {
    if (tensor.getType().isDynamicDim(unsigned(dim)))
      sizes.push_back({tensor, dim});
    else
      number += tensor.getType().getDimSize(unsigned(dim));
  }
  bool operator==(SizeSum other) const {
    for (const auto &size : sizes) {
      auto *same = llvm::find(other.sizes, size);
      if (same == other.sizes.end())
        return false;
      other.sizes.erase(same);
    }
    return other.sizes.empty() && number == other.number;
  }
};

} // namespace

/// What is added to the loop's coordinate in that dimension of all inserts below; nothing where they have
/// another one.
static std::optional<SizeSum> shiftOf(IterateOp loop, unsigned dim) {
  std::optional<SizeSum> found;
  for (InsertOp insert : insertsIn({loop.getOperation()})) {
    Value coordinate = insert.getCoordinates()[dim], own = loop.getBody().getArgument(0);
    SizeSum shift;
    auto sum = coordinate.getDefiningOp<arith::AddIOp>();
    if (sum && sum.getRhs() == own ? !shift.add(sum.getLhs()) : coordinate != own)
      return std::nullopt;
    if (found && !(*found == shift))
      return std::nullopt;
    found = shift;
  }
  return found;
}

bool followEachOther(Region &loops, const format::Encoding &target) {
  if (target.levels.empty() || target.levels[0].expr->kind != ExprKind::Dim)
    return false;
  const auto dim = unsigned(target.levels[0].expr->value);
  std::optional<SizeSum> reached;
  for (Operation *op : outermostLoops(loops)) {
    auto loop = dyn_cast<IterateOp>(op);
    auto space = loop && loop.getNumResults() == 0 ? loop.getSpace().getDefiningOp<SpaceOp>() : SpaceOp();
    if (!space || space.getLevel() != 0 || space.getCondition() || !parallel::canPartition(loop))
      return false;
    const format::Expr &own = encodingOf(space).levels[0].expr;
    std::optional<SizeSum> shift = own->kind == ExprKind::Dim ? shiftOf(loop, dim) : std::nullopt;
    if (!shift || (reached && !(*shift == *reached)))
      return false;
    reached = shift;
    reached->add(cast<TypedValue<RankedTensorType>>(space.getTensor()), own->value);
  }
  return reached.has_value();
}

/// The dimension whose coordinate in all inserts is that of the loop's iteration; null without one.
static std::optional<unsigned> dimensionOf(IterateOp loop, Region &loops) {
  SmallVector<InsertOp> inserts = insertsOf(loops);
  for (unsigned d = 0; !inserts.empty() && d < inserts[0].getCoordinates().size(); ++d)
    if (llvm::all_of(inserts, [&](InsertOp insert) {
          return insert.getCoordinates()[d] == loop.getBody().getArgument(0);
        }))
      return d;
  return std::nullopt;
}

std::optional<unsigned> iterationDimension(Region &loops) {
  auto loop = dyn_cast_or_null<IterateOp>(outermostLoop(loops));
  auto space = loop && loop.getNumResults() == 0 ? loop.getSpace().getDefiningOp<SpaceOp>() : SpaceOp();
  if (!space)
    return std::nullopt;
  const auto &levels = getEncoding(space.getTensor().getType()).getValue().levels;
  // A level whose coordinates follow from those above may leave some of these out.
  if (space.getLevel() != 0 || levels[0].format.kind != LevelKind::Dense ||
      levels[0].expr->kind != ExprKind::Dim ||
      (levels.size() > 1 && levels[1].format.kind == LevelKind::Offset))
    return std::nullopt;
  return dimensionOf(loop, loops);
}

std::optional<unsigned> dimensionOfChunks(Region &loops) {
  if (!canPartition(loops))
    return std::nullopt;
  auto loop = cast<IterateOp>(outermostLoop(loops));
  if (auto space = loop.getSpace().getDefiningOp<SpaceOp>())
    if (space.getLevel() != 0 || !encodingOf(space).levels[0].format.unique)
      return std::nullopt;
  return dimensionOf(loop, loops);
}

void hoistBounds(AssembleOp op) {
  for (Operation &inner : llvm::make_early_inc_range(op.getBody().front()))
    if (inner.getNumRegions() == 0 && isMemoryEffectFree(&inner) &&
        llvm::all_of(inner.getResultTypes(), llvm::IsaPred<IndexType>) &&
        llvm::none_of(inner.getOperands(),
                      [&](Value operand) { return op.getBody().isAncestor(operand.getParentRegion()); }))
      inner.moveBefore(op);
}

//===--- Blocks ---===//

const format::Encoding &encodingOf(SpaceOp space) {
  return cast<SpaceType>(space.getResult().getType()).getEncoding().getValue();
}

/// Whether it is known before the loop whether it has an iteration: by the size of a level, or by its ends.
static bool isCountable(Region &loops, IterateOp loop, bool first) {
  if (loop.getNumResults() != 0)
    return false;
  if (auto range = loop.getSpace().getDefiningOp<RangeOp>())
    return llvm::none_of(range->getOperands(),
                         [&](Value operand) { return loops.isAncestor(operand.getParentRegion()); });
  auto space = loop.getSpace().getDefiningOp<SpaceOp>();
  if (!first || !space)
    return false;
  const format::LevelFormat &level = encodingOf(space).levels[size_t(space.getLevel())].format;
  return level.kind == LevelKind::Compressed && level.unique && !level.padded;
}

std::optional<BlockLoops> matchBlockLoops(const TargetFacts &target, const Stream &stream) {
  SmallVector<InsertOp> inserts = insertsOf(*stream.loops);
  const format::Expr &last = stream.order.levels[target.storedLevels() - 1];
  if (inserts.size() != 1 || last->kind != ExprKind::Dim)
    return std::nullopt;
  auto coordinate = dyn_cast<BlockArgument>(inserts[0].getCoordinates()[size_t(last->value)]);
  if (!coordinate)
    return std::nullopt;
  BlockLoops around;
  for (Block *block = inserts[0]->getBlock(); block != coordinate.getOwner();) {
    auto loop = dyn_cast<IterateOp>(block->getParentOp());
    if (!loop || !stream.loops->isAncestor(loop->getParentRegion()))
      return std::nullopt;
    around.insert(around.begin(), loop);
    block = loop->getBlock();
  }
  for (IterateOp loop : around)
    if (!isCountable(*stream.loops, loop, loop == around.front()))
      return std::nullopt;
  return around.empty() ? std::nullopt : std::optional(around);
}

//===--- Fibers ---===//

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

/// The operation that adds a number that is known outside of the loops to the coordinate of the loop it
/// stands in; null of other operations.
arith::AddIOp FiberAnalysis::shiftOf(Operation *op) const {
  auto add = dyn_cast_or_null<arith::AddIOp>(op);
  auto argument = add ? dyn_cast<BlockArgument>(add.getRhs()) : BlockArgument();
  const bool isShift = argument && argument.getOwner() == add->getBlock() &&
                       !root->findAncestorOpInBlock(*add.getLhs().getParentBlock()->getParentOp());
  return isShift ? add : arith::AddIOp();
}

/// Each iteration of the block is one fiber, and the only one with these coordinates: the fiber is made of
/// the coordinates of loops around each other, with no other loop around or between them.
bool FiberAnalysis::isOneIteration(const Insert &insert) const {
  std::vector<Value> wanted;
  for (unsigned l = 0; l < levels; ++l) {
    if (order.levels[l]->kind != ExprKind::Dim)
      return false;
    Value coordinate = insert.dims[size_t(order.levels[l]->value)];
    auto shift = shiftOf(coordinate.getDefiningOp());
    wanted.push_back(shift ? shift.getRhs() : coordinate);
  }
  if (insert.point.after && !shiftOf(insert.point.after))
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
