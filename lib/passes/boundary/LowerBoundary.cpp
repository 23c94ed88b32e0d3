// tulle-lower-boundary: sparse tensors outside of kernels become their fields and sizes, 1:N.
#include "dialect/Dialect.h"
#include "dialect/Scalars.h"
#include "levels/Storage.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/boundary/BoundaryPasses.h"
#include "passes/boundary/Kernels.h"
#include "passes/boundary/SparseValues.h"

namespace tulle::passes {
using namespace mlir;
using boundary::SparseTypes;
using boundary::SparseValue;
#define GEN_PASS_DEF_LOWERBOUNDARY
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

//===--- Calls of kernels ---===//

/// Kernels take the buffers of every tensor, dense ones in one dimension, each followed by its sizes, and
/// return the buffers of tensors that they make.
struct LowerKernelCall : OpConversionPattern<func::CallOp> {
  LowerKernelCall(const SparseTypes &types, MLIRContext *context, ModuleOp kernels)
      : OpConversionPattern(types, context, /*benefit=*/2), kernels(kernels) {}

  LogicalResult matchAndRewrite(func::CallOp call, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto kernel = ModuleOp(kernels).lookupSymbol<func::FuncOp>(call.getCallee());
    if (!kernel)
      return failure();
    ImplicitLocOpBuilder b(call.getLoc(), rewriter);
    SmallVector<Value> operands;
    ValueRange last; // what a kernel that makes no tensor writes to
    Value buffer;    // of it, where it is dense
    unsigned used = 0;
    for (; operands.size() < kernel.getNumArguments(); ++used) {
      const Value original = call.getOperand(used);
      last = adaptor.getOperands()[used];
      if (auto type = dyn_cast<RankedTensorType>(original.getType()); type && !types().isSparse(type))
        buffer = appendDense(b, operands, last.front());
      else
        llvm::append_range(operands, last);
    }
    if (operands.size() != kernel.getNumArguments())
      return rewriter.notifyMatchFailure(call, "the kernel takes other operands");
    auto lowered = func::CallOp::create(b, kernel.getName(), kernel.getResultTypes(), operands);
    if (kernel.getNumResults() == 0) {
      rewriter.replaceOpWithMultiple(call, {written(b, call, last, buffer)});
      return success();
    }
    rewriter.replaceOpWithMultiple(call, {made(b, cast<RankedTensorType>(call.getResult(0).getType()),
                                               lowered.getResults(), call.getOperands().drop_front(used))});
    return success();
  }

private:
  ModuleOp kernels;
  const SparseTypes &types() const { return *getTypeConverter<SparseTypes>(); }

