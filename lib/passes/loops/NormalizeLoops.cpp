// tulle-normalize-loops: loops over consecutive coordinates count these, and nothing else.
#include "passes/Passes.h"
#include "passes/analysis/LoopUtils.h"

namespace tulle::passes {
#define GEN_PASS_DEF_NORMALIZELOOPS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// What the index of a loop over a segment is beyond its lower bound, where the body asks for that.
SmallVector<arith::SubIOp> offsetsIn(scf::ForOp loop) {
  SmallVector<arith::SubIOp> offsets;
  if (!isLoaded(loop.getLowerBound()))
    return offsets;
  for (Operation *user : loop.getInductionVar().getUsers())
    if (auto offset = dyn_cast<arith::SubIOp>(user);
        offset && offset.getLhs() == loop.getInductionVar() && offset.getRhs() == loop.getLowerBound())
      offsets.push_back(offset);
  return offsets;
}

void countFromZero(scf::ForOp loop, ArrayRef<arith::SubIOp> offsets) {
  levels::Indices at(loop);
  Value lower = loop.getLowerBound(), index = loop.getInductionVar();
  loop.getUpperBoundMutable().assign(at.sub(loop.getUpperBound(), lower));
  loop.getLowerBoundMutable().assign(at.constant(0));
  at.b.setInsertionPointToStart(loop.getBody());
  auto position = arith::AddIOp::create(at.b, at.loc, lower, index);
  index.replaceAllUsesExcept(position, position);
  for (arith::SubIOp offset : offsets) {
    offset.replaceAllUsesWith(index);
    offset.erase();
  }
}

/// The branch that is all a loop from 0 does, if it is taken below a bound that is known before the loop.
scf::IfOp boundedBody(scf::ForOp loop) {
  auto body = loop.getBody()->without_terminator();
  auto branch = body.empty() ? scf::IfOp() : dyn_cast<scf::IfOp>(*std::prev(body.end()));
  if (!branch || loop.getNumResults() != 0 || !isZero(loop.getLowerBound()) || !hasUnitStep(loop) ||
      branch.elseBlock())
    return {};
  auto below = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  const bool isBounded = below && below.getPredicate() == arith::CmpIPredicate::ult &&
                         below.getLhs() == loop.getInductionVar() &&
                         loop.isDefinedOutsideOfLoop(below.getRhs());
  return isBounded &&
                 llvm::all_of(body, [&](Operation &op) { return &op == branch || isMemoryEffectFree(&op); })
             ? branch
             : scf::IfOp();
}

void clip(scf::ForOp loop, scf::IfOp branch) {
  levels::Indices at(loop);
  auto below = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  Value count = at.max(loop.getUpperBound(), at.constant(0));
  loop.getUpperBoundMutable().assign(arith::MinUIOp::create(at.b, at.loc, count, below.getRhs()));
  branch.thenBlock()->getTerminator()->erase();
  loop.getBody()->getOperations().splice(branch->getIterator(), branch.thenBlock()->getOperations());
  branch.erase();
}

/// The number of a value that a loop of unit steps carries only to add the same to it in each iteration.
std::optional<unsigned> counterIn(scf::ForOp loop) {
  if (!hasUnitStep(loop) || loop.getUnsignedCmp())
    return std::nullopt;
  for (auto [k, arg, yielded] : llvm::enumerate(loop.getRegionIterArgs(), loop.getYieldedValues())) {
    auto next = yielded.getDefiningOp<arith::AddIOp>();
    if (next && arg.getType().isIndex() && arg.hasOneUse() && next->hasOneUse() && next.getLhs() == arg &&
        loop.isDefinedOutsideOfLoop(next.getRhs()))
      return unsigned(k);
  }
  return std::nullopt;
}

/// What the counter is behind the loop follows from how often that runs; the loop is made again without it.
scf::ForOp countBehind(scf::ForOp loop, unsigned counter) {
  levels::Indices at(loop);
  SmallVector<Value> inits(loop.getInitArgs());
  auto next = loop.getYieldedValues()[counter].getDefiningOp<arith::AddIOp>();
  Value count = arith::MaxSIOp::create(at.b, at.loc, at.sub(loop.getUpperBound(), loop.getLowerBound()),
                                       at.constant(0));
  Value total = at.add(inits[counter], at.times(count, next.getRhs()));
  inits.erase(inits.begin() + counter);
  auto made =
      scf::ForOp::create(at.b, at.loc, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
  made->setAttrs(loop->getAttrs());
  made.getInductionVar().setLoc(loop.getInductionVar().getLoc());
  if (inits.empty()) // the builder has made a terminator
    made.getBody()->getTerminator()->erase();
  SmallVector<Value> arguments{made.getInductionVar()};
  llvm::append_range(arguments, made.getRegionIterArgs());
  arguments.insert(arguments.begin() + 1 + counter, total); // nothing uses it any more
  auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
  yield.getResultsMutable().erase(counter);
  next.erase();
  IRRewriter rewriter(at.b);
  rewriter.mergeBlocks(loop.getBody(), made.getBody(), arguments);
  SmallVector<Value> results(made.getResults());
  results.insert(results.begin() + counter, total);
  loop.replaceAllUsesWith(results);
  loop.erase();
  return made;
}

/// Whether a store writes what its element has already where the condition of the select does not hold.
bool writesBack(memref::StoreOp store, arith::SelectOp select) {
  auto load = select.getFalseValue().getDefiningOp<memref::LoadOp>();
  return load && load->getBlock() == store->getBlock() && load.getMemRef() == store.getMemRef() &&
         load.getIndices() == store.getIndices();
}

/// What a loop makes of what it carries and of what it stores, if that is a selection by one condition, which
/// is known before the loop: without it, an iteration changes nothing.
SmallVector<arith::SelectOp> guardedUpdates(scf::ForOp loop) {
  SmallVector<arith::SelectOp> updates;
  auto add = [&](Value value, auto isOld) {
    auto select = value.getDefiningOp<arith::SelectOp>();
    const bool guards = select && select.getCondition().getType().isInteger(1) && isOld(select) &&
                        loop.isDefinedOutsideOfLoop(select.getCondition()) &&
                        (updates.empty() || updates.front().getCondition() == select.getCondition());
    if (guards && !llvm::is_contained(updates, select)) // stored twice
      updates.push_back(select);
    return guards;
  };
  for (auto [next, carried] : llvm::zip_equal(
           cast<scf::YieldOp>(loop.getBody()->getTerminator()).getOperands(), loop.getRegionIterArgs()))
    if (!add(next, [&](arith::SelectOp select) { return select.getFalseValue() == carried; }))
      return {};
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto store = dyn_cast<memref::StoreOp>(op)) {
      if (!add(store.getValueToStore(), [&](arith::SelectOp select) { return writesBack(store, select); }))
        return {};
    } else if (!onlyLoads(&op)) {
      return {};
    }
  }
  return updates;
}

