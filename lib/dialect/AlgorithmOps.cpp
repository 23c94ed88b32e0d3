// Verifiers of the algorithms that build tensors.
#include "dialect/Dialect.h"
#include "format/Layout.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace tulle;
using namespace tulle::dialect;

/// The tensor that the attribute of an op names; null, with an error, where it is none.
static RankedTensorType tensorOf(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    op->emitOpError("expected a ranked tensor type, got ") << type;
  return tensor;
}

static LogicalResult verifySizes(Operation *op, RankedTensorType tensor, OperandRange sizes) {
  if (int64_t(sizes.size()) != tensor.getRank())
    return op->emitOpError("expected ")
           << tensor.getRank() << " sizes, got " << sizes.size() << " (constraint 2)";
  return success();
}

static LogicalResult verifyKeys(Operation *op, Region &body) {
  if (body.getNumArguments() != 1 || !body.getArgument(0).getType().isIndex() ||
      !isa<KeyOp>(body.front().back()))
    return op->emitOpError(
        "expected a region with the number of an entry as argument that ends with tulle.key (constraint 1)");
  return success();
}

LogicalResult ScanOp::verify() {
  if (getRows() && !matchPattern(getBegin(), m_Zero()))
    return emitOpError("expected rows that begin at 0 (constraint 1)");
  return success();
}

LogicalResult HistogramOp::verify() { return verifyKeys(*this, getBody()); }

LogicalResult ScatterEntriesOp::verify() {
  if (int64_t(getWords()) < 1)
    return emitOpError("expected records of at least one word, got ") << getWords() << " (constraint 2)";
  return verifyKeys(*this, getBody());
}

LogicalResult CollectOp::verify() {
  RankedTensorType tensor = tensorOf(*this, getTensor());
  if (!tensor)
    return failure();
  EntriesType entries = getEntries().getType();
  if (int64_t(entries.getRank()) != tensor.getRank() || entries.getElement() != tensor.getElementType())
    return emitOpError("expected entries of ")
           << tensor.getRank() << " dimensions with values of type " << tensor.getElementType() << ", got "
           << entries << " (constraint 1)";
  return verifySizes(*this, tensor, getSizes());
}

LogicalResult SortOp::verify() {
  RankedTensorType tensor = tensorOf(*this, getTensor());
  if (!tensor)
    return failure();
  size_t levels = getEncoding(tensor).getValue().levels.size();
  if (int64_t(getBy()) < 1 || getBy() > levels)
    return emitOpError("expected from 1 to ") << levels << " levels, got " << getBy() << " (constraint 1)";
  return success();
}

/// What the ops that make all buffers of a tensor have in common.
static LogicalResult verifyBuffers(Operation *op, Value source, Type type, OperandRange sizes) {
  RankedTensorType tensor = tensorOf(op, type);
  if (!tensor)
    return failure();
  if (isa<EntriesType>(source.getType()) && !source.getDefiningOp<EntriesOp>())
    return op->emitOpError("expected the result of a tulle.entries (constraint 3)");
  size_t fields = format::layout(getEncoding(tensor).getValue()).fields.size();
  if (op->getNumResults() != fields)
    return op->emitOpError("expected ")
           << fields << " buffers, got " << op->getNumResults() << " (constraint 1)";
  return verifySizes(op, tensor, sizes);
}

LogicalResult AppendOp::verify() {
  if (bool(getCount()) != isa<MemRefType>(getSource().getType()))
    return emitOpError("expected a count of a list, and of nothing else (constraint 3)");
  return verifyBuffers(*this, getSource(), getTensor(), getSizes());
}

LogicalResult AppendBlocksOp::verify() { return verifyBuffers(*this, getEntries(), getTensor(), getSizes()); }
LogicalResult WorkspaceOp::verify() { return verifyBuffers(*this, getEntries(), getTensor(), getSizes()); }
LogicalResult AccumulateOp::verify() {
  if (failed(verifyBuffers(*this, getEntries(), getTensor(), getSizes())))
    return failure();
  const auto &levels = getEncoding(tensorOf(*this, getTensor())).getValue().levels;
  if (levels.size() == 1 && levels[0].format.kind == format::LevelKind::Compressed &&
      (levels[0].format.ordered || getHashed()))
    return success();
  return emitOpError("expected a tensor of one compressed level, which is ordered (constraint 4)");
}
LogicalResult ScatterLevelsOp::verify() {
  return verifyBuffers(*this, getEntries(), getTensor(), getSizes());
}

LogicalResult BuildLevelsOp::verify() {
  auto sorted = getSorted().getType(), made = getResult().getType();
  if (sorted.getShape() != made.getShape() || sorted.getElementType() != made.getElementType())
    return emitOpError("expected tensors of one shape and element type, got ")
           << sorted << " and " << made << " (constraint 1)";
  return verifySizes(*this, made, getSizes());
}

static LogicalResult verifySegments(Operation *op, Type type) {
  RankedTensorType tensor = tensorOf(op, type);
  if (!tensor)
    return failure();
  const auto &levels = getEncoding(tensor).getValue().levels;
  auto kind = levels.empty() ? format::LevelKind::Dense : levels.back().format.kind;
  if (kind != format::LevelKind::Compressed && kind != format::LevelKind::LooseCompressed)
    return op->emitOpError(
        "expected a tensor whose last level is compressed or loose_compressed (constraint 1)");
  return success();
}

LogicalResult SortSegmentsOp::verify() { return verifySegments(*this, getTensor()); }
LogicalResult UniqueOp::verify() { return verifySegments(*this, getTensor()); }