  /// One buffer, row by row, and the sizes. Returns the buffer with the tensor's dimensions.
  static Value appendDense(ImplicitLocOpBuilder &b, SmallVector<Value> &operands, Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    Value buffer =
        bufferization::ToBufferOp::create(b, MemRefType::get(type.getShape(), type.getElementType()), tensor);
    SmallVector<Value> sizes;
    for (int64_t d = 0; d < type.getRank(); ++d)
      sizes.push_back(memref::DimOp::create(b, buffer, d));
    Value count = arith::ConstantIndexOp::create(b, 1);
    for (Value size : sizes)
      count = arith::MulIOp::create(b, count, size);
    Value flat = memref::ReinterpretCastOp::create(
        b, MemRefType::get({ShapedType::kDynamic}, type.getElementType()), buffer, b.getIndexAttr(0),
        ArrayRef<OpFoldResult>{count}, ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
    operands.push_back(boundary::withElements(
        b, flat, type.getElementType().isInteger(1) ? b.getI8Type() : type.getElementType()));
    llvm::append_range(operands, sizes);
    return buffer;
  }

  /// The tensor that was written in place: the same buffers.
  SmallVector<Value> written(ImplicitLocOpBuilder &b, func::CallOp call, ValueRange last,
                             Value buffer) const {
    auto type = cast<RankedTensorType>(call.getResult(0).getType());
    if (types().isSparse(type))
      return llvm::to_vector(last);
    return {bufferization::ToTensorOp::create(b, type, buffer, /*restrict=*/true, /*writable=*/true)};
  }

  /// A new tensor; `dynamic` are those of its sizes that are not static.
  SmallVector<Value> made(ImplicitLocOpBuilder &b, RankedTensorType type, ValueRange buffers,
                          ValueRange dynamic) const {
    SmallVector<Value> sizes;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      const bool isDynamic = type.isDynamicDim(unsigned(d));
      sizes.push_back(isDynamic
                          ? dynamic.front()
                          : arith::ConstantIndexOp::create(b, type.getDimSize(unsigned(d))).getResult());
      dynamic = isDynamic ? dynamic.drop_front() : dynamic;
    }
    if (types().isSparse(type)) {
      SmallVector<Value> all = llvm::to_vector(buffers);
      llvm::append_range(all, sizes);
      return all;
    }
    auto bufferType = MemRefType::get(type.getShape(), type.getElementType());
    auto [strides, offset] = bufferType.getStridesAndOffset();
    SmallVector<OpFoldResult> mixedSizes, mixedStrides(size_t(type.getRank()));
    OpFoldResult stride = b.getIndexAttr(1);
    for (int64_t d = type.getRank() - 1; d >= 0; --d) {
      mixedStrides[size_t(d)] = stride;
      if (!ShapedType::isDynamic(strides[size_t(d)]))
        mixedStrides[size_t(d)] = b.getIndexAttr(strides[size_t(d)]);
      stride =
          arith::MulIOp::create(b, getValueOrCreateConstantIndexOp(b, b.getLoc(), stride), sizes[size_t(d)])
              .getResult();
    }
    for (int64_t d = 0; d < type.getRank(); ++d)
      mixedSizes.push_back(type.isDynamicDim(unsigned(d))
                               ? OpFoldResult(sizes[size_t(d)])
                               : OpFoldResult(b.getIndexAttr(type.getDimSize(unsigned(d)))));
    Value flat = boundary::withElements(b, buffers.front(), type.getElementType());
    Value shaped =
        memref::ReinterpretCastOp::create(b, bufferType, flat, b.getIndexAttr(0), mixedSizes, mixedStrides);
    return {bufferization::ToTensorOp::create(b, type, shaped, /*restrict=*/true, /*writable=*/true)};
  }
};

//===--- Ops on sparse tensors ---===//

template <typename Op> struct OnSparse : OpConversionPattern<Op> {
  OnSparse(const SparseTypes &types, MLIRContext *context) : OpConversionPattern<Op>(types, context) {}
  using Adaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;

  /// The tensor that is the op's first operand.
  std::optional<SparseValue> first(Op op, Adaptor adaptor) const {
    return SparseValue::of(op->getOperand(0).getType(), adaptor.getOperands()[0],
                           *this->template getTypeConverter<SparseTypes>());
  }
};

/// The size with this number, of several.
Value chosen(ImplicitLocOpBuilder &b, ArrayRef<Value> sizes, Value number) {
  Value size = sizes.front();
  for (auto [k, other] : llvm::drop_begin(llvm::enumerate(sizes))) {
    Value isIt = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, number,
                                       arith::ConstantIndexOp::create(b, int64_t(k)));
    size = arith::SelectOp::create(b, isIt, other, size);
  }
  return size;
}

