#include "passes/vector/BatchPlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/STLExtras.h"

namespace tulle::passes {

namespace {

namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Operation;
using mlir::Value;

/// The buffer behind views, where no other value names its memory: one made here, or an argument of a
/// function (whose arguments do not overlap). Null otherwise.
Value ownBuffer(Value memref) {
  while (auto view = memref.getDefiningOp<mlir::ViewLikeOpInterface>())
    memref = view.getViewSource();
  if (memref.getDefiningOp<memref::AllocOp>() || memref.getDefiningOp<memref::AllocaOp>())
    return memref;
  auto argument = mlir::dyn_cast<mlir::BlockArgument>(memref);
  bool ofFunction = argument && mlir::isa<mlir::func::FuncOp>(argument.getOwner()->getParentOp());
  return ofFunction ? memref : Value();
}

class Planner {
public:
  explicit Planner(scf::ForOp loop) : loop(loop) {}

  std::optional<BatchPlan> run() {
    if (!mlir::matchPattern(loop.getStep(), mlir::m_One()) || !collect())
      return std::nullopt;
    for (Operation &op : loop.getBody()->without_terminator())
      if (!isGuard(op))
        plan.stages.emplace_back(&op, stages[&op] = stageOf(op));
    bool guardsAreKnown = llvm::all_of(
        plan.guards, [&](scf::IfOp guard) { return stageOf(guard.getCondition()) <= BatchStage::Test; });
    return guardsAreKnown && gains() ? std::optional(plan) : std::nullopt;
  }

private:
  /// What each operation accesses. False where that is not known.
  bool collect() {
    for (Operation &op : loop.getBody()->without_terminator()) {
      auto branch = mlir::dyn_cast<scf::IfOp>(op);
      if (op.getNumRegions() == 0 ? !noteAccess(op) : !branch || branch->getNumResults() != 0)
        return false;
      // One that touches no buffer, as one that reports an error, takes its place among the updates.
      if (branch && touchesBuffers(branch)) {
        plan.guards.push_back(branch);
        if (branch.elseBlock() || !noteGuard(branch))
          return false;
      }
    }
    return true;
  }

  static bool touchesBuffers(scf::IfOp branch) {
    return branch
        ->walk([](Operation *op) {
          bool touches = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<mlir::MemRefType>);
          return touches ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
        })
        .wasInterrupted();
  }

  using Buffers = llvm::SmallDenseSet<Value>;

  static bool add(Buffers &buffers, Value memref) {
    Value buffer = ownBuffer(memref);
    buffers.insert(buffer);
    return static_cast<bool>(buffer);
  }

  bool noteAccess(Operation &op) {
    if (auto load = mlir::dyn_cast<memref::LoadOp>(op))
      return add(read, load.getMemRef());
    if (auto store = mlir::dyn_cast<memref::StoreOp>(op))
      return add(written, store.getMemRef());
    return mlir::isa<memref::PrefetchOp>(op) || mlir::isMemoryEffectFree(&op);
  }

  /// A guard runs in order: only what it may write matters.
  bool noteGuard(scf::IfOp guard) {
    return !guard
                ->walk([&](Operation *op) {
                  bool known =
                      mlir::isa<memref::LoadOp>(op) || llvm::all_of(op->getOperands(), [&](Value operand) {
                        return !mlir::isa<mlir::MemRefType>(operand.getType()) ||
                               add(writtenByGuards, operand);
                      });
                  return known ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
                })
                .wasInterrupted();
  }

  bool isGuard(Operation &op) const {
    auto branch = mlir::dyn_cast<scf::IfOp>(op);
    return branch && llvm::is_contained(plan.guards, branch);
  }

  BatchStage stageOf(Value value) {
    if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value);
        argument && argument.getOwner() == loop.getBody())
      return argument == loop.getInductionVar() ? BatchStage::Read : BatchStage::Update;
    auto it = stages.find(value.getDefiningOp());
    return it == stages.end() ? BatchStage::Read : it->second;
  }

  BatchStage stageOf(Operation &op) {
    BatchStage stage = op.getNumRegions() == 0 ? BatchStage::Read : BatchStage::Update;
    for (Value operand : op.getOperands())
      stage = std::max(stage, stageOf(operand));
    if (auto load = mlir::dyn_cast<memref::LoadOp>(op)) {
      Value buffer = ownBuffer(load.getMemRef());
      if (written.contains(buffer))
        return BatchStage::Update;
      if (writtenByGuards.contains(buffer) && stage == BatchStage::Read)
        return BatchStage::Test;
    }
    if (auto store = mlir::dyn_cast<memref::StoreOp>(op))
      return read.contains(ownBuffer(store.getMemRef())) ? BatchStage::Update : BatchStage::Write;
    // An address or divisor that holds only where no guard runs must not be used before that is known.
    return stage == BatchStage::Test && !mlir::isSpeculatable(&op) ? BatchStage::Update : stage;
  }

  /// How many reads in a row the value takes. Buffers on the stack become registers.
  unsigned readsInARow(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !stages.contains(op))
      return 0;
    unsigned most = 0;
    for (Value operand : op->getOperands())
      most = std::max(most, readsInARow(operand));
    auto load = mlir::dyn_cast<memref::LoadOp>(op);
    return most + (load && !load.getMemRef().getDefiningOp<memref::AllocaOp>());
  }

  /// A store whose place is looked up by something read, and reads that need not wait for it. A place that is
  /// read itself is known soon enough.
  bool gains() {
    bool scatters = false, reads = false;
    for (auto [op, stage] : plan.stages) {
      if (auto store = mlir::dyn_cast<memref::StoreOp>(op))
        scatters |= llvm::any_of(store.getIndices(), [&](Value index) { return readsInARow(index) >= 2; });
      reads |= mlir::isa<memref::LoadOp>(op) && stage == BatchStage::Read;
    }
    return scatters && reads;
  }

  scf::ForOp loop;
  BatchPlan plan;
  llvm::DenseMap<Operation *, BatchStage> stages;
  Buffers read, written, writtenByGuards;
};

} // namespace

std::optional<BatchPlan> BatchPlan::of(scf::ForOp loop) { return Planner(loop).run(); }

} // namespace tulle::passes
