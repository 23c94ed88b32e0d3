#include "passes/analysis/VectorizationLegality.h"
#include "dialect/Attributes.h"
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

LaneShape VectorizationLegality::shapeOf(Value value) const {
  auto it = shapes.find(value);
  return it == shapes.end() ? LaneShape::Uniform : it->second;
}

bool VectorizationLegality::isReductionStep(Operation *op) const {
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
      .Case([&](arith::SubFOp sub) { return reassociable(sub, CombiningKind::ADD); })
      .Case([&](arith::MulFOp mul) { return reassociable(mul, CombiningKind::MUL); })
      .Case([](arith::MaximumFOp) { return CombiningKind::MAXIMUMF; })
      .Case([](arith::MinimumFOp) { return CombiningKind::MINIMUMF; })
      .Case([](arith::MaxNumFOp) { return CombiningKind::MAXNUMF; })
      .Case([](arith::MinNumFOp) { return CombiningKind::MINNUMF; })
      .Case([](arith::AddIOp) { return CombiningKind::ADD; })
      .Case([](arith::SubIOp) { return CombiningKind::ADD; })
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

/// Follows a value yielded by branches whose other side yields `acc` to the side that does not.
static Value throughBranches(Value value, Value acc, scf::IfOp &branch) {
  while (auto result = mlir::dyn_cast<mlir::OpResult>(value)) {
    auto op = mlir::dyn_cast<scf::IfOp>(result.getOwner());
    if (!op || !result.hasOneUse() || op.elseYield().getOperand(result.getResultNumber()) != acc)
      break;
    branch = op;
    value = op.thenYield().getOperand(result.getResultNumber());
  }
  return value;
}

/// Recognizes `acc (op) x` and `select(c, acc (op) x, acc)`, both ways round, in a branch or not, where
/// nothing else sees acc.
static std::optional<Reduction> matchReduction(scf::ForOp loop, unsigned index) {
  Value acc = loop.getRegionIterArgs()[index];
  Reduction reduction;
  Value yielded = throughBranches(loop.getBody()->getTerminator()->getOperand(index), acc, reduction.branch);
  mlir::Block *block = reduction.branch ? reduction.branch.thenBlock() : loop.getBody();
  Operation *last = yielded.getDefiningOp();
  if (!last || last->getBlock() != block || !last->hasOneUse())
    return std::nullopt;
  reduction.combiner = last;
  if (auto select = mlir::dyn_cast<arith::SelectOp>(last)) {
    reduction.select = select;
    reduction.condition = select.getCondition();
    reduction.selectsOnTrue = select.getFalseValue() == acc;
    Value kept = reduction.selectsOnTrue ? select.getFalseValue() : select.getTrueValue();
    Value combined = reduction.selectsOnTrue ? select.getTrueValue() : select.getFalseValue();
    reduction.combiner = combined.getDefiningOp();
    if (kept != acc || !reduction.combiner || reduction.combiner->getBlock() != block ||
        !reduction.combiner->hasOneUse())
      return std::nullopt;
  }
  for (Operation *user : acc.getUsers())
    if (user != reduction.combiner && user != reduction.select && !mlir::isa<scf::YieldOp>(user))
      return std::nullopt;
  std::optional<CombiningKind> kind = combiningKind(reduction.combiner);
  if (!kind || reduction.combiner->getNumOperands() != 2)
    return std::nullopt;
  Value lhs = reduction.combiner->getOperand(0), rhs = reduction.combiner->getOperand(1);
  bool subtracts = mlir::isa<arith::SubFOp, arith::SubIOp>(reduction.combiner);
  if ((lhs == acc) == (rhs == acc) || (subtracts && rhs == acc) || reduction.condition == acc)
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

  std::optional<VectorizationLegality> run(Obstacle *obstacle) {
    if (reductionsMatch() && visit(*plan.loop.getBody()) && storesAreIndependent())
      return std::move(plan);
    if (obstacle)
      *obstacle = found;
    return std::nullopt;
  }

private:
  VectorizationLegality plan;
  Obstacle found;
  llvm::SmallVector<Operation *> accesses;

  bool refuse(Operation *op, const char *why) {
    found = {op, why};
    return false;
  }

  void widen(mlir::Type type) { plan.widestBits = std::max(plan.widestBits, type.getIntOrFloatBitWidth()); }

  bool reductionsMatch() {
    scf::ForOp loop = plan.loop;
    if (!mlir::matchPattern(loop.getStep(), mlir::m_One()) || !loop.getInductionVar().getType().isIndex())
      return refuse(loop, "its step is not 1");
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
      std::optional<Reduction> reduction = matchReduction(loop, i);
      if (!reduction || !isLaneElement(reduction->input.getType())) {
        Operation *last = loop.getBody()->getTerminator()->getOperand(i).getDefiningOp();
        return refuse(last ? last : loop, "is no reduction whose order may change");
      }
      widen(reduction->input.getType());
      plan.reductions.push_back(*reduction);
    }
    plan.shapes[loop.getInductionVar()] = LaneShape::Consecutive;
    return true;
  }

  bool visit(mlir::Block &block) {
    for (Operation &op : block.without_terminator())
      if (!plan.isReductionStep(&op) && !visit(&op))
        return false;
    return true;
  }

  bool isGuarded(Operation *op) const { return op->getParentOp() != plan.loop; }

  bool visit(Operation *op) {
    if (auto load = mlir::dyn_cast<memref::LoadOp>(op))
      return visitLoad(load);
    if (auto store = mlir::dyn_cast<memref::StoreOp>(op))
      return visitStore(store);
    if (auto branch = mlir::dyn_cast<scf::IfOp>(op))
      return visitBranch(branch);
    if (op->getNumRegions() != 0 || op->getNumResults() != 1 || !mlir::isMemoryEffectFree(op))
      return refuse(op, "has effects, regions or several results");
    if (isGuarded(op) && !mlir::isSpeculatable(op))
      return refuse(op, "must not run in iterations that branch around it");
    bool uniform =
        llvm::all_of(op->getOperands(), [&](Value v) { return plan.shapeOf(v) == LaneShape::Uniform; });
    if (uniform) {
      plan.shapes[op->getResult(0)] = LaneShape::Uniform;
      return true;
    }
    plan.shapes[op->getResult(0)] = isShift(op) ? LaneShape::Consecutive : LaneShape::PerLane;
    if (mlir::OpTrait::hasElementwiseMappableTraits(op) &&
        llvm::all_of(op->getOperandTypes(), [](mlir::Type t) { return t.isIntOrIndexOrFloat(); }) &&
        op->getResult(0).getType().isIntOrIndexOrFloat())
      return true;
    return refuse(op, "has no form for vectors");
  }

  /// Branches around stores and reductions: results are those of reductions.
  bool visitBranch(scf::IfOp branch) {
    auto ofReduction = [&](Value result) {
      return result.hasOneUse() && mlir::isa<scf::YieldOp>(*result.user_begin()) &&
             llvm::any_of(plan.reductions,
                          [&](const Reduction &r) { return r.branch && branch->isAncestor(r.branch); });
    };
    if (branch.elseBlock() && !branch.elseBlock()->without_terminator().empty())
      return refuse(branch, "has two sides");
    if (!llvm::all_of(branch.getResults(), ofReduction))
      return refuse(branch, "gives a value that is no reduction");
    plan.branches = true;
    return visit(*branch.thenBlock());
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
      return refuse(load, "reads no plain buffer");
    accesses.push_back(load);
    LaneShape shape = plan.shapeOf(load.getIndices()[0]);
    bool same = shape == LaneShape::Uniform && !isGuarded(load);
    plan.shapes[load] = same ? LaneShape::Uniform : LaneShape::PerLane;
    if (same)
      return true;
    // Gathers exist for 4- and 8-byte elements; narrower ones would be taken apart lane by lane.
    bool gather = shape != LaneShape::Consecutive;
    if (!isPlainBuffer(load.getMemRefType()) || (gather && load.getType().getIntOrFloatBitWidth() < 32))
      return refuse(load, "reads elements that no vector can be gathered from");
    plan.gathers |= gather;
    if (gather && isGuarded(load))
      plan.guardedGathers.push_back(load.getMemRef());
    widen(load.getType());
    return true;
  }

  bool visitStore(memref::StoreOp store) {
    if (!isPlainBuffer(store.getMemRefType()))
      return refuse(store, "writes elements that no vector can be stored to");
    LaneShape shape = plan.shapeOf(store.getIndices()[0]);
    // The iterations of a parallel loop write different elements.
    auto kind = plan.loop->getAttrOfType<mlir::StringAttr>(dialect::kKindAttr);
    if (shape == LaneShape::Uniform ||
        (shape == LaneShape::PerLane &&
         (!kind || kind.getValue() != "parallel" || store.getMemRefType().getElementTypeBitWidth() < 32)))
      return refuse(store, "may write one element in several lanes");
    plan.scatters |= shape == LaneShape::PerLane;
    accesses.push_back(store);
    widen(store.getMemRefType().getElementType());
    return true;
  }

  /// Whatever touches a buffer that is stored to does so at the very position of the store: then lanes never
  /// meet. Different buffers never overlap (tulle-noalias).
  bool storesAreIndependent() {
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
          return refuse(other, "may touch an element that another lane stores");
    }
    return true;
  }
};

} // namespace

std::optional<VectorizationLegality> analyzeLoop(scf::ForOp loop, Obstacle *obstacle) {
  return Planner(loop).run(obstacle);
}

} // namespace tulle::passes
