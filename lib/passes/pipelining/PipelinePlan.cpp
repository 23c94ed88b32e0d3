// Stores at loaded indices come last, and with them all that must stay in order with them (a fixpoint); the
// stage of any other operation is the latest of its operands'.
#include "passes/pipelining/PipelinePlan.h"
#include "dialect/Attributes.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "passes/analysis/LoopMatchers.h"
#include "llvm/ADT/SetOperations.h"

namespace tulle::passes {

namespace {

using namespace mlir;

using Buffers = llvm::SmallDenseSet<Value>;

/// What an operation and those in it access.
struct Accesses {
  Buffers read, written;
};

/// The buffer behind views, where no other value aliases it: an allocation, or an argument of a function
/// (whose arguments do not overlap). Null otherwise.
Value ownBuffer(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  if (memref.getDefiningOp<memref::AllocOp>() || memref.getDefiningOp<memref::AllocaOp>())
    return memref;
  auto argument = dyn_cast<BlockArgument>(memref);
  bool ofFunction = argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return ofFunction ? memref : Value();
}

/// nullopt where an access is not known, or to a buffer that may alias another one.
std::optional<Accesses> accessesOf(Operation &root) {
  Accesses accesses;
  auto add = [](Buffers &buffers, Value memref) {
    Value buffer = ownBuffer(memref);
    buffers.insert(buffer);
    return static_cast<bool>(buffer);
  };
  bool isUnknown = anyIn(&root, [&](Operation *op) {
    if (auto load = dyn_cast<memref::LoadOp>(op))
      return !add(accesses.read, load.getMemRef());
    if (auto store = dyn_cast<memref::StoreOp>(op))
      return !add(accesses.written, store.getMemRef());
    if (auto call = dyn_cast<func::CallOp>(op))
      return op == &root || !call.getCallee().starts_with(dialect::kErrorPrefix);
    return op->getNumRegions() == 0 && !isa<memref::PrefetchOp>(op) && !isMemoryEffectFree(op);
  });
  return isUnknown ? std::nullopt : std::optional(accesses);
}

/// What a guard may write: every buffer it uses other than in a load. It runs in order, whatever it does.
std::optional<Buffers> writtenBy(scf::IfOp guard) {
  Buffers written;
  guard->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!isa<memref::LoadOp>(op) && isa<MemRefType>(operand.getType()))
        written.insert(ownBuffer(operand));
  });
  return written.contains(Value()) ? std::nullopt : std::optional(written);
}

class PlanBuilder {
public:
  explicit PlanBuilder(scf::ForOp loop) : loop(loop) {}

  std::optional<PipelinePlan> build() {
    if (!loop.getInductionVar().getType().isIndex() || !hasUnitStep(loop) || hasLoops())
      return std::nullopt;
    for (Operation &op : loop.getBody()->without_terminator())
      stages.try_emplace(&op, PipelineStage::Load);
    chooseGuards();
    if (!collect() || !delayIndirectStores())
      return std::nullopt;
    bool loads = false;
    auto *next = plan.stages.begin(); // guards have no stage, but may end the call as well
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (next != plan.stages.end() && next->first == &op) {
        stages[&op] = next->second = stageOf(op);
        loads |= isa<memref::LoadOp>(op) && next->second == PipelineStage::Load;
        ++next;
      }
      checked |= anyIn(&op, llvm::IsaPred<func::CallOp>);
    }
    for (scf::IfOp guard : plan.guards)
      if (stageOf(guard.getCondition()) > PipelineStage::Test)
        return std::nullopt;
    return loads ? std::optional(plan) : std::nullopt;
  }