struct LowerDealloc : OnSparse<bufferization::DeallocTensorOp> {
  using OnSparse::OnSparse;
  LogicalResult matchAndRewrite(bufferization::DeallocTensorOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<SparseValue> tensor = first(op, adaptor);
    if (!tensor)
      return failure();
    for (Value field : tensor->fields)
      memref::DeallocOp::create(rewriter, op.getLoc(), field);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerDim : OnSparse<tensor::DimOp> {
  using OnSparse::OnSparse;
  LogicalResult matchAndRewrite(tensor::DimOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<SparseValue> tensor = first(op, adaptor);
    if (!tensor || tensor->sizes.empty())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (std::optional<int64_t> dimension = op.getConstantIndex()) {
      rewriter.replaceOp(op, tensor->sizes[size_t(*dimension)]);
      return success();
    }
    rewriter.replaceOp(op, chosen(b, tensor->sizes, op.getIndex()));
    return success();
  }
};

/// A copy of a tensor has copies of its fields.
struct LowerCopy : OpConversionPattern<bufferization::AllocTensorOp> {
  LowerCopy(const SparseTypes &types, MLIRContext *context) : OpConversionPattern(types, context) {}

  LogicalResult matchAndRewrite(bufferization::AllocTensorOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!op.getCopy() || !SparseTypes::isSparse(op.getType()))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> all = llvm::map_to_vector(adaptor.getCopy(), [&](Value part) -> Value {
      auto field = dyn_cast<MemRefType>(part.getType());
      if (!field)
        return part;
      Value count = memref::DimOp::create(b, part, 0), made = memref::AllocOp::create(b, field, count);
      memref::CopyOp::create(b, part, made);
      return made;
    });
    rewriter.replaceOpWithMultiple(op, {all});
    return success();
  }
};

/// Of a shape that is less or more static: the same buffers.
struct LowerCast : OnSparse<tensor::CastOp> {
  using OnSparse::OnSparse;
  LogicalResult matchAndRewrite(tensor::CastOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!first(op, adaptor))
      return failure();
    rewriter.replaceOpWithMultiple(op, {adaptor.getOperands()[0]});
    return success();
  }
};

/// Buffers that are bound together.
struct LowerStorage : OnSparse<dialect::StorageOp> {
  using OnSparse::OnSparse;
  LogicalResult matchAndRewrite(dialect::StorageOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!SparseTypes::isSparse(op.getResult().getType()))
      return failure();
    rewriter.replaceOpWithMultiple(op, {SmallVector<Value>(op->getOperands())});
    return success();
  }
};

/// A tensor whose levels are all dense has an element everywhere, at first zero. The others are made by
/// kernels.
template <typename Op> struct LowerEmpty : OpConversionPattern<Op> {
  LowerEmpty(const SparseTypes &types, MLIRContext *context) : OpConversionPattern<Op>(types, context) {}

  LogicalResult matchAndRewrite(Op op, typename Op::Adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    const std::optional<format::Encoding> encoding = boundary::encodingOf(type);
    if (!encoding || !format::isAllDense(*encoding))
      return failure();
    if constexpr (std::is_same_v<Op, bufferization::AllocTensorOp>)
      if (op.getCopy())
        return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> sizes;
    for (int64_t d = 0, k = 0; d < type.getRank(); ++d)
      sizes.push_back(type.isDynamicDim(unsigned(d))
                          ? op.getDynamicSizes()[unsigned(k++)]
                          : arith::ConstantIndexOp::create(b, type.getDimSize(unsigned(d))));
    const SparseValue value{*encoding, format::layout(*encoding), {}, sizes};
    Value count = arith::ConstantIndexOp::create(b, 1);
    for (unsigned l = 0; l < encoding->levels.size(); ++l)
      count = arith::MulIOp::create(b, count, value.levelSize(b, op.getLoc(), l));
    const Type field = levels::fieldTypes(value.layout, type.getElementType()).back();
    Value values = memref::AllocOp::create(b, cast<MemRefType>(field), count);
    const Type element = cast<MemRefType>(field).getElementType();
    Value zero = dialect::materialize(b, op.getLoc(), dialect::zeroAttr(element), element);
    auto loop = scf::ForOp::create(b, arith::ConstantIndexOp::create(b, 0), count,
                                   arith::ConstantIndexOp::create(b, 1));
    b.setInsertionPointToStart(loop.getBody());
    memref::StoreOp::create(b, zero, values, loop.getInductionVar());
    SmallVector<Value> all{values};
    llvm::append_range(all, sizes);
    rewriter.replaceOpWithMultiple(op, {all});
    return success();
  }
};

