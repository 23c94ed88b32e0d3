// Clones the operations of an outer loop that the addresses of an inner one's loads are computed from, for
// another iteration; a load among them is clamped to the last coordinate.
#include "passes/prefetch/PrefetchPlan.h"
#include "passes/analysis/LoopUtils.h"

namespace tulle::passes {

using namespace mlir;
using arith::CmpIPredicate;
using levels::IndicesAt;

std::optional<PrefetchPlan::Access> PrefetchPlan::accessOf(Operation &op) {
  auto made = [&](auto access) -> std::optional<Access> {
    Type element = access.getMemRefType().getElementType();
    if (access.getIndices().size() != 1 || !(element.isIntOrIndexOrFloat() || isa<ComplexType>(element)))
      return std::nullopt;
    return Access{&op, access.getMemRef(), access.getIndices()[0]};
  };
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return made(load);
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return made(store);
  return std::nullopt;
}

int64_t PrefetchPlan::elementsIn(int64_t bytes, const Access &access) {
  return bytes * 8 / bitsOf(cast<MemRefType>(access.buffer.getType()).getElementType());
}

PrefetchPlan::PrefetchPlan(OpBuilder &b, scf::ForOp outerLoop, const VectorizationLegality &inner,
                           const iteration::Cpu &cpu)
    : IndicesAt(b, outerLoop.getLoc()), outer(outerLoop), residentBytes(cpu.residentBytes),
      coreBytes(cpu.l2) {
  scf::ForOp loop = inner.loop;
  for (auto load : loop.getBody()->getOps<memref::LoadOp>()) {
    SetVector<Operation *> found;
    bool loads = false;
    const std::optional<Access> access = accessOf(*load);
    if (!access || inner.shapeOf(access->index) != LaneShape::Consecutive ||
        !outer.isDefinedOutsideOfLoop(access->buffer) || isPrefetchScheduled(loop, access->buffer) ||
        !addAddress(access->index, found, loads))
      continue;
    if (!loads && isFunctionOfIndex(access->index, loop, outer)) {
      shared.push_back(*access);
      continue;
    }
    if (!loads && !cpu.prefetchFollowing)
      continue;
    (loads ? rows : following).push_back(*access);
    addresses.insert(found.begin(), found.end());
  }
  findCoordinates();
}

PrefetchPlan::PrefetchPlan(OpBuilder &b, scf::ForOp loop, const iteration::Cpu &cpu)
    : IndicesAt(b, loop.getLoc()), outer(loop), residentBytes(cpu.residentBytes), coreBytes(cpu.l2) {
  if (scattersIntoOwn())
    return;
  llvm::DenseSet<std::pair<Value, Value>> seen;
  for (Operation &op : *loop.getBody()) {
    const std::optional<Access> access = accessOf(op);
    SetVector<Operation *> found;
    bool loads = false;
    if (!access || !loop.isDefinedOutsideOfLoop(access->buffer) ||
        isPrefetchScheduled(loop, access->buffer) || !addAddress(access->index, found, loads) || !loads ||
        hasFewerBytes(access->buffer, residentBytes) || !seen.insert({access->buffer, access->index}).second)
      continue;
    rows.push_back(*access);
    addresses.insert(found.begin(), found.end());
  }
  findCoordinates();
}

/// Whether threads divide the loop in this way.
static bool isDivided(scf::ForOp loop, dialect::Threads way) {
  const dialect::DirectivesAttr said = dialect::loopOf(loop).getDirectives();
  const dialect::ThreadsAttr threads = said ? said.getParallelize() : dialect::ThreadsAttr();
  return threads && threads.getValue() == way;
}

bool PrefetchPlan::scattersIntoOwn() const {
  for (scf::ForOp loop = outer; loop; loop = loop->getParentOfType<scf::ForOp>())
    if (isDivided(loop, dialect::Threads::Private))
      return false;
  return scf::ForOp(outer)
      ->walk([&](memref::StoreOp store) {
        SetVector<Operation *> found;
        bool loads = false;
        const bool isScatter = llvm::any_of(
            store.getIndices(), [&](Value index) { return !addAddress(index, found, loads) || loads; });
        return isScatter && !isa<BlockArgument>(store.getMemRef()) ? WalkResult::interrupt()
                                                                   : WalkResult::advance();
      })
      .wasInterrupted();
}

void PrefetchPlan::findCoordinates() {
  for (Operation *op : addresses)
    if (auto load = dyn_cast<memref::LoadOp>(op))
      coordinates.push_back(load);
}

bool PrefetchPlan::dependsOnLoop(scf::ForOp around) const {
  return !llvm::all_of(rows, [&](const Access &access) {
    return acceptsSlice(access.index, [&](Value value) -> std::optional<bool> {
      if (value.getParentBlock() == around.getBody())
        return false;
      Operation *op = value.getDefiningOp();
      return op && scf::ForOp(outer)->isAncestor(op) ? std::nullopt : std::optional(true);
    });
  });
}

/// Adds the operations of the outer loop's body that `value` depends on; fails where one of them loads at
/// another index than the loop's.
bool PrefetchPlan::addAddress(Value value, SetVector<Operation *> &found, bool &loads) const {
  scf::ForOp loop = outer;
  Operation *op = value.getDefiningOp();
  if (!op || loop.isDefinedOutsideOfLoop(value) || found.contains(op))
    return true;
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    if (op->getBlock() != loop.getBody() || load.getIndices()[0] != loop.getInductionVar())
      return false;
    loads = true;
  } else if (!isPure(op) || op->getNumRegions() != 0) {
    return false; // other iterations may never divide by what is 0 there
  }
  for (Value operand : op->getOperands())
    if (!addAddress(operand, found, loads))
      return false;
  // A branch around the inner loop computes them, too.
  Block *block = op->getBlock();
  if (auto guard = dyn_cast<scf::IfOp>(block->getParentOp()))
    block = guard->getBlock();
  if (block == loop.getBody())
    found.insert(op);
  return true;
}