/// The outermost loop around, all of whose iterations change nothing but by this one, and that knows the
/// condition.
scf::ForOp outermostGuarded(scf::ForOp loop, Value condition) {
  for (auto around = dyn_cast<scf::ForOp>(loop->getParentOp());
       around && around.isDefinedOutsideOfLoop(condition) &&
       llvm::equal(loop.getInitArgs(), around.getRegionIterArgs()) &&
       llvm::equal(around.getYieldedValues(), loop.getResults()) &&
       llvm::all_of(around.getBody()->without_terminator(),
                    [&](Operation &op) { return &op == loop || onlyLoads(&op); });
       around = dyn_cast<scf::ForOp>(loop->getParentOp()))
    loop = around;
  return loop;
}

/// No iterations without the condition.
void runOnlyIf(scf::ForOp innermost, ArrayRef<arith::SelectOp> updates) {
  const Value condition = updates.front()->getOperand(0);
  scf::ForOp loop = outermostGuarded(innermost, condition);
  levels::Indices at(loop);
  loop.getUpperBoundMutable().assign(
      arith::SelectOp::create(at.b, at.loc, condition, loop.getUpperBound(), loop.getLowerBound()));
  for (arith::SelectOp update : updates) {
    update.replaceAllUsesWith(update.getTrueValue());
    update.erase();
  }
}

struct NormalizeLoops : impl::NormalizeLoopsBase<NormalizeLoops> {
  void runOnOperation() override {
    for (scf::ForOp loop : loopsIn(getOperation())) {
      while (std::optional<unsigned> counter = counterIn(loop))
        loop = countBehind(loop, *counter);
      if (SmallVector<arith::SubIOp> offsets = offsetsIn(loop); !offsets.empty() && hasUnitStep(loop))
        countFromZero(loop, offsets);
      if (scf::IfOp branch = boundedBody(loop))
        clip(loop, branch);
      if (SmallVector<arith::SelectOp> updates = guardedUpdates(loop); !updates.empty())
        runOnlyIf(loop, updates);
    }
  }
};

} // namespace
} // namespace tulle::passes
