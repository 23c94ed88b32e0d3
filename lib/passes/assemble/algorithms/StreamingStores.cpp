// Splits a run of elements into whole lines, which go past the caches, and the elements at either end.
#include "passes/assemble/algorithms/StreamingStores.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

namespace {

/// Writes `count` elements of a buffer from `at` on. `element` and `line` emit what goes to element at + k,
/// and to the line that begins there.
struct Elements {
  const Target &target;
  Value to, at, count;
  function_ref<Value(Value k)> element;
  function_ref<Value(Value k, VectorType type)> line;

  void write() const {
    auto plain = [&] { some(target.constant(0), count); };
    Type type = cast<MemRefType>(to.getType()).getElementType();
    if (!type.isIntOrFloat())
      return plain();
    either(
        target, isStreamed(target, to),
        [&] { lines(VectorType::get({kCacheLine * 8 / type.getIntOrFloatBitWidth()}, type)); }, plain);
  }

private:
  /// Elements begin … end - 1, one by one.
  void some(Value begin, Value end) const {
    forEach(target, begin, end, LoopKind::Parallel,
            [&](Value k) { storeAt(target, element(k), to, target.add(at, k)); });
  }

  /// All of them, line by line past the caches, but for what is no whole line at either end.
  void lines(VectorType type) const {
    int64_t lanes = type.getNumElements();
    // Wraps, as sizes do not.
    Value negated = make<arith::SubIOp>(target, target.constant(0), at);
    Value ahead = target.both(negated, lanes - 1);
    Value head = target.umin(ahead, count);
    Value whole = target.divide(target.sub(count, head), lanes);
    some(target.constant(0), head);
    forEach(target, whole, LoopKind::Reduction, [&](Value number) {
      Value k = target.add(head, target.mul(number, lanes));
      vector::StoreOp::create(target.builder, target.loc, line(k, type), to, target.add(at, k),
                              /*nontemporal=*/true, llvm::Align(uint64_t(kCacheLine)));
    });
    some(target.add(head, target.mul(whole, lanes)), count);
  }
};

} // namespace

Value isStreamed(const Target &target, Value buffer) {
  Value size = make<memref::DimOp>(target, buffer, target.constant(0));
  return target.isAbove(size, target.costs.streamedElements);
}

void copyElements(const Target &target, Value from, Value first, Value to, Value at, Value count) {
  auto element = [&](Value k) { return loadAt(target, from, target.add(first, k)); };
  auto line = [&](Value k, VectorType type) {
    return make<vector::LoadOp>(target, type, from, target.add(first, k), /*nontemporal=*/false,
                                llvm::Align(uint64_t(kCacheLine / type.getNumElements())));
  };
  Elements{target, to, at, count, element, line}.write();
}

void fillElements(const Target &target, Value to, Value first, Value last, Value value) {
  auto element = [&](Value) { return value; };
  auto line = [&](Value, VectorType type) { return make<vector::BroadcastOp>(target, type, value); };
  Elements{target, to, first, target.sub(last, first), element, line}.write();
}

void fence(const levels::Emitter &e) {
  LLVM::FenceOp::create(e.builder, e.loc, LLVM::AtomicOrdering::seq_cst);
}

} // namespace tulle::assemble