void PrefetchPlan::cloneAddresses(Value p, IRMapping &map) {
  for (memref::LoadOp load : coordinates)
    p = min(p, sub(sizeOf(load.getMemRef()), constant(1)));
  cloneAddressesAt(p, map);
}

void PrefetchPlan::cloneAddressesAt(Value p, IRMapping &map) {
  map.map(scf::ForOp(outer).getInductionVar(), p);
  for (Operation *op : addresses)
    b.clone(*op, map);
}

Value PrefetchPlan::areRemote(const IRMapping &map, Value begin, Value end, int64_t least) {
  return ifThen(both(areLargerThan(residentBytes), isLess(begin, end)), [&] {
    Value last = max(sub(end, constant(1)), add(begin, constant(least)));
    return areRemoteAt(map, begin, last, residentBytes);
  });
}

Value PrefetchPlan::areScattered() {
  Value size;
  for (memref::LoadOp load : coordinates) {
    Value own = sizeOf(load.getMemRef());
    size = size ? min(size, own) : own;
  }
  constexpr int64_t pairs = 4, apart = 64;
  return ifThen(isLess(constant(1), size), [&] {
    Value any, part = divide(size, constant(2 * pairs));
    for (int64_t pair = 0; pair < pairs; ++pair) {
      Value first = times(part, constant(2 * pair + 1));
      any = either(any, areRemoteAt({}, first, add(first, constant(apart)), coreBytes / 2));
    }
    return any;
  });
}

Operation *PrefetchPlan::outermostPlace(ValueRange also) const {
  llvm::SetVector<Value> needed(llvm::from_range, also);
  for (memref::LoadOp load : coordinates)
    if (!isa<BlockArgument>(load.getMemRef()))
      return outer; // perhaps nothing is stored there yet before the loops around
  for (const Access &access : rows)
    needed.insert(access.buffer);
  for (Operation *op : addresses)
    needed.insert_range(op->getOperands());
  for (const Access &access : rows)
    acceptsSlice(access.index, [&](Value value) -> std::optional<bool> {
      Operation *op = value.getDefiningOp();
      if (op && scf::ForOp(outer)->isAncestor(op))
        return std::nullopt;
      needed.insert(value);
      return true;
    });
  Operation *place = outer;
  auto isOutside = [&](Operation *loop) {
    return llvm::none_of(needed, [&](Value value) {
      Operation *owner = value.getParentBlock()->getParentOp();
      return loop->isAncestor(owner) && !scf::ForOp(outer)->isAncestor(owner);
    });
  };
  while (isa<scf::ForOp>(place->getParentOp()) && isOutside(place->getParentOp()))
    place = place->getParentOp();
  return place;
}

Value PrefetchPlan::areConsecutive(const IRMapping &map, Value begin, Value end, int64_t elements) {
  return ifThen(isLess(begin, end), [&] {
    Value middle = add(begin, divide(sub(end, begin), constant(2)));
    const int64_t bytes =
        elements * bitsOf(cast<MemRefType>(rows.front().buffer.getType()).getElementType()) / 8;
    Value remote = areRemoteAt(map, middle, add(middle, constant(1)), bytes);
    Value close = arith::XOrIOp::create(b, loc, remote, boolean(true));
    return both(close, areLargerThan(2 * coreBytes));
  });
}

