// tulle-count-iterations: loops over a constant number of iterations count from 0.
//
//   for i = %lower to %lower + 64   becomes   for k = 0 to 64
//     … i …                                     … %lower + k …
//
// LLVM does not see how often the first one runs: `%lower + 64` may wrap for all it knows.
#include "passes/Passes.h"
#include "passes/analysis/LoopUtils.h"

namespace tulle::passes {
#define GEN_PASS_DEF_COUNTITERATIONS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// A value as a sum: of one that is no constant, or none, and of a constant.
struct Sum {
  Value value;
  int64_t constant = 0;
};

Sum sumOf(Value value) {
  if (const std::optional<int64_t> constant = getConstantIntValue(value))
    return {{}, *constant};
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return {value};
  const Sum a = sumOf(op->getOperand(0)), b = sumOf(op->getOperand(1));
  int64_t constant = 0;
  if (isa<arith::MulIOp>(op))
    return a.value || b.value || llvm::MulOverflow(a.constant, b.constant, constant) ? Sum{value}
                                                                                     : Sum{{}, constant};
  if (isa<arith::SubIOp>(op))
    return b.value || llvm::SubOverflow(a.constant, b.constant, constant) ? Sum{value}
                                                                          : Sum{a.value, constant};
  return (a.value && b.value) || llvm::AddOverflow(a.constant, b.constant, constant)
             ? Sum{value}
             : Sum{a.value ? a.value : b.value, constant};
}

/// How far the bounds of a loop are apart; nothing of one whose lower bound is a constant.
std::optional<int64_t> length(scf::ForOp loop) {
  const Sum first = sumOf(loop.getLowerBound()), last = sumOf(loop.getUpperBound());
  int64_t length = 0;
  if (!first.value || first.value != last.value || llvm::SubOverflow(last.constant, first.constant, length))
    return std::nullopt;
  return length;
}

class CountFromZero : levels::Indices {
public:
  CountFromZero(scf::ForOp loop, int64_t length) : Indices(loop), loop(loop), length(length) {}

  void run() {
    Value lower = loop.getLowerBound(), index = loop.getInductionVar();
    replaceIndexBehind();
    loop.getLowerBoundMutable().assign(constant(0));
    loop.getUpperBoundMutable().assign(constant(length));
    b.setInsertionPointToStart(loop.getBody());
    Value own = beyond(lower, index);
    index.replaceAllUsesExcept(own, own.getDefiningOp());
  }

private:
  scf::ForOp loop;
  int64_t length;

  Value beyond(Value lower, Value count) {
    return arith::AddIOp::create(b, loc, lower, count, arith::IntegerOverflowFlags::nsw);
  }

  /// Where the loop carries the index of its next iteration, that of the first one behind it is known.
  void replaceIndexBehind() {
    const Sum step = sumOf(loop.getStep());
    if (step.value || step.constant <= 0)
      return;
    int64_t end = llvm::divideCeil(std::max<int64_t>(length, 0), step.constant);
    if (llvm::MulOverflow(end, step.constant, end))
      return;
    for (auto [init, yielded, result] :
         llvm::zip_equal(loop.getInitArgs(), loop.getYieldedValues(), loop.getResults()))
      if (const Sum next = sumOf(yielded); init == loop.getLowerBound() &&
                                           next.value == loop.getInductionVar() &&
                                           next.constant == step.constant)
        result.replaceAllUsesWith(beyond(init, constant(end)));
  }
};

struct CountIterations : impl::CountIterationsBase<CountIterations> {
  void runOnOperation() override {
    bool changed = false;
    // Outer loops and those before come first: what is known of them is known of the loops that follow.
    for (scf::ForOp loop : loopsIn<WalkOrder::PreOrder>(getOperation()))
      if (const std::optional<int64_t> count = length(loop)) {
        CountFromZero(loop, *count).run();
        changed = true;
      }
    if (!changed)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
