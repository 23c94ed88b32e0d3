// tulle-launch: define the functions that launch parallel regions through the engine.
#include "dialect/Attributes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/Passes.h"

namespace tulle::passes {
#define GEN_PASS_DEF_LAUNCH
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

struct LaunchPass : impl::LaunchBase<LaunchPass> {
  void runOnOperation() override {
    pointer = LLVM::LLVMPointerType::get(&getContext());
    nothing = LLVM::LLVMVoidType::get(&getContext());
    runtime = {};
    auto functions = llvm::to_vector(getOperation().getOps<LLVM::LLVMFuncOp>());
    llvm::StringMap<LLVM::LLVMFuncOp> tasks;
    for (LLVM::LLVMFuncOp function : functions)
      if (llvm::StringRef name = function.getName(); name.consume_front(dialect::kTaskPrefix))
        tasks[name] = function;
    for (LLVM::LLVMFuncOp function : functions) {
      llvm::StringRef name = function.getName();
      if (!function.isExternal() || !name.consume_front(dialect::kLaunchPrefix))
        continue;
      if (LLVM::LLVMFuncOp task = tasks.lookup(name))
        define(function, task);
    }
  }

private:
  Type pointer, nothing;
  LLVM::LLVMFuncOp runtime; ///< null until it is needed

  /// The memory layout of both functions' arguments but the first.
  static LLVM::LLVMStructType contextType(LLVM::LLVMFuncOp task) {
    return LLVM::LLVMStructType::getLiteral(task.getContext(), task.getArgumentTypes().drop_front());
  }

  Value member(ImplicitLocOpBuilder &b, LLVM::LLVMStructType type, Value context, size_t k) {
    return LLVM::GEPOp::create(b, pointer, type, context, ArrayRef<LLVM::GEPArg>{0, int32_t(k)});
  }

  LLVM::LLVMFuncOp runtimeFunction() {
    constexpr llvm::StringLiteral name = "tulle_parallel";
    if (!runtime)
      runtime = getOperation().lookupSymbol<LLVM::LLVMFuncOp>(name);
    if (runtime)
      return runtime;
    OpBuilder b = OpBuilder::atBlockEnd(getOperation().getBody());
    auto type = LLVM::LLVMFunctionType::get(nothing, {b.getI64Type(), pointer, pointer});
    return runtime = LLVM::LLVMFuncOp::create(b, getOperation().getLoc(), name, type);
  }

  /// `launch(tasks, …)` leaves its other arguments in memory for `enter(context, task)`, which the engine
  /// calls.
  void define(LLVM::LLVMFuncOp launch, LLVM::LLVMFuncOp task) {
    LLVM::LLVMFuncOp enter = addEnter(task);
    LLVM::LLVMStructType type = contextType(task);
    ImplicitLocOpBuilder b(launch.getLoc(), &getContext());
    Block *body = launch.addEntryBlock(b);
    b.setInsertionPointToStart(body);
    Value one = LLVM::ConstantOp::create(b, b.getI64Type(), 1);
    Value context = LLVM::AllocaOp::create(b, pointer, type, one);
    for (auto [k, argument] : llvm::enumerate(body->getArguments().drop_front()))
      LLVM::StoreOp::create(b, argument, member(b, type, context, k));
    Value function = LLVM::AddressOfOp::create(b, enter);
    LLVM::CallOp::create(b, runtimeFunction(), ValueRange{body->getArgument(0), function, context});
    LLVM::ReturnOp::create(b, ValueRange{});
    launch.setLinkage(LLVM::Linkage::Internal);
  }

  LLVM::LLVMFuncOp addEnter(LLVM::LLVMFuncOp task) {
    ImplicitLocOpBuilder b(task.getLoc(), &getContext());
    b.setInsertionPointAfter(task);
    auto type = LLVM::LLVMFunctionType::get(nothing, {pointer, b.getI64Type()});
    auto enter = LLVM::LLVMFuncOp::create(b, "enter_" + task.getName().str(), type);
    Block *body = enter.addEntryBlock(b);
    b.setInsertionPointToStart(body);
    SmallVector<Value> arguments{body->getArgument(1)};
    LLVM::LLVMStructType context = contextType(task);
    for (auto [k, type] : llvm::enumerate(context.getBody()))
      arguments.push_back(LLVM::LoadOp::create(b, type, member(b, context, body->getArgument(0), k)));
    LLVM::CallOp::create(b, task, arguments);
    LLVM::ReturnOp::create(b, ValueRange{});
    enter.setLinkage(LLVM::Linkage::Internal);
    task.setLinkage(LLVM::Linkage::Internal);
    task.setNoInline(true); // inlining would lose the alias facts of its arguments
    return enter;
  }
};

} // namespace
} // namespace tulle::passes
