// tulle-outline-kernels: each op that computes on sparse tensors becomes a function of a nested module.
#include "dialect/Attributes.h"
#include "dialect/Costs.h"
#include "dialect/Dialect.h"
#include "dialect/Scalars.h"
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
#include "passes/boundary/SparseValues.h"
#include "llvm/ADT/SetVector.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

bool isSparse(Type type) { return boundary::SparseTypes::isSparse(type); }

bool isKernel(Operation *op) {
  return isa<linalg::LinalgOp, sparse_tensor::ConvertOp, sparse_tensor::ConcatenateOp, tensor::ConcatOp,
             tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::PadOp>(op) &&
         (llvm::any_of(op->getOperandTypes(), isSparse) || llvm::any_of(op->getResultTypes(), isSparse));
}

/// The reshape that reads another one's result, which nothing else does, at once: one kernel does both, and
/// no tensor is made between them. Null where there is none.
Operation *reshapeBehind(Operation *op) {
  auto isReshape = [](Operation *op) {
    return isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op) && isKernel(op) &&
           cast<RankedTensorType>(op->getResult(0).getType()).hasStaticShape();
  };
  if (!isReshape(op) || !op->hasOneUse())
    return nullptr;
  Operation *user = *op->user_begin();
  if (!isReshape(user) || user->getBlock() != op->getBlock())
    return nullptr;
  // What lies between them could write to the tensor that is read, be it in place of a new one.
  auto keepsTensors = [](Operation &op) {
    return isMemoryEffectFree(&op) && op.getNumRegions() == 0 &&
           llvm::none_of(op.getOperandTypes(), llvm::IsaPred<TensorType>);
  };
  auto lie = llvm::make_range(std::next(op->getIterator()), user->getIterator());
  return llvm::all_of(lie, keepsTensors) ? user : nullptr;
}

/// Whether the value is a tensor that nothing was stored in yet, and that the op that does gives a pattern.
bool isNew(Value value) {
  auto alloc = value.getDefiningOp<bufferization::AllocTensorOp>();
  const std::optional<format::Encoding> encoding = boundary::encodingOf(value.getType());
  return encoding && !format::isAllDense(*encoding) &&
         ((alloc && !alloc.getCopy()) || value.getDefiningOp<tensor::EmptyOp>());
}

/// Of a tensor that is made here.
ValueRange dynamicSizes(Value made) {
  if (auto alloc = made.getDefiningOp<bufferization::AllocTensorOp>())
    return alloc.getDynamicSizes();
  return made.getDefiningOp<tensor::EmptyOp>().getDynamicSizes();
}

bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>() && !isa<TensorType>(value.getType());
}

/// Of one op, and the reshapes whose result it alone reshapes.
class Kernel {
public:
  explicit Kernel(Operation *op) : op(op), b(op->getLoc(), op) {
    for (Operation *from = op;
         (from = from->getNumOperands() ? from->getOperand(0).getDefiningOp() : nullptr) &&
         reshapeBehind(from);)
      before.insert(before.begin(), from);
  }

  /// Fails, with an error, where the op cannot stand in a function of its own.
  LogicalResult outline(ModuleOp module, ModuleOp kernels, StringRef name) {
    if (op->getNumResults() != 1)
      return op->emitError("expected one result of an op with sparse tensors, got ") << op->getNumResults();
    if (failed(collect()))
      return failure();
    build(kernels, name);
    b.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> sizes = resultSizes();
    if (failed(sizes))
      return failure();
    SmallVector<Value> operands = llvm::to_vector(captured);
    const SmallVector<Value> copies = copyStrided(operands);
    llvm::append_range(operands, *sizes);
    boundary::declareKernel(module, name,
                            b.getFunctionType(ValueRange(operands).getTypes(), op->getResultTypes()),
                            unsigned(captured.size()), op->getLoc());
    op->replaceAllUsesWith(func::CallOp::create(b, name, op->getResultTypes(), operands));
    for (Value copy : copies)
      bufferization::DeallocTensorOp::create(b, copy);
    op->erase();
    for (Operation *reshape : llvm::reverse(before))
      reshape->erase();
    return success();
  }

private:
  Operation *op;
  SmallVector<Operation *> before; ///< reshapes, in order, each of which the next one or the op alone reads
  ImplicitLocOpBuilder b;
  llvm::SetVector<Value> captured; ///< what the call passes: what is written in place is last
  Value made;                      ///< the init that the function makes itself; null where there is none

  linalg::LinalgOp linalgOp() const { return dyn_cast<linalg::LinalgOp>(op); }

