#include "passes/assemble/algorithms/BitSet.h"
#include "levels/Control.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <limits>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

/// Words for `bits` bits, all zero.
static Value emptyWords(OpBuilder &b, const levels::Emitter &emit, Value bits) {
  Location loc = emit.loc;
  Value rounded = emit.add(bits, emit.constant(63));
  Value count = b.createOrFold<arith::ShRUIOp>(loc, rounded, emit.constant(6));
  Value words = levels::allocate(b, loc, MemRefType::get({ShapedType::kDynamic}, b.getI64Type()), count);
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 64);
  levels::forLoop(b, loc, emit.constant(0), count, LoopKind::Parallel, {}, [&](Value at, levels::Values) {
    memref::StoreOp::create(b, loc, zero, words, at);
    return levels::Values{};
  });
  return words;
}

Bitmap::Bitmap(OpBuilder &b, const Target &target, Value size)
    : target(target), loc(target.loc), least(b, loc, b.getIndexType()), most(b, loc, b.getIndexType()) {
  levels::Emitter emit = target.emitter(b);
  words = emptyWords(b, emit, size);
  Value count = memref::DimOp::create(b, loc, words, emit.constant(0));
  summary = emptyWords(b, emit, count);
  forget(b);
}

void Bitmap::forget(OpBuilder &b) const {
  levels::Emitter emit = target.emitter(b);
  least.set(b, emit.constant(std::numeric_limits<int64_t>::max()));
  most.set(b, emit.constant(0));
}

/// Sets the key's bit; returns the number of its word, and what the word was.
std::pair<Value, Value> Bitmap::setBit(OpBuilder &b, Value words, Value key) const {
  levels::Emitter emit = target.emitter(b);
  Value at = arith::ShRUIOp::create(b, loc, key, emit.constant(6));
  Value low = arith::AndIOp::create(b, loc, key, emit.constant(63));
  Value one = arith::ConstantIntOp::create(b, loc, 1, 64);
  Value shift = arith::IndexCastUIOp::create(b, loc, b.getI64Type(), low);
  Value bit = arith::ShLIOp::create(b, loc, one, shift);
  Value word = memref::LoadOp::create(b, loc, words, at);
  memref::StoreOp::create(b, loc, Value(arith::OrIOp::create(b, loc, word, bit)), words, at);
  return {at, word};
}

Value Bitmap::insert(OpBuilder &b, Value key) const {
  // The bit is set without a test: a branch that is guessed wrong costs more. Whether its word was empty is
  // tested: entries close to each other share words, so that this is guessed right, and the summary is left
  // alone.
  auto [word, before] = setBit(b, words, key);
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 64);
  Value empty = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, before, zero);
  auto branch = scf::IfOp::create(b, loc, empty, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value at = setBit(b, summary, word).first;
    least.set(b, arith::MinUIOp::create(b, loc, least.get(b), at));
    most.set(b, arith::MaxUIOp::create(b, loc, most.get(b), at));
  }
  Value low = arith::AndIOp::create(b, loc, key, target.emitter(b).constant(63));
  Value shift = arith::IndexCastUIOp::create(b, loc, b.getI64Type(), low);
  Value bit =
      arith::TruncIOp::create(b, loc, b.getI1Type(), Value(arith::ShRUIOp::create(b, loc, before, shift)));
  return arith::XOrIOp::create(b, loc, bit, arith::ConstantIntOp::create(b, loc, 1, 1));
}

/// Visits the bits of one word, which becomes zero.
void Bitmap::eachBit(OpBuilder &b, Value words, Value at, function_ref<void(Value)> visit) const {
  levels::Emitter emit = target.emitter(b);
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 64), one = arith::ConstantIntOp::create(b, loc, 1, 64);
  Value word = memref::LoadOp::create(b, loc, words, at);
  memref::StoreOp::create(b, loc, zero, words, at);
  Value base = emit.mul(at, emit.constant(64));
  levels::whileLoop(
      b, loc, word,
      [&](levels::Values left) -> Value {
        return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, left[0], zero);
      },
      [&](levels::Values left) -> levels::Values {
        Value low =
            LLVM::CountTrailingZerosOp::create(b, loc, b.getI64Type(), left[0], /*is_zero_poison=*/true);
        visit(emit.add(base, arith::IndexCastUIOp::create(b, loc, b.getIndexType(), low)));
        Value less = arith::SubIOp::create(b, loc, left[0], one);
        return {arith::AndIOp::create(b, loc, left[0], less)};
      });
}

void Bitmap::drain(OpBuilder &b, function_ref<void(Value)> visit) const {
  levels::Emitter emit = target.emitter(b);
  Value end = emit.add(most.get(b), emit.constant(1));
  levels::forLoop(b, loc, least.get(b), end, LoopKind::Reduction, {}, [&](Value at, levels::Values) {
    eachBit(b, summary, at, [&](Value word) { eachBit(b, words, word, visit); });
    return levels::Values{};
  });
  forget(b);
}

void Bitmap::free(OpBuilder &b) const {
  memref::DeallocOp::create(b, loc, words);
  memref::DeallocOp::create(b, loc, summary);
}

} // namespace tulle::assemble