private:
  bool hasLoops() {
    return llvm::any_of(loop.getBody()->getOperations(), llvm::IsaPred<LoopLikeOpInterface>);
  }

  /// Guards: `scf.if` with buffers and without results whose condition does not depend on buffers that the
  /// loop writes outside of guards. Others are updates.
  void chooseGuards() {
    Buffers changed; ///< by what cannot be a guard
    SmallVector<scf::IfOp> candidates;
    for (Operation &op : loop.getBody()->without_terminator()) {
      auto branch = dyn_cast<scf::IfOp>(op);
      if (branch && op.getNumResults() == 0 && touchesBuffers(branch))
        candidates.push_back(branch);
      else
        op.walk([&](memref::StoreOp store) { changed.insert(ownBuffer(store.getMemRef())); });
    }
    for (scf::IfOp branch : candidates) {
      if (!dependsOn(branch.getCondition(), changed))
        plan.guards.push_back(branch);
    }
  }

  static bool touchesBuffers(scf::IfOp branch) {
    return anyIn(
        branch, [](Operation *op) { return llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>); });
  }

  /// Whether the value is computed from an element of one of the buffers, or from what the loop carries.
  bool dependsOn(Value value, const Buffers &buffers) {
    return !acceptsSlice(value, [&](Value value) -> std::optional<bool> {
      if (auto argument = dyn_cast<BlockArgument>(value))
        return argument.getOwner() != loop.getBody() || argument == loop.getInductionVar();
      Operation *op = value.getDefiningOp();
      if (!stages.contains(op))
        return true;
      auto load = dyn_cast<memref::LoadOp>(op);
      bool depends = op->getNumRegions() != 0 || (load && buffers.contains(ownBuffer(load.getMemRef())));
      return depends ? std::optional(false) : std::nullopt;
    });
  }

  /// What each operation accesses. False where that is not known.
  bool collect() {
    for (scf::IfOp guard : plan.guards) {
      std::optional<Buffers> written = writtenBy(guard);
      if (!written)
        return false;
      llvm::set_union(writtenByGuards, *written);
    }
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (auto branch = dyn_cast<scf::IfOp>(op); branch && llvm::is_contained(plan.guards, branch))
        continue;
      std::optional<Accesses> own = accessesOf(op);
      if (!own)
        return false;
      plan.stages.emplace_back(&op, PipelineStage::Load);
      llvm::set_union(written, own->written);
      accesses[&op] = std::move(*own);
    }
    return true;
  }

  /// Finds the stores at loaded indices, and all operations that have to stay in order with them. False where
  /// there are none, or where loop-carried values depend on them.
  bool delayIndirectStores() {
    for (auto &[op, stage] : plan.stages)
      if (auto store = dyn_cast<memref::StoreOp>(op))
        if (llvm::any_of(store.getIndices(), [&](Value index) { return loadDepth(index) >= 2; }))
          delayedBuffers.insert(ownBuffer(store.getMemRef()));
    size_t before;
    do {
      before = delayed.size();
      for (auto &[op, stage] : plan.stages)
        if (!delayed.contains(op) && mustBeDelayed(*op))
          delay(*op);
    } while (delayed.size() != before);
    auto isDelayed = [&](Value value) { return delayed.contains(value.getDefiningOp()); };
    return !delayed.empty() && llvm::none_of(loop.getBody()->getTerminator()->getOperands(), isDelayed);
  }

  bool mustBeDelayed(Operation &op) {
    auto touches = [&](Value buffer) { return delayedBuffers.contains(buffer); };
    if (llvm::any_of(accesses[&op].read, touches) || llvm::any_of(accesses[&op].written, touches))
      return true;
    return anyIn(&op, [&](Operation *inner) {
      return llvm::any_of(inner->getOperands(),
                          [&](Value operand) { return delayed.contains(operand.getDefiningOp()); });
    });
  }

  void delay(Operation &op) {
    delayed.insert(&op);
    for (Value buffer : accesses[&op].written)
      delayedBuffers.insert(buffer);
    for (Value buffer : accesses[&op].read)
      if (written.contains(buffer))
        delayedBuffers.insert(buffer);
  }

  PipelineStage stageOf(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == loop.getBody())
      return argument == loop.getInductionVar() ? PipelineStage::Load : PipelineStage::Update;
    auto it = stages.find(value.getDefiningOp());
    return it == stages.end() ? PipelineStage::Load : it->second;
  }

  PipelineStage stageOf(Operation &op) {
    if (delayed.contains(&op))
      return PipelineStage::Store;
    if (op.getNumRegions() != 0 || isa<memref::StoreOp>(op))
      return PipelineStage::Update;
    PipelineStage stage = PipelineStage::Load;
    for (Value operand : op.getOperands())
      stage = std::max(stage, stageOf(operand));
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      Value buffer = ownBuffer(load.getMemRef());
      auto isLoaded = [&](Value index) { return loadDepth(index) > 0; };
      if (written.contains(buffer) || (checked && llvm::any_of(load.getIndices(), isLoaded)))
        return PipelineStage::Update;
      if (writtenByGuards.contains(buffer) && stage == PipelineStage::Load)
        return PipelineStage::Test;
    }
    // An address or divisor that holds only where no guard runs must not be used before that is known.
    return stage == PipelineStage::Test && !isSpeculatable(&op) ? PipelineStage::Update : stage;
  }

  /// How many dependent loads the value takes. Buffers on the stack become registers, and an index that is
  /// loaded directly is known soon enough.
  unsigned loadDepth(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !stages.contains(op))
      return 0;
    if (auto known = depths.find(op); known != depths.end())
      return known->second;
    unsigned most = 0;
    op->walk([&](Operation *inner) {
      auto load = dyn_cast<memref::LoadOp>(inner);
      bool counts = load && !load.getMemRef().getDefiningOp<memref::AllocaOp>();
      for (Value operand : inner->getOperands())
        most = std::max(most, loadDepth(operand) + counts);
    });
    return depths[op] = most;
  }

  scf::ForOp loop;
  PipelinePlan plan;
  DenseMap<Operation *, PipelineStage> stages; ///< of the body's operations
  DenseMap<Operation *, Accesses> accesses;    ///< of those that are no guards
  DenseMap<Operation *, unsigned> depths;      ///< results of loadDepth
  Buffers written, writtenByGuards, delayedBuffers;
  llvm::SmallDenseSet<Operation *> delayed;
  bool checked = false; ///< an operation before may have ended the call because
                        ///< of what was loaded
};

} // namespace

std::optional<PipelinePlan> PipelinePlan::of(scf::ForOp loop) { return PlanBuilder(loop).build(); }

} // namespace tulle::passes
