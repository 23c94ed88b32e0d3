// Gathers and scatters of tensors without encoding as those of memrefs; the subsets that they read and write.
#include "dialect/Dialect.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SubsetOpInterface.h"
#include "transform/SubsetModels.h"

using namespace mlir;
using namespace tulle::dialect;
using namespace mlir::bufferization;

namespace {

/// The op's operands as buffers; fails, with an error, for tensors with an encoding, which are several.
FailureOr<SmallVector<Value>> buffersOf(Operation *op, RewriterBase &rewriter,
                                        const BufferizationOptions &options, BufferizationState &state) {
  SmallVector<Value> buffers;
  for (Value operand : op->getOperands()) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.getEncoding())
      return op->emitError("cannot bufferize ")
             << type << " as one buffer; --tulle-expand-gather makes loops over its levels of this";
    FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  return buffers;
}

struct GatherBuffers : DstBufferizableOpInterfaceExternalModel<GatherBuffers, GatherOp> {
  bool bufferizesToMemoryRead(Operation *operation, OpOperand &operand, const AnalysisState &) const {
    auto op = cast<GatherOp>(operation);
    return !op.isDpsInit(&operand) || op.getOutside() == Outside::Nothing;
  }
  LogicalResult bufferize(Operation *operation, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto op = cast<GatherOp>(operation);
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> buffers = buffersOf(op, rewriter, options, state);
    if (failed(buffers))
      return failure();
    GatherOp::create(rewriter, op.getLoc(), Type(), (*buffers)[0], (*buffers)[1], (*buffers)[2],
                     op.getCoordinatesAttr(), op.getOutside());
    replaceOpWithBufferizedValues(rewriter, op, (*buffers)[2]);
    return success();
  }
};

struct ScatterBuffers : DstBufferizableOpInterfaceExternalModel<ScatterBuffers, ScatterOp> {
  LogicalResult bufferize(Operation *operation, RewriterBase &rewriter, const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto op = cast<ScatterOp>(operation);
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> buffers = buffersOf(op, rewriter, options, state);
    if (failed(buffers))
      return failure();
    ScatterOp::create(rewriter, op.getLoc(), Type(), (*buffers)[0], (*buffers)[1], (*buffers)[2],
                      op.getCoordinatesAttr(), op.getOutside(), op.getUnique());
    replaceOpWithBufferizedValues(rewriter, op, (*buffers)[1]);
    return success();
  }
};

/// The indices and the dimensions that say which subset a gather or a scatter is of.
struct Where {
  Value indices;
  SmallVector<int64_t> given;
  Outside outside;

  static std::optional<Where> of(Operation *op) {
    if (auto gather = dyn_cast<GatherOp>(op))
      return Where{gather.getIndices(), gather.getGiven(), gather.getOutside()};
    if (auto scatter = dyn_cast<ScatterOp>(op))
      return Where{scatter.getIndices(), scatter.getGiven(), scatter.getOutside()};
    return std::nullopt;
  }
};

template <typename Model, typename Op> struct SubsetModel : SubsetOpInterface::ExternalModel<Model, Op> {
  bool operatesOnEquivalentSubset(Operation *op, SubsetOpInterface candidate,
                                  function_ref<bool(Value, Value)> isEquivalent) const {
    const std::optional<Where> own = Where::of(op), other = Where::of(candidate);
    return other && own->given == other->given && own->outside == other->outside &&
           isEquivalent(own->indices, other->indices) &&
           isEquivalent(cast<SubsetOpInterface>(op).getTensorContainer(), candidate.getTensorContainer());
  }
  /// Integers are known when the loops run.
  bool operatesOnDisjointSubset(Operation *, SubsetOpInterface, function_ref<bool(Value, Value)>) const {
    return false;
  }
};
struct GatherSubset : SubsetModel<GatherSubset, GatherOp> {};
struct ScatterSubset : SubsetModel<ScatterSubset, ScatterOp> {};

struct GatherExtraction : SubsetExtractionOpInterface::ExternalModel<GatherExtraction, GatherOp> {
  OpOperand &getSourceOperand(Operation *op) const { return cast<GatherOp>(op).getSourceMutable(); }
};

struct ScatterInsertion : SubsetInsertionOpInterface::ExternalModel<ScatterInsertion, ScatterOp> {
  OpOperand &getSourceOperand(Operation *op) const { return cast<ScatterOp>(op).getSourceMutable(); }
  /// A gather is a copy: who writes to it does not write to the destination.
  Value buildSubsetExtraction(Operation *, OpBuilder &, Location) const { return {}; }
  SmallVector<Value> getValuesNeededToBuildSubsetExtraction(Operation *op) const {
    return {cast<ScatterOp>(op).getInit(), cast<ScatterOp>(op).getIndices()};
  }
};

} // namespace

void tulle::transform::registerBufferizationModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TulleDialect *) {
    GatherOp::attachInterface<GatherBuffers, GatherSubset, GatherExtraction>(*context);
    ScatterOp::attachInterface<ScatterBuffers, ScatterSubset, ScatterInsertion>(*context);
  });
}
