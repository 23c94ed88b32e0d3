// tulle-outline-kernels: each op that computes on sparse tensors becomes a function of a nested module.
#include "dialect/Attributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/boundary/BoundaryPasses.h"
#include "passes/boundary/Kernels.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

bool isSparse(Type type) { return bool(sparse_tensor::getSparseTensorEncoding(type)); }

bool isKernel(Operation *op) {
  return isa<linalg::LinalgOp, sparse_tensor::ConvertOp, sparse_tensor::ConcatenateOp, tensor::ConcatOp,
             tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::PadOp>(op) &&
         (llvm::any_of(op->getOperandTypes(), isSparse) || llvm::any_of(op->getResultTypes(), isSparse));
}

/// Whether the value is a sparse tensor that nothing was stored in yet.
bool isNew(Value value) {
  auto alloc = value.getDefiningOp<bufferization::AllocTensorOp>();
  return isSparse(value.getType()) && ((alloc && !alloc.getCopy()) || value.getDefiningOp<tensor::EmptyOp>());
}

bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>() && !isa<TensorType>(value.getType());
}

/// Of one op.
class Kernel {
public:
  explicit Kernel(Operation *op) : op(op), b(op->getLoc(), op) {}

  /// Fails, with an error, where the op cannot stand in a function of its own.
  LogicalResult outline(ModuleOp module, ModuleOp kernels, StringRef name) {
    if (op->getNumResults() != 1)
      return op->emitError("expected one result of an op with sparse tensors, got ") << op->getNumResults();
    if (failed(collect()))
      return failure();
    func::FuncOp kernel = build(kernels, name);
    if (!kernel)
      return failure();
    b.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> sizes = resultSizes();
    if (failed(sizes))
      return failure();
    SmallVector<Value> operands = llvm::to_vector(captured);
    llvm::append_range(operands, *sizes);
    boundary::declareKernel(module, name,
                            b.getFunctionType(ValueRange(operands).getTypes(), op->getResultTypes()),
                            unsigned(captured.size()), op->getLoc());
    op->replaceAllUsesWith(func::CallOp::create(b, name, op->getResultTypes(), operands));
    op->erase();
    return success();
  }

private:
  Operation *op;
  ImplicitLocOpBuilder b;
  llvm::SetVector<Value> captured; ///< what the call passes: what is written in place is last
  Value made;                      ///< the init that the function makes itself; null where there is none

  linalg::LinalgOp linalgOp() const { return dyn_cast<linalg::LinalgOp>(op); }

  LogicalResult collect() {
    Value destination = linalgOp() ? linalgOp().getDpsInitOperand(0)->get() : Value();
    if (destination && isNew(destination))
      made = destination;
    llvm::SetVector<Value> values;
    values.insert_range(op->getOperands());
    getUsedValuesDefinedAbove(op->getRegions(), values);
    for (Value value : values) {
      if (value == destination && llvm::is_contained(linalgInputs(), value))
        return op->emitError("expected other inputs than the tensor that is written in place");
      if (value != destination && !isConstant(value))
        captured.insert(value);
    }
    if (destination && !made)
      captured.insert(destination);
    return success();
  }

  SmallVector<Value> linalgInputs() const {
    return linalgOp()
               ? llvm::map_to_vector(linalgOp().getDpsInputOperands(), [](OpOperand *o) { return o->get(); })
               : SmallVector<Value>();
  }

  func::FuncOp build(ModuleOp kernels, StringRef name) {
    b.setInsertionPointToEnd(kernels.getBody());
    auto kernel = func::FuncOp::create(
        b, name, b.getFunctionType(ValueRange(captured.getArrayRef()).getTypes(), op->getResultTypes()));
    b.setInsertionPointToStart(kernel.addEntryBlock());
    IRMapping mapping;
    mapping.map(captured, kernel.getArguments());
    boundary::nameArguments(kernel, kernel.getNumArguments());
    cloneConstants(mapping);
    if (made && failed(makeResult(mapping))) {
      kernel.erase();
      return {};
    }
    func::ReturnOp::create(b, b.clone(*op, mapping)->getResults());
    return kernel;
  }

  void cloneConstants(IRMapping &mapping) {
    llvm::SetVector<Value> values;
    values.insert_range(op->getOperands());
    getUsedValuesDefinedAbove(op->getRegions(), values);
    for (Value value : values)
      if (isConstant(value))
        b.clone(*value.getDefiningOp(), mapping);
  }

