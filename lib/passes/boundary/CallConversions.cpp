// tulle-call-conversions: the operands of kernels are converted before calls, as their arguments ask.
#include "dialect/Attributes.h"
#include "dialect/Dialect.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/boundary/BoundaryPasses.h"
#include "passes/boundary/Kernels.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_CALLCONVERSIONS
#include "passes/boundary/BoundaryPasses.h.inc"

namespace {

struct CallConversions : impl::CallConversionsBase<CallConversions> {
  void runOnOperation() override {
    kernels = boundary::kernelsOf(getOperation());
    if (!kernels)
      return markAllAnalysesPreserved();
    SmallVector<func::CallOp> calls;
    getOperation().walk([&](func::CallOp call) { calls.push_back(call); });
    if (calls.empty())
      return markAllAnalysesPreserved();
    for (func::CallOp call : calls)
      if (auto kernel = kernels.lookupSymbol<func::FuncOp>(call.getCallee());
          kernel && call->getParentOfType<ModuleOp>() != kernels && failed(convertOperands(call, kernel)))
        return signalPassFailure();
  }

private:
  ModuleOp kernels;

  /// What arguments do not stand for, sizes of results, are passed behind them as before.
  LogicalResult convertOperands(func::CallOp call, func::FuncOp kernel) {
    auto declaration = getOperation().lookupSymbol<func::FuncOp>(call.getCallee());
    SmallVector<Value> operands, converted;
    bool changed = false;
    for (unsigned k = 0; k < kernel.getNumArguments(); ++k) {
      const std::optional<unsigned> number = boundary::operandNumber(declaration, kernel, k);
      if (!number)
        return call.emitError("expected an operand for argument ")
               << k << " of kernel '" << call.getCallee() << "'";
      changed |= *number != k;
      Value operand = call.getOperand(*number);
      if (auto source = kernel.getArgAttrOfType<dialect::EncodingAttr>(k, dialect::kSourceAttr))
        converted.push_back(operand = convert(call, operand, source.getValue(),
                                              cast<RankedTensorType>(kernel.getArgumentTypes()[k])));
      operands.push_back(operand);
    }
    if (converted.empty() && !changed)
      return success();
    for (auto [k, operand] : llvm::enumerate(call.getOperands()))
      if (!declaration.getArgAttr(unsigned(k), dialect::kNameAttr))
        operands.push_back(operand);
    call->setOperands(operands);
    declaration.erase();
    boundary::declareKernel(getOperation(), kernel.getName(), call.getCalleeType(), kernel.getNumArguments(),
                            call.getLoc());
    OpBuilder b(call);
    b.setInsertionPointAfter(call);
    for (Value tensor : converted)
      bufferization::DeallocTensorOp::create(b, call.getLoc(), tensor);
    return success();
  }

  /// A call of a kernel that converts; the caller frees what it returns.
  Value convert(func::CallOp call, Value operand, const format::Encoding &source, RankedTensorType target) {
    std::string name;
    unsigned number = 0;
    do
      name = call.getCallee().str() + "_operand" + std::to_string(number++);
    while (getOperation().lookupSymbol(name));
    buildKernel(call.getLoc(), name, dialect::withEncoding(cast<RankedTensorType>(operand.getType()), source),
                target);
    ImplicitLocOpBuilder b(call.getLoc(), call);
    SmallVector<Value> operands{operand};
    for (int64_t d = 0; d < target.getRank(); ++d)
      if (target.isDynamicDim(unsigned(d)))
        operands.push_back(tensor::DimOp::create(b, operand, d));
    boundary::declareKernel(getOperation(), name,
                            b.getFunctionType(ValueRange(operands).getTypes(), Type(target)), /*tensors=*/1,
                            call.getLoc());
    return func::CallOp::create(b, name, TypeRange(target), operands).getResult(0);
  }

  void buildKernel(Location loc, StringRef name, RankedTensorType source, RankedTensorType target) {
    ImplicitLocOpBuilder b(loc, OpBuilder::atBlockEnd(kernels.getBody()));
    auto kernel = func::FuncOp::create(b, name, b.getFunctionType(Type(source), Type(target)));
    boundary::nameArguments(kernel, 1);
    b.setInsertionPointToStart(kernel.addEntryBlock());
    func::ReturnOp::create(b, dialect::ConvertOp::create(b, target, kernel.getArgument(0)).getResult());
  }
};

} // namespace
} // namespace tulle::passes
