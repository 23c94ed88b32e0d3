// Memory, registers and calls of functions that the engine binds: these are declared where they are called
// first.
#include "passes/assemble/algorithms/Emit.h"
#include "dialect/Attributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using levels::Emitter;

//===--- Memory ---===//

Value loadAt(const Emitter &e, Value buffer, Value at) { return make<memref::LoadOp>(e, buffer, at); }

void storeAt(const Emitter &e, Value value, Value buffer, Value at) {
  memref::StoreOp::create(e.builder, e.loc, value, buffer, at);
}

Value newBuffer(const Emitter &e, Type element, Value count) {
  return levels::allocate(e.builder, e.loc, MemRefType::get({ShapedType::kDynamic}, element), count);
}

Value newTable(const Emitter &e, Value count) { return newBuffer(e, e.builder.getIndexType(), count); }

void fillBuffer(const Emitter &e, Value buffer, Value first, Value last, Value value) {
  forEach(e, first, last, LoopKind::Parallel, [&](Value at) { storeAt(e, value, buffer, at); });
}

void freeBuffers(const Emitter &e, ValueRange buffers) {
  for (Value buffer : buffers)
    memref::DeallocOp::create(e.builder, e.loc, buffer);
}

/// The engine keeps memory by the bits of its elements.
static bool fitsWord(Type type) { return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64; }

Value filledBuffer(const Emitter &e, Value count, Value value) {
  if (fitsWord(value.getType()))
    return make<FilledBufferOp>(e, MemRefType::get({ShapedType::kDynamic}, value.getType()), count, value);
  Value buffer = newBuffer(e, value.getType(), count);
  fillBuffer(e, buffer, e.constant(0), count, value);
  return buffer;
}

void returnFilledBuffer(const Emitter &e, Value buffer, Value value) {
  if (fitsWord(value.getType()))
    ReturnFilledBufferOp::create(e.builder, e.loc, buffer, value);
  else
    freeBuffers(e, buffer);
}

Register::Register(const Emitter &e, Type type)
    : builder(&e.builder), loc(e.loc),
      cell(levels::allocaAtEntry(e.builder, loc, MemRefType::get({}, type))) {}

Register::Register(const Emitter &e, Value initial) : Register(e, initial.getType()) { set(initial); }

Value Register::get() const { return memref::LoadOp::create(*builder, loc, cell, ValueRange()); }

void Register::set(Value value) const { memref::StoreOp::create(*builder, loc, value, cell, ValueRange()); }

Value Register::increment() const {
  IndexEmitter e(*builder, loc);
  Value next = make<arith::AddIOp>(e, get(), e.constant(1),
                                   arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw);
  set(next);
  return next;
}

Value anyDiffers(const Emitter &e, ValueRange now, ArrayRef<Register> before, Value already) {
  for (auto [value, last] : llvm::zip(now, before)) {
    Value differs = e.isDifferent(value, last.get());
    already = already ? make<arith::OrIOp>(e, already, differs) : differs;
  }
  return already;
}

Value bitLength(const Emitter &e, Value index) {
  Type word = e.builder.getI64Type();
  Value wide = make<arith::IndexCastOp>(e, word, index);
  Value zeros = make<LLVM::CountLeadingZerosOp>(e, word, wide, /*is_zero_poison=*/false);
  return e.sub(e.constant(64), e.toIndex(zeros));
}

//===--- Hints ---===//

Value rarely(const Emitter &e, Value condition) {
  Value no = arith::ConstantIntOp::create(e.builder, e.loc, 0, 1);
  return make<LLVM::ExpectOp>(e, condition.getType(), condition, no);
}

Value opaque(const Emitter &e, Value index) {
  Type type = e.builder.getI64Type();
  Value wide = make<arith::IndexCastOp>(e, type, index);
  auto same = LLVM::InlineAsmOp::create(e.builder, e.loc, TypeRange(type), ValueRange(wide), "", "=r,0",
                                        /*has_side_effects=*/false, /*is_align_stack=*/false,
                                        LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  return make<arith::IndexCastOp>(e, e.builder.getIndexType(), same.getResult(0));
}

//===--- Calls ---===//

/// A declaration of a function the engine binds; all arguments are i64.
static func::FuncOp declare(const Emitter &e, StringRef name, size_t arguments, TypeRange results) {
  OpBuilder &b = e.builder;
  auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (auto found = module.lookupSymbol<func::FuncOp>(name))
    return found;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types(arguments, b.getI64Type());
  auto function = func::FuncOp::create(b, e.loc, name, b.getFunctionType(types, results));
  function.setPrivate();
  if (name.starts_with(kErrorPrefix))
    function->setAttr("passthrough", b.getStrArrayAttr({"noreturn", "cold"}));
  return function;
}

Operation *call(const Emitter &e, StringRef name, ValueRange arguments, TypeRange results) {
  func::FuncOp function = declare(e, name, arguments.size(), results);
  Values wide;
  for (Value value : arguments)
    wide.push_back(value.getType().isIndex()
                       ? e.builder.createOrFold<arith::IndexCastOp>(e.loc, e.builder.getI64Type(), value)
                       : value);
  return func::CallOp::create(e.builder, e.loc, function, wide);
}

Value callForIndex(const Emitter &e, StringRef name, ValueRange arguments) {
  Value result = call(e, name, arguments, e.builder.getI64Type())->getResult(0);
  return make<arith::IndexCastOp>(e, e.builder.getIndexType(), result);
}

} // namespace tulle::assemble
