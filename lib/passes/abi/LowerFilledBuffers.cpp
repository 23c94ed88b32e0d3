// tulle-lower-filled-buffers: take memory of equal elements from the engine, and give it back.
#include "dialect/Dialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/Passes.h"

namespace tulle::passes {
using namespace mlir;
#define GEN_PASS_DEF_LOWERFILLEDBUFFERS
#include "passes/Passes.h.inc"

namespace {

struct LowerFilledBuffers : impl::LowerFilledBuffersBase<LowerFilledBuffers> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](Operation *op) {
      auto filled = dyn_cast<dialect::FilledBufferOp>(op);
      if (!filled || isWhole(filled.getValue().getType()))
        return WalkResult::advance();
      filled.emitOpError("expected elements of 1, 2, 4 or 8 bytes, got ") << filled.getValue().getType();
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    getOperation()->walk([&](dialect::FilledBufferOp op) { lower(op); });
    getOperation()->walk([&](dialect::ReturnFilledBufferOp op) { lower(op); });
  }

private:
  /// Whether the engine can keep memory of such elements.
  static bool isWhole(Type type) {
    const unsigned width = type.getIntOrFloatBitWidth();
    return width == 8 || width == 16 || width == 32 || width == 64;
  }

  /// The bytes of an element, and its bits.
  static std::pair<Value, Value> element(ImplicitLocOpBuilder &b, Value value) {
    const unsigned width = value.getType().getIntOrFloatBitWidth();
    Type word = b.getIntegerType(width);
    Value bits = value.getType() == word ? value : arith::BitcastOp::create(b, word, value).getResult();
    if (width < 64)
      bits = arith::ExtUIOp::create(b, b.getI64Type(), bits);
    return {arith::ConstantIntOp::create(b, width / 8, 64), bits};
  }

  Operation *call(ImplicitLocOpBuilder &b, StringRef name, ValueRange arguments, TypeRange results) {
    if (!getOperation().lookupSymbol(name)) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(getOperation().getBody());
      func::FuncOp::create(b, name, b.getFunctionType(arguments.getTypes(), results)).setPrivate();
    }
    return func::CallOp::create(b, name, results, arguments);
  }

  /// A memref is {pointer, aligned pointer, offset, sizes, strides}.
  void lower(dialect::FilledBufferOp op) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Type word = b.getI64Type(), pointer = LLVM::LLVMPointerType::get(&getContext()),
         array = LLVM::LLVMArrayType::get(word, 1);
    Value count = arith::IndexCastOp::create(b, word, op.getSize());
    auto [bytes, bits] = element(b, op.getValue());
    Value data = call(b, "tulle_allocate_filled", {count, bytes, bits}, pointer)->getResult(0);
    Value none = LLVM::ConstantOp::create(b, word, 0), one = LLVM::ConstantOp::create(b, word, 1);
    Value memref = LLVM::PoisonOp::create(
        b, LLVM::LLVMStructType::getLiteral(&getContext(), {pointer, pointer, word, array, array}));
    using Part = std::pair<Value, SmallVector<int64_t>>;
    for (const auto &[value, at] :
         {Part{data, {0}}, Part{data, {1}}, Part{none, {2}}, Part{count, {3, 0}}, Part{one, {4, 0}}})
      memref = LLVM::InsertValueOp::create(b, memref, value, at);
    op.replaceAllUsesWith(
        UnrealizedConversionCastOp::create(b, op.getResult().getType(), memref).getResult(0));
    op.erase();
  }

  void lower(dialect::ReturnFilledBufferOp op) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Type word = b.getI64Type(), pointer = LLVM::LLVMPointerType::get(&getContext()),
         array = LLVM::LLVMArrayType::get(word, 1);
    Type type = LLVM::LLVMStructType::getLiteral(&getContext(), {pointer, pointer, word, array, array});
    Value memref = UnrealizedConversionCastOp::create(b, type, op.getBuffer()).getResult(0);
    Value data = LLVM::ExtractValueOp::create(b, memref, ArrayRef<int64_t>{1});
    Value count = LLVM::ExtractValueOp::create(b, memref, ArrayRef<int64_t>{3, 0});
    auto [bytes, bits] = element(b, op.getValue());
    call(b, "tulle_free_filled", {data, count, bytes, bits}, {});
    op.erase();
  }
};

} // namespace
} // namespace tulle::passes
