// tulle-entry: add an entry function to every statement, with one signature whatever its arguments.
#include "dialect/Attributes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/Passes.h"

namespace tulle::passes {
#define GEN_PASS_DEF_ENTRY
#include "passes/Passes.h.inc"

namespace {

using namespace mlir;

using Path = SmallVector<int64_t>;

/// Paths to the parts of what a statement returns: a memref is {pointer, pointer, index, [1 x index], [1 x
/// index]}, and several are a struct of those. Nothing where it is anything else.
std::optional<SmallVector<Path>> returnedParts(Type type) {
  auto isMemref = [](Type type) {
    auto descriptor = dyn_cast<LLVM::LLVMStructType>(type);
    auto isOne = [](Type type) {
      auto array = dyn_cast<LLVM::LLVMArrayType>(type);
      return array && array.getNumElements() == 1;
    };
    ArrayRef<Type> body = descriptor ? descriptor.getBody() : ArrayRef<Type>();
    return body.size() == 5 && isa<LLVM::LLVMPointerType>(body[0]) && isOne(body[3]) && isOne(body[4]);
  };
  const SmallVector<Path> ofMemref{{0}, {1}, {2}, {3, 0}, {4, 0}};
  if (isa<LLVM::LLVMVoidType>(type))
    return SmallVector<Path>();
  if (isMemref(type))
    return ofMemref;
  auto several = dyn_cast<LLVM::LLVMStructType>(type);
  if (!several || !llvm::all_of(several.getBody(), isMemref))
    return std::nullopt;
  SmallVector<Path> paths;
  for (int64_t k = 0; k < int64_t(several.getBody().size()); ++k)
    for (Path part : ofMemref) {
      part.insert(part.begin(), k);
      paths.push_back(part);
    }
  return paths;
}

/// Emits `NAME_entry`: loads every argument from its slot, calls the statement, and stores what it returns in
/// the slots that follow.
void addEntry(LLVM::LLVMFuncOp statement) {
  MLIRContext *context = statement.getContext();
  ImplicitLocOpBuilder b(statement.getLoc(), context);
  b.setInsertionPointAfter(statement);
  Type pointer = LLVM::LLVMPointerType::get(context);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), {pointer});
  auto entry = LLVM::LLVMFuncOp::create(b, (statement.getName() + "_entry").str(), type);
  Block *body = entry.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  int32_t slot = 0;
  auto nextSlot = [&]() -> Value {
    return LLVM::GEPOp::create(b, pointer, b.getI64Type(), body->getArgument(0),
                               ArrayRef<LLVM::GEPArg>{slot++});
  };
  SmallVector<Value> arguments;
  for (Type argument : statement.getArgumentTypes())
    arguments.push_back(LLVM::LoadOp::create(b, argument, nextSlot()));
  auto call = LLVM::CallOp::create(b, statement, arguments);
  const SmallVector<Path> paths = *returnedParts(statement.getFunctionType().getReturnType());
  for (const Path &path : paths) {
    Value part = LLVM::ExtractValueOp::create(b, call.getResult(), path);
    LLVM::StoreOp::create(b, part, nextSlot());
  }
  LLVM::ReturnOp::create(b, ValueRange{});
}

/// An outlined region is a function of its own, with registers of its own (convert-to-llvm drops
/// `no_inline`).
void keepApart(LLVM::LLVMFuncOp function) {
  function.setLinkage(LLVM::Linkage::Internal);
  function.setNoInline(true);
}

struct EntryPass : impl::EntryBase<EntryPass> {
  void runOnOperation() override {
    auto statements = llvm::to_vector(getOperation().getOps<LLVM::LLVMFuncOp>());
    for (LLVM::LLVMFuncOp statement : statements) {
      if (!statement.isExternal() && statement.isPrivate())
        keepApart(statement);
      if (statement.isExternal() || !statement.getName().starts_with("statement"))
        continue;
      if (!returnedParts(statement.getFunctionType().getReturnType())) {
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
      keepApart(statement);
    }
    // LLVM's own tools read the result, and refuse attributes of dialects that they do not have.
    getOperation()->removeAttr(dialect::kCpuAttr);
  }
};

} // namespace
} // namespace tulle::passes