/// The same fields, seen with a dimension for each level, or back.
struct LowerReinterpretMap : OnSparse<sparse_tensor::ReinterpretMapOp> {
  using OnSparse::OnSparse;
  LogicalResult matchAndRewrite(sparse_tensor::ReinterpretMapOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<SparseValue> tensor = first(op, adaptor);
    const auto type = cast<RankedTensorType>(op.getDest().getType());
    const std::optional<format::Encoding> encoding = boundary::encodingOf(type);
    if (!tensor || !encoding || format::layout(*encoding).fields.size() != tensor->fields.size())
      return failure();
    SmallVector<Value> levels, all = tensor->fields;
    for (unsigned l = 0; l < tensor->encoding.levels.size(); ++l) {
      levels.push_back(tensor->levelSize(rewriter, op.getLoc(), l));
      if (!levels.back())
        return rewriter.notifyMatchFailure(op, "the size of a level depends on the data");
    }
    const std::optional<std::vector<format::Digit>> digits = format::digits(*encoding);
    if (!digits || digits->size() != levels.size())
      return rewriter.notifyMatchFailure(op, "the sizes of dimensions do not follow from those of levels");
    for (unsigned d = 0; d < unsigned(type.getRank()); ++d) {
      Value size = arith::ConstantIndexOp::create(rewriter, op.getLoc(), 1);
      for (auto [digit, level] : llvm::zip(*digits, levels))
        if (digit.dim == d)
          size = arith::MulIOp::create(rewriter, op.getLoc(), size, level);
      all.push_back(size);
    }
    rewriter.replaceOpWithMultiple(op, {all});
    return success();
  }
};

struct LowerLvl : OnSparse<sparse_tensor::LvlOp> {
  using OnSparse::OnSparse;
  LogicalResult matchAndRewrite(sparse_tensor::LvlOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<SparseValue> tensor = first(op, adaptor);
    if (!tensor)
      return failure();
    SmallVector<Value> levels;
    const std::optional<int64_t> constant = op.getConstantLvlIndex();
    for (unsigned l = 0; l < tensor->encoding.levels.size(); ++l)
      if (!constant || l == unsigned(*constant))
        levels.push_back(tensor->levelSize(rewriter, op.getLoc(), l));
    if (llvm::is_contained(levels, Value()))
      return rewriter.notifyMatchFailure(op, "the size of the level depends on the data");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    rewriter.replaceOp(op, chosen(b, levels, op.getIndex()));
    return success();
  }
};

struct LowerNumberOfEntries : OnSparse<sparse_tensor::NumberOfEntriesOp> {
  using OnSparse::OnSparse;
  LogicalResult matchAndRewrite(sparse_tensor::NumberOfEntriesOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<SparseValue> tensor = first(op, adaptor);
    if (!tensor)
      return failure();
    // Upstream says how many entries each batch has.
    Value count = memref::DimOp::create(rewriter, op.getLoc(), tensor->fields.back(), 0);
    for (auto [l, level] : llvm::enumerate(tensor->encoding.levels))
      if (level.format.kind == format::LevelKind::Batch) {
        Value batches = tensor->levelSize(rewriter, op.getLoc(), unsigned(l));
        if (!batches)
          return rewriter.notifyMatchFailure(op, "the number of batches depends on the data");
        count = arith::DivUIOp::create(rewriter, op.getLoc(), count, batches);
      }
    rewriter.replaceOp(op, count);
    return success();
  }
};

struct LowerValues : OnSparse<sparse_tensor::ToValuesOp> {
  using OnSparse::OnSparse;
  LogicalResult matchAndRewrite(sparse_tensor::ToValuesOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<SparseValue> tensor = first(op, adaptor);
    if (!tensor)
      return failure();
    rewriter.replaceOp(op, tensor->view(rewriter, op.getLoc(), tensor->fields.back(),
                                        cast<MemRefType>(op.getResult().getType())));
    return success();
  }
};

