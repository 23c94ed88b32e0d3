#include "passes/vector/LoopPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tulle::passes {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Operation;
using mlir::Value;
using mlir::vector::CombiningKind;

LaneShape LoopPlan::shapeOf(Value value) const {
  auto it = shapes.find(value);
  return it == shapes.end() ? LaneShape::Uniform : it->second;
}

bool LoopPlan::isReductionStep(Operation *op) const {
  return llvm::any_of(reductions, [&](const Reduction &r) { return op == r.combiner || op == r.select; });
}

/// The kind of a combining operation whose order may change; nothing for others.
static std::optional<CombiningKind> combiningKind(Operation *op) {
  auto reassociable = [](auto floatOp, CombiningKind kind) -> std::optional<CombiningKind> {
    if (arith::bitEnumContainsAll(floatOp.getFastmath(), arith::FastMathFlags::reassoc))
      return kind;
    return std::nullopt;
  };
  return llvm::TypeSwitch<Operation *, std::optional<CombiningKind>>(op)
      .Case([&](arith::AddFOp add) { return reassociable(add, CombiningKind::ADD); })
      .Case([&](arith::MulFOp mul) { return reassociable(mul, CombiningKind::MUL); })
      .Case([](arith::MaximumFOp) { return CombiningKind::MAXIMUMF; })
      .Case([](arith::MinimumFOp) { return CombiningKind::MINIMUMF; })
      .Case([](arith::MaxNumFOp) { return CombiningKind::MAXNUMF; })
      .Case([](arith::MinNumFOp) { return CombiningKind::MINNUMF; })
      .Case([](arith::AddIOp) { return CombiningKind::ADD; })
      .Case([](arith::MulIOp) { return CombiningKind::MUL; })
      .Case([](arith::AndIOp) { return CombiningKind::AND; })
      .Case([](arith::OrIOp) { return CombiningKind::OR; })
      .Case([](arith::XOrIOp) { return CombiningKind::XOR; })
      .Case([](arith::MaxSIOp) { return CombiningKind::MAXSI; })
      .Case([](arith::MinSIOp) { return CombiningKind::MINSI; })
      .Case([](arith::MaxUIOp) { return CombiningKind::MAXUI; })
      .Case([](arith::MinUIOp) { return CombiningKind::MINUI; })
      .Default([](Operation *) { return std::nullopt; });
}

/// Recognizes `acc (op) x` and `select(c, acc (op) x, acc)`, both ways round, where nothing else sees acc.
static std::optional<Reduction> matchReduction(scf::ForOp loop, unsigned index) {
  Value acc = loop.getRegionIterArgs()[index];
  Operation *last = loop.getBody()->getTerminator()->getOperand(index).getDefiningOp();
  if (!last || last->getBlock() != loop.getBody() || !last->hasOneUse())
    return std::nullopt;
  Reduction reduction;
  reduction.combiner = last;
  if (auto select = mlir::dyn_cast<arith::SelectOp>(last)) {
    reduction.select = select;
    reduction.condition = select.getCondition();
    reduction.selectsOnTrue = select.getFalseValue() == acc;
    Value kept = reduction.selectsOnTrue ? select.getFalseValue() : select.getTrueValue();
    Value combined = reduction.selectsOnTrue ? select.getTrueValue() : select.getFalseValue();
    reduction.combiner = combined.getDefiningOp();
    if (kept != acc || !reduction.combiner || reduction.combiner->getBlock() != loop.getBody() ||
        !reduction.combiner->hasOneUse())
      return std::nullopt;
  }
  for (Operation *user : acc.getUsers())
    if (user != reduction.combiner && user != reduction.select)
      return std::nullopt;
  std::optional<CombiningKind> kind = combiningKind(reduction.combiner);
  if (!kind || reduction.combiner->getNumOperands() != 2)
    return std::nullopt;
  Value lhs = reduction.combiner->getOperand(0), rhs = reduction.combiner->getOperand(1);
  if ((lhs == acc) == (rhs == acc) || reduction.condition == acc)
    return std::nullopt;
  reduction.kind = *kind;
  reduction.input = lhs == acc ? rhs : lhs;
  return reduction;
}

/// Elements a vector can hold and memory can hold a vector of: i1 is stored as bytes, complex numbers are
/// pairs.
static bool isLaneElement(mlir::Type type) {
  return mlir::isa<mlir::Float16Type, mlir::BFloat16Type, mlir::Float32Type, mlir::Float64Type>(type) ||
         (type.isInteger() && type.getIntOrFloatBitWidth() >= 8 && type.getIntOrFloatBitWidth() <= 64);
}

namespace {

class Planner {
public:
  explicit Planner(scf::ForOp loop) { plan.loop = loop; }

