// Verifiers of the ops that make tensors.
#include "dialect/Dialect.h"
#include "format/Layout.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tulle;
using namespace tulle::dialect;

static LogicalResult verifySizes(Operation *op, RankedTensorType tensor, OperandRange sizes) {
  if (int64_t(sizes.size()) != tensor.getRank())
    return op->emitOpError("expected ") << tensor.getRank() << " sizes, got " << sizes.size();
  for (auto [d, size] : llvm::enumerate(sizes))
    if (APInt value; !tensor.isDynamicDim(unsigned(d)) && matchPattern(size, m_ConstantInt(&value)) &&
                     value.getSExtValue() != tensor.getDimSize(unsigned(d)))
      return op->emitOpError("size ") << d << " is " << value.getSExtValue() << ", but the type has "
                                      << tensor.getDimSize(unsigned(d));
  return success();
}

LogicalResult AssembleOp::verify() {
  if (failed(verifySizes(*this, getResult().getType(), getSizes())))
    return failure();
  if (std::optional<AffineMap> order = getOrder())
    if (int64_t(order->getNumDims()) != getResult().getType().getRank() || order->getNumSymbols() != 0)
      return emitOpError("expected an order over ")
             << getResult().getType().getRank() << " dimensions and no symbols (constraint 2)";
  if (getEncoding(getResult().getType()).getValue().explicitVal)
    return emitOpError("makes a tensor with values of its own, and explicitVal leaves no place for them "
                       "(constraint 4)");
  if (getBody().getNumArguments() != 0)
    return emitOpError("expected a region without arguments (constraint 3)");
  return success();
}

LogicalResult InsertOp::verify() {
  auto assemble = (*this)->getParentOfType<AssembleOp>();
  if (!assemble)
    return emitOpError("expected to be inside tulle.assemble (constraint 1)");
  RankedTensorType tensor = assemble.getResult().getType();
  if (int64_t(getCoordinates().size()) != tensor.getRank())
    return emitOpError("expected ") << tensor.getRank() << " coordinates, got " << getCoordinates().size()
                                    << " (constraint 1)";
  if (getValue().getType() != tensor.getElementType())
    return emitOpError("expected a value of type ")
           << tensor.getElementType() << ", got " << getValue().getType() << " (constraint 2)";
  return success();
}

LogicalResult StorageOp::verify() {
  RankedTensorType tensor = getResult().getType();
  size_t fields = format::layout(getEncoding(tensor).getValue()).fields.size();
  if (getBuffers().size() != fields)
    return emitOpError("expected ") << fields << " buffers, got " << getBuffers().size() << " (constraint 1)";
  return verifySizes(*this, tensor, getSizes());
}
