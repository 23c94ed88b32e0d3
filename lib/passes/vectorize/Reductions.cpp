// Accumulators are whole vectors from their identity on; one horizontal reduction after the last iteration
// makes a scalar of each.
#include "passes/vectorize/Reductions.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"

namespace tulle::passes {

using namespace mlir;
using vector::CombiningKind;

std::optional<TypedAttr> identity(CombiningKind kind, Type type) {
  Builder b(type.getContext());
  bool isFloat = isa<FloatType>(type);
  switch (kind) {
  case CombiningKind::ADD:
    // -0.0: the sum of nothing but -0.0 stays -0.0.
    return isFloat ? TypedAttr(b.getFloatAttr(type, -0.0)) : b.getIntegerAttr(type, 0);
  case CombiningKind::MUL:
    return isFloat ? TypedAttr(b.getFloatAttr(type, 1.0)) : b.getIntegerAttr(type, 1);
  case CombiningKind::XOR:
    return TypedAttr(b.getIntegerAttr(type, 0));
  default:
    return std::nullopt;
  }
}

Value initialLanes(OpBuilder &b, Location loc, const Reduction &reduction, const Lanes &lanes, Value init) {
  VectorType type = lanes.of(init.getType());
  if (std::optional<TypedAttr> neutral = identity(reduction.kind, init.getType()))
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, *neutral));
  return vector::BroadcastOp::create(b, loc, type, init);
}

static arith::FastMathFlagsAttr flagsOf(const Reduction &reduction) {
  auto op = dyn_cast<arith::ArithFastMathInterface>(reduction.combiner);
  return op ? op.getFastMathFlagsAttr() : arith::FastMathFlagsAttr();
}

Value combine(OpBuilder &b, Location loc, const Reduction &reduction, Value a, Value c) {
  return vector::makeArithReduction(b, loc, reduction.kind, a, c, flagsOf(reduction));
}

Value reduceLanes(OpBuilder &b, Location loc, const Reduction &reduction, Value lanes, Value init) {
  arith::FastMathFlagsAttr flags = flagsOf(reduction);
  return vector::ReductionOp::create(b, loc, reduction.kind, lanes, init,
                                     flags ? flags.getValue() : arith::FastMathFlags::none);
}

/// Adjacent lanes are combined pairwise, log2(lanes) times: half as many vectors each time.
Value reduceEach(OpBuilder &b, Location loc, const Reduction &reduction, SmallVector<Value> vectors) {
  const int64_t lanes = vectors.size();
  SmallVector<int64_t> even, odd;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    even.push_back(2 * lane);
    odd.push_back(2 * lane + 1);
  }
  while (vectors.size() > 1) {
    SmallVector<Value> half;
    for (size_t v = 0; v < vectors.size(); v += 2)
      half.push_back(combine(b, loc, reduction,
                             vector::ShuffleOp::create(b, loc, vectors[v], vectors[v + 1], even),
                             vector::ShuffleOp::create(b, loc, vectors[v], vectors[v + 1], odd)));
    vectors = std::move(half);
  }
  return vectors[0];
}

//===--- Accumulators carried through outer loops ---===//

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
  numbers = llvm::to_vector(llvm::seq<unsigned>(legality.reductions.size()));
  while (auto outer = dyn_cast<scf::ForOp>(inner->getParentOp())) {
    SmallVector<unsigned> found;
    for (unsigned number : numbers)
      if (auto at = carriedOperand(outer, inner.getInitArgs()[number], inner.getResult(number)))
        found.push_back(*at);
    if (found.size() < numbers.size())
      return;
    loops.insert(loops.begin(), outer);
    numbers = found;
    inner = outer;
  }
}

VectorAccumulator::VectorAccumulator(const VectorizationLegality &legality, const Lanes &lanes)
    : legality(legality) {
  if (legality.reductions.empty())
    return;
  find();
  if (loops.empty())
    return;
  scf::ForOp outermost = loops.front();
  IRRewriter rewriter(outermost);
  SmallVector<Value> inits;
  for (auto [reduction, number] : llvm::zip_equal(legality.reductions, numbers))
    inits.push_back(
        initialLanes(rewriter, outermost.getLoc(), reduction, lanes, outermost.getInitArgs()[number]));
  auto yieldArguments = [](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
    return SmallVector<Value>(added.begin(), added.end());
  };
  loops = replaceLoopNestWithNewYields(rewriter, loops, inits, yieldArguments,
                                       /*replaceIterOperandsUsesInLoop=*/false);
}

SmallVector<Value> VectorAccumulator::before() const {
  scf::ForOp innermost = loops.back();
  return llvm::to_vector_of<Value>(innermost.getRegionIterArgs().take_back(legality.reductions.size()));
}

void VectorAccumulator::finish(ArrayRef<Value> after) {
  Operation *yield = loops.back().getBody()->getTerminator();
  yield->setOperands(yield->getNumOperands() - after.size(), after.size(), after);
  scf::ForOp outermost = loops.front();
  OpBuilder b(outermost->getContext());
  b.setInsertionPointAfter(outermost);
  auto vectors = outermost.getResults().take_back(after.size());
  for (auto [reduction, number, vector] : llvm::zip_equal(legality.reductions, numbers, vectors)) {
    Value scalar = outermost.getResult(number);
    Value all = reduceLanes(b, outermost.getLoc(), reduction, vector, scalar);
    scalar.replaceAllUsesExcept(all, all.getDefiningOp());
  }
}

} // namespace tulle::passes
