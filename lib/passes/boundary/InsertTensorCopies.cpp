// tulle-insert-tensor-copies: what cannot be written in place is copied before, dense and sparse alike.
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/SparseTensor/Transforms/Passes.h"
#include "passes/boundary/BoundaryPasses.h"
#include "passes/boundary/Ownership.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_INSERTTENSORCOPIES
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

struct InsertTensorCopies : impl::InsertTensorCopiesBase<InsertTensorCopies> {
  using Base::Base;
  void runOnOperation() override {
    llvm::DenseSet<Operation *> before;
    getOperation().walk([&](bufferization::AllocTensorOp alloc) { before.insert(alloc); });
    bufferization::BufferizationState state;
    if (failed(bufferization::insertTensorCopies(
            getOperation(), getBufferizationOptionsForSparsification(analysisOnly), state)))
      return signalPassFailure();
    getOperation().walk([&](bufferization::AllocTensorOp alloc) {
      if (alloc.getCopy() && !before.contains(alloc))
        boundary::freeInBlock(alloc.getResult());
    });
  }
};

} // namespace
} // namespace tulle::passes