struct LowerPositions : OnSparse<sparse_tensor::ToPositionsOp> {
  using OnSparse::OnSparse;
  LogicalResult matchAndRewrite(sparse_tensor::ToPositionsOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<SparseValue> tensor = first(op, adaptor);
    const auto level = unsigned(op.getLevel());
    if (!tensor || !tensor->layout.positions[level])
      return failure();
    rewriter.replaceOp(op,
                       tensor->view(rewriter, op.getLoc(), tensor->fields[*tensor->layout.positions[level]],
                                    cast<MemRefType>(op.getResult().getType())));
    return success();
  }
};

struct LowerCoordinates : OnSparse<sparse_tensor::ToCoordinatesOp> {
  using OnSparse::OnSparse;
  LogicalResult matchAndRewrite(sparse_tensor::ToCoordinatesOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<SparseValue> tensor = first(op, adaptor);
    const auto level = unsigned(op.getLevel());
    if (!tensor || !tensor->layout.coordinates[level])
      return failure();
    const format::CoordinateRef at = *tensor->layout.coordinates[level];
    rewriter.replaceOp(op, tensor->view(rewriter, op.getLoc(), tensor->fields[at.field],
                                        cast<MemRefType>(op.getResult().getType()), at.offset, at.stride));
    return success();
  }
};

/// All coordinates of levels that are stored in one buffer.
struct LowerCoordinatesBuffer : OnSparse<sparse_tensor::ToCoordinatesBufferOp> {
  using OnSparse::OnSparse;
  LogicalResult matchAndRewrite(sparse_tensor::ToCoordinatesBufferOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    std::optional<SparseValue> tensor = first(op, adaptor);
    if (!tensor)
      return failure();
    auto isInterleaved = [](const auto &at) { return at && at->stride > 1; };
    auto found =
        std::find_if(tensor->layout.coordinates.begin(), tensor->layout.coordinates.end(), isInterleaved);
    if (found == tensor->layout.coordinates.end())
      return failure();
    rewriter.replaceOp(op, tensor->view(rewriter, op.getLoc(), tensor->fields[(*found)->field],
                                        cast<MemRefType>(op.getResult().getType())));
    return success();
  }
};

//===--- The pass ---===//

struct LowerBoundary : impl::LowerBoundaryBase<LowerBoundary> {
  void runOnOperation() override {
    ModuleOp module = getOperation(), kernels = boundary::kernelsOf(module);
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    if (!kernels)
      kernels = ModuleOp::create(b, module.getLoc(), boundary::kKernelsModule);
    // Kernels are lowered already, and replace their declarations.
    kernels->remove();
    if (failed(checkLowered(kernels)) || failed(checkOps(module, kernels))) {
      kernels->destroy();
      return signalPassFailure();
    }
    if (failed(convert(module, kernels)))
      signalPassFailure();
    else
      moveKernels(module, kernels);
    kernels->destroy();
  }

private:
  static LogicalResult checkLowered(ModuleOp kernels) {
    for (auto kernel : kernels.getOps<func::FuncOp>())
      if (llvm::any_of(kernel.getArgumentTypes(), llvm::IsaPred<TensorType>))
        return kernel.emitError("expected kernels on buffers, as tulle-lower makes them");
    return success();
  }

