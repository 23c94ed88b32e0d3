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

/// What a schedule says, as its parameters, to be changed one by one.
struct Parameters {
  ArrayAttr reorder;
  DictionaryAttr strategy, loops;
  ArrayAttr place;
  AssemblyPlanAttr plan;
};

/// Changes the schedule of a statement; `change` is false where it says that already.
DiagnosedSilenceableFailure say(Operation *primitive, linalg::GenericOp statement,
                                function_ref<bool(Parameters &)> change) {
  Parameters now;
  if (ScheduleAttr schedule = scheduleOf(statement))
    now = {schedule.getReorder(), schedule.getStrategy(), schedule.getLoops(), schedule.getComputeAt(),
           schedule.getAssemble()};
  if (!change(now))
    return emitDefiniteFailure(primitive->getLoc())
           << "the statement has this primitive already; keep one of them";
  MLIRContext *context = statement.getContext();
  auto schedule = ScheduleAttr::getChecked([&] { return primitive->emitOpError(); }, context, now.reorder,
                                           now.strategy, now.loops, now.place, now.plan);
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

/// What is said of one loop alone.
DiagnosedSilenceableFailure direct(Operation *primitive, linalg::GenericOp statement, StringAttr loop,
                                   ThreadsAttr threads, int64_t lanes, int64_t unroll) {
  auto said = DirectivesAttr::getChecked([&] { return primitive->emitOpError(); }, loop.getContext(),
                                         ArrayAttr(), threads, uint64_t(lanes), uint64_t(unroll));
  if (!said)
    return DiagnosedSilenceableFailure::definiteFailure();
  return say(primitive, statement, [&](Parameters &now) {
    auto before = now.loops ? now.loops.getAs<DirectivesAttr>(loop) : DirectivesAttr();
    const bool isNew = !before || (threads ? !before.getParallelize()
                                   : lanes ? !before.getVectorize()
                                           : !before.getUnroll());
    now.loops = with(now.loops, loop, said.orElse(before));
    return isNew;
  });
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

TULLE_PRIMITIVE(ReorderOp,
                { return say(*this, target, [&](Parameters &now) { return set(now.reorder, getLoops()); }); })
TULLE_PRIMITIVE(CoiterationStrategyOp, {
  return say(*this, target, [&](Parameters &now) {
    const bool isNew = !now.strategy || !now.strategy.contains(getLoop());
    now.strategy = with(now.strategy, getLoopAttr(), getStrategyAttr());
    return isNew;
  });
})
TULLE_PRIMITIVE(AssembleWithOp,
                { return say(*this, target, [&](Parameters &now) { return set(now.plan, getPlanAttr()); }); })
TULLE_PRIMITIVE(ParallelizeOp, { return direct(*this, target, getLoopAttr(), getThreadsAttr(), 0, 0); })
TULLE_PRIMITIVE(VectorizeOp, { return direct(*this, target, getLoopAttr(), {}, int64_t(getCount()), 0); })
TULLE_PRIMITIVE(UnrollOp, { return direct(*this, target, getLoopAttr(), {}, 0, int64_t(getCount())); })
TULLE_PRIMITIVE(ComputeAtOp,
                { return say(*this, target, [&](Parameters &now) { return set(now.place, getLoops()); }); })
TULLE_PRIMITIVE(ComputeRootOp, {
  return say(*this, target,
             [&](Parameters &now) { return set(now.place, ArrayAttr::get(getContext(), {})); });
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
