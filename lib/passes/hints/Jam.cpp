// tulle-jam: as its schedule says, so many iterations of a loop run side by side in the loops inside of it.
//
// What the iterations have in common, an inner loop loads once, and their sums are in registers of their own.
#include "dialect/Dialect.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopUtils.h"

namespace tulle::passes {
#define GEN_PASS_DEF_JAM
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

unsigned scheduledJam(scf::ForOp loop) {
  const dialect::DirectivesAttr said = dialect::loopOf(loop).getDirectives();
  return said ? unsigned(said.getJam()) : 0;
}

/// Calls `visit` with the loops that become one for all iterations: those in the body, and in their bodies.
void forEachInner(scf::ForOp loop, function_ref<void(scf::ForOp)> visit) {
  for (auto inner : loop.getBody()->getOps<scf::ForOp>()) {
    visit(inner);
    forEachInner(inner, visit);
  }
}

/// Whether the value is the same in all iterations: it comes from outside, or from what loads and computes
/// with such values, and inner loops' indices.
bool isInvariant(Value value, scf::ForOp loop) {
  return acceptsSlice(value, [&](Value at) -> std::optional<bool> {
    if (loop.isDefinedOutsideOfLoop(at))
      return true;
    if (auto argument = dyn_cast<BlockArgument>(at)) {
      auto around = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      return around && around != loop && argument == around.getInductionVar();
    }
    return onlyLoads(at.getDefiningOp()) ? std::nullopt : std::optional(false);
  });
}

/// Why the loop cannot be jammed; empty if it can.
std::string whyNot(scf::ForOp loop) {
  if (!isParallel(loop) || loop.getNumRegionIterArgs() != 0)
    return "its iterations depend on each other";
  if (dialect::loopOf(loop).getDirectives().getCache())
    return "they would share the copy that cache makes for each of them";
  if (scheduledUnroll(loop) != 0)
    return "unroll says how many of them stand in its body, too: one of the two does";
  if (!hasUnitStep(loop))
    return "it is a loop over groups of iterations already";
  std::string why = "no loop stands in it, which they could share: unroll takes several at a time";
  bool any = false;
  forEachInner(loop, [&](scf::ForOp inner) {
    if (!std::exchange(any, true))
      why.clear();
    for (Value bound : {inner.getLowerBound(), inner.getUpperBound(), inner.getStep()})
      if (why.empty() && !isInvariant(bound, loop)) {
        StringAttr name = dialect::loopOf(inner).getIndex();
        why = "a loop in it" + (name ? ", over " + name.str() + "," : std::string()) +
              " has other bounds in each of them";
      }
  });
  return why;
}

/// Emits a body for several iterations at once.
class JammedBody {
public:
  JammedBody(OpBuilder &b, unsigned count) : b(b), maps(count) {}

  void mapTo(Value value, unsigned iteration, Value to) { maps[iteration].map(value, to); }

  void emit(Block &block) {
    for (Operation &op : block.without_terminator())
      if (auto inner = dyn_cast<scf::ForOp>(op))
        emitLoop(inner);
      else if (onlyLoads(&op) && isShared(op.getOperands()))
        emitOnce(op);
      else
        for (IRMapping &map : maps)
          b.clone(op, map);
  }

private:
  OpBuilder &b;
  SmallVector<IRMapping> maps; ///< of each iteration

  bool isShared(ValueRange values) const {
    return llvm::all_of(values, [&](Value value) {
      return llvm::all_of(maps, [&](const IRMapping &map) {
        return map.lookupOrDefault(value) == maps.front().lookupOrDefault(value);
      });
    });
  }

  void emitOnce(Operation &op) {
    Operation *copy = b.clone(op, maps.front());
    for (IRMapping &map : maps)
      map.map(op.getResults(), copy->getResults());
  }