Value PrefetchPlan::areRemoteAt(const IRMapping &map, Value first, Value last, int64_t bytes) {
  Value zero = constant(0), any;
  IRMapping begin = map, end = map;
  cloneAddresses(first, begin);
  cloneAddresses(last, end);
  for (const Access &access : rows) {
    // first - limit <= last <= first + limit, as one unsigned comparison.
    const int64_t limit = elementsIn(bytes, access);
    Value distance = sub(indexAt(access, end, zero), indexAt(access, begin, zero));
    Value shifted = add(distance, constant(limit));
    any = either(any, is(CmpIPredicate::ugt, shifted, constant(2 * limit)));
  }
  return any;
}

Value PrefetchPlan::areLargerThan(int64_t bytes) {
  Value any;
  for (const Access &access : rows)
    any = either(any, is(CmpIPredicate::ugt, sizeOf(access.buffer), constant(elementsIn(bytes, access))));
  return any;
}

void PrefetchPlan::prefetch(const IRMapping &later, ValueRange iterations, bool intoL2) {
  for (const Access &access : rows)
    for (Value k : iterations)
      emitPrefetch(b, loc, access.buffer, indexAt(access, later, k), /*isWrite=*/false,
                   intoL2 ? kIntoL2 : kIntoL1);
}

void PrefetchPlan::prefetchFollowing(const IRMapping &later, Value iteration) {
  for (const Access &access : following)
    emitPrefetch(b, loc, access.buffer, indexAt(access, later, iteration));
}

void PrefetchPlan::prefetchShared(Value iteration) {
  for (const Access &access : shared)
    emitPrefetch(b, loc, access.buffer, indexAt(access, {}, iteration));
}

Value PrefetchPlan::indexAt(const Access &access, IRMapping map, Value k) {
  // The constant last: the lines of a row share the rest of the address.
  if (auto sum = k.getDefiningOp<arith::AddIOp>(); sum && matchPattern(sum.getRhs(), m_Constant()))
    return arith::AddIOp::create(b, access.op->getLoc(), indexAt(access, map, sum.getLhs()), sum.getRhs());
  map.map(cast<scf::ForOp>(access.op->getParentOp()).getInductionVar(), k);
  return cloneSlice(b, access.index, access.op->getBlock(), map);
}

//===--- Rows of a reduction ---===//

LaterRows::LaterRows(scf::ForOp around, const VectorizationLegality &inner, const iteration::CostModel &model)
    : Indices(around), around(around), loop(inner.loop), model(model), rows(b, around, inner, model.cpu),
      lineElements(std::max<int64_t>(1, model.cpu.line * 8 / int64_t(inner.widestBits))) {}

void LaterRows::emitBefore() {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(around);
  remote = rows.areRemote({}, around.getLowerBound(), around.getUpperBound(), model.cpu.prefetchRows);
  if (model.cpu.prefetchConsecutive > 0 && around.isDefinedOutsideOfLoop(loop.getLowerBound()) &&
      around.isDefinedOutsideOfLoop(loop.getUpperBound()))
    prefetchConsecutive();
}

/// Updates of shorter rows are in flight together as they are (experiment 077).
constexpr int64_t leastLines = 2;
/// Where iterations are listed by their destination, more lines are on their way than the L1 cache waits for:
/// so many iterations ahead, whole rows are prefetched into the L2 cache (experiment 083).
constexpr int64_t listedIterations = 24;

Value LaterRows::emitTest() {
  OpBuilder::InsertionGuard guard(b);
  isScattered = true;
  // Tasks run the iterations that their lists name; one that is alone and needs none loses nothing.
  isListed = isDivided(around, dialect::Threads::Destination);
  lines = isListed ? iteration::kWholeRow : model.cpu.prefetchRowLines;
  b.setInsertionPoint(rows.outermostPlace({loop.getLowerBound(), loop.getUpperBound()}));
  Value length = sub(loop.getUpperBound(), loop.getLowerBound());
  Value hasLines = is(arith::CmpIPredicate::sge, length, constant(leastLines * lineElements));
  return ifThen(both(rows.areLarge(), hasLines), [&] { return rows.areScattered(); });
}

