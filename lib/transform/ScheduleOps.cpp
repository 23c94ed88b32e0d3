// Each op adds what it says to the statement's #tulle.schedule, as a schedule's text would have.
#include "transform/ScheduleOps.h"
#include "dialect/Attributes.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tulle::dialect;
using mlir::transform::ApplyToEachResultList;
using mlir::transform::TransformRewriter;
using mlir::transform::TransformState;

namespace {

/// Changes the schedule of a statement; `change` is false where it says that already.
DiagnosedSilenceableFailure say(Operation *primitive, linalg::GenericOp statement,
                                function_ref<bool(SchedulePrimitives &)> change) {
  const ScheduleAttr before = scheduleOf(statement);
  SchedulePrimitives now = before ? before.all() : SchedulePrimitives();
  if (!change(now))
    return emitDefiniteFailure(primitive->getLoc())
           << "the statement has this primitive already; keep one of them";
  auto schedule = ScheduleAttr::getChecked([&] { return primitive->emitOpError(); }, statement.getContext(),
                                           now.bound, now.derived, now.reorder, now.strategy, now.loops,
                                           now.computeAt, now.assemble, now.workspace, now.ifPossible);
  if (!schedule)
    return DiagnosedSilenceableFailure::definiteFailure();
  statement->setAttr(kScheduleAttr, schedule);
  return DiagnosedSilenceableFailure::success();
}

/// Sets what was null; false if it was not.
template <class Attr> bool set(Attr &attr, Attr value) { return !std::exchange(attr, value); }

/// With what is said of a loop; `all` may be null.
DictionaryAttr with(DictionaryAttr all, StringAttr loop, Attribute value) {
  NamedAttrList list(all);
  list.set(loop, value);
  return list.getDictionary(loop.getContext());
}

/// What is said of one loop alone; `isNew`: whether what was said before does not say it.
DiagnosedSilenceableFailure direct(Operation *primitive, linalg::GenericOp statement, StringAttr loop,
                                   const Directives &all, function_ref<bool(DirectivesAttr before)> isNew) {
  auto said = DirectivesAttr::getChecked([&] { return primitive->emitOpError(); }, loop.getContext(),
                                         all.computeAt, all.parallelize, all.vectorize, all.unroll, all.jam,
                                         all.prefetch, all.cache, all.rfactor, all.ifPossible);
  if (!said)
    return DiagnosedSilenceableFailure::definiteFailure();
  return say(primitive, statement, [&](SchedulePrimitives &now) {
    auto before = now.loops ? now.loops.getAs<DirectivesAttr>(loop) : DirectivesAttr();
    now.loops = with(now.loops, loop, said.orElse(before));
    return !before || isNew(before);
  });
}

/// Adds what loops become.
DiagnosedSilenceableFailure derive(Operation *primitive, linalg::GenericOp statement, Attribute made) {
  return say(primitive, statement, [&](SchedulePrimitives &now) {
    SmallVector<Attribute> all(now.derived ? now.derived.getValue() : ArrayRef<Attribute>());
    all.push_back(made);
    now.derived = ArrayAttr::get(statement.getContext(), all);
    return true;
  });
}

DiagnosedSilenceableFailure split(Operation *primitive, linalg::GenericOp statement, StringAttr loop,
                                  ArrayAttr into, int64_t size, bool divides) {
  if (into.size() != 2)
    return emitDefiniteFailure(primitive->getLoc()) << "expected two names of loops, got " << into;
  auto made = SplitAttr::getChecked([&] { return primitive->emitOpError(); }, loop.getContext(), loop,
                                    cast<StringAttr>(into[0]), cast<StringAttr>(into[1]), size, divides);
  if (!made)
    return DiagnosedSilenceableFailure::definiteFailure();
  return derive(primitive, statement, made);
}

} // namespace

#define TULLE_PRIMITIVE(Op, body)                                                                            \
  DiagnosedSilenceableFailure tulle::transform::Op::applyToOne(                                              \
      TransformRewriter &rewriter, linalg::GenericOp target, ApplyToEachResultList &, TransformState &) {    \
    body                                                                                                     \
  }                                                                                                          \
  void tulle::transform::Op::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {           \
    mlir::transform::onlyReadsHandle(getTargetMutable(), effects);                                           \
    mlir::transform::modifiesPayload(effects);                                                               \
  }