  /// One loop, which carries what the loop does for each iteration.
  void emitLoop(scf::ForOp loop) {
    auto own = [&](Value value) { return maps.front().lookupOrDefault(value); };
    SmallVector<Value> inits;
    for (const IRMapping &map : maps)
      for (Value init : loop.getInitArgs())
        inits.push_back(map.lookupOrDefault(init));
    auto jammed = scf::ForOp::create(b, loop.getLoc(), own(loop.getLowerBound()), own(loop.getUpperBound()),
                                     own(loop.getStep()), inits);
    jammed->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    const unsigned each = loop.getNumRegionIterArgs();
    for (auto [k, map] : llvm::enumerate(maps)) {
      map.map(loop.getInductionVar(), jammed.getInductionVar());
      for (unsigned c = 0; c < each; ++c)
        map.map(loop.getRegionIterArg(c), jammed.getRegionIterArg(unsigned(k) * each + c));
    }
    OpBuilder::InsertionGuard guard(b);
    if (each == 0)
      b.setInsertionPoint(jammed.getBody()->getTerminator());
    else
      b.setInsertionPointToEnd(jammed.getBody());
    emit(*loop.getBody());
    SmallVector<Value> yielded;
    for (auto [k, map] : llvm::enumerate(maps))
      for (unsigned c = 0; c < each; ++c) {
        yielded.push_back(map.lookupOrDefault(loop.getYieldedValues()[c]));
        map.map(loop.getResult(c), jammed.getResult(unsigned(k) * each + c));
      }
    if (each != 0)
      scf::YieldOp::create(b, loop.getLoc(), yielded);
  }
};

/// What is prefetched in an iteration is in those of groups of so many, as many groups later.
dialect::LoopAttr ofGroups(dialect::LoopAttr loop, unsigned count) {
  Builder b(loop.getContext());
  SmallVector<NamedAttribute> distances;
  for (NamedAttribute named : loop.getDirectives().getPrefetch()) {
    const int64_t distance = cast<IntegerAttr>(named.getValue()).getInt();
    distances.emplace_back(named.getName(), b.getI64IntegerAttr(llvm::divideCeil(distance, int64_t(count))));
  }
  return loop.withDirectives(
      dialect::DirectivesAttr::get(b.getContext(), {.prefetch = b.getDictionaryAttr(distances)}));
}

void jam(scf::ForOp loop, unsigned count) {
  const dialect::LoopAttr attr = dialect::loopOf(loop);
  dialect::Directives left = attr.getDirectives().all();
  dialect::noteDone(loop, attr, {.jam = left.jam});
  left.jam = 0;
  loop->setAttr(dialect::kLoopAttr,
                attr.withDirectives(dialect::DirectivesAttr::get(loop.getContext(), left).withoutPlace()));
  splitGroups(loop, count, [&](levels::IndicesAt at, Value first, ValueRange) {
    if (attr.getDirectives().getPrefetch())
      at.b.getInsertionBlock()->getParentOp()->setAttr(dialect::kLoopAttr, ofGroups(attr, count));
    JammedBody body(at.b, count);
    for (unsigned k = 0; k < count; ++k)
      body.mapTo(loop.getInductionVar(), k, at.add(first, at.constant(int64_t(k))));
    body.emit(*loop.getBody());
    return levels::Values();
  });
}

struct JamPass : impl::JamBase<JamPass> {
  void runOnOperation() override {
    bool changed = false;
    // Inner loops first: those around take them as they are then.
    for (scf::ForOp loop : loopsIn(getOperation())) {
      const unsigned count = scheduledJam(loop);
      if (count == 0)
        continue;
      if (const std::string why = whyNot(loop); !why.empty()) {
        const StringRef index = dialect::loopOf(loop).getIndex().getValue();
        mlir::emitError(dialect::locationOf(loop, ("jam " + index).str()))
            << "the loop over " << index << " cannot be jammed: " << why;
        return signalPassFailure();
      }
      jam(loop, count);
      changed = true;
    }
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
