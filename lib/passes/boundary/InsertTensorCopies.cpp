// tulle-insert-tensor-copies: what cannot be written in place is copied before, dense and sparse alike.
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/SparseTensor/Transforms/Passes.h"
#include "passes/boundary/BoundaryPasses.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_INSERTTENSORCOPIES
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

struct InsertTensorCopies : impl::InsertTensorCopiesBase<InsertTensorCopies> {
  using Base::Base;
  void runOnOperation() override {
    bufferization::BufferizationState state;
    if (failed(bufferization::insertTensorCopies(
            getOperation(), getBufferizationOptionsForSparsification(analysisOnly), state)))
      signalPassFailure();
  }
};

} // namespace
} // namespace tulle::passes
