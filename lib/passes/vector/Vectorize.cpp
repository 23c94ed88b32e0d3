// tulle-vectorize: innermost loops that gather or reduce become vector code.
//
// A planned loop becomes a loop of whole vectors (for sums of consecutive data: two loops, the first with
// several independent partial results), and a scalar loop for the rest. Rows of sparse matrices are short: on
// them a scalar rest measures faster than a masked one, and half-width gathers faster than full-width ones.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/vector/LoopPlan.h"
#include "passes/vector/TripCount.h"

namespace tulle::passes {
#define GEN_PASS_DEF_VECTORIZE
#include "passes/Passes.h.inc"

namespace {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
namespace vector = mlir::vector;
namespace LLVM = mlir::LLVM;
using mlir::Operation;
using mlir::Type;
using mlir::Value;
using vector::CombiningKind;

struct Lanes {
  int64_t count = 4;
  bool scalable = false, index32 = false;
};

/// x with x (op) v == v for every v; the caller's initial value where starting several lanes from it changes
/// nothing.
std::optional<mlir::TypedAttr> identity(CombiningKind kind, Type type) {
  mlir::Builder b(type.getContext());
  switch (kind) {
  case CombiningKind::ADD:
    // -0.0: the sum of nothing but -0.0 stays -0.0.
    return mlir::isa<mlir::FloatType>(type) ? mlir::TypedAttr(b.getFloatAttr(type, -0.0))
                                            : b.getIntegerAttr(type, 0);
  case CombiningKind::MUL:
    return mlir::isa<mlir::FloatType>(type) ? mlir::TypedAttr(b.getFloatAttr(type, 1.0))
                                            : b.getIntegerAttr(type, 1);
  case CombiningKind::XOR:
    return mlir::TypedAttr(b.getIntegerAttr(type, 0));
  default:
    return std::nullopt;
  }
}

/// Emits the body of a plan for one vector of iterations.
class BodyEmitter {
public:
  BodyEmitter(mlir::OpBuilder &builder, const LoopPlan &plan, const Lanes &lanes)
      : b(builder), plan(plan), lanes(lanes) {}

