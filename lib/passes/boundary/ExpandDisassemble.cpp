// tulle-expand-disassemble: the buffers of a tensor are copied to those of the caller, as far as they are
// used.
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/boundary/BoundaryPasses.h"
#include "passes/boundary/Kernels.h"
#include "passes/boundary/SparseValues.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_EXPANDDISASSEMBLE
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

class Disassembly {
public:
  explicit Disassembly(sparse_tensor::DisassembleOp op) : op(op), b(op.getLoc(), op) {}

  LogicalResult expand() {
    const std::optional<format::Encoding> encoding = boundary::encodingOf(op.getTensor().getType());
    const format::Layout layout = format::layout(*encoding);
    SmallVector<Value> outputs(op.getOutLevels()), copied, lengths;
    outputs.push_back(op.getOutValues());
    if (outputs.size() != layout.fields.size())
      return op.emitError("expected ")
             << layout.fields.size() - 1 << " buffers of levels, got " << outputs.size() - 1;
    for (auto [output, field] : llvm::zip(outputs, layout.fields)) {
      Value view = viewOf(field, layout, cast<RankedTensorType>(output.getType()).getElementType());
      if (!view)
        return op.emitError("expected elements of ")
               << cast<RankedTensorType>(op.getTensor().getType()) << " for " << output.getType();
      copied.push_back(copy(view, output));
      lengths.push_back(memref::DimOp::create(b, view, 0));
    }
    SmallVector<Value> results = copied;
    for (auto [length, result] : llvm::zip(lengths, op->getResults().drop_front(unsigned(results.size()))))
      results.push_back(asResult(length, result.getType()));
    op->replaceAllUsesWith(results);
    op.erase();
    return success();
  }

private:
  sparse_tensor::DisassembleOp op;
  ImplicitLocOpBuilder b;

  /// All elements of a field, in one dimension.
  Value viewOf(const format::Field &field, const format::Layout &layout, Type element) {
    auto type = MemRefType::get({ShapedType::kDynamic}, element);
    const IntegerAttr level = b.getIndexAttr(field.level);
    const auto tensor = cast<RankedTensorType>(op.getTensor().getType());
    const auto encoding = sparse_tensor::getSparseTensorEncoding(tensor);
    const bool isValues = field.kind == format::FieldKind::Values;
    const Type stored = isValues                                     ? tensor.getElementType()
                        : field.kind == format::FieldKind::Positions ? encoding.getPosElemType()
                                                                     : encoding.getCrdElemType();
    if (element != stored)
      return {};
    if (isValues)
      return sparse_tensor::ToValuesOp::create(b, type, op.getTensor());
    if (field.kind == format::FieldKind::Positions)
      return sparse_tensor::ToPositionsOp::create(b, type, op.getTensor(), level);
    if (layout.coordinates[field.level]->stride > 1)
      return sparse_tensor::ToCoordinatesBufferOp::create(b, type, op.getTensor());
    return sparse_tensor::ToCoordinatesOp::create(b, type, op.getTensor(), level);
  }

  /// The tensor with the elements of the view first.
  Value copy(Value view, Value output) {
    auto type = cast<RankedTensorType>(output.getType());
    const Type element = type.getElementType();
    Value target = bufferization::ToBufferOp::create(b, MemRefType::get(type.getShape(), element), output);
    Value length = memref::DimOp::create(b, view, 0);
    Value size = arith::ConstantIndexOp::create(b, 1);
    for (int64_t d = 0; d < type.getRank(); ++d)
      size = b.createOrFold<arith::MulIOp>(size, b.createOrFold<memref::DimOp>(target, d));
    requireFit(length, size);
    Value used = memref::ReinterpretCastOp::create(
        b, MemRefType::get({ShapedType::kDynamic}, element), target, OpFoldResult(b.getIndexAttr(0)),
        ArrayRef<OpFoldResult>{length}, ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
    memref::CopyOp::create(b, view, used);
    return bufferization::ToTensorOp::create(b, type, target, /*restrict=*/true, /*writable=*/true);
  }

  /// At run time: what is stored is known by then.
  void requireFit(Value length, Value size) {
    boundary::require(b, arith::CmpIOp::create(b, arith::CmpIPredicate::ule, length, size),
                      op->getParentOfType<ModuleOp>(), boundary::kBufferError);
  }

  Value asResult(Value length, Type type) {
    const Type element = getElementTypeOrSelf(type);
    if (!element.isIndex())
      length = arith::IndexCastOp::create(b, element, length);
    if (!isa<TensorType>(type))
      return length;
    // The caller frees it: it must not be folded to a constant.
    Value buffer = memref::AllocOp::create(b, MemRefType::get({}, element));
    memref::StoreOp::create(b, length, buffer);
    return bufferization::ToTensorOp::create(b, type, buffer, /*restrict=*/true, /*writable=*/true);
  }
};

struct ExpandDisassemble : impl::ExpandDisassembleBase<ExpandDisassemble> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](sparse_tensor::DisassembleOp op) {
      return failed(Disassembly(op).expand()) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace tulle::passes
