// Visits the body once, in order: the shape of a value over the lanes follows from those of its operands, and
// the first operation that has none refuses the loop.
#include "passes/analysis/VectorizationLegality.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "passes/analysis/LoopUtils.h"

namespace tulle::passes {

using namespace mlir;
using vector::CombiningKind;

LaneShape VectorizationLegality::shapeOf(Value value) const {
  auto it = shapes.find(value);
  return it == shapes.end() ? LaneShape::Uniform : it->second;
}

bool VectorizationLegality::isReductionStep(Operation *op) const {
  return llvm::any_of(reductions, [&](const Reduction &r) { return op == r.combiner || op == r.select; });
}

/// The kind of a combining operation that may be reassociated; nothing for others.
static std::optional<CombiningKind> combiningKind(Operation *op) {
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op) &&
      !arith::bitEnumContainsAll(cast<arith::ArithFastMathInterface>(op).getFastMathFlagsAttr().getValue(),
                                 arith::FastMathFlags::reassoc))
    return std::nullopt;
  return isa<arith::SubFOp, arith::SubIOp>(op) ? CombiningKind::ADD : linalg::getCombinerOpKind(op);
}

/// Follows a value through branches whose else region yields `acc`.
static Value throughBranches(Value value, Value acc, scf::IfOp &branch) {
  while (auto result = dyn_cast<OpResult>(value)) {
    auto op = dyn_cast<scf::IfOp>(result.getOwner());
    if (!op || !result.hasOneUse() || op.elseYield().getOperand(result.getResultNumber()) != acc)
      break;
    branch = op;
    value = op.thenYield().getOperand(result.getResultNumber());
  }
  return value;
}

/// Matches `acc (op) x` and `select(c, acc (op) x, acc)`, with either operand order, in a branch or not,
/// where acc has no other use.
static std::optional<Reduction> matchReduction(scf::ForOp loop, unsigned index) {
  Value acc = loop.getRegionIterArgs()[index];
  Reduction reduction;
  Value yielded = throughBranches(loop.getBody()->getTerminator()->getOperand(index), acc, reduction.branch);
  Block *block = reduction.branch ? reduction.branch.thenBlock() : loop.getBody();
  Operation *last = yielded.getDefiningOp();
  if (!last || last->getBlock() != block || !last->hasOneUse())
    return std::nullopt;
  reduction.combiner = last;
  if (auto select = dyn_cast<arith::SelectOp>(last)) {
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
    if (user != reduction.combiner && user != reduction.select && !isa<scf::YieldOp>(user))
      return std::nullopt;
  std::optional<CombiningKind> kind = combiningKind(reduction.combiner);
  if (!kind || reduction.combiner->getNumOperands() != 2)
    return std::nullopt;
  Value lhs = reduction.combiner->getOperand(0), rhs = reduction.combiner->getOperand(1);
  bool subtracts = isa<arith::SubFOp, arith::SubIOp>(reduction.combiner);
  if ((lhs == acc) == (rhs == acc) || (subtracts && rhs == acc) || reduction.condition == acc)
    return std::nullopt;
  reduction.kind = *kind;
  reduction.input = lhs == acc ? rhs : lhs;
  return reduction;
}

/// Elements a vector can hold and memory can hold a vector of: i1 is stored as bytes, complex numbers are
/// pairs.
static bool isLaneElement(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type) ||
         (type.isInteger() && type.getIntOrFloatBitWidth() >= 8 && type.getIntOrFloatBitWidth() <= 64);
}

namespace {

class LegalityAnalysis {
public:
  explicit LegalityAnalysis(scf::ForOp loop) { legality.loop = loop; }

  std::optional<VectorizationLegality> run(MissedVectorization *missed) {
    if (reductionsMatch() && visit(*legality.loop.getBody()) && storesAreIndependent())
      return std::move(legality);
    if (missed)
      *missed = reason;
    return std::nullopt;
  }

private:
  VectorizationLegality legality;
  MissedVectorization reason;
  SmallVector<Operation *> accesses;

  bool refuse(Operation *op, const char *why) {
    reason = {op, why};
    return false;
  }

  void widen(Type type) { legality.widestBits = std::max(legality.widestBits, type.getIntOrFloatBitWidth()); }

  bool reductionsMatch() {
    scf::ForOp loop = legality.loop;
    if (!hasUnitStep(loop) || !loop.getInductionVar().getType().isIndex())
      return refuse(loop, "has a step other than 1");
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
      std::optional<Reduction> reduction = matchReduction(loop, i);
      if (!reduction || !isLaneElement(reduction->input.getType())) {
        Operation *last = loop.getBody()->getTerminator()->getOperand(i).getDefiningOp();
        return refuse(last ? last : loop, "is no reduction that may be reassociated");
      }
      widen(reduction->input.getType());
      legality.reductions.push_back(*reduction);
    }
    legality.shapes[loop.getInductionVar()] = LaneShape::Consecutive;
    return true;
  }

  bool visit(Block &block) {
    for (Operation &op : block.without_terminator())
      if (!legality.isReductionStep(&op) && !visit(&op))
        return false;
    return true;
  }

  bool isGuarded(Operation *op) const { return op->getParentOp() != legality.loop; }

