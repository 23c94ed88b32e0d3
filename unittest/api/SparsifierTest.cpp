// The pipeline inside of another program that is built on MLIR.
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tulle/sparsifier.h>

namespace {

constexpr llvm::StringLiteral matvec = R"(
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>
func.func @matvec(%A: tensor<?x?xf64, #CSR>, %x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %r = linalg.matvec ins(%A, %x : tensor<?x?xf64, #CSR>, tensor<?xf64>) outs(%y : tensor<?xf64>) -> tensor<?xf64>
  return %r : tensor<?xf64>
}
)";

TEST(Sparsifier, LowersAModuleOfAnotherProgram) {
  mlir::DialectRegistry registry;
  tulle::registerSparsifier(registry);
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(matvec, &context);
  ASSERT_TRUE(module);
  mlir::PassManager manager(&context);
  tulle::addSparsifier(manager, {.vectorLength = 4});
  ASSERT_TRUE(mlir::succeeded(manager.run(*module)));
  EXPECT_TRUE(module->lookupSymbol<mlir::LLVM::LLVMFuncOp>("matvec"));
  module->walk([](mlir::Operation *op) {
    EXPECT_TRUE(llvm::isa<mlir::LLVM::LLVMDialect>(op->getDialect()) || llvm::isa<mlir::ModuleOp>(op))
        << op->getName().getStringRef().str();
  });
}

TEST(Sparsifier, RefusesAManagerOfFunctions) {
  mlir::DialectRegistry registry;
  tulle::registerSparsifier(registry);
  mlir::MLIRContext context(registry);
  mlir::PassManager manager(&context, "func.func");
  EXPECT_THROW(tulle::addSparsifier(manager), tulle::Error);
}

} // namespace