  /// Returns the combined accumulators; `first` is the induction variable's value in lane 0.
  llvm::SmallVector<Value> emit(Value first, mlir::ValueRange accumulators) {
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

private:
  mlir::OpBuilder &b;
  const LoopPlan &plan;
  Lanes lanes;
  mlir::IRMapping scalars; ///< uniform values, and lane 0 of consecutive ones
  mlir::IRMapping vectors;

  mlir::VectorType vectorOf(Type element) const {
    return mlir::VectorType::get({lanes.count}, element, {lanes.scalable});
  }

  Value splat(mlir::Location loc, Type element, mlir::TypedAttr value) {
    return arith::ConstantOp::create(b, loc, mlir::DenseElementsAttr::get(vectorOf(element), value));
  }

  Value asVector(mlir::Location loc, Value value) {
    if (Value known = vectors.lookupOrNull(value))
      return known;
    Value scalar = scalars.lookupOrDefault(value);
    Value wide = vector::BroadcastOp::create(b, loc, vectorOf(value.getType()), scalar);
    if (plan.shapeOf(value) == LaneShape::Consecutive)
      wide = arith::AddIOp::create(b, loc, wide, laneNumbers(loc));
    vectors.map(value, wide);
    return wide;
  }

  /// 0, 1, 2, …; a constant where it can be, because convert-to-llvm leaves the cast of a lowered vector.step
  /// behind.
  Value laneNumbers(mlir::Location loc) {
    mlir::VectorType type = vectorOf(b.getIndexType());
    if (lanes.scalable)
      return vector::StepOp::create(b, loc, type);
    llvm::SmallVector<mlir::Attribute> numbers;
    for (int64_t lane = 0; lane < lanes.count; ++lane)
      numbers.push_back(b.getIndexAttr(lane));
    return arith::ConstantOp::create(b, loc, mlir::DenseElementsAttr::get(type, numbers));
  }

  void emit(Operation *op) {
    if (auto store = mlir::dyn_cast<memref::StoreOp>(op)) {
      vector::StoreOp::create(b, op->getLoc(), asVector(op->getLoc(), store.getValueToStore()),
                              store.getMemRef(), scalars.lookupOrDefault(store.getIndices()[0]));
      return;
    }
    Value result = op->getResult(0);
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
    state.addTypes(vectorOf(result.getType()));
    state.addAttributes(op->getAttrs());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    vectors.map(result, b.create(state)->getResult(0));
  }

  Value emitLoad(memref::LoadOp load) {
    mlir::Location loc = load.getLoc();
    Value index = load.getIndices()[0];
    mlir::VectorType type = vectorOf(load.getType());
    if (plan.shapeOf(index) == LaneShape::Consecutive)
      return vector::LoadOp::create(b, loc, type, load.getMemRef(), scalars.lookupOrDefault(index));
    if (Value first = everySecond(loc, index))
      return loadEverySecond(loc, type, load.getMemRef(), first);
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value all = splat(loc, b.getI1Type(), b.getBoolAttr(true));
    Value none = splat(loc, load.getType(), mlir::cast<mlir::TypedAttr>(b.getZeroAttr(load.getType())));
    return vector::GatherOp::create(b, loc, type, load.getMemRef(), zero, gatherIndex(loc, index), all, none);
  }

  /// The index in lane 0 when it grows by two from lane to lane: consecutive * 2, or that plus a uniform
  /// number.
  Value everySecond(mlir::Location loc, Value index) {
    auto isUniform = [&](Value v) { return plan.shapeOf(v) == LaneShape::Uniform; };
    Value offset;
    if (auto sum = index.getDefiningOp<arith::AddIOp>()) {
      bool left = isUniform(sum.getLhs());
      offset = left ? sum.getLhs() : sum.getRhs();
      index = left ? sum.getRhs() : sum.getLhs();
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
  Value loadEverySecond(mlir::Location loc, mlir::VectorType type, Value buffer, Value first) {
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
  Value gatherIndex(mlir::Location loc, Value index) {
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
    return bits == 32 ? lane : arith::ExtUIOp::create(b, loc, vectorOf(b.getI32Type()), lane).getResult();
  }

  Value combine(const Reduction &reduction, Value acc) {
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
};

/// Rewrites one planned loop.
class LoopEmitter {
public:
  LoopEmitter(LoopPlan plan, Lanes lanes)
      : plan(std::move(plan)), lanes(lanes), b(this->plan.loop), loc(this->plan.loop.getLoc()) {}

  void run() {
    scf::ForOp loop = plan.loop;
    Value step = arith::ConstantIndexOp::create(b, loc, lanes.count);
    if (lanes.scalable)
      step = arith::MulIOp::create(b, loc, step, vector::VectorScaleOp::create(b, loc));
    llvm::SmallVector<Value> partial;
    for (auto [reduction, init] : llvm::zip_equal(plan.reductions, loop.getInitArgs()))
      partial.push_back(start(reduction, init));

    // Gathers already keep many loads in flight; sums of consecutive data wait on the adder unless it has
    // several chains.
    Value position = loop.getLowerBound();
    if (!plan.gathers && !plan.reductions.empty())
      std::tie(position, partial) = vectorLoop(position, partial, step, 4);
    std::tie(position, partial) = vectorLoop(position, partial, step, 1);

    llvm::SmallVector<Value> inits;
    for (auto [reduction, value, init] : llvm::zip_equal(plan.reductions, partial, loop.getInitArgs()))
      inits.push_back(vector::ReductionOp::create(b, loc, reduction.kind, value, init, fastmath(reduction)));
    scalarRest(position, inits);
  }

private:
  LoopPlan plan;
  Lanes lanes;
  mlir::OpBuilder b;
  mlir::Location loc;
  bool constantLength = constantIterations(plan.loop).has_value();

  static arith::FastMathFlags fastmath(const Reduction &reduction) {
    auto op = mlir::dyn_cast<arith::ArithFastMathInterface>(reduction.combiner);
    return op ? op.getFastMathFlagsAttr().getValue() : arith::FastMathFlags::none;
  }

  Value start(const Reduction &reduction, Value init) {
    mlir::VectorType type = mlir::VectorType::get({lanes.count}, init.getType(), {lanes.scalable});
    if (std::optional<mlir::TypedAttr> neutral = identity(reduction.kind, init.getType()))
      return arith::ConstantOp::create(b, loc, mlir::DenseElementsAttr::get(type, *neutral));
    return vector::BroadcastOp::create(b, loc, type, init);
  }

  /// A loop over `chains` vectors at a time from `lower` while they fit; returns where it ends, and its
  /// results.
  std::pair<Value, llvm::SmallVector<Value>> vectorLoop(Value lower, llvm::SmallVector<Value> partial,
                                                        Value step, int64_t chains) {
    Value wide = step;
    if (chains > 1)
      wide = arith::MulIOp::create(b, loc, step, arith::ConstantIndexOp::create(b, loc, chains));
    // p < upper - (wide - 1) says p + wide <= upper without computing beyond the loop's own bounds.
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    Value limit =
        arith::SubIOp::create(b, loc, plan.loop.getUpperBound(), arith::SubIOp::create(b, loc, wide, one));
    llvm::SmallVector<Value> inits{lower};
    inits.append(partial);
    for (int64_t chain = 1; chain < chains; ++chain)
      for (auto [reduction, init] : llvm::zip_equal(plan.reductions, plan.loop.getInitArgs()))
        inits.push_back(start(reduction, init));

    auto loop = scf::ForOp::create(b, loc, lower, limit, wide, inits);
    keepAsItIs(loop);
    b.setInsertionPointToStart(loop.getBody());
    llvm::SmallVector<Value> yields{arith::AddIOp::create(b, loc, loop.getInductionVar(), wide)};
    size_t count = plan.reductions.size();
    Value first = loop.getInductionVar();
    for (int64_t chain = 0; chain < chains; ++chain) {
      if (chain > 0)
        first = arith::AddIOp::create(b, loc, first, step);
      yields.append(
          BodyEmitter(b, plan, lanes).emit(first, loop.getRegionIterArgs().slice(1 + chain * count, count)));
    }
    scf::YieldOp::create(b, loc, yields);

    b.setInsertionPoint(plan.loop);
    llvm::SmallVector<Value> results(loop.getResults().slice(1, count));
    for (int64_t chain = 1; chain < chains; ++chain)
      for (auto [k, reduction] : llvm::enumerate(plan.reductions))
        results[k] = combineChains(reduction, results[k], loop.getResult(1 + chain * count + k));
    return {loop.getResult(0), results};
  }

  Value combineChains(const Reduction &reduction, Value a, Value c) {
    mlir::OperationState state(loc, reduction.combiner->getName());
    state.addOperands({a, c});
    state.addTypes(a.getType());
    state.addAttributes(reduction.combiner->getAttrs());
    state.propertiesAttr = reduction.combiner->getPropertiesAsAttribute();
    return b.create(state)->getResult(0);
  }

  /// The original loop, from where the vectors ended.
  void scalarRest(Value position, mlir::ValueRange inits) {
    plan.loop.getLowerBoundMutable().assign(position);
    plan.loop.getInitArgsMutable().assign(inits);
    keepAsItIs(plan.loop);
  }

  /// Neither unrolled nor vectorized again by LLVM: at most a few iterations remain, or each is already a
  /// vector.
  static void keepAsItIs(scf::ForOp loop) {
    mlir::MLIRContext *context = loop.getContext();
    auto yes = mlir::BoolAttr::get(context, true);
    auto vectorize = LLVM::LoopVectorizeAttr::get(context, yes, {}, {}, {}, {}, {}, {});
    auto unroll = LLVM::LoopUnrollAttr::get(context, yes, {}, {}, {}, {}, {}, {});
    loop->setAttr("llvm.loop_annotation",
                  LLVM::LoopAnnotationAttr::get(context, {}, vectorize, {}, unroll, {}, {}, {}, {}, {}, {},
                                                {}, {}, {}, {}, {}));
  }
};

struct VectorizePass : impl::VectorizeBase<VectorizePass> {
  using VectorizeBase::VectorizeBase;

  void runOnOperation() override {
    llvm::SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      std::optional<LoopPlan> plan = planLoop(loop);
      if (!plan || (!plan->gathers && plan->reductions.empty()))
        continue;
      Lanes lanes;
      lanes.count = vl ? unsigned(vl) : std::max(2u, 256 / plan->widestBits);
      // Loops over parts of a block, or over few entries, are left to LLVM, which unrolls them where it can.
      std::optional<int64_t> most = mostIterations(loop), exactly = constantIterations(loop);
      if (most && *most <= 4 * lanes.count && !(exactly && *exactly >= 2 * lanes.count))
        continue;
      lanes.scalable = scalable;
      lanes.index32 = index32;
      LoopEmitter(std::move(*plan), lanes).run();
    }
  }
};

} // namespace
} // namespace tulle::passes