  bool visit(Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      return visitLoad(load);
    if (auto store = dyn_cast<memref::StoreOp>(op))
      return visitStore(store);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return visitBranch(branch);
    if (auto prefetch = dyn_cast<memref::PrefetchOp>(op); prefetch && !isGuarded(op)) {
      legality.prefetches = true;
      return true;
    }
    if (op->getNumRegions() != 0 || op->getNumResults() != 1 || !isMemoryEffectFree(op))
      return refuse(op, "has side effects, regions or several results");
    if (isGuarded(op) && !isSpeculatable(op))
      return refuse(op, "is not speculatable, and conditional");
    bool uniform =
        llvm::all_of(op->getOperands(), [&](Value v) { return legality.shapeOf(v) == LaneShape::Uniform; });
    if (uniform) {
      legality.shapes[op->getResult(0)] = LaneShape::Uniform;
      return true;
    }
    legality.shapes[op->getResult(0)] = isShift(op) ? LaneShape::Consecutive : LaneShape::Varying;
    if (OpTrait::hasElementwiseMappableTraits(op) &&
        llvm::all_of(op->getOperandTypes(), [](Type t) { return t.isIntOrIndexOrFloat(); }) &&
        op->getResult(0).getType().isIntOrIndexOrFloat())
      return true;
    return refuse(op, "is not elementwise");
  }

  /// Conditional stores and reductions: the results of the branch are those of reductions.
  bool visitBranch(scf::IfOp branch) {
    auto ofReduction = [&](Value result) {
      return result.hasOneUse() && isa<scf::YieldOp>(*result.user_begin()) &&
             llvm::any_of(legality.reductions,
                          [&](const Reduction &r) { return r.branch && branch->isAncestor(r.branch); });
    };
    if (branch.elseBlock() && !branch.elseBlock()->without_terminator().empty())
      return refuse(branch, "has an else region");
    if (!llvm::all_of(branch.getResults(), ofReduction))
      return refuse(branch, "yields a value that is no reduction");
    legality.branches = true;
    return visit(*branch.thenBlock());
  }

  /// consecutive + uniform, or consecutive - uniform, of type index.
  bool isShift(Operation *op) const {
    if (!op->getResult(0).getType().isIndex() || !isa<arith::AddIOp, arith::SubIOp>(op))
      return false;
    LaneShape lhs = legality.shapeOf(op->getOperand(0)), rhs = legality.shapeOf(op->getOperand(1));
    return (lhs == LaneShape::Consecutive && rhs == LaneShape::Uniform) ||
           (isa<arith::AddIOp>(op) && lhs == LaneShape::Uniform && rhs == LaneShape::Consecutive);
  }

  static bool isPlainBuffer(MemRefType type) {
    return type.getRank() == 1 && type.isLastDimUnitStride() && isLaneElement(type.getElementType());
  }

  bool visitLoad(memref::LoadOp load) {
    if (load.getMemRefType().getRank() != 1)
      return refuse(load, "loads from a memref that is not one-dimensional");
    accesses.push_back(load);
    LaneShape shape = legality.shapeOf(load.getIndices()[0]);
    bool same = shape == LaneShape::Uniform && !isGuarded(load);
    legality.shapes[load] = same ? LaneShape::Uniform : LaneShape::Varying;
    if (same)
      return true;
    // Gathers exist for elements of 4 and 8 bytes; narrower ones would be scalarized.
    bool gather = shape != LaneShape::Consecutive;
    if (!isPlainBuffer(load.getMemRefType()) || (gather && load.getType().getIntOrFloatBitWidth() < 32))
      return refuse(load, "loads elements that have no vector gather");
    legality.gathers |= gather;
    if (gather && isGuarded(load))
      legality.guardedGathers.push_back(load.getMemRef());
    widen(load.getType());
    return true;
  }

  bool visitStore(memref::StoreOp store) {
    if (!isPlainBuffer(store.getMemRefType()))
      return refuse(store, "stores elements that have no vector store");
    LaneShape shape = legality.shapeOf(store.getIndices()[0]);
    // The iterations of a parallel loop write different elements.
    if (shape == LaneShape::Uniform ||
        (shape == LaneShape::Varying &&
         (!isParallel(legality.loop) || store.getMemRefType().getElementTypeBitWidth() < 32)))
      return refuse(store, "may store one element from several lanes");
    legality.scatters |= shape == LaneShape::Varying;
    accesses.push_back(store);
    widen(store.getMemRefType().getElementType());
    return true;
  }

  /// Every access to a buffer that is stored to has the index of the store: then there is no dependence
  /// between lanes. Different buffers never overlap (tulle-noalias).
  bool storesAreIndependent() {
    auto bufferAndIndex = [](Operation *op) -> std::pair<Value, Value> {
      if (auto load = dyn_cast<memref::LoadOp>(op))
        return {load.getMemRef(), load.getIndices()[0]};
      auto store = cast<memref::StoreOp>(op);
      return {store.getMemRef(), store.getIndices()[0]};
    };
    for (Operation *store : accesses) {
      if (!isa<memref::StoreOp>(store))
        continue;
      auto [buffer, index] = bufferAndIndex(store);
      for (Operation *other : accesses)
        if (auto [otherBuffer, otherIndex] = bufferAndIndex(other);
            otherBuffer == buffer && otherIndex != index)
          return refuse(other, "may access an element that another lane stores");
    }
    return true;
  }
};

} // namespace

std::optional<VectorizationLegality> analyzeLoop(scf::ForOp loop, MissedVectorization *missed) {
  return LegalityAnalysis(loop).run(missed);
}

} // namespace tulle::passes
