// tulle-jam-updates: several iterations of a loop around one over stored entries, which adds to an element
// for each entry in every one of them, add to it at once.
//
// The element is loaded and stored once for all of them, and so is what they have in common: the coordinate
// and the value of the entry. Each element sees the same operations in the same order.
#include "dialect/Costs.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopUtils.h"

namespace tulle::passes {
#define GEN_PASS_DEF_JAMUPDATES
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// Two loops, of which the inner one updates an element in each iteration.
struct Update {
  scf::ForOp around, loop;
  memref::LoadOp load;
  memref::StoreOp store;
};

/// Whether nothing but the index of the loop inside says which value it is.
bool isSameAround(Value value, scf::ForOp around, scf::ForOp loop) {
  return acceptsSlice(value, [&](Value at) -> std::optional<bool> {
    if (around.isDefinedOutsideOfLoop(at) || at == loop.getInductionVar())
      return true;
    Operation *op = at.getDefiningOp();
    return op && onlyLoads(op) ? std::nullopt : std::optional(false);
  });
}

bool isScheduled(scf::ForOp loop) {
  return dialect::loopOf(loop).getDirectives() || isBodyScheduled(loop) || fixedLanes(loop) != 0;
}

/// Whether a loop over an operand's entries is all that the loop around does, but for loads.
bool areNested(scf::ForOp around, scf::ForOp loop) {
  return around && isParallel(loop) && !isParallel(around) && hasUnitStep(around) && hasUnitStep(loop) &&
         around.getNumResults() == 0 && loop.getNumResults() == 0 && isLoaded(loop.getLowerBound()) &&
         !isScheduled(around) && !isScheduled(loop) && isSameAround(loop.getLowerBound(), around, loop) &&
         isSameAround(loop.getUpperBound(), around, loop) &&
         llvm::all_of(around.getBody()->without_terminator(),
                      [&](Operation &op) { return &op == loop || onlyLoads(&op); });
}

std::optional<Update> updateIn(scf::ForOp loop) {
  Update update{dyn_cast<scf::ForOp>(loop->getParentOp()), loop, {}, {}};
  if (!areNested(update.around, loop))
    return std::nullopt;
  for (Operation &op : loop.getBody()->without_terminator())
    if (auto store = dyn_cast<memref::StoreOp>(op); store && !update.store)
      update.store = store;
    else if (!onlyLoads(&op))
      return std::nullopt;
  if (!update.store)
    return std::nullopt;
  for (Operation *user : update.store.getMemRef().getUsers()) {
    if (user == update.store || !update.around->isProperAncestor(user))
      continue;
    auto load = dyn_cast<memref::LoadOp>(user);
    if (!load || update.load || load->getBlock() != loop.getBody() ||
        load.getIndices() != update.store.getIndices())
      return std::nullopt;
    update.load = load;
  }
  if (!update.load || !llvm::all_of(update.store.getIndices(),
                                    [&](Value index) { return isSameAround(index, update.around, loop); }))
    return std::nullopt;
  return update;
}

/// The body of so many iterations.
void emitGroup(Update update, unsigned count, levels::IndicesAt at, Value first) {
  scf::ForOp loop = update.loop, around = update.around;
  SmallVector<IRMapping> maps(count);
  for (auto [k, map] : llvm::enumerate(maps)) {
    map.map(around.getInductionVar(), at.add(first, at.constant(int64_t(k))));
    for (Operation &op : around.getBody()->without_terminator())
      if (&op != loop)
        at.b.clone(op, map);
  }
  auto jammed = scf::ForOp::create(at.b, loop.getLoc(), maps[0].lookupOrDefault(loop.getLowerBound()),
                                   maps[0].lookupOrDefault(loop.getUpperBound()),
                                   maps[0].lookupOrDefault(loop.getStep()));
  jammed->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(at.b);
  at.b.setInsertionPoint(jammed.getBody()->getTerminator());
  Value element;
  for (IRMapping &map : maps) {
    map.map(loop.getInductionVar(), jammed.getInductionVar());
    for (Operation &op : loop.getBody()->without_terminator())
      if (&op == update.load && element)
        map.map(update.load.getResult(), element);
      else if (&op != update.store)
        at.b.clone(op, map);
    element = map.lookupOrDefault(update.store.getValueToStore());
  }
  maps.back().map(update.store.getValueToStore(), element);
  at.b.clone(*update.store, maps.back());
}

struct JamUpdates : impl::JamUpdatesBase<JamUpdates> {
  void runOnOperation() override {
    const iteration::CostModel model = dialect::costModel(getOperation());
    const int64_t count = model.costs.jammedUpdates;
    bool changed = false;
    for (scf::ForOp loop : loopsIn(getOperation())) {
      std::optional<Update> update = updateIn(loop);
      if (!update || maxTripCount(update->around).value_or(count) < count)
        continue;
      dialect::explainChoice(update->around, std::to_string(count) +
                                                 " iterations at a time: each element that they all "
                                                 "add to is loaded and stored once");
      splitGroups(update->around, count, [&](levels::IndicesAt at, Value first, ValueRange) {
        emitGroup(*update, unsigned(count), at, first);
        return levels::Values();
      });
      changed = true;
    }
    if (!changed)
      return markAllAnalysesPreserved();
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance;
    eliminateCommonSubExpressions(rewriter, dominance, getOperation());
  }
};

} // namespace
} // namespace tulle::passes
