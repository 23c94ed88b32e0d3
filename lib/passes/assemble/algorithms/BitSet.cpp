// A bitmap of two levels: the words of the summary lead to the words that hold bits.
#include "passes/assemble/algorithms/BitSet.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <limits>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

/// Words for `bits` bits, all zero.
static Value emptyWords(const Target &target, Value bits) {
  Value rounded = target.add(bits, target.constant(63));
  Value count = target.builder.createOrFold<arith::ShRUIOp>(target.loc, rounded, target.constant(6));
  Value words = newBuffer(target, target.builder.getI64Type(), count);
  Value zero = target.constantInt(target.builder.getI64Type(), 0);
  forEach(target, target.constant(0), count, LoopKind::Parallel,
          [&](Value at) { storeAt(target, zero, words, at); });
  return words;
}

Bitmap::Bitmap(const Target &target, Value size)
    : target(target), b(target.builder), words(emptyWords(target, size)), least(target, b.getIndexType()),
      most(target, b.getIndexType()) {
  Value count = make<memref::DimOp>(target, words, target.constant(0));
  summary = emptyWords(target, count);
  forget();
}

void Bitmap::forget() const {
  least.set(target.constant(std::numeric_limits<int64_t>::max()));
  most.set(target.constant(0));
}

/// Sets the key's bit; returns the number of its word, and what the word was.
std::pair<Value, Value> Bitmap::setBit(Value words, Value key) const {
  Value at = make<arith::ShRUIOp>(target, key, target.constant(6));
  Value low = make<arith::AndIOp>(target, key, target.constant(63));
  Value one = target.constantInt(b.getI64Type(), 1);
  Value shift = make<arith::IndexCastUIOp>(target, b.getI64Type(), low);
  Value bit = make<arith::ShLIOp>(target, one, shift);
  Value word = loadAt(target, words, at);
  storeAt(target, make<arith::OrIOp>(target, word, bit), words, at);
  return {at, word};
}

Value Bitmap::insert(Value key) const {
  // The bit is set without a test: a branch that is guessed wrong costs more. Whether its word was empty is
  // tested: entries close to each other share words, so that this is guessed right, and the summary is left
  // alone.
  auto [word, before] = setBit(words, key);
  Value zero = target.constantInt(target.builder.getI64Type(), 0);
  Value empty = target.compare(arith::CmpIPredicate::eq, before, zero);
  when(target, empty, [&, word = word] {
    Value at = setBit(summary, word).first;
    least.set(make<arith::MinUIOp>(target, least.get(), at));
    most.set(make<arith::MaxUIOp>(target, most.get(), at));
  });
  Value low = make<arith::AndIOp>(target, key, target.constant(63));
  Value shift = make<arith::IndexCastUIOp>(target, b.getI64Type(), low);
  Value bit = make<arith::TruncIOp>(target, b.getI1Type(), make<arith::ShRUIOp>(target, before, shift));
  return make<arith::XOrIOp>(target, bit, target.constantInt(b.getI1Type(), 1));
}

/// Visits the bits of one word, which becomes zero.
void Bitmap::eachBit(Value words, Value at, function_ref<void(Value)> visit) const {
  Value zero = target.constantInt(target.builder.getI64Type(), 0),
        one = target.constantInt(b.getI64Type(), 1);
  Value word = loadAt(target, words, at);
  storeAt(target, zero, words, at);
  Value base = target.mul(at, target.constant(64));
  levels::whileLoop(
      target.builder, target.loc, word,
      [&](Values left) { return target.compare(arith::CmpIPredicate::ne, left[0], zero); },
      [&](Values left) -> Values {
        Value low =
            make<LLVM::CountTrailingZerosOp>(target, b.getI64Type(), left[0], /*is_zero_poison=*/true);
        visit(target.add(base, make<arith::IndexCastUIOp>(target, b.getIndexType(), low)));
        Value less = make<arith::SubIOp>(target, left[0], one);
        return {make<arith::AndIOp>(target, left[0], less)};
      });
}

void Bitmap::drain(function_ref<void(Value)> visit) const {
  Value end = target.add(most.get(), target.constant(1));
  forEach(target, least.get(), end, LoopKind::Reduction,
          [&](Value at) { eachBit(summary, at, [&](Value word) { eachBit(words, word, visit); }); });
  forget();
}

void Bitmap::free() const { freeBuffers(target, {words, summary}); }

} // namespace tulle::assemble
