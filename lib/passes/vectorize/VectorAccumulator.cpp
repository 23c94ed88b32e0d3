#include "passes/vectorize/VectorAccumulator.h"
#include "mlir/IR/PatternMatch.h"

namespace tulle::passes {

namespace scf = mlir::scf;
using mlir::Value;

/// The lanes that a loop carries, behind everything else.
static llvm::SmallVector<Value> lanesOf(scf::ForOp loop, size_t count) {
  auto arguments = loop.getRegionIterArgs().take_back(count);
  return llvm::SmallVector<Value>(arguments.begin(), arguments.end());
}

/// Where `outer` carries a value that `inner` starts from and gives back, if nothing else sees it.
static std::optional<unsigned> handedOn(scf::ForOp outer, Value init, Value result) {
  auto carried = mlir::dyn_cast<mlir::BlockArgument>(init);
  if (!carried || carried.getOwner() != outer.getBody() || carried.getArgNumber() == 0 ||
      !carried.hasOneUse() || !result.hasOneUse())
    return std::nullopt;
  const unsigned place = carried.getArgNumber() - 1;
  mlir::OpOperand &use = *result.use_begin();
  if (use.getOwner() != outer.getBody()->getTerminator() || use.getOperandNumber() != place)
    return std::nullopt;
  return place;
}

void VectorAccumulator::find() {
  scf::ForOp inner = plan.loop;
  llvm::SmallVector<unsigned> inside;
  for (unsigned k = 0; k < plan.reductions.size(); ++k)
    inside.push_back(k);
  while (auto outer = mlir::dyn_cast<scf::ForOp>(inner->getParentOp())) {
    llvm::SmallVector<unsigned> found;
    for (unsigned place : inside)
      if (auto at = handedOn(outer, inner.getInitArgs()[place], inner.getResult(place)))
        found.push_back(*at);
    if (found.size() < inside.size())
      return;
    loops.push_back(outer);
    places.push_back(found);
    inner = outer;
    inside = found;
  }
}

VectorAccumulator::VectorAccumulator(const VectorizationLegality &plan, const Lanes &lanes) : plan(plan) {
  if (plan.reductions.empty())
    return;
  find();
  if (loops.empty())
    return;
  mlir::IRRewriter rewriter(loops.back().getContext());
  rewriter.setInsertionPoint(loops.back());
  llvm::SmallVector<Value> values;
  for (auto [reduction, place] : llvm::zip_equal(plan.reductions, places.back()))
    values.push_back(
        startLanes(rewriter, loops.back().getLoc(), reduction, lanes, loops.back().getInitArgs()[place]));
  const size_t count = values.size();
  mlir::Operation *outside = nullptr;
  for (scf::ForOp &loop : llvm::reverse(loops)) {
    auto handOn = [](mlir::OpBuilder &, mlir::Location, llvm::ArrayRef<mlir::BlockArgument> added) {
      return llvm::SmallVector<Value>(added.begin(), added.end());
    };
    mlir::Operation *before = loop;
    rewriter.setInsertionPoint(loop);
    loop = mlir::cast<scf::ForOp>(
        **loop.replaceWithAdditionalYields(rewriter, values, /*replaceInitOperandUsesInLoop=*/false, handOn));
    replacements.emplace_back(before, loop);
    if (outside)
      outside->setOperands(outside->getNumOperands() - count, count, loop.getResults().take_back(count));
    outside = loop.getBody()->getTerminator();
    values = lanesOf(loop, count);
  }
}

llvm::SmallVector<Value> VectorAccumulator::lanesBefore() const {
  return lanesOf(loops.front(), plan.reductions.size());
}

void VectorAccumulator::finish(llvm::ArrayRef<Value> lanesAfter) {
  mlir::Operation *yield = loops.front().getBody()->getTerminator();
  yield->setOperands(yield->getNumOperands() - lanesAfter.size(), lanesAfter.size(), lanesAfter);
  scf::ForOp outermost = loops.back();
  mlir::OpBuilder b(outermost->getContext());
  b.setInsertionPointAfter(outermost);
  auto lanes = outermost.getResults().take_back(lanesAfter.size());
  for (auto [reduction, place, vector] : llvm::zip_equal(plan.reductions, places.back(), lanes)) {
    Value scalar = outermost.getResult(place);
    Value all = combineLanes(b, outermost.getLoc(), reduction, vector, scalar);
    scalar.replaceAllUsesExcept(all, all.getDefiningOp());
  }
}

} // namespace tulle::passes
