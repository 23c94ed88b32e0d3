// Verifiers and folders of the ops of stage 1.
#include "dialect/Dialect.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace tulle::dialect;

LogicalResult StoredOp::verify() {
  auto arg = dyn_cast<BlockArgument>(getValue());
  Operation *owner = arg ? arg.getOwner()->getParentOp() : nullptr;
  // By name: this dialect does not depend on linalg.
  if (!owner || owner->getName().getStringRef() != "linalg.generic")
    return emitOpError("expects a block argument of linalg.generic (constraint 1)");
  auto generic = dyn_cast<DestinationStyleOpInterface>(owner);
  if (generic && int64_t(arg.getArgNumber()) >= generic.getNumDpsInputs())
    return emitOpError("expects an input of linalg.generic, got one of its results (constraint 1)");
  return success();
}

LogicalResult FillOp::verify() {
  Type element = getTensor().getType().getElementType();
  if (getValue().getType() != element)
    return emitOpError("expected a value of type ")
           << element << ", got " << getValue().getType() << " (constraint 1)";
  return success();
}

LogicalResult LikeOp::verify() {
  RankedTensorType tensor = getTensor().getType(), pattern = getPattern().getType();
  if (getEncoding(tensor) != getEncoding(pattern))
    return emitOpError("expected equal encodings, got ") << tensor << " and " << pattern << " (constraint 1)";
  if (failed(verifyCompatibleShape(tensor, pattern)))
    return emitOpError("expected equal shapes, got ") << tensor << " and " << pattern << " (constraint 1)";
  return success();
}

LogicalResult ConvertOp::verify() {
  RankedTensorType source = getSource().getType(), result = getResult().getType();
  if (source.getShape() != result.getShape() || source.getElementType() != result.getElementType())
    return emitOpError("expected the shape and element type of ")
           << source << ", got " << result << " (constraint 1)";
  return success();
}

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  if (getSource().getType() == getType())
    return getSource();
  return {};
}

LogicalResult QueryOp::verify() {
  RankedTensorType tensor = getTensor().getType(), result = getResult().getType();
  AffineMap select = getSelect();
  if (int64_t(select.getNumDims()) != tensor.getRank() || !select.isProjectedPermutation())
    return emitOpError("expected distinct dimensions of ") << tensor << " to be selected (constraint 1)";
  if (!result.getElementType().isSignlessInteger(64) ||
      !tulle::format::isAllDense(getEncoding(result).getValue()) ||
      result.getRank() != int64_t(select.getNumResults()))
    return emitOpError("expected a dense result of ")
           << select.getNumResults() << " dimensions and type i64, got " << result << " (constraint 2)";
  bool valued = getAggregate() == Aggregate::Max || getAggregate() == Aggregate::Min;
  std::optional<AffineMap> value = getValue();
  if (valued != value.has_value() ||
      (value && (int64_t(value->getNumDims()) != tensor.getRank() || value->getNumResults() != 1)))
    return emitOpError("expected ") << (valued ? "one expression of " : "no expression of ")
                                    << tensor.getRank() << " dimensions (constraint 3)";
  return success();
}
