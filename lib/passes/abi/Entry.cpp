// tulle-entry: one calling convention for every statement, whatever its arguments.
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Passes.h"

namespace tulle::passes {
#define GEN_PASS_DEF_ENTRY
#include "passes/Passes.h.inc"

namespace {

namespace LLVM = mlir::LLVM;

/// Emits `NAME_entry`: loads every argument from its slot and calls the statement.
void addEntry(LLVM::LLVMFuncOp statement) {
  mlir::MLIRContext *context = statement.getContext();
  mlir::Location loc = statement.getLoc();
  mlir::OpBuilder builder(context);
  builder.setInsertionPointAfter(statement);
  mlir::Type pointer = LLVM::LLVMPointerType::get(context);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer});
  auto entry = LLVM::LLVMFuncOp::create(builder, loc, (statement.getName() + "_entry").str(), type);
  mlir::Block *body = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(body);

  llvm::SmallVector<mlir::Value> arguments;
  for (auto [slot, argument] : llvm::enumerate(statement.getArgumentTypes())) {
    mlir::Value address =
        LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), body->getArgument(0),
                            llvm::ArrayRef<LLVM::GEPArg>{int32_t(slot)});
    arguments.push_back(LLVM::LoadOp::create(builder, loc, argument, address));
  }
  LLVM::CallOp::create(builder, loc, statement, arguments);
  LLVM::ReturnOp::create(builder, loc, mlir::ValueRange{});
}

struct EntryPass : impl::EntryBase<EntryPass> {
  void runOnOperation() override {
    auto statements = llvm::to_vector(getOperation().getOps<LLVM::LLVMFuncOp>());
    for (LLVM::LLVMFuncOp statement : statements) {
      if (statement.isExternal() || !statement.getName().starts_with("statement"))
        continue;
      if (!mlir::isa<LLVM::LLVMVoidType>(statement.getFunctionType().getReturnType())) {
        statement.emitError(
            "expected a statement that returns nothing: results are stored through its arguments");
        return signalPassFailure();
      }
      for (mlir::Type type : statement.getArgumentTypes())
        if (!mlir::isa<LLVM::LLVMPointerType>(type) && !type.isInteger(64)) {
          statement.emitError("expected arguments of 8 bytes (memrefs and indices), got ") << type;
          return signalPassFailure();
        }
      addEntry(statement);
      statement.setLinkage(LLVM::Linkage::Internal);
      statement.setNoInline(true);
    }
  }
};

} // namespace
} // namespace tulle::passes
