// Loops where one coordinate can hold most of the work: a dense row of a matrix.
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/parallel/Share.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::parallel {

/// Pieces for each thread of rounds that store apart: how long one takes depends on where its operands are
/// too (SpMM with two threads: 0.93 of the time of one piece for each). Finding and handing out one takes 0.7
/// microseconds: SpMV on `grid2d:200` takes 39 so, 47 with as many pieces (Zen 5).
static Value piecesOf(OpBuilder &b, Location loc, Value parts, Value work, const iteration::Costs &costs) {
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
  Value of = arith::MulIOp::create(b, loc, parts, constant(costs.workPerPiece));
  Value each = arith::MinUIOp::create(b, loc, arith::DivUIOp::create(b, loc, work, of),
                                      constant(costs.piecesPerThread));
  return severalEach(b, loc, parts, arith::MaxUIOp::create(b, loc, each, constant(1)));
}

/// A copy of the loop over other coordinates and with another start.
static IterateOp copyOf(OpBuilder &b, IterateOp loop, Value space, ValueRange inits) {
  auto copy = cast<IterateOp>(b.clone(*loop));
  copy.getSpaceMutable().assign(space);
  copy.getInitsMutable().assign(inits);
  return copy;
}

/// Whether the loop walks what is stored below one coordinate of `outer` only.
static bool walksBelow(IterateOp outer, IterateOp inner) {
  auto space = inner.getSpace().getDefiningOp<SpaceOp>();
  if (!space || !space.getParent())
    return false;
  Value parent = space.getParent();
  if (parent.getParentBlock() != &outer.getBody().front())
    return false;
  auto locate = parent.getDefiningOp<LocateOp>();
  return !locate || locate.getCoordinate() == outer.getBody().getArgument(0);
}

/// Shares the loops over what one coordinate holds; returns of how many equal shares for each thread it has
/// to hold more than one for that, or nothing where there is no such loop.
static std::optional<int64_t> shareWithin(IterateOp loop, const Settings &settings) {
  SmallVector<IterateOp> inner;
  for (IterateOp op : loop.getBody().getOps<IterateOp>())
    if (walksBelow(loop, op))
      inner.push_back(op);
  std::optional<int64_t> shares;
  for (IterateOp op : inner)
    if (shareRounds(op, settings) || sharePartials(op, settings))
      shares = shares.value_or(settings.costs.sharesPerPart);
    else if (shareInside(op, settings))
      shares = 1; // every thread walks all entries: no gain where others have as much to do meanwhile
  return shares;
}

static bool hasOrder(IterateOp loop) {
  auto type = dyn_cast<SpaceType>(loop.getSpace().getType());
  if (!type)
    return bool(weights(loop));
  const format::LevelFormat &level = type.getEncoding().getValue().levels[type.getLevel()].format;
  return level.ordered &&
         (level.kind == format::LevelKind::Compressed || level.kind == format::LevelKind::Dense);
}

/// Coordinates with more than a share become loops of their own:
///
///   from = 0
///   for each share: if a heavy coordinate ends it, or it is the last
///     parallel: what lies between `from` and there
///     the heavy coordinate, its inner loops in parallel
///     from = what follows
bool shareHeavyRounds(Operation *op, const Settings &settings) {
  auto loop = dyn_cast<IterateOp>(op);
  if (!loop || !canCut(loop) || loop.getEach() || !hasOrder(loop))
    return false;
  const bool adds = addsToValues(loop);
  if (!adds && (loop.getKind() != LoopKind::Parallel || !carriesTensorsOnly(loop)))
    return false;
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  // Tried on a copy: nothing is left behind where it does not apply.
  IterateOp heavy = copyOf(b, loop, loop.getSpace(), loop.getInits());
  const std::optional<int64_t> sharesPerPart = shareWithin(heavy, settings);
  if (!sharesPerPart) {
    heavy->erase();
    return false;
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  Value all = work(b, loop);
  Value parts = ThreadsOp::create(b, loc, all, settings.deterministic);
  Value shares = severalEach(b, loc, parts, arith::ConstantIndexOp::create(b, loc, *sharesPerPart));
  Value pieces = adds ? parts : piecesOf(b, loc, parts, all, settings.costs);
  Value final = arith::SubIOp::create(b, loc, shares, one);

  SmallVector<Value> inits{zero};
  llvm::append_range(inits, loop.getInits());
  auto each = scf::ForOp::create(b, loc, zero, shares, one, inits);
  loop.replaceAllUsesWith(each.getResults().drop_front());
  b.setInsertionPointToEnd(each.getBody());
  Value from = each.getRegionIterArgs().front(), share = each.getInductionVar();
  ValueRange carried = each.getRegionIterArgs().drop_front();
  auto found = HeavyOp::create(b, loc, b.getIndexType(), b.getIndexType(), loop.getSpace(), share, shares,
                               weights(loop));
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  Value isHeavy = compare(arith::CmpIPredicate::ult, found.getBegin(), found.getEnd());
  Value isLast = compare(arith::CmpIPredicate::eq, share, final);
  Value isNew = compare(arith::CmpIPredicate::uge, found.getBegin(), from);
  Value stop = arith::AndIOp::create(b, loc, arith::OrIOp::create(b, loc, isHeavy, isLast), isNew);
  auto branch = scf::IfOp::create(b, loc, ValueRange(inits).getTypes(), stop, /*withElseRegion=*/true);
  scf::YieldOp::create(b, loc, branch.getResults());
  OpBuilder::atBlockEnd(branch.elseBlock()).create<scf::YieldOp>(loc, each.getRegionIterArgs());

  b.setInsertionPointToStart(branch.thenBlock());
  Value light = SliceOp::create(b, loc, loop.getSpace().getType(), loop.getSpace(), from, found.getBegin());
  loop->moveBefore(branch.thenBlock(), b.getInsertionPoint());
  Value space = loop.getSpace();
  Value tensor = weights(loop);
  // Heavy coordinates may follow each other: nothing wakes threads for what lies between.
  Value some = compare(arith::CmpIPredicate::ult, from, found.getBegin());
  Value wanted = arith::SelectOp::create(b, loc, some, pieces, one);
  ValueRange lightResults = loop.getResults();
  if (adds) {
    loop.getSpaceMutable().assign(light);
    loop.getInitsMutable().assign(carried);
  } else {
    lightResults = region(b, loc, wanted, carried, [&](Value part, ValueRange now) {
      Value piece = PartOp::create(b, loc, light.getType(), light, part, wanted, tensor);
      loop->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
      loop.getSpaceMutable().assign(piece);
      loop.getInitsMutable().assign(now);
      return SmallVector<Value>(loop.getResults());
    });
  }
  auto within = scf::IfOp::create(b, loc, loop.getResultTypes(), isHeavy, /*withElseRegion=*/true);
  SmallVector<Value> next{found.getEnd()};
  llvm::append_range(next, within.getResults());
  scf::YieldOp::create(b, loc, next);
  OpBuilder::atBlockEnd(within.elseBlock()).create<scf::YieldOp>(loc, lightResults);
  b.setInsertionPointToStart(within.thenBlock());
  Value only = SliceOp::create(b, loc, space.getType(), space, found.getBegin(), found.getEnd());
  heavy->moveBefore(within.thenBlock(), b.getInsertionPoint());
  heavy.getSpaceMutable().assign(only);
  heavy.getInitsMutable().assign(lightResults);
  scf::YieldOp::create(b, loc, heavy.getResults());
  if (adds) {
    loop->moveAfter(wanted.getDefiningOp());
    sharePartials(loop, wanted);
  }
  return true;
}

} // namespace tulle::parallel
