// tulle-expand-assembly: every tulle.assemble becomes the algorithm that its strategy names.
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Passes.h"
#include "passes/assemble/choose/InsertLoops.h"
#include "passes/assemble/choose/Strategies.h"
#include "passes/assemble/expand/Expansions.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_EXPANDASSEMBLY
#include "passes/Passes.h.inc"

using dialect::AssemblyStrategy;

static assemble::Expansion *expansionOf(AssemblyStrategy strategy) {
  switch (strategy) {
  case AssemblyStrategy::AppendBlocks:
    return assemble::expandAppendBlocks;
  case AssemblyStrategy::Append:
    return assemble::expandAppend;
  case AssemblyStrategy::Workspace:
    return assemble::expandWorkspace;
  case AssemblyStrategy::Scatter:
    return assemble::expandScatter;
  case AssemblyStrategy::RadixSort:
    return assemble::expandRadixSort;
  case AssemblyStrategy::LevelByLevel:
    return assemble::expandLevelByLevel;
  }
  llvm_unreachable("a strategy outside its enumeration");
}

namespace {

struct ExpandAssembly : impl::ExpandAssemblyBase<ExpandAssembly> {
  using ExpandAssemblyBase::ExpandAssemblyBase;

  void runOnOperation() override {
    unsigned left = 0;
    getOperation()->walk([&](dialect::AssembleOp) { left += mostSteps; });
    // Post-order: what is assembled inside the loops of another is expanded first. A strategy may leave an
    // assembly that it prepared the entries for.
    while (dialect::AssembleOp op = innermost()) {
      if (left-- == 0) {
        op.emitError("preparing the entries of this tensor does not come to an end");
        return signalPassFailure();
      }
      if (failed(expand(op)))
        return signalPassFailure();
    }
  }

  /// More assemblies than any strategy makes of one.
  static constexpr unsigned mostSteps = 16;

  dialect::AssembleOp innermost() {
    dialect::AssembleOp found;
    getOperation()->walk([&](dialect::AssembleOp op) {
      found = op;
      return WalkResult::interrupt();
    });
    return found;
  }

  LogicalResult expand(dialect::AssembleOp op) {
    if (!op->getParentOfType<func::FuncOp>())
      return op.emitError("expected to be inside a function");
    if (!op.getStrategy())
      return op.emitError("expected a strategy, which tulle-choose-assembly sets");
    assemble::hoistBounds(op);
    OpBuilder b(op);
    assemble::Target target(b, op);
    target.parallel = parallel;
    assemble::Order order = assemble::orderOf(op);
    if (!assemble::fits(*op.getStrategy(), target, order))
      return op.emitError("expected a strategy that fits the tensor and the order of its entries, got ")
             << stringifyAssemblyStrategy(*op.getStrategy());
    FailureOr<Value> made = expansionOf(*op.getStrategy())(b, target, op, order);
    if (failed(made))
      return failure();
    op.getResult().replaceAllUsesWith(*made);
    op.erase();
    return success();
  }
};

} // namespace
} // namespace tulle::passes
