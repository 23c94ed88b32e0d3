#include "passes/vectorize/VectorAccumulator.h"
#include "mlir/IR/PatternMatch.h"

namespace tulle::passes {

using namespace mlir;

/// The vectors that a loop carries, its last iter_args.
static SmallVector<Value> carriedLanes(scf::ForOp loop, size_t count) {
  auto arguments = loop.getRegionIterArgs().take_back(count);
  return SmallVector<Value>(arguments.begin(), arguments.end());
}

/// The number of the iter_arg of `outer` that an inner loop starts from and results in, if it has no other
/// use.
static std::optional<unsigned> carriedOperand(scf::ForOp outer, Value init, Value result) {
  auto carried = dyn_cast<BlockArgument>(init);
  if (!carried || carried.getOwner() != outer.getBody() || carried.getArgNumber() == 0 ||
      !carried.hasOneUse() || !result.hasOneUse())
    return std::nullopt;
  const unsigned number = carried.getArgNumber() - 1;
  OpOperand &use = *result.use_begin();
  if (use.getOwner() != outer.getBody()->getTerminator() || use.getOperandNumber() != number)
    return std::nullopt;
  return number;
}

void VectorAccumulator::find() {
  scf::ForOp inner = legality.loop;
  SmallVector<unsigned> inside;
  for (unsigned k = 0; k < legality.reductions.size(); ++k)
    inside.push_back(k);
  while (auto outer = dyn_cast<scf::ForOp>(inner->getParentOp())) {
    SmallVector<unsigned> found;
    for (unsigned number : inside)
      if (auto at = carriedOperand(outer, inner.getInitArgs()[number], inner.getResult(number)))
        found.push_back(*at);
    if (found.size() < inside.size())
      return;
    loops.push_back(outer);
    numbers.push_back(found);
    inner = outer;
    inside = found;
  }
}

VectorAccumulator::VectorAccumulator(const VectorizationLegality &legality, const Lanes &lanes)
    : legality(legality) {
  if (legality.reductions.empty())
    return;
  find();
  if (loops.empty())
    return;
  IRRewriter rewriter(loops.back().getContext());
  rewriter.setInsertionPoint(loops.back());
  SmallVector<Value> values;
  for (auto [reduction, number] : llvm::zip_equal(legality.reductions, numbers.back()))
    values.push_back(
        initialLanes(rewriter, loops.back().getLoc(), reduction, lanes, loops.back().getInitArgs()[number]));
  const size_t count = values.size();
  Operation *outside = nullptr;
  for (scf::ForOp &loop : llvm::reverse(loops)) {
    auto yieldArguments = [](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
      return SmallVector<Value>(added.begin(), added.end());
    };
    Operation *replaced = loop;
    rewriter.setInsertionPoint(loop);
    loop = cast<scf::ForOp>(**loop.replaceWithAdditionalYields(
        rewriter, values, /*replaceInitOperandUsesInLoop=*/false, yieldArguments));
    replacements.emplace_back(replaced, loop);
    if (outside)
      outside->setOperands(outside->getNumOperands() - count, count, loop.getResults().take_back(count));
    outside = loop.getBody()->getTerminator();
    values = carriedLanes(loop, count);
  }
}

SmallVector<Value> VectorAccumulator::before() const {
  return carriedLanes(loops.front(), legality.reductions.size());
}

void VectorAccumulator::finish(ArrayRef<Value> after) {
  Operation *yield = loops.front().getBody()->getTerminator();
  yield->setOperands(yield->getNumOperands() - after.size(), after.size(), after);
  scf::ForOp outermost = loops.back();
  OpBuilder b(outermost->getContext());
  b.setInsertionPointAfter(outermost);
  auto vectors = outermost.getResults().take_back(after.size());
  for (auto [reduction, number, vector] : llvm::zip_equal(legality.reductions, numbers.back(), vectors)) {
    Value scalar = outermost.getResult(number);
    Value all = reduceLanes(b, outermost.getLoc(), reduction, vector, scalar);
    scalar.replaceAllUsesExcept(all, all.getDefiningOp());
  }
}

} // namespace tulle::passes