  std::optional<LoopPlan> run() {
    scf::ForOp loop = plan.loop;
    if (!mlir::matchPattern(loop.getStep(), mlir::m_One()) || !loop.getInductionVar().getType().isIndex())
      return std::nullopt;
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
      std::optional<Reduction> reduction = matchReduction(loop, i);
      if (!reduction || !isLaneElement(reduction->input.getType()))
        return std::nullopt;
      widen(reduction->input.getType());
      plan.reductions.push_back(*reduction);
    }
    plan.shapes[loop.getInductionVar()] = LaneShape::Consecutive;
    for (Operation &op : loop.getBody()->without_terminator())
      if (!plan.isReductionStep(&op) && !visit(&op))
        return std::nullopt;
    if (!storesAreIndependent())
      return std::nullopt;
    return std::move(plan);
  }

private:
  LoopPlan plan;
  llvm::SmallVector<Operation *> accesses;

  void widen(mlir::Type type) { plan.widestBits = std::max(plan.widestBits, type.getIntOrFloatBitWidth()); }

  bool visit(Operation *op) {
    if (auto load = mlir::dyn_cast<memref::LoadOp>(op))
      return visitLoad(load);
    if (auto store = mlir::dyn_cast<memref::StoreOp>(op))
      return visitStore(store);
    if (op->getNumRegions() != 0 || op->getNumResults() != 1 || !mlir::isMemoryEffectFree(op))
      return false;
    bool uniform =
        llvm::all_of(op->getOperands(), [&](Value v) { return plan.shapeOf(v) == LaneShape::Uniform; });
    if (uniform) {
      plan.shapes[op->getResult(0)] = LaneShape::Uniform;
      return true;
    }
    plan.shapes[op->getResult(0)] = isShift(op) ? LaneShape::Consecutive : LaneShape::PerLane;
    return mlir::OpTrait::hasElementwiseMappableTraits(op) &&
           llvm::all_of(op->getOperandTypes(), [](mlir::Type t) { return t.isIntOrIndexOrFloat(); }) &&
           op->getResult(0).getType().isIntOrIndexOrFloat();
  }

  /// consecutive + uniform, or consecutive - uniform, of type index.
  bool isShift(Operation *op) const {
    if (!op->getResult(0).getType().isIndex() || !mlir::isa<arith::AddIOp, arith::SubIOp>(op))
      return false;
    LaneShape lhs = plan.shapeOf(op->getOperand(0)), rhs = plan.shapeOf(op->getOperand(1));
    return (lhs == LaneShape::Consecutive && rhs == LaneShape::Uniform) ||
           (mlir::isa<arith::AddIOp>(op) && lhs == LaneShape::Uniform && rhs == LaneShape::Consecutive);
  }

  static bool isPlainBuffer(mlir::MemRefType type) {
    return type.getRank() == 1 && type.getLayout().isIdentity() && isLaneElement(type.getElementType());
  }

  bool visitLoad(memref::LoadOp load) {
    if (load.getMemRefType().getRank() != 1)
      return false;
    accesses.push_back(load);
    LaneShape shape = plan.shapeOf(load.getIndices()[0]);
    plan.shapes[load] = shape == LaneShape::Uniform ? LaneShape::Uniform : LaneShape::PerLane;
    if (shape == LaneShape::Uniform)
      return true;
    // Gathers exist for 4- and 8-byte elements; narrower ones would be taken apart lane by lane.
    bool gather = shape == LaneShape::PerLane;
    if (!isPlainBuffer(load.getMemRefType()) || (gather && load.getType().getIntOrFloatBitWidth() < 32))
      return false;
    plan.gathers |= gather;
    widen(load.getType());
    return true;
  }

  bool visitStore(memref::StoreOp store) {
    if (!isPlainBuffer(store.getMemRefType()) ||
        plan.shapeOf(store.getIndices()[0]) != LaneShape::Consecutive)
      return false;
    accesses.push_back(store);
    widen(store.getMemRefType().getElementType());
    return true;
  }

  /// Whatever touches a buffer that is stored to does so at the very position of the store: then lanes never
  /// meet. Different buffers never overlap (tulle-noalias).
  bool storesAreIndependent() const {
    auto bufferAndIndex = [](Operation *op) -> std::pair<Value, Value> {
      if (auto load = mlir::dyn_cast<memref::LoadOp>(op))
        return {load.getMemRef(), load.getIndices()[0]};
      auto store = mlir::cast<memref::StoreOp>(op);
      return {store.getMemRef(), store.getIndices()[0]};
    };
    for (Operation *store : accesses) {
      if (!mlir::isa<memref::StoreOp>(store))
        continue;
      auto [buffer, index] = bufferAndIndex(store);
      for (Operation *other : accesses)
        if (auto [otherBuffer, otherIndex] = bufferAndIndex(other);
            otherBuffer == buffer && otherIndex != index)
          return false;
    }
    return true;
  }
};

} // namespace

std::optional<LoopPlan> planLoop(scf::ForOp loop) { return Planner(loop).run(); }

} // namespace tulle::passes