  /// Upstream fills a dense result that nothing was stored in: its loops do not visit what is not stored.
  void fillDense() {
    OpOperand *init = linalgOp().getDpsInitOperand(0);
    auto type = cast<RankedTensorType>(init->get().getType());
    auto alloc = init->get().getDefiningOp<bufferization::AllocTensorOp>();
    if (isSparse(type) || !((alloc && !alloc.getCopy()) || init->get().getDefiningOp<tensor::EmptyOp>()))
      return;
    b.setInsertionPoint(op);
    Value zero =
        dialect::materialize(b, b.getLoc(), dialect::zeroAttr(type.getElementType()), type.getElementType());
    init->set(linalg::FillOp::create(b, zero, init->get()).getResult(0));
  }

  /// Kernels take dense tensors row by row: bufferization would copy a slice as well, and free nothing.
  SmallVector<Value> copyStrided(MutableArrayRef<Value> operands) {
    SmallVector<Value> copies;
    Value destination = linalgOp() ? linalgOp().getDpsInitOperand(0)->get() : Value();
    for (Value &operand : operands) {
      Value source = operand;
      while (auto cast = source.getDefiningOp<tensor::CastOp>())
        source = cast.getSource();
      if (operand == destination || isSparse(operand.getType()) ||
          !source.getDefiningOp<tensor::ExtractSliceOp>())
        continue;
      operand = bufferization::AllocTensorOp::create(b, cast<RankedTensorType>(operand.getType()),
                                                     ValueRange(), operand);
      copies.push_back(operand);
    }
    return copies;
  }

  LogicalResult collect() {
    if (linalgOp())
      fillDense();
    Value destination = linalgOp() ? linalgOp().getDpsInitOperand(0)->get() : Value();
    if (destination && isNew(destination))
      made = destination;
    for (Value value : usedValues()) {
      if (value == destination && llvm::is_contained(linalgInputs(), value))
        return op->emitError("expected other inputs than the tensor that is written in place");
      if (value != destination && !isConstant(value))
        captured.insert(value);
    }
    if (destination && !made)
      captured.insert(destination);
    return success();
  }

  /// What the op reads, and the sizes of a new result that no operand says.
  llvm::SetVector<Value> usedValues() const {
    llvm::SetVector<Value> values;
    for (Operation *reshape : before)
      values.insert_range(reshape->getOperands());
    values.insert_range(op->getOperands());
    values.remove_if([&](Value value) { return llvm::is_contained(before, value.getDefiningOp()); });
    getUsedValuesDefinedAbove(op->getRegions(), values);
    if (made)
      forDynamic(cast<RankedTensorType>(made.getType()), [&, k = size_t(0)](int64_t d) mutable {
        if (!sizedBy(d).first)
          values.insert(dynamicSizes(made)[k]);
        ++k;
      });
    return values;
  }

  /// An input, and its dimension, that is as long as a dimension of the result; null where there is none.
  std::pair<Value, int64_t> sizedBy(int64_t dimension) const {
    AffineExpr subscript =
        linalgOp().getMatchingIndexingMap(linalgOp().getDpsInitOperand(0)).getResult(unsigned(dimension));
    for (OpOperand *input : linalgOp().getDpsInputOperands())
      for (auto [d, other] : llvm::enumerate(linalgOp().getMatchingIndexingMap(input).getResults()))
        if (isa<AffineDimExpr>(subscript) && other == subscript)
          return {input->get(), int64_t(d)};
    return {};
  }

  SmallVector<Value> linalgInputs() const {
    return linalgOp()
               ? llvm::map_to_vector(linalgOp().getDpsInputOperands(), [](OpOperand *o) { return o->get(); })
               : SmallVector<Value>();
  }

  /// Whether no other operand can be the buffer that is written in place: upstream's analysis lets an op read
  /// what it writes, where it accesses both element by element.
  bool writesApart() const {
    if (!linalgOp() || made)
      return true;
    Value destination = captured.back();
    return llvm::count_if(captured, [&](Value value) {
             return isa<TensorType>(value.getType()) && sourceOf(value) == sourceOf(destination);
           }) == 1;
  }

