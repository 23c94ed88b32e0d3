// tulle-scalar-scatter: innermost loops that store at positions they read stay scalar.
//
// Where each entry goes to a place of its own, the stores are the work. Addresses put together in vectors
// have to come apart again for them, and the processors that have a scatter instruction take longer for it
// than for its stores one by one.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"
#include "passes/vector/LoopAnnotation.h"

namespace tulle::passes {
#define GEN_PASS_DEF_SCALARSCATTER
#include "passes/Passes.h.inc"

namespace {

namespace memref = mlir::memref;
namespace scf = mlir::scf;
using mlir::Operation;
using mlir::Value;

/// Whether the value is computed from something the loop reads.
bool isRead(Value value, scf::ForOp loop, llvm::DenseSet<Operation *> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !loop->isProperAncestor(op) || !seen.insert(op).second)
    return false;
  return mlir::isa<memref::LoadOp>(op) ||
         llvm::any_of(op->getOperands(), [&](Value operand) { return isRead(operand, loop, seen); });
}

bool scatters(scf::ForOp loop) {
  return loop
      .walk([&](memref::StoreOp store) {
        llvm::DenseSet<Operation *> seen;
        bool scatter =
            llvm::any_of(store.getIndices(), [&](Value index) { return isRead(index, loop, seen); });
        return scatter ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

bool isInnermost(scf::ForOp loop) {
  return !loop.getBody()
              ->walk([](mlir::LoopLikeOpInterface) { return mlir::WalkResult::interrupt(); })
              .wasInterrupted();
}

struct ScalarScatterPass : impl::ScalarScatterBase<ScalarScatterPass> {
  void runOnOperation() override {
    getOperation().walk([](scf::ForOp loop) {
      if (isInnermost(loop) && !loop->hasAttr("llvm.loop_annotation") && scatters(loop))
        keepFromVectors(loop);
    });
  }
};

} // namespace
} // namespace tulle::passes