  /// A new result of the sizes that operands with its subscripts have.
  LogicalResult makeResult(IRMapping &mapping) {
    auto type = cast<RankedTensorType>(made.getType());
    AffineMap subscripts = linalgOp().getMatchingIndexingMap(linalgOp().getDpsInitOperand(0));
    SmallVector<Value> sizes;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!type.isDynamicDim(unsigned(d)))
        continue;
      Value size = sizeOf(subscripts.getResult(unsigned(d)), mapping);
      if (!size)
        return op->emitError("cannot outline: the size of dimension ")
               << d << " of the result is that of no operand";
      sizes.push_back(size);
    }
    mapping.map(made, tensor::EmptyOp::create(b, type, sizes).getResult());
    return success();
  }

  Value sizeOf(AffineExpr subscript, IRMapping &mapping) {
    for (OpOperand *input : linalgOp().getDpsInputOperands())
      for (auto [d, other] : llvm::enumerate(linalgOp().getMatchingIndexingMap(input).getResults()))
        if (isa<AffineDimExpr>(subscript) && other == subscript)
          return tensor::DimOp::create(b, mapping.lookup(input->get()), int64_t(d));
    return {};
  }

  /// Of the dimensions of a new result that are not static. The kernel does not return them.
  FailureOr<SmallVector<Value>> resultSizes() {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (type.hasStaticShape() || (linalgOp() && !made))
      return SmallVector<Value>();
    if (auto alloc =
            made ? made.getDefiningOp<bufferization::AllocTensorOp>() : bufferization::AllocTensorOp())
      return SmallVector<Value>(alloc.getDynamicSizes());
    if (auto empty = made ? made.getDefiningOp<tensor::EmptyOp>() : tensor::EmptyOp())
      return SmallVector<Value>(empty.getDynamicSizes());
    SmallVector<Value> sizes;
    if (auto concat = dyn_cast<sparse_tensor::ConcatenateOp>(op)) {
      forDynamic(type, [&](int64_t d) { sizes.push_back(concatenated(concat, d)); });
      return sizes;
    }
    if (isa<sparse_tensor::ConvertOp>(op)) {
      forDynamic(type, [&](int64_t d) { sizes.push_back(tensor::DimOp::create(b, op->getOperand(0), d)); });
      return sizes;
    }
    ReifiedRankedShapedTypeDims reified;
    if (failed(reifyResultShapes(b, op, reified)))
      return op->emitError("cannot outline: the sizes of the result are not known before");
    forDynamic(type, [&](int64_t d) {
      sizes.push_back(getValueOrCreateConstantIndexOp(b, b.getLoc(), reified[0][size_t(d)]));
    });
    return sizes;
  }

  static void forDynamic(RankedTensorType type, function_ref<void(int64_t)> visit) {
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (type.isDynamicDim(unsigned(d)))
        visit(d);
  }

  Value concatenated(sparse_tensor::ConcatenateOp concat, int64_t d) {
    Value size = tensor::DimOp::create(b, concat.getInputs().front(), d);
    if (d == int64_t(concat.getDimension()))
      for (Value part : concat.getInputs().drop_front())
        size = arith::AddIOp::create(b, size, tensor::DimOp::create(b, part, d));
    return size;
  }
};

/// Ours keeps the shape of what it converts: casts around it say which sizes are static.
void castShapes(sparse_tensor::ConvertOp convert) {
  const auto from = cast<RankedTensorType>(convert.getSource().getType());
  const auto to = cast<RankedTensorType>(convert.getDest().getType());
  if (from.getShape() == to.getShape())
    return;
  SmallVector<int64_t> shape;
  for (auto [a, b] : llvm::zip(from.getShape(), to.getShape()))
    shape.push_back(ShapedType::isDynamic(a) ? b : a);
  ImplicitLocOpBuilder b(convert.getLoc(), convert);
  Value source = convert.getSource();
  if (from.getShape() != ArrayRef(shape))
    source = tensor::CastOp::create(b, from.clone(shape), source);
  Value converted = sparse_tensor::ConvertOp::create(b, to.clone(shape), source);
  if (to.getShape() != ArrayRef(shape))
    converted = tensor::CastOp::create(b, to, converted);
  convert.replaceAllUsesWith(converted);
  convert.erase();
}

struct OutlineKernels : impl::OutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    module.walk([](sparse_tensor::ConvertOp convert) { castShapes(convert); });
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      if (isKernel(op))
        ops.push_back(op);
    });
    if (ops.empty())
      return;
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    auto kernels = ModuleOp::create(b, module.getLoc(), boundary::kKernelsModule);
    SymbolTable names(module);
    unsigned number = 0;
    for (Operation *op : ops) {
      std::string name;
      do
        name = "kernel" + std::to_string(number++);
      while (names.lookup(name));
      if (failed(Kernel(op).outline(module, kernels, name)))
        return signalPassFailure();
    }
    eraseUnused(module);
  }

  /// What kernels make themselves is not needed outside of them.
  static void eraseUnused(ModuleOp module) {
    module.walk([](Operation *op) {
      if (isa<bufferization::AllocTensorOp, tensor::EmptyOp>(op) && op->use_empty() &&
          isSparse(op->getResult(0).getType()))
        op->erase();
    });
  }
};

} // namespace
} // namespace tulle::passes
