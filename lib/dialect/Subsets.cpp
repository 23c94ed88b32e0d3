// Slices at given coordinates: constraints and effects.
#include "dialect/Dialect.h"
#include "format/Layout.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tulle::dialect;

namespace {

/// What a gather and a scatter have in common: a whole, at coordinates of which stand the slices of a part.
struct Subset {
  Operation *op;
  ShapedType whole, part, indices;
  SmallVector<int64_t> given;

  Subset(GatherOp op)
      : op(op), whole(typeOf(op.getSource())), part(typeOf(op.getInit())), indices(typeOf(op.getIndices())),
        given(op.getGiven()) {}
  Subset(ScatterOp op)
      : op(op), whole(typeOf(op.getInit())), part(typeOf(op.getSource())), indices(typeOf(op.getIndices())),
        given(op.getGiven()) {}

  static ShapedType typeOf(Value value) { return cast<ShapedType>(value.getType()); }

  LogicalResult verifyKinds(Value result) const {
    const bool tensors = llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
    const bool buffers = llvm::all_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>);
    if ((tensors && result) || (buffers && !result))
      return success();
    return op->emitOpError(
        "expected tensors and a result, or memrefs and none; to_buffer and to_tensor of the "
        "bufferization dialect are between them (constraint 1)");
  }

  LogicalResult verifyCoordinates() const {
    const int64_t rank = indices.getRank();
    llvm::SmallDenseSet<int64_t> seen;
    const bool distinct = llvm::all_of(
        given, [&](int64_t d) { return d >= 0 && d < whole.getRank() && seen.insert(d).second; });
    if (given.empty() || !distinct)
      return op->emitOpError("expected distinct dimensions of ") << whole << ", one at least (constraint 2)";
    if (rank == 0 || indices.getDimSize(rank - 1) != int64_t(given.size()))
      return op->emitOpError("expected ")
             << given.size() << " coordinates in the last dimension of the indices, got " << indices
             << " (constraint 2)";
    const Type element = indices.getElementType();
    if (!element.isIndex() && !llvm::any_of(llvm::ArrayRef{8, 16, 32, 64}, [&](int bits) {
          return element.isSignlessInteger(unsigned(bits));
        }))
      return op->emitOpError("expected indices of type index, i8, i16, i32 or i64, got ")
             << element << " (constraint 2)";
    auto tensor = dyn_cast<RankedTensorType>(indices);
    if (tensor &&
        !tulle::format::haveEqualLevels(getEncoding(tensor).getValue(),
                                        tulle::format::denseEncoding(unsigned(rank)), unsigned(rank)))
      return op->emitOpError("expected dense indices in the order of their dimensions, got ")
             << tensor << " (constraint 2)";
    return success();
  }

  /// The dimensions of the indices but the last, and with `slices` those of the whole that are not given.
  SmallVector<int64_t> partShape(bool slices) const {
    SmallVector<int64_t> shape(indices.getShape().drop_back());
    for (int64_t d = 0; slices && d < whole.getRank(); ++d)
      if (!llvm::is_contained(given, d))
        shape.push_back(whole.getDimSize(d));
    return shape;
  }

  LogicalResult verifyPart() const {
    const SmallVector<int64_t> expected = partShape(/*slices=*/true);
    if (part.getElementType() != whole.getElementType())
      return op->emitOpError("expected elements of type ")
             << whole.getElementType() << ", got " << part << " (constraint 3)";
    if (succeeded(verifyCompatibleShape(part.getShape(), expected)))
      return success();
    return op->emitOpError("expected ") << RankedTensorType::get(expected, whole.getElementType())
                                        << " of slices, got " << part << " (constraint 3)";
  }

