// tulle-bufferize-dense: the dense tensors that are left become buffers, in place wherever they are written.
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/SparseTensor/Transforms/Passes.h"
#include "passes/boundary/BoundaryPasses.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_BUFFERIZEDENSE
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

struct BufferizeDense : impl::BufferizeDenseBase<BufferizeDense> {
  void runOnOperation() override {
    bufferization::BufferizationState state;
    if (failed(bufferization::bufferizeModuleOp(
            getOperation(), getBufferizationOptionsForSparsification(/*analysisOnly=*/false), state)))
      return signalPassFailure();
    bufferization::removeBufferizationAttributesInModule(getOperation());
  }
};

} // namespace
} // namespace tulle::passes
