// tulle-entry: add an entry function to every statement, with one signature whatever its arguments.
#include "dialect/Attributes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Passes.h"

namespace tulle::passes {
#define GEN_PASS_DEF_ENTRY
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

/// The memrefs that a statement returns; nothing where it returns anything else.
std::optional<SmallVector<Type>> returnedMemrefs(Type type) {
  if (isa<LLVM::LLVMVoidType>(type))
    return SmallVector<Type>();
  auto isMemref = [](Type type) {
    auto descriptor = dyn_cast<LLVM::LLVMStructType>(type);
    if (!descriptor || descriptor.getBody().size() != 5)
      return false;
    ArrayRef<Type> body = descriptor.getBody();
    auto isOne = [](Type type) {
      auto array = dyn_cast<LLVM::LLVMArrayType>(type);
      return array && array.getNumElements() == 1;
    };
    return isa<LLVM::LLVMPointerType>(body[0]) && isOne(body[3]) && isOne(body[4]);
  };
  if (isMemref(type))
    return SmallVector<Type>{type};
  auto several = dyn_cast<LLVM::LLVMStructType>(type);
  if (!several || !llvm::all_of(several.getBody(), isMemref))
    return std::nullopt;
  return llvm::to_vector(several.getBody());
}

Value slotAddress(OpBuilder &builder, Location loc, Value slots, unsigned slot) {
  return LLVM::GEPOp::create(builder, loc, slots.getType(), builder.getI64Type(), slots,
                             ArrayRef<LLVM::GEPArg>{int32_t(slot)});
}

/// The five parts of each returned memref, in the slots from `slot` on.
void storeReturned(OpBuilder &builder, Location loc, Value result, size_t count, Value slots, unsigned slot) {
  for (int64_t k = 0; k < int64_t(count); ++k)
    for (int64_t part = 0; part < 5; ++part) {
      SmallVector<int64_t> path;
      if (!isa<LLVM::LLVMPointerType>(cast<LLVM::LLVMStructType>(result.getType()).getBody()[0]))
        path.push_back(k);
      path.push_back(part);
      if (part >= 3) // sizes and strides are arrays of one
        path.push_back(0);
      Value value = LLVM::ExtractValueOp::create(builder, loc, result, path);
      LLVM::StoreOp::create(builder, loc, value, slotAddress(builder, loc, slots, slot++));
    }
}

/// Emits `NAME_entry`: loads every argument from its slot, calls the statement, and stores what it returns in
/// the slots that follow.
void addEntry(LLVM::LLVMFuncOp statement) {
  MLIRContext *context = statement.getContext();
  Location loc = statement.getLoc();
  OpBuilder builder(context);
  builder.setInsertionPointAfter(statement);
  Type pointer = LLVM::LLVMPointerType::get(context);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer});
  auto entry = LLVM::LLVMFuncOp::create(builder, loc, (statement.getName() + "_entry").str(), type);
  Block *body = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(body);

  SmallVector<Value> arguments;
  for (auto [slot, argument] : llvm::enumerate(statement.getArgumentTypes())) {
    Value address = slotAddress(builder, loc, body->getArgument(0), unsigned(slot));
    arguments.push_back(LLVM::LoadOp::create(builder, loc, argument, address));
  }
  auto call = LLVM::CallOp::create(builder, loc, statement, arguments);
  size_t count = returnedMemrefs(statement.getFunctionType().getReturnType())->size();
  if (count > 0)
    storeReturned(builder, loc, call.getResult(), count, body->getArgument(0), unsigned(arguments.size()));
  LLVM::ReturnOp::create(builder, loc, ValueRange{});
}

struct EntryPass : impl::EntryBase<EntryPass> {
  void runOnOperation() override {
    auto statements = llvm::to_vector(getOperation().getOps<LLVM::LLVMFuncOp>());
    for (LLVM::LLVMFuncOp statement : statements) {
      if (statement.isExternal() || !statement.getName().starts_with("statement"))
        continue;
      if (!returnedMemrefs(statement.getFunctionType().getReturnType())) {
        statement.emitError(
            "expected a statement that returns nothing, or the buffers of the tensors it made");
        return signalPassFailure();
      }
      for (Type type : statement.getArgumentTypes())
        if (!isa<LLVM::LLVMPointerType>(type) && !type.isInteger(64)) {
          statement.emitError("expected arguments of 8 bytes (memrefs and indices), got ") << type;
          return signalPassFailure();
        }
      addEntry(statement);
      statement.setLinkage(LLVM::Linkage::Internal);
      statement.setNoInline(true);
    }
    // LLVM's own tools read the result, and refuse attributes of dialects that they do not have.
    getOperation()->removeAttr(dialect::kCpuAttr);
  }
};

} // namespace
} // namespace tulle::passes
