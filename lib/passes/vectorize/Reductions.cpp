#include "passes/vectorize/Reductions.h"

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

} // namespace tulle::passes
