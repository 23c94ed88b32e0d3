// tulle-check-schedule: what a schedule says of a loop is done, or is an error.
//
// Loops become others, one or none on the way to code, and each pass does what the loops say that it finds.
// What none of them has found is left on the list that tulle-sparsify wrote (tulle.scheduled).
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringExtras.h"

namespace tulle::passes {
using namespace mlir;
using namespace tulle::dialect;
#define GEN_PASS_DEF_CHECKSCHEDULE
#include "passes/Passes.h.inc"

namespace {

struct CheckSchedule : impl::CheckScheduleBase<CheckSchedule> {
  using CheckScheduleBase::CheckScheduleBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto list = function->getAttrOfType<ArrayAttr>(kScheduledAttr);
    if (!list)
      return markAllAnalysesPreserved();
    SmallVector<LoopAttr> loops;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (const LoopAttr loop = attrOf(op); loop && loop.getIndex())
        loops.push_back(loop);
    });
    SmallVector<Attribute> left;
    for (Attribute attr : list) {
      auto scheduled = cast<ScheduledAttr>(attr);
      if (end || !isThere(scheduled, loops))
        return refuse(scheduled, loops), signalPassFailure();
      if (threads || !scheduled.getSays().getParallelize())
        left.push_back(attr);
    }
    if (left.empty())
      function->removeAttr(kScheduledAttr);
    else
      function->setAttr(kScheduledAttr, ArrayAttr::get(&getContext(), left));
  }

private:
  static LoopAttr attrOf(Operation *op) { return isa<scf::ForOp>(op) ? loopOf(op) : loopOverSets(op); }

  static bool isOf(LoopAttr loop, ScheduledAttr scheduled) {
    return !scheduled.getOf() || !loop.getOf() || llvm::is_contained(loop.getOf(), scheduled.getOf());
  }

  static bool isThere(ScheduledAttr scheduled, ArrayRef<LoopAttr> loops) {
    return llvm::any_of(loops, [&](LoopAttr loop) {
      return loop.getDirectives() && isOf(loop, scheduled) &&
             loop.visitedIndex() == scheduled.getLoop().getValue() &&
             llvm::any_of(primitivesOf(loop.getDirectives()),
                          [&](auto primitive) { return primitive.second == scheduled.getSays(); });
    });
  }

  void refuse(ScheduledAttr scheduled, ArrayRef<LoopAttr> loops) {
    const StringRef name = scheduled.getLoop().getValue();
    llvm::SetVector<StringRef> names;
    for (LoopAttr loop : loops)
      if (isOf(loop, scheduled) && !loop.getBlocks())
        names.insert(loop.getIndex().getValue());
    const std::string of = scheduled.getOf() ? " of " + scheduled.getOf().str() : std::string();
    const std::string primitive = primitivesOf(scheduled.getSays()).front().first.str();
    InFlightDiagnostic error = mlir::emitError(scheduled.getAt());
    if (names.contains(name))
      error << primitive << " does nothing to the loop over " << name << of << ": "
            << why(scheduled.getSays());
    else
      error << "no loop over " << name << of
            << " is left: it has one iteration, or is a part of another one by now; "
            << (names.empty() ? "there are no others" : "the loops are " + llvm::join(names, ", "));
    error << ". Without " << primitive << ", the compiler decides";
  }

  /// Why a loop that is there is not what one primitive says.
  static StringRef why(DirectivesAttr says) {
    if (says.getVectorize())
      return "vectors are iterations of an innermost loop that has as many as there are lanes";
    if (says.getUnroll())
      return "its iterations are taken several at a time already";
    if (says.getParallelize())
      return "threads have iterations of another one, or it is a part of a new tensor's assembly";
    return "its iterations have become other code before";
  }
};

} // namespace
} // namespace tulle::passes
