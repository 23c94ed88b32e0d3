// What makes rows fit for tiles: a nest at the end of each whose bounds they share, before it only loads, and
// a vector of an operand that is the same for all of them.
#include "passes/register_tile/RowNest.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/analysis/RowGroups.h"

namespace tulle::passes {

using namespace mlir;

static bool hasBoundsOutside(scf::ForOp loop, scf::ForOp rows) {
  return rows.isDefinedOutsideOfLoop(loop.getLowerBound()) &&
         rows.isDefinedOutsideOfLoop(loop.getUpperBound());
}

bool knowsBounds(const ReductionNest &nest, scf::ForOp rows) {
  return hasBoundsOutside(nest.inner, rows) &&
         llvm::all_of(nest.outers, [&](scf::ForOp loop) { return hasBoundsOutside(loop, rows); });
}

/// Whether something is read before the loops over p that may exist only where an iteration does something.
static bool readsBeforeGuards(const ReductionNest &nest) {
  scf::ForOp inner = nest.inner;
  return llvm::any_of(inner.getOps<memref::LoadOp>(), [&](memref::LoadOp load) {
    return load != nest.load && nest.isOuterInvariant(load.getOperation());
  });
}

/// The nest that an operation of a row is, which may be in a branch.
static std::optional<ReductionNest> nestOf(scf::ForOp rows, Operation *last) {
  auto outer = dyn_cast_if_present<scf::ForOp>(last);
  auto branch = outer ? scf::IfOp() : dyn_cast_if_present<scf::IfOp>(last);
  if (branch)
    outer = loopInBranch(branch);
  if (!outer)
    return std::nullopt;
  auto below = [](scf::ForOp loop) {
    scf::ForOp inner = innerLoop(loop);
    return inner ? inner : guardedLoop(loop);
  };
  for (scf::ForOp inner = below(outer); inner && below(inner); inner = below(inner))
    outer = inner;
  std::optional<ReductionNest> nest = matchReductionNest(outer, Guards::OuterLoops);
  if (!nest || nest->top()->getParentOp() != (branch ? branch.getOperation() : rows.getOperation()))
    return std::nullopt;
  nest->branch = branch;
  memref::StoreOp store = nest->store;
  // Elements of a row are initialized where it lacks the branch, too.
  if (!nest->isOuterInvariant(store.getIndices()[0]) || (nest->isGuarded() && readsBeforeGuards(*nest)) ||
      nest->load->getParentOp() != nest->inner || nest->legality.gathers || nest->legality.scatters ||
      nest->legality.branches)
    return std::nullopt;
  scf::ForOp inner = nest->inner;
  const bool sameBounds =
      knowsBounds(*nest, rows) ||
      (!branch && nest->outers.size() == 1 && isZero(nest->top().getLowerBound()) &&
       isSameForAll(inner.getLowerBound(), rows) && isSameForAll(inner.getUpperBound(), rows));
  return sameBounds ? nest : std::nullopt;
}

/// Whether the operations of a row before its nest only load, but for the initialization: then they may run
/// before the rows above are stored, since rows are independent.
static bool onlyLoadsBefore(RowNest &found) {
  memref::StoreOp store = found.nest.store;
  return llvm::all_of(found.rows.getBody()->without_terminator(), [&](Operation &op) {
    if (&op == found.nest.root() || (found.init && &op == found.init->loop) ||
        (found.use && &op == found.use->done()))
      return true;
    auto load = dyn_cast<memref::LoadOp>(op);
    return onlyLoads(&op) && !(load && load.getMemRef() == store.getMemRef());
  });
}

/// Whether the nest updates all elements that are initialized, if the inner loop is as long at run time.
static bool updatesInitialized(RowNest &found) {
  memref::StoreOp store = found.nest.store;
  scf::ForOp inner = found.nest.inner, rows = found.rows;
  std::optional<Value> offset = offsetFrom(store.getIndices()[0], inner);
  return isZero(inner.getLowerBound()) && offset && *offset == found.init->offset &&
         rows.isDefinedOutsideOfLoop(found.init->size);
}

/// The nest at the end of a row, but for a loop that takes what it computes.
static std::optional<ReductionNest> nestOf(scf::ForOp rows, std::optional<FusedUse> &use) {
  Operation *last = rows.getBody()->getTerminator()->getPrevNode();
  std::optional<ReductionNest> nest = last ? nestOf(rows, last) : std::nullopt;
  if (nest || !isa_and_present<scf::ForOp>(last))
    return nest;
  Operation *before = last->getPrevNode();
  while (before && before->getNumRegions() == 0 && isMemoryEffectFree(before))
    before = before->getPrevNode();
  nest = before ? nestOf(rows, before) : std::nullopt;
  if (nest)
    use = FusedUse::find(*nest);
  return use && use->done() == last ? nest : std::nullopt;
}

std::optional<RowNest> matchRowNest(scf::ForOp rows) {
  if (!canGroup(rows))
    return std::nullopt;
  std::optional<FusedUse> use;
  std::optional<ReductionNest> nest = nestOf(rows, use);
  if (!nest || isBodyScheduled(nest->top()) || isPrefetchScheduled(nest->outer()) ||
      fixedLanes(nest->inner) != 0 || !sharesOperand(nest->legality, rows, nest->load))
    return std::nullopt;
  RowNest found{rows, std::move(*nest), {}, std::move(use)};
  memref::StoreOp store = found.nest.store;
  found.init = findInitLoop(found.nest.root(), store.getMemRef());
  const bool fits = !found.init || (knowsBounds(found.nest, rows) && updatesInitialized(found));
  return fits && onlyLoadsBefore(found) ? std::optional(std::move(found)) : std::nullopt;
}

SmallVector<memref::LoadOp> streamsOf(RowNest &found) {
  SmallVector<memref::LoadOp> streams;
  scf::ForOp outer = found.nest.top(), rows = found.rows;
  if (found.nest.outers.size() > 1 || found.nest.isGuarded())
    return streams;
  for (memref::LoadOp load : outer.getBody()->getOps<memref::LoadOp>()) {
    std::optional<Value> start = offsetFrom(load.getIndices()[0], outer);
    auto isComputed = [&](Value value) -> std::optional<bool> {
      if (value == rows.getInductionVar() || rows.isDefinedOutsideOfLoop(value))
        return true;
      Operation *op = value.getDefiningOp();
      return op && isMemoryEffectFree(op) && op->getBlock() == rows.getBody() ? std::nullopt
                                                                              : std::optional(false);
    };
    if (isa<BlockArgument>(load.getMemRef()) && start && *start && acceptsSlice(*start, isComputed) &&
        !rows.isDefinedOutsideOfLoop(*start))
      streams.push_back(load);
  }
  return streams;
}

SmallVector<Value> costlyValues(RowNest &found) {
  scf::ForOp outer = found.nest.top(), inner = found.nest.inner;
  llvm::SetVector<Value> values;
  if (found.nest.outers.size() > 1 || found.nest.isGuarded())
    return {};
  inner->walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      auto isCheap = [&](Value value) -> std::optional<bool> {
        Operation *of = value.getDefiningOp();
        if (!of || of->getBlock() != outer.getBody())
          return true;
        const bool costly =
            isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
                of) ||
            isa<math::MathDialect>(of->getDialect());
        return costly ? std::optional(false) : std::nullopt;
      };
      if (Operation *of = operand.getDefiningOp();
          of && of->getBlock() == outer.getBody() && of->getNumRegions() == 0 &&
          operand.getType().isIntOrFloat() && operand.getType().getIntOrFloatBitWidth() >= 8 &&
          !acceptsSlice(operand, isCheap))
        values.insert(operand);
    }
  });
  return values.takeVector();
}

} // namespace tulle::passes
