#include "passes/vector/BodyEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tulle::passes {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
namespace vector = mlir::vector;
using mlir::Operation;
using mlir::Type;
using mlir::Value;

void BodyEmitter::keepInRegister(memref::LoadOp load, Value value, memref::StoreOp store) {
  vectors.map(load.getResult(), value);
  keptStore = store;
}

llvm::SmallVector<Value> BodyEmitter::emit(Value first, mlir::ValueRange accumulators) {
  scf::ForOp loop = plan.loop;
  scalars.map(loop.getInductionVar(), first);
  for (Operation &op : loop.getBody()->without_terminator())
    if (!plan.isReductionStep(&op))
      emit(&op);
  llvm::SmallVector<Value> results;
  for (auto [reduction, acc] : llvm::zip_equal(plan.reductions, accumulators))
    results.push_back(combine(reduction, acc));
  return results;
}

Value BodyEmitter::splat(mlir::Location loc, Type element, mlir::TypedAttr value) {
  return arith::ConstantOp::create(b, loc, mlir::DenseElementsAttr::get(lanes.of(element), value));
}

Value BodyEmitter::asVector(mlir::Location loc, Value value) {
  if (Value known = vectors.lookupOrNull(value))
    return known;
  Value scalar = scalars.lookupOrDefault(value);
  Value wide = vector::BroadcastOp::create(b, loc, lanes.of(value.getType()), scalar);
  if (plan.shapeOf(value) == LaneShape::Consecutive)
    wide = arith::AddIOp::create(b, loc, wide, laneNumbers(loc));
  vectors.map(value, wide);
  return wide;
}

/// 0, 1, 2, …; a constant where it can be, because convert-to-llvm leaves the cast of a lowered vector.step
/// behind.
Value BodyEmitter::laneNumbers(mlir::Location loc) {
  mlir::VectorType type = lanes.of(b.getIndexType());
  if (lanes.scalable)
    return vector::StepOp::create(b, loc, type);
  llvm::SmallVector<mlir::Attribute> numbers;
  for (int64_t lane = 0; lane < lanes.count; ++lane)
    numbers.push_back(b.getIndexAttr(lane));
  return arith::ConstantOp::create(b, loc, mlir::DenseElementsAttr::get(type, numbers));
}