  LogicalResult verifyView() const {
    auto source = dyn_cast<MemRefType>(whole);
    if (!source)
      return op->emitOpError("expected buffers of which to have a view, got ")
             << whole << "; copy, or bufferize first (constraint 4)";
    const MemRefType slice = sliceType(source, given);
    if (part.getElementType() == slice &&
        succeeded(verifyCompatibleShape(part.getShape(), partShape(/*slices=*/false))))
      return success();
    return op->emitOpError("expected ")
           << MemRefType::get(partShape(/*slices=*/false), slice) << ", got " << part << " (constraint 4)";
  }
};

template <typename Op> SmallVector<int64_t> givenOf(Op op, Value whole) {
  if (op.getCoordinates())
    return SmallVector<int64_t>(*op.getCoordinates());
  return llvm::to_vector(llvm::seq<int64_t>(0, Subset::typeOf(whole).getRank()));
}

template <typename Op>
void addEffects(Op op, SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (op.getResult())
    return;
  for (OpOperand &operand : op->getOpOperands())
    if (!op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  effects.emplace_back(MemoryEffects::Write::get(), &op.getInitMutable());
}

} // namespace

MemRefType tulle::dialect::sliceType(MemRefType whole, ArrayRef<int64_t> given) {
  SmallVector<int64_t> offsets(size_t(whole.getRank()), 0), sizes(whole.getShape()), kept;
  for (int64_t d = 0; d < whole.getRank(); ++d)
    if (llvm::is_contained(given, d)) {
      offsets[size_t(d)] = ShapedType::kDynamic;
      sizes[size_t(d)] = 1;
    } else {
      kept.push_back(whole.getDimSize(d));
    }
  const SmallVector<int64_t> strides(size_t(whole.getRank()), 1);
  return memref::SubViewOp::inferRankReducedResultType(kept, whole, offsets, sizes, strides);
}

SmallVector<int64_t> GatherOp::getGiven() { return givenOf(*this, getSource()); }
SmallVector<int64_t> ScatterOp::getGiven() { return givenOf(*this, getInit()); }
int64_t GatherOp::getBatchRank() { return Subset::typeOf(getIndices()).getRank() - 1; }
int64_t ScatterOp::getBatchRank() { return Subset::typeOf(getIndices()).getRank() - 1; }

LogicalResult GatherOp::verify() {
  const Subset subset(*this);
  if (failed(subset.verifyKinds(getResult())) || failed(subset.verifyCoordinates()))
    return failure();
  return getView() ? subset.verifyView() : subset.verifyPart();
}

LogicalResult ScatterOp::verify() {
  const Subset subset(*this);
  if (failed(subset.verifyKinds(getResult())) || failed(subset.verifyCoordinates()))
    return failure();
  if (getUnique() && getOutside() == Outside::Nearest)
    return emitOpError(
        "expected integers that are not clamped: these meet at the ends of the dimension; leave "
        "out 'unique', or 'outside nearest' (constraint 4)");
  return subset.verifyPart();
}

void GatherOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addEffects(*this, effects);
}
void ScatterOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addEffects(*this, effects);
}

LogicalResult IndexMapOp::verify() {
  const RankedTensorType type = getResult().getType();
  const int64_t rank = type.getRank();
  if (rank == 0 || type.isDynamicDim(unsigned(rank - 1)) ||
      getSizes().size() != size_t(type.getNumDynamicDims()))
    return emitOpError("expected a size for each dynamic dimension of ")
           << type << ", and a static number of coordinates (constraint 1)";
  Block &body = getBody().front();
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (int64_t(body.getNumArguments()) != rank - 1 || !yield ||
      int64_t(yield.getValues().size()) != type.getDimSize(rank - 1) ||
      !llvm::all_of(body.getArgumentTypes(), llvm::IsaPred<IndexType>) ||
      !llvm::all_of(yield.getValues().getTypes(), llvm::IsaPred<IndexType>))
    return emitOpError("expected ") << rank - 1 << " block arguments and " << type.getDimSize(rank - 1)
                                    << " yielded values, of type index (constraint 2)";
  return success();
}