void LaterRows::emitAt(OpBuilder &at, Value iteration, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.restoreInsertionPoint(at.saveInsertionPoint());
  if (remote) {
    auto branch = scf::IfOp::create(b, loc, remote, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  std::vector<IRMapping> later{size_t(count)};
  Value ahead = distance();
  for (auto [k, map] : llvm::enumerate(later)) {
    Value own = k == 0 ? iteration : add(iteration, constant(int64_t(k)));
    rows.cloneAddresses(add(own, ahead), map);
  }
  // Line by line of one row after the other: the hardware prefetcher follows a row (experiment 069).
  for (const IRMapping &map : later) {
    OpBuilder::InsertionGuard behind(b);
    Value line = enterLineLoop(lines);
    rows.prefetch(map, line, isListed || model.cpu.prefetchIntoL2);
    if (isScattered)
      rows.prefetchFollowing(map, line);
  }
}

/// Of rows that follow each other, the last iteration of the loop around is the one that selects what no row
/// before has read: what follows it is prefetched once, and what follows the row that all of them share.
void LaterRows::prefetchConsecutive() {
  Value begin = around.getLowerBound(), end = around.getUpperBound();
  Value follow = levels::ifElse(
      b, loc, remote, b.getI1Type(), [&] { return levels::Values{boolean(false)}; },
      [&] { return levels::Values{rows.areConsecutive({}, begin, end, model.cpu.prefetchConsecutive)}; })[0];
  auto branch = scf::IfOp::create(b, loc, follow, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  IRMapping last;
  rows.cloneAddresses(sub(end, constant(1)), last);
  Value distance = constant(model.cpu.prefetchConsecutive);
  Value behind = add(enterLineLoop(), distance);
  rows.prefetch(last, behind);
  rows.prefetchShared(behind);
}

/// The prefetch distance in iterations of the loop around: of wide rows, and of those that are copied or
/// updated beside others, fewer.
Value LaterRows::distance() {
  if (isListed)
    return constant(listedIterations);
  if (isScattered && model.cpu.prefetchIntoL2)
    return constant(model.cpu.prefetchWideRows);
  Value length = sub(loop.getUpperBound(), loop.getLowerBound());
  Value wide = is(arith::CmpIPredicate::sge, length, constant(model.costs.wideRow * lineElements));
  return select(wide, constant(model.cpu.prefetchWideRows), constant(model.cpu.prefetchRows));
}

/// Builds a loop over so many cache lines of the inner loop's operands, and goes on inside; returns its
/// index.
Value LaterRows::enterLineLoop(int64_t lines) {
  Value begin = loop.getLowerBound(), end = loop.getUpperBound();
  if (lines == 1)
    return begin;
  if (lines < iteration::kWholeRow)
    end = min(end, add(begin, constant(lines * lineElements)));
  auto each = scf::ForOp::create(b, loc, begin, end, constant(lineElements));
  disableLoopTransforms(each);
  b.setInsertionPointToStart(each.getBody());
  return each.getInductionVar();
}

//===--- Locality of gathers ---===//

SmallVector<Value> gatherCoordinates(const VectorizationLegality &legality) {
  scf::ForOp loop = legality.loop;
  SmallVector<Value> coordinates;
  loop.getBody()->walk([&](memref::LoadOp load) {
    Value index = load.getIndices()[0];
    memref::LoadOp coordinate = loadBehindCasts(index);
    if (coordinate && coordinate->getBlock() == loop.getBody() && index.getParentBlock() == loop.getBody() &&
        legality.shapeOf(index) == LaneShape::Varying && !llvm::is_contained(coordinates, index))
      coordinates.push_back(index);
  });
  return coordinates;
}

Value areLocal(OpBuilder &b, Location loc, const VectorizationLegality &legality, ArrayRef<Value> coordinates,
               const iteration::Cpu &cpu, Value first, Value last, const IRMapping &map) {
  IndicesAt at(b, loc);
  scf::ForOp loop = legality.loop;
  IRMapping atFirst = map, atLast = map;
  atFirst.map(loop.getInductionVar(), first);
  atLast.map(loop.getInductionVar(), last);
  Value local, limit = at.constant(cpu.localElements);
  for (Value coordinate : coordinates) {
    Value begin = cloneSlice(b, coordinate, loop.getBody(), atFirst);
    Value end = cloneSlice(b, coordinate, loop.getBody(), atLast);
    local = at.both(local, at.is(arith::CmpIPredicate::ult, at.sub(end, begin), limit));
  }
  return local;
}

} // namespace tulle::passes
