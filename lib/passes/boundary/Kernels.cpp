#include "passes/boundary/Kernels.h"
#include "dialect/Attributes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tulle::boundary {

func::FuncOp declareError(ModuleOp module, StringRef name, Location loc) {
  if (auto declared = module.lookupSymbol<func::FuncOp>(name))
    return declared;
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto declared = func::FuncOp::create(b, loc, name, b.getFunctionType({}, {}));
  declared.setPrivate();
  return declared;
}

void require(ImplicitLocOpBuilder &b, Value condition, ModuleOp module, StringRef error) {
  func::FuncOp refusal = declareError(module, error, b.getLoc());
  auto check = scf::IfOp::create(b, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(check.elseBlock());
  func::CallOp::create(b, refusal, ValueRange());
}

ModuleOp kernelsOf(ModuleOp module) { return module.lookupSymbol<ModuleOp>(kKernelsModule); }

void nameArguments(func::FuncOp function, unsigned count) {
  for (unsigned k = 0; k < count; ++k)
    function.setArgAttr(k, dialect::kNameAttr,
                        StringAttr::get(function.getContext(), "t" + std::to_string(k)));
}

std::optional<unsigned> operandNumber(func::FuncOp declaration, func::FuncOp kernel, unsigned argument) {
  Attribute name = kernel.getArgAttr(argument, dialect::kNameAttr);
  for (unsigned k = 0; name && k < declaration.getNumArguments(); ++k)
    if (declaration.getArgAttr(k, dialect::kNameAttr) == name)
      return k;
  return std::nullopt;
}

func::FuncOp declareKernel(ModuleOp module, StringRef name, FunctionType type, unsigned tensors,
                           Location loc) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto declaration = func::FuncOp::create(b, loc, name, type);
  declaration.setPrivate();
  nameArguments(declaration, tensors);
  return declaration;
}

} // namespace tulle::boundary
