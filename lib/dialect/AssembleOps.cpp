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

LogicalResult EntriesOp::verify() {
  if (getBody().getNumArguments() != 0)
    return emitOpError("expected a region without arguments (constraint 1)");
  if (getAligned().value_or(1) < 1)
    return emitOpError("expected a positive alignment, got ") << *getAligned() << " (constraint 2)";
  return success();
}

LogicalResult ForEachEntryOp::verify() {
  if (!getEntries().getDefiningOp<EntriesOp>())
    return emitOpError("expected the result of a tulle.entries (constraint 1)");
  EntriesType type = getEntries().getType();
  SmallVector<Type> expected(type.getRank(), IndexType::get(getContext()));
  expected.push_back(type.getElement());
  if (!llvm::equal(getBody().getArgumentTypes(), expected))
    return emitOpError("expected ") << type.getRank() << " coordinates and a value of type "
                                    << type.getElement() << " as block arguments (constraint 2)";
  if (bool(getChunk()) != bool(getChunks()))
    return emitOpError("expected both the number of a chunk and the number of chunks (constraint 3)");
  return success();
}

void ForEachEntryOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  setName(region.getArguments().back(), "value");
}

LogicalResult InsertOp::verify() {
  Operation *parent = (*this)->getParentOp();
  while (parent && !isa<AssembleOp, EntriesOp>(parent))
    parent = parent->getParentOp();
  if (!parent)
    return emitOpError("expected to be inside tulle.assemble or tulle.entries (constraint 1)");
  auto assemble = dyn_cast<AssembleOp>(parent);
  auto rank =
      assemble ? assemble.getResult().getType().getRank() : cast<EntriesOp>(parent).getType().getRank();
  Type element = assemble ? assemble.getResult().getType().getElementType()
                          : cast<EntriesOp>(parent).getType().getElement();
  if (int64_t(getCoordinates().size()) != int64_t(rank))
    return emitOpError("expected ") << rank << " coordinates, got " << getCoordinates().size()
                                    << " (constraint 1)";
  if (getValue().getType() != element)
    return emitOpError("expected a value of type ")
           << element << ", got " << getValue().getType() << " (constraint 2)";
  return success();
}

LogicalResult StorageOp::verify() {
  RankedTensorType tensor = getResult().getType();
  size_t fields = format::layout(getEncoding(tensor).getValue()).fields.size();
  if (getBuffers().size() != fields)
    return emitOpError("expected ") << fields << " buffers, got " << getBuffers().size() << " (constraint 1)";
  return verifySizes(*this, tensor, getSizes());
}