TULLE_PRIMITIVE(ReorderOp, {
  return say(*this, target, [&](SchedulePrimitives &now) { return set(now.reorder, getLoops()); });
})
TULLE_PRIMITIVE(CoiterationStrategyOp, {
  return say(*this, target, [&](SchedulePrimitives &now) {
    const bool isNew = !now.strategy || !now.strategy.contains(getLoop());
    now.strategy = with(now.strategy, getLoopAttr(), getStrategyAttr());
    return isNew;
  });
})
TULLE_PRIMITIVE(AssembleWithOp, {
  return say(*this, target, [&](SchedulePrimitives &now) { return set(now.assemble, getPlanAttr()); });
})
TULLE_PRIMITIVE(AccumulateInOp, {
  return say(*this, target, [&](SchedulePrimitives &now) { return set(now.workspace, getKindAttr()); });
})
TULLE_PRIMITIVE(ParallelizeOp, {
  Directives said;
  said.parallelize = getThreadsAttr();
  return direct(*this, target, getLoopAttr(), said,
                [](DirectivesAttr before) { return !before.getParallelize(); });
})
TULLE_PRIMITIVE(VectorizeOp, {
  Directives said;
  said.vectorize = getCount();
  return direct(*this, target, getLoopAttr(), said,
                [](DirectivesAttr before) { return before.getVectorize() == 0; });
})
TULLE_PRIMITIVE(UnrollOp, {
  Directives said;
  said.unroll = getCount();
  return direct(*this, target, getLoopAttr(), said,
                [](DirectivesAttr before) { return before.getUnroll() == 0; });
})
TULLE_PRIMITIVE(JamOp, {
  Directives said;
  said.jam = getCount();
  return direct(*this, target, getLoopAttr(), said,
                [](DirectivesAttr before) { return before.getJam() == 0; });
})
TULLE_PRIMITIVE(PrefetchOp, {
  Directives said;
  said.prefetch = with({}, getOperandAttr(), getDistanceAttr());
  return direct(*this, target, getLoopAttr(), said,
                [&](DirectivesAttr before) { return !before.prefetchOf(getOperand()); });
})
TULLE_PRIMITIVE(CacheOp, {
  Directives said;
  said.cache = with({}, getOperandAttr(), getPlaceAttr());
  return direct(*this, target, getLoopAttr(), said, [&](DirectivesAttr before) {
    return !before.getCache() || !before.getCache().contains(getOperandAttr());
  });
})
TULLE_PRIMITIVE(SplitOp,
                { return split(*this, target, getLoopAttr(), getInto(), int64_t(getCount()), false); })
TULLE_PRIMITIVE(DivideOp,
                { return split(*this, target, getLoopAttr(), getInto(), int64_t(getCount()), true); })
TULLE_PRIMITIVE(PosOp, {
  auto made = PositionAttr::getChecked([&] { return emitOpError(); }, getContext(), getLoopAttr(),
                                       getPositionAttr(), getOperandAttr());
  return made ? derive(*this, target, made) : DiagnosedSilenceableFailure::definiteFailure();
})
TULLE_PRIMITIVE(FuseOp, {
  if (getLoops().size() != 2)
    return emitDefiniteFailure() << "expected two names of loops, got " << getLoops();
  auto made =
      FuseAttr::getChecked([&] { return emitOpError(); }, getContext(), cast<StringAttr>(getLoops()[0]),
                           cast<StringAttr>(getLoops()[1]), getFusedAttr());
  return made ? derive(*this, target, made) : DiagnosedSilenceableFailure::definiteFailure();
})
TULLE_PRIMITIVE(RfactorOp, {
  Directives said;
  said.rfactor = getTensorAttr();
  return direct(*this, target, getLoopAttr(), said,
                [](DirectivesAttr before) { return !before.getRfactor(); });
})
TULLE_PRIMITIVE(BoundOp, {
  return say(*this, target, [&](SchedulePrimitives &now) {
    const bool isNew = !now.bound || !now.bound.contains(getLoop());
    now.bound = with(now.bound, getLoopAttr(), getCountAttr());
    return isNew;
  });
})
TULLE_PRIMITIVE(ComputeAtOp, {
  return say(*this, target, [&](SchedulePrimitives &now) { return set(now.computeAt, getLoops()); });
})
TULLE_PRIMITIVE(ComputeRootOp, {
  return say(*this, target,
             [&](SchedulePrimitives &now) { return set(now.computeAt, ArrayAttr::get(getContext(), {})); });
})

/// The argument of the function that has the name; null without one.
static Value argumentNamed(linalg::GenericOp statement, StringAttr name) {
  auto function = statement->getParentOfType<FunctionOpInterface>();
  for (BlockArgument arg : function ? function.getArguments() : ArrayRef<BlockArgument>())
    if (function.getArgAttr(arg.getArgNumber(), kNameAttr) == name)
      return arg;
  return {};
}

TULLE_PRIMITIVE(ConvertOperandOp, {
  Value argument = argumentNamed(target, getOperandAttr());
  auto type = argument ? dyn_cast<RankedTensorType>(argument.getType()) : RankedTensorType();
  if (!type || !llvm::is_contained(target.getDpsInputs(), argument))
    return emitDefiniteFailure() << "no operand " << getOperandAttr() << " of the statement is an argument";
  const tulle::format::Encoding &format = getFormat().getValue();
  if (format.order() != unsigned(type.getRank()))
    return emitDefiniteFailure() << "the format has another number of dimensions than " << getOperandAttr();
  rewriter.setInsertionPointToStart(target->getBlock());
  Value made = ConvertOp::create(rewriter, getLoc(), withEncoding(type, format), argument);
  rewriter.modifyOpInPlace(target, [&] {
    for (OpOperand *use : target.getDpsInputOperands())
      if (use->get() == argument)
        use->set(made);
  });
  return DiagnosedSilenceableFailure::success();
})

#define GET_OP_CLASSES
#include "transform/ScheduleOps.cpp.inc"

namespace {

class ScheduleOps : public mlir::transform::TransformDialectExtension<ScheduleOps> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ScheduleOps)
  void init() {
    declareDependentDialect<TulleDialect>();
    declareGeneratedDialect<linalg::LinalgDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "transform/ScheduleOps.cpp.inc"
        >();
  }
};

} // namespace

void tulle::transform::registerScheduleOps(DialectRegistry &registry) {
  registry.addExtensions<ScheduleOps>();
}
