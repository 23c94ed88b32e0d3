// Words of 64 bits, and a summary of which of them are not zero.
#include "passes/assemble/algorithms/CoordinateBits.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <limits>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

Value wordsFor(const Target &target, Value bits) {
  return target.builder.createOrFold<arith::ShRUIOp>(target.loc, target.add(bits, 63), target.constant(6));
}

void eachBit(const Target &target, Value word, Value base, function_ref<void(Value)> visit) {
  Value one = target.constantInt(target.builder.getI64Type(), 1);
  levels::whileLoop(
      target, word, [&](Values left) { return target.isDifferent(left[0], 0); },
      [&](Values left) -> Values {
        Value low =
            make<LLVM::CountTrailingZerosOp>(target, word.getType(), left[0], /*is_zero_poison=*/true);
        visit(target.add(base, target.toIndex(low)));
        return {target.both(left[0], target.difference(left[0], one))};
      });
}

CoordinateBits::CoordinateBits(const Target &target, Value size)
    : target(target), b(target.builder), least(target, b.getIndexType()), most(target, b.getIndexType()) {
  Value count = wordsFor(target, size);
  words = emptyWords(count);
  summary = emptyWords(wordsFor(target, count));
  forget();
}

Value CoordinateBits::insert(Value key) const {
  // The bit is set without a test: a branch that is guessed wrong costs more. Whether its word was empty is
  // tested: entries close to each other share words, so that this is guessed right, and the summary is left
  // alone.
  auto [word, before] = setBit(words, key);
  when(target, target.isEqual(before, 0), [&, word = word] {
    Value at = setBit(summary, word).first;
    least.set(target.umin(least.get(), at));
    most.set(target.umax(most.get(), at));
  });
  Value bit = make<arith::TruncIOp>(target, b.getI1Type(), target.shiftRight(before, numberInWord(key)));
  return make<arith::XOrIOp>(target, bit, target.constantInt(b.getI1Type(), 1));
}

void CoordinateBits::drain(function_ref<void(Value)> visit) const {
  Value end = target.add(most.get(), 1);
  forEach(target, least.get(), end, LoopKind::Reduction,
          [&](Value at) { eachKey(summary, at, [&](Value word) { eachKey(words, word, visit); }); });
  forget();
}

void CoordinateBits::free() const {
  for (Value buffer : {words, summary})
    returnFilledBuffer(target, buffer, target.constantInt(b.getI64Type(), 0));
}

Value CoordinateBits::emptyWords(Value count) const {
  return filledBuffer(target, count, target.constantInt(b.getI64Type(), 0));
}

Value CoordinateBits::numberInWord(Value key) const {
  return make<arith::IndexCastUIOp>(target, b.getI64Type(), target.both(key, 63));
}

/// Sets the key's bit; returns the number of its word, and what the word was.
std::pair<Value, Value> CoordinateBits::setBit(Value words, Value key) const {
  Value at = target.shiftRight(key, 6);
  Value bit = target.shiftLeft(target.constantInt(b.getI64Type(), 1), numberInWord(key));
  Value word = loadAt(target, words, at);
  storeAt(target, make<arith::OrIOp>(target, word, bit), words, at);
  return {at, word};
}

/// Visits the bits of one word, which becomes zero.
void CoordinateBits::eachKey(Value words, Value at, function_ref<void(Value)> visit) const {
  Value word = loadAt(target, words, at);
  storeAt(target, target.constantInt(b.getI64Type(), 0), words, at);
  eachBit(target, word, target.mul(at, 64), visit);
}

void CoordinateBits::forget() const {
  least.set(target.constant(std::numeric_limits<int64_t>::max()));
  most.set(target.constant(0));
}

} // namespace tulle::assemble