  /// The tensor that a value is a view of.
  static Value sourceOf(Value value) {
    while (isa_and_nonnull<tensor::CastOp, tensor::ExtractSliceOp, tensor::CollapseShapeOp,
                           tensor::ExpandShapeOp, sparse_tensor::ReinterpretMapOp>(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value;
  }

  void build(ModuleOp kernels, StringRef name) {
    b.setInsertionPointToEnd(kernels.getBody());
    auto kernel = func::FuncOp::create(
        b, name, b.getFunctionType(ValueRange(captured.getArrayRef()).getTypes(), op->getResultTypes()));
    if (writesApart())
      kernel->setAttr(dialect::kNoaliasAttr, b.getUnitAttr());
    b.setInsertionPointToStart(kernel.addEntryBlock());
    IRMapping mapping;
    mapping.map(captured, kernel.getArguments());
    boundary::nameArguments(kernel, kernel.getNumArguments());
    cloneConstants(mapping);
    if (made)
      makeResult(mapping);
    for (Operation *reshape : before)
      b.clone(*reshape, mapping);
    func::ReturnOp::create(b, b.clone(*op, mapping)->getResults());
  }

  void cloneConstants(IRMapping &mapping) {
    for (Value value : usedValues())
      if (isConstant(value))
        b.clone(*value.getDefiningOp(), mapping);
  }

  void makeResult(IRMapping &mapping) {
    auto type = cast<RankedTensorType>(made.getType());
    SmallVector<Value> sizes;
    forDynamic(type, [&](int64_t d) {
      auto [input, dimension] = sizedBy(d);
      sizes.push_back(input ? tensor::DimOp::create(b, mapping.lookup(input), dimension).getResult()
                            : mapping.lookup(dynamicSizes(made)[sizes.size()]));
    });
    mapping.map(made, tensor::EmptyOp::create(b, type, sizes).getResult());
  }

  /// Of the dimensions of a new result that are not static. The kernel does not return them.
  FailureOr<SmallVector<Value>> resultSizes() {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (type.hasStaticShape() || (linalgOp() && !made))
      return SmallVector<Value>();
    if (made)
      return SmallVector<Value>(dynamicSizes(made));
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

struct OutlineKernels : impl::OutlineKernelsBase<OutlineKernels> {
  using Base::Base;
  unsigned number = 0;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const iteration::Cpu *planned = cpu.empty() ? &iteration::genericCpu() : iteration::findCpu(cpu);
    if (!planned) {
      emitError(module.getLoc(), "expected the name of a processor, as #tulle.cpu has it, got '")
          << cpu << "'";
      return signalPassFailure();
    }
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      if ((isKernel(op) && !reshapeBehind(op)) || (op->getNumResults() == 1 && isNew(op->getResult(0))))
        ops.push_back(op);
    });
    if (ops.empty())
      return markAllAnalysesPreserved();
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    auto kernels = ModuleOp::create(b, module.getLoc(), boundary::kKernelsModule);
    if (!cpu.empty())
      dialect::setCpu(kernels, *planned);
    SmallVector<Operation *> made;
    for (Operation *op : ops) {
      if (!isKernel(op))
        made.push_back(op);
      else if (failed(Kernel(op).outline(module, kernels, nextName(module))))
        return signalPassFailure();
    }
    for (Operation *op : made)
      if (op->use_empty())
        op->erase();
      else
        outlineEmpty(module, kernels, op);
  }

  /// A name that nothing in the module has.
  std::string nextName(ModuleOp module) {
    std::string name;
    do
      name = "kernel" + std::to_string(number++);
    while (module.lookupSymbol(name));
    return name;
  }

  /// A tensor that stores nothing, where one is needed that no kernel makes for itself.
  void outlineEmpty(ModuleOp module, ModuleOp kernels, Operation *op) {
    const std::string name = nextName(module);
    const auto type = cast<RankedTensorType>(op->getResult(0).getType());
    const auto own = dialect::withEncoding(type, *boundary::encodingOf(type));
    const ValueRange dynamic = dynamicSizes(op->getResult(0));
    ImplicitLocOpBuilder b(op->getLoc(), OpBuilder::atBlockEnd(kernels.getBody()));
    auto kernel = func::FuncOp::create(b, name, b.getFunctionType(dynamic.getTypes(), Type(own)));
    boundary::nameArguments(kernel, kernel.getNumArguments());
    b.setInsertionPointToStart(kernel.addEntryBlock());
    SmallVector<Value> sizes;
    for (int64_t d = 0, k = 0; d < type.getRank(); ++d)
      sizes.push_back(type.isDynamicDim(unsigned(d))
                          ? Value(kernel.getArgument(unsigned(k++)))
                          : arith::ConstantIndexOp::create(b, type.getDimSize(unsigned(d))));
    auto made = dialect::AssembleOp::create(
        b, own, sizes, /*bound=*/arith::ConstantIndexOp::create(b, 0), /*entries=*/Value(),
        AffineMapAttr::get(b.getMultiDimIdentityMap(unsigned(type.getRank()))), /*unique=*/b.getUnitAttr(),
        dialect::CombineAttr(), dialect::AssemblyPlanAttr(), dialect::AssemblyStrategyAttr(),
        /*share=*/UnitAttr());
    func::ReturnOp::create(b, made.getResult());
    b.createBlock(&made.getBody());
    b.setInsertionPoint(op);
    // The sizes are operands of the kernel, and what the caller knows of its result.
    SmallVector<Value> operands(dynamic);
    llvm::append_range(operands, dynamic);
    boundary::declareKernel(module, name, b.getFunctionType(ValueRange(operands).getTypes(), Type(type)),
                            unsigned(dynamic.size()), op->getLoc());
    op->replaceAllUsesWith(func::CallOp::create(b, name, Type(type), operands));
    op->erase();
  }
};

} // namespace
} // namespace tulle::passes
