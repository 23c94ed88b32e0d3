#include "passes/vectorize/Reductions.h"

namespace tulle::passes {

namespace arith = mlir::arith;
namespace vector = mlir::vector;
using mlir::Value;
using vector::CombiningKind;

std::optional<mlir::TypedAttr> identity(CombiningKind kind, mlir::Type type) {
  mlir::Builder b(type.getContext());
  bool isFloat = mlir::isa<mlir::FloatType>(type);
  switch (kind) {
  case CombiningKind::ADD:
    // -0.0: the sum of nothing but -0.0 stays -0.0.
    return isFloat ? mlir::TypedAttr(b.getFloatAttr(type, -0.0)) : b.getIntegerAttr(type, 0);
  case CombiningKind::MUL:
    return isFloat ? mlir::TypedAttr(b.getFloatAttr(type, 1.0)) : b.getIntegerAttr(type, 1);
  case CombiningKind::XOR:
    return mlir::TypedAttr(b.getIntegerAttr(type, 0));
  default:
    return std::nullopt;
  }
}

Value startLanes(mlir::OpBuilder &b, mlir::Location loc, const Reduction &reduction, const Lanes &lanes,
                 Value init) {
  mlir::VectorType type = lanes.of(init.getType());
  if (std::optional<mlir::TypedAttr> neutral = identity(reduction.kind, init.getType()))
    return arith::ConstantOp::create(b, loc, mlir::DenseElementsAttr::get(type, *neutral));
  return vector::BroadcastOp::create(b, loc, type, init);
}

Value combine(mlir::OpBuilder &b, mlir::Location loc, const Reduction &reduction, Value a, Value c) {
  // What is subtracted was subtracted in the lanes: their results are added up.
  if (auto sub = mlir::dyn_cast<arith::SubFOp>(reduction.combiner))
    return arith::AddFOp::create(b, loc, a, c, sub.getFastmath());
  if (mlir::isa<arith::SubIOp>(reduction.combiner))
    return arith::AddIOp::create(b, loc, a, c);
  mlir::OperationState state(loc, reduction.combiner->getName());
  state.addOperands({a, c});
  state.addTypes(a.getType());
  state.addAttributes(reduction.combiner->getAttrs());
  state.propertiesAttr = reduction.combiner->getPropertiesAsAttribute();
  return b.create(state)->getResult(0);
}

Value combineLanes(mlir::OpBuilder &b, mlir::Location loc, const Reduction &reduction, Value lanes,
                   Value init) {
  auto op = mlir::dyn_cast<arith::ArithFastMathInterface>(reduction.combiner);
  auto flags = op ? op.getFastMathFlagsAttr().getValue() : arith::FastMathFlags::none;
  return vector::ReductionOp::create(b, loc, reduction.kind, lanes, init, flags);
}

/// Neighbors are combined until each vector has one lane left: half as many vectors each time.
Value combineEach(mlir::OpBuilder &b, mlir::Location loc, const Reduction &reduction,
                  llvm::SmallVector<Value> vectors) {
  const int64_t lanes = vectors.size();
  llvm::SmallVector<int64_t> even, odd;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    even.push_back(2 * lane);
    odd.push_back(2 * lane + 1);
  }
  while (vectors.size() > 1) {
    llvm::SmallVector<Value> half;
    for (size_t v = 0; v < vectors.size(); v += 2)
      half.push_back(combine(b, loc, reduction,
                             vector::ShuffleOp::create(b, loc, vectors[v], vectors[v + 1], even),
                             vector::ShuffleOp::create(b, loc, vectors[v], vectors[v + 1], odd)));
    vectors = std::move(half);
  }
  return vectors[0];
}

} // namespace tulle::passes