void BodyEmitter::emit(Operation *op) {
  if (auto store = mlir::dyn_cast<memref::StoreOp>(op)) {
    if (store == keptStore)
      return;
    vector::StoreOp::create(b, op->getLoc(), asVector(op->getLoc(), store.getValueToStore()),
                            scalars.lookupOrDefault(store.getMemRef()),
                            scalars.lookupOrDefault(store.getIndices()[0]));
    return;
  }
  Value result = op->getResult(0);
  if (vectors.contains(result))
    return;
  if (plan.shapeOf(result) != LaneShape::PerLane) {
    b.clone(*op, scalars);
    return;
  }
  if (auto load = mlir::dyn_cast<memref::LoadOp>(op)) {
    vectors.map(result, emitLoad(load));
    return;
  }
  mlir::OperationState state(op->getLoc(), op->getName());
  for (Value operand : op->getOperands())
    state.addOperands(asVector(op->getLoc(), operand));
  state.addTypes(lanes.of(result.getType()));
  state.addAttributes(op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  vectors.map(result, b.create(state)->getResult(0));
}

Value BodyEmitter::emitLoad(memref::LoadOp load) {
  mlir::Location loc = load.getLoc();
  Value index = load.getIndices()[0];
  mlir::VectorType type = lanes.of(load.getType());
  if (plan.shapeOf(index) == LaneShape::Consecutive)
    return vector::LoadOp::create(b, loc, type, scalars.lookupOrDefault(load.getMemRef()),
                                  scalars.lookupOrDefault(index));
  if (Value first = everySecond(loc, index))
    return loadEverySecond(loc, type, scalars.lookupOrDefault(load.getMemRef()), first);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value all = splat(loc, b.getI1Type(), b.getBoolAttr(true));
  Value none = splat(loc, load.getType(), mlir::cast<mlir::TypedAttr>(b.getZeroAttr(load.getType())));
  return vector::GatherOp::create(b, loc, type, scalars.lookupOrDefault(load.getMemRef()), zero,
                                  gatherIndex(loc, index), all, none);
}

/// The index in lane 0 when it grows by two from lane to lane: consecutive * 2, or that plus a uniform
/// number.
Value BodyEmitter::everySecond(mlir::Location loc, Value index) {
  auto isUniform = [&](Value v) { return plan.shapeOf(v) == LaneShape::Uniform; };
  Value offset;
  if (auto sum = index.getDefiningOp<arith::AddIOp>()) {
    bool fixedFirst = isUniform(sum.getLhs());
    offset = fixedFirst ? sum.getLhs() : sum.getRhs();
    index = fixedFirst ? sum.getRhs() : sum.getLhs();
  }
  auto product = index.getDefiningOp<arith::MulIOp>();
  llvm::APInt stride;
  if (!product || lanes.scalable || lanes.count % 2 != 0 || (offset && !isUniform(offset)) ||
      plan.shapeOf(product.getLhs()) != LaneShape::Consecutive ||
      !mlir::matchPattern(product.getRhs(), mlir::m_ConstantInt(&stride)) || stride != 2)
    return nullptr;
  Value first = arith::MulIOp::create(b, loc, scalars.lookupOrDefault(product.getLhs()), product.getRhs());
  return offset ? arith::AddIOp::create(b, loc, first, scalars.lookupOrDefault(offset)).getResult() : first;
}

/// Two overlapping loads that end with the last lane's element, and one shuffle: what follows it may not be
/// memory.
Value BodyEmitter::loadEverySecond(mlir::Location loc, mlir::VectorType type, Value buffer, Value first) {
  Value second =
      arith::AddIOp::create(b, loc, first, arith::ConstantIndexOp::create(b, loc, lanes.count - 1));
  Value low = vector::LoadOp::create(b, loc, type, buffer, first);
  Value high = vector::LoadOp::create(b, loc, type, buffer, second);
  llvm::SmallVector<int64_t> picks;
  for (int64_t lane = 0; lane < lanes.count; ++lane)
    picks.push_back(lane < lanes.count / 2 ? 2 * lane : 2 * lane + 1);
  return vector::ShuffleOp::create(b, loc, low, high, picks);
}

/// The index as a vector of 32-bit integers where it is one, zero-extended, and stays non-negative as a
/// signed number.
Value BodyEmitter::gatherIndex(mlir::Location loc, Value index) {
  Value narrow;
  if (auto cast = index.getDefiningOp<arith::IndexCastUIOp>())
    narrow = cast.getIn();
  else if (auto cast = index.getDefiningOp<arith::IndexCastOp>())
    narrow = cast.getIn();
  if (auto extend = narrow ? narrow.getDefiningOp<arith::ExtUIOp>() : nullptr)
    narrow = extend.getIn();
  else if (index.getDefiningOp<arith::IndexCastOp>())
    narrow = nullptr;
  unsigned bits = narrow ? narrow.getType().getIntOrFloatBitWidth() : 64;
  if (bits > 32 || (bits == 32 && !lanes.index32) || !vectors.contains(narrow))
    return asVector(loc, index);
  Value lane = vectors.lookup(narrow);
  return bits == 32 ? lane : arith::ExtUIOp::create(b, loc, lanes.of(b.getI32Type()), lane).getResult();
}

Value BodyEmitter::combine(const Reduction &reduction, Value acc) {
  mlir::Location loc = reduction.combiner->getLoc();
  mlir::OperationState state(loc, reduction.combiner->getName());
  state.addOperands({acc, asVector(loc, reduction.input)});
  state.addTypes(acc.getType());
  state.addAttributes(reduction.combiner->getAttrs());
  state.propertiesAttr = reduction.combiner->getPropertiesAsAttribute();
  Value combined = b.create(state)->getResult(0);
  if (!reduction.select)
    return combined;
  Value condition = asVector(loc, reduction.condition);
  return reduction.selectsOnTrue ? arith::SelectOp::create(b, loc, condition, combined, acc)
                                 : arith::SelectOp::create(b, loc, condition, acc, combined);
}

} // namespace tulle::passes
