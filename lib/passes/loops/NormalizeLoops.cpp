// tulle-normalize-loops: loops over consecutive coordinates count these.
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

struct NormalizeLoops : impl::NormalizeLoopsBase<NormalizeLoops> {
  void runOnOperation() override {
    for (scf::ForOp loop : loopsIn(getOperation())) {
      if (SmallVector<arith::SubIOp> offsets = offsetsIn(loop); !offsets.empty() && hasUnitStep(loop))
        countFromZero(loop, offsets);
      if (scf::IfOp branch = boundedBody(loop))
        clip(loop, branch);
    }
  }
};

} // namespace
} // namespace tulle::passes
