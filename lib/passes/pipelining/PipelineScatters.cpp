// tulle-pipeline-scatters: unroll loops with indirect stores, and group loads before stores.
//
// Until the address of a store is known, a processor can only predict which later loads depend on it, and the
// longer the address takes, the longer such loops take (experiment 048). Here the loads of a few iterations
// come first, then their updates, then their stores.
//
// Stores at loaded indices come last, and with them all that must stay in order with them (a fixpoint); the
// stage of any other operation is the latest of its operands'.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "passes/Passes.h"
#include "passes/analysis/LoopUtils.h"
#include "passes/pipelining/PipelinePlan.h"
#include "llvm/ADT/SetOperations.h"

namespace tulle::passes {
#define GEN_PASS_DEF_PIPELINESCATTERS
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

//===--- The plan ---===//

using Buffers = llvm::SmallDenseSet<Value>;

/// What an operation and those in it access.
struct Accesses {
  Buffers read, written;
};

/// The buffer behind views, where no other value aliases it: an allocation, or an argument of a function
/// (whose arguments do not overlap). Null otherwise.
Value ownBuffer(Value view) {
  Value buffer = memref::skipViewLikeOps(cast<MemrefValue>(view));
  if (isa_and_nonnull<memref::AllocOp, memref::AllocaOp, dialect::FilledBufferOp>(buffer.getDefiningOp()))
    return buffer;
  auto argument = dyn_cast<BlockArgument>(buffer);
  bool ofFunction = argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return ofFunction ? buffer : Value();
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

//===--- The loop ---===//

/// A loop, unrolled and regrouped by stage; the loop itself is the epilogue.
class PipelinedLoop : levels::IndicesAt {
public:
  PipelinedLoop(levels::IndicesAt at, scf::ForOp loop, const PipelinePlan &plan)
      : IndicesAt(at), loop(loop), plan(plan) {}

  using Values = levels::Values;

  /// The `size` iterations from `first` on; returns what the last one yields.
  Values group(Value first, int64_t size, ValueRange carried) {
    SmallVector<IRMapping> maps(size);
    for (int64_t k = 0; k < size; ++k) {
      maps[k].map(loop.getInductionVar(), k == 0 ? first : add(first, constant(k)));
      clone(maps[k], PipelineStage::Load);
      clone(maps[k], PipelineStage::Test);
    }
    Value guarded;
    for (IRMapping &map : maps)
      for (scf::IfOp guard : plan.guards)
        guarded = either(guarded, map.lookupOrDefault(guard.getCondition()));
    if (!guarded)
      return staged(maps, carried);
    return levels::ifElse(
        b, loc, guarded, carried.getTypes(), [&] { return inOrder(first, size, carried); },
        [&] { return staged(maps, carried); });
  }

private:
  void clone(IRMapping &map, PipelineStage wanted) {
    for (auto [op, stage] : plan.stages)
      if (stage == wanted)
        b.clone(*op, map);
  }

  Values staged(MutableArrayRef<IRMapping> maps, ValueRange carried) {
    Values values(carried);
    keepOrder();
    auto *end = loop.getBody()->getTerminator();
    for (IRMapping &map : maps) {
      map.map(loop.getRegionIterArgs(), values);
      clone(map, PipelineStage::Update);
      values.clear();
      for (Value yielded : end->getOperands())
        values.push_back(map.lookupOrDefault(yielded));
    }
    if (llvm::any_of(plan.stages, [](auto entry) { return entry.second == PipelineStage::Store; }))
      keepOrder();
    for (IRMapping &map : maps)
      clone(map, PipelineStage::Store);
    return values;
  }

  /// A fence for the compiler alone: to need fewer registers it would move each load to its store again.
  void keepOrder() { LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst, "singlethread"); }

  Values inOrder(Value first, int64_t size, ValueRange carried) {
    Value end = add(first, constant(size));
    auto copy = cast<scf::ForOp>(b.clone(*loop));
    copy.setLowerBound(first);
    copy.setUpperBound(end);
    copy.getInitArgsMutable().assign(carried);
    disableLoopTransforms(copy);
    return copy.getResults();
  }

  scf::ForOp loop;
  const PipelinePlan &plan;
};

/// Iterations that run together. Segments are often short, and their epilogue runs one by one.
constexpr int64_t segmentUnroll = 4, streamUnroll = 8;

struct PipelineScattersPass : impl::PipelineScattersBase<PipelineScattersPass> {
  void runOnOperation() override {
    SmallVector<std::pair<scf::ForOp, PipelinePlan>> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (hasLoopAnnotation(loop) || maxTripCount(loop))
        return;
      if (std::optional<PipelinePlan> plan = PipelinePlan::of(loop))
        loops.emplace_back(loop, std::move(*plan));
    });
    if (loops.empty())
      return markAllAnalysesPreserved();
    for (auto &[loop, plan] : loops) {
      const int64_t size = isOutermost(loop) ? streamUnroll : segmentUnroll;
      dialect::explainChoice(loop, "software pipelining: " + std::to_string(size) +
                                       " iterations load before any of them stores at a loaded index");
      splitGroups(loop, size, [&](levels::IndicesAt at, Value first, ValueRange carried) {
        return PipelinedLoop(at, loop, plan).group(first, size, carried);
      });
    }
  }
};

} // namespace

std::optional<PipelinePlan> PipelinePlan::of(scf::ForOp loop) { return PlanBuilder(loop).build(); }

} // namespace tulle::passes
