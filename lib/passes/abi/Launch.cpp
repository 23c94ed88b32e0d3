// tulle-launch: parallel regions are run by the engine.
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Passes.h"
#include "passes/parallel/FunctionNames.h"

namespace tulle::passes {
#define GEN_PASS_DEF_LAUNCH
#include "passes/Passes.h.inc"

namespace {

namespace LLVM = mlir::LLVM;
using mlir::Value;

struct LaunchPass : impl::LaunchBase<LaunchPass> {
  void runOnOperation() override {
    auto functions = llvm::to_vector(getOperation().getOps<LLVM::LLVMFuncOp>());
    for (LLVM::LLVMFuncOp function : functions) {
      llvm::StringRef name = function.getName();
      if (!function.isExternal() || !name.consume_front(kLaunchPrefix))
        continue;
      auto part = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(kPartPrefix + name.str());
      if (part)
        define(function, part);
    }
  }

  /// Both functions' arguments but the first, as they lie in memory.
  static LLVM::LLVMStructType contextType(LLVM::LLVMFuncOp part) {
    return LLVM::LLVMStructType::getLiteral(part.getContext(), part.getArgumentTypes().drop_front());
  }

  static Value member(mlir::OpBuilder &b, mlir::Location loc, LLVM::LLVMStructType type, Value context,
                      size_t k) {
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    return LLVM::GEPOp::create(b, loc, pointer, type, context, llvm::ArrayRef<LLVM::GEPArg>{0, int32_t(k)});
  }

  LLVM::LLVMFuncOp runtimeFunction() {
    constexpr llvm::StringLiteral name = "tulle_parallel";
    if (auto known = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(name))
      return known;
    mlir::OpBuilder b = mlir::OpBuilder::atBlockEnd(getOperation().getBody());
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()),
                                            {b.getI64Type(), pointer, pointer});
    return LLVM::LLVMFuncOp::create(b, getOperation().getLoc(), name, type);
  }

  /// `launch(parts, …)` leaves its other arguments in memory for `enter(context, part)`, which the engine
  /// calls.
  void define(LLVM::LLVMFuncOp launch, LLVM::LLVMFuncOp part) {
    mlir::Location loc = launch.getLoc();
    LLVM::LLVMFuncOp runtime = runtimeFunction(), enter = addEnter(part);
    LLVM::LLVMStructType type = contextType(part);
    mlir::OpBuilder b(&getContext());
    mlir::Block *body = launch.addEntryBlock(b);
    b.setInsertionPointToStart(body);
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    Value one = LLVM::ConstantOp::create(b, loc, b.getI64Type(), 1);
    Value context = LLVM::AllocaOp::create(b, loc, pointer, type, one);
    for (auto [k, argument] : llvm::enumerate(body->getArguments().drop_front()))
      LLVM::StoreOp::create(b, loc, argument, member(b, loc, type, context, k));
    Value function = LLVM::AddressOfOp::create(b, loc, enter);
    LLVM::CallOp::create(b, loc, runtime, mlir::ValueRange{body->getArgument(0), function, context});
    LLVM::ReturnOp::create(b, loc, mlir::ValueRange{});
    launch.setLinkage(LLVM::Linkage::Internal);
  }

  LLVM::LLVMFuncOp addEnter(LLVM::LLVMFuncOp part) {
    mlir::Location loc = part.getLoc();
    mlir::OpBuilder b(&getContext());
    b.setInsertionPointAfter(part);
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()), {pointer, b.getI64Type()});
    auto enter = LLVM::LLVMFuncOp::create(b, loc, "enter_" + part.getName().str(), type);
    mlir::Block *body = enter.addEntryBlock(b);
    b.setInsertionPointToStart(body);
    llvm::SmallVector<Value> arguments{body->getArgument(1)};
    LLVM::LLVMStructType context = contextType(part);
    for (auto [k, member] : llvm::enumerate(context.getBody()))
      arguments.push_back(
          LLVM::LoadOp::create(b, loc, member, this->member(b, loc, context, body->getArgument(0), k)));
    LLVM::CallOp::create(b, loc, part, arguments);
    LLVM::ReturnOp::create(b, loc, mlir::ValueRange{});
    enter.setLinkage(LLVM::Linkage::Internal);
    part.setLinkage(LLVM::Linkage::Internal);
    part.setNoInline(true); // that would lose what its arguments say about aliases
    return enter;
  }
};

} // namespace
} // namespace tulle::passes
