// tulle-launch: define the functions that launch parallel regions through the engine.
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
      auto task = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(kTaskPrefix + name.str());
      if (task)
        define(function, task);
    }
  }

  /// The memory layout of both functions' arguments but the first.
  static LLVM::LLVMStructType contextType(LLVM::LLVMFuncOp task) {
    return LLVM::LLVMStructType::getLiteral(task.getContext(), task.getArgumentTypes().drop_front());
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

  /// `launch(tasks, …)` leaves its other arguments in memory for `enter(context, task)`, which the engine
  /// calls.
  void define(LLVM::LLVMFuncOp launch, LLVM::LLVMFuncOp task) {
    mlir::Location loc = launch.getLoc();
    LLVM::LLVMFuncOp runtime = runtimeFunction(), enter = addEnter(task);
    LLVM::LLVMStructType type = contextType(task);
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

  LLVM::LLVMFuncOp addEnter(LLVM::LLVMFuncOp task) {
    mlir::Location loc = task.getLoc();
    mlir::OpBuilder b(&getContext());
    b.setInsertionPointAfter(task);
    auto pointer = LLVM::LLVMPointerType::get(&getContext());
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&getContext()), {pointer, b.getI64Type()});
    auto enter = LLVM::LLVMFuncOp::create(b, loc, "enter_" + task.getName().str(), type);
    mlir::Block *body = enter.addEntryBlock(b);
    b.setInsertionPointToStart(body);
    llvm::SmallVector<Value> arguments{body->getArgument(1)};
    LLVM::LLVMStructType context = contextType(task);
    for (auto [k, member] : llvm::enumerate(context.getBody()))
      arguments.push_back(
          LLVM::LoadOp::create(b, loc, member, this->member(b, loc, context, body->getArgument(0), k)));
    LLVM::CallOp::create(b, loc, task, arguments);
    LLVM::ReturnOp::create(b, loc, mlir::ValueRange{});
    enter.setLinkage(LLVM::Linkage::Internal);
    task.setLinkage(LLVM::Linkage::Internal);
    task.setNoInline(true); // inlining would lose the alias facts of its arguments
    return enter;
  }
};

} // namespace
} // namespace tulle::passes
