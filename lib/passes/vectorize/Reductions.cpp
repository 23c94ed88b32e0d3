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

/// A minimum or maximum of floats, halves of the lanes with each other: processors have an instruction for
/// `x > y ? x : y`, but it takes three more until a nan comes through. Whether there is one is asked once.
static Value reduceExtremum(OpBuilder &b, Location loc, vector::CombiningKind kind, Value lanes, Value init) {
  const auto predicate =
      kind == vector::CombiningKind::MAXIMUMF ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  auto extremum = [&](Value x, Value y) -> Value {
    return arith::SelectOp::create(b, loc, arith::CmpFOp::create(b, loc, predicate, x, y), x, y);
  };
  auto isNan = [&](Value x) -> Value {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  };
  Value nan = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, isNan(lanes));
  nan = arith::OrIOp::create(b, loc, nan, isNan(init));
  for (int64_t half = cast<VectorType>(lanes.getType()).getDimSize(0) / 2; half > 0; half /= 2) {
    auto low = llvm::to_vector(llvm::seq<int64_t>(0, half)),
         high = llvm::to_vector(llvm::seq(half, 2 * half));
    lanes = extremum(vector::ShuffleOp::create(b, loc, lanes, lanes, low),
                     vector::ShuffleOp::create(b, loc, lanes, lanes, high));
  }
  Value result = extremum(vector::ExtractOp::create(b, loc, lanes, 0), init);
  auto type = cast<FloatType>(init.getType());
  Value quiet = arith::ConstantFloatOp::create(b, loc, type, APFloat::getQNaN(type.getFloatSemantics()));
  return arith::SelectOp::create(b, loc, nan, quiet, result);
}

Value reduceLanes(OpBuilder &b, Location loc, const Reduction &reduction, Value lanes, Value init) {
  arith::FastMathFlagsAttr flags = flagsOf(reduction);
  auto type = cast<VectorType>(lanes.getType());
  if (llvm::is_contained({vector::CombiningKind::MAXIMUMF, vector::CombiningKind::MINIMUMF},
                         reduction.kind) &&
      !type.isScalable() && llvm::isPowerOf2_64(type.getDimSize(0)) && flags &&
      arith::bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::nsz))
    return reduceExtremum(b, loc, reduction.kind, lanes, init);
  return vector::ReductionOp::create(b, loc, reduction.kind, lanes, init,
                                     flags ? flags.getValue() : arith::FastMathFlags::none);
}

/// The vectors are combined pairwise, log2(lanes) times: of the lanes that differ in one bit, the first
/// vector's are combined where that is 0, the second one's where it is 1. Only one of the two operands moves
/// between lanes; the other is a blend, which more units can do (experiment 069).
Value reduceEach(OpBuilder &b, Location loc, const Reduction &reduction, SmallVector<Value> vectors) {
  const int64_t lanes = vectors.size();
  for (int64_t bit = lanes / 2; bit > 0; bit /= 2) {
    SmallVector<int64_t> own, moved;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      own.push_back(lane & bit ? lanes + lane : lane);
      moved.push_back(lane & bit ? lanes + lane - bit : lane + bit);
    }
    const size_t pairs = vectors.size() / 2;
    for (size_t v = 0; v < pairs; ++v)
      vectors[v] =
          combine(b, loc, reduction, vector::ShuffleOp::create(b, loc, vectors[v], vectors[v + pairs], own),
                  vector::ShuffleOp::create(b, loc, vectors[v], vectors[v + pairs], moved));
    vectors.resize(pairs);
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
    auto uses = llvm::map_to_vector(scalar.getUses(), [](OpOperand &use) { return &use; });
    Value all = reduceLanes(b, outermost.getLoc(), reduction, vector, scalar);
    for (OpOperand *use : uses)
      use->set(all);
  }
}

} // namespace tulle::passes