  /// Other empty tensors are made by kernels.
  static bool isCopyOrAllDense(Operation *op) {
    if (!isa<bufferization::AllocTensorOp, tensor::EmptyOp>(op))
      return false;
    if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>))
      return true;
    const std::optional<format::Encoding> encoding = boundary::encodingOf(op->getResult(0).getType());
    return encoding && format::isAllDense(*encoding);
  }

  /// Whether the op asks for a dimension that its tensor has not: legal, and undefined.
  static bool isOutside(tensor::DimOp op) {
    const std::optional<int64_t> dimension = op.getConstantIndex();
    return dimension &&
           (*dimension < 0 || *dimension >= cast<RankedTensorType>(op.getSource().getType()).getRank());
  }

  /// Everything that has a sparse tensor must be lowered here.
  static LogicalResult checkOps(ModuleOp module, ModuleOp kernels) {
    WalkResult result = module.walk([&](Operation *op) {
      auto isSparse = [](Type type) { return SparseTypes::isSparse(type); };
      if (auto dim = dyn_cast<tensor::DimOp>(op);
          dim && isSparse(dim.getSource().getType()) && isOutside(dim)) {
        op->emitError("expected a dimension of ")
            << dim.getSource().getType() << ", got " << *dim.getConstantIndex();
        return WalkResult::interrupt();
      }
      if ((llvm::none_of(op->getOperandTypes(), isSparse) && llvm::none_of(op->getResultTypes(), isSparse)) ||
          isCopyOrAllDense(op) ||
          isa<dialect::StorageOp, bufferization::DeallocTensorOp, tensor::DimOp, tensor::CastOp,
              sparse_tensor::LvlOp, sparse_tensor::ReinterpretMapOp, sparse_tensor::NumberOfEntriesOp,
              sparse_tensor::ToValuesOp, sparse_tensor::ToPositionsOp, sparse_tensor::ToCoordinatesOp,
              sparse_tensor::ToCoordinatesBufferOp, BranchOpInterface, func::CallOp, func::ReturnOp,
              scf::IfOp, scf::ForOp, scf::WhileOp, scf::ConditionOp, scf::YieldOp, scf::IndexSwitchOp>(op))
        return WalkResult::advance();
      op->emitError("expected sparse tensors in kernels, control flow and calls: '")
          << op->getName() << "' of one is not supported by tulle-sparsifier";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  static bool isDeclarationOf(Operation *op, ModuleOp kernels) {
    auto function = dyn_cast<func::FuncOp>(op);
    return function && function.isExternal() && kernels.lookupSymbol(function.getName());
  }

  LogicalResult convert(ModuleOp module, ModuleOp kernels) {
    MLIRContext *context = &getContext();
    const SparseTypes types;
    RewritePatternSet patterns(context);
    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      if (auto function = dyn_cast<func::FuncOp>(op))
        return isDeclarationOf(op, kernels) || (types.isSignatureLegal(function.getFunctionType()) &&
                                                types.isLegal(&function.getFunctionBody()));
      if (auto call = dyn_cast<func::CallOp>(op))
        if (auto kernel = kernels.lookupSymbol<func::FuncOp>(call.getCallee()))
          return call.getCalleeType() == kernel.getFunctionType();
      return types.isLegal(op);
    });
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, types);
    populateCallOpTypeConversionPattern(patterns, types);
    populateReturnOpTypeConversionPattern(patterns, types);
    populateBranchOpInterfaceTypeConversionPattern(patterns, types);
    scf::populateSCFStructuralTypeConversions(types, patterns);
    patterns.add<LowerKernelCall>(types, context, kernels);
    patterns.add<LowerCopy, LowerReinterpretMap, LowerEmpty<bufferization::AllocTensorOp>,
                 LowerEmpty<tensor::EmptyOp>, LowerStorage, LowerDealloc, LowerDim, LowerCast, LowerLvl,
                 LowerNumberOfEntries, LowerValues, LowerPositions, LowerCoordinates, LowerCoordinatesBuffer>(
        types, context);
    return applyFullConversion(module, target, std::move(patterns));
  }

  static void moveKernels(ModuleOp module, ModuleOp kernels) {
    for (auto function : llvm::make_early_inc_range(kernels.getOps<func::FuncOp>())) {
      auto declaration = module.lookupSymbol<func::FuncOp>(function.getName());
      if (declaration && function.isExternal()) {
        function.erase();
        continue;
      }
      if (declaration)
        declaration.erase();
      function->remove();
      module.push_back(function);
      function.setPrivate();
    }
  }
};

} // namespace
} // namespace tulle::passes
