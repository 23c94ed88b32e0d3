#include "passes/assemble/algorithms/StreamingStores.h"
#include "levels/Control.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;

namespace {

/// Writes `count` elements of a buffer from `at` on. `element` and `line` emit what goes to element at + k,
/// and to the line that begins there.
struct Run {
  const Target &target;
  Value to, at, count;
  function_ref<Value(Value k)> element;
  function_ref<Value(Value k, VectorType type)> line;

  void write(OpBuilder &b) const {
    levels::Emitter emit = target.emitter(b);
    auto plain = [&] {
      some(b, emit.constant(0), count);
      return levels::Values{};
    };
    Type type = cast<MemRefType>(to.getType()).getElementType();
    if (!type.isIntOrFloat()) {
      plain();
      return;
    }
    levels::ifElse(
        b, target.loc, isStreamed(b, target, to), TypeRange(),
        [&] {
          lines(b, VectorType::get({kCacheLine * 8 / type.getIntOrFloatBitWidth()}, type));
          return levels::Values{};
        },
        plain);
  }

private:
  /// Elements begin … end - 1, one by one.
  void some(OpBuilder &b, Value begin, Value end) const {
    levels::forLoop(b, target.loc, begin, end, LoopKind::Parallel, {}, [&](Value k, levels::Values) {
      memref::StoreOp::create(b, target.loc, element(k), to, target.emitter(b).add(at, k));
      return levels::Values{};
    });
  }

  /// All of them, line by line past the caches, but for what is no whole line at either end.
  void lines(OpBuilder &b, VectorType type) const {
    Location loc = target.loc;
    levels::Emitter emit = target.emitter(b);
    int64_t lanes = type.getNumElements();
    // Wraps, as sizes do not.
    Value negated = arith::SubIOp::create(b, loc, emit.constant(0), at);
    Value ahead = arith::AndIOp::create(b, loc, negated, emit.constant(lanes - 1));
    Value head = arith::MinUIOp::create(b, loc, ahead, count);
    Value whole = arith::DivUIOp::create(b, loc, emit.sub(count, head), emit.constant(lanes));
    some(b, emit.constant(0), head);
    levels::forLoop(b, loc, emit.constant(0), whole, LoopKind::Reduction, {},
                    [&](Value number, levels::Values) {
                      Value k = emit.add(head, emit.mul(number, emit.constant(lanes)));
                      vector::StoreOp::create(b, loc, line(k, type), to, emit.add(at, k),
                                              /*nontemporal=*/true, llvm::Align(uint64_t(kCacheLine)));
                      return levels::Values{};
                    });
    some(b, emit.add(head, emit.mul(whole, emit.constant(lanes))), count);
  }
};

} // namespace

Value isStreamed(OpBuilder &b, const Target &target, Value buffer) {
  levels::Emitter emit = target.emitter(b);
  Value size = memref::DimOp::create(b, target.loc, buffer, emit.constant(0));
  return emit.compare(CmpIPredicate::ugt, size, emit.constant(target.costs.streamedElements));
}

void copyElements(OpBuilder &b, const Target &target, Value from, Value first, Value to, Value at,
                  Value count) {
  Location loc = target.loc;
  levels::Emitter emit = target.emitter(b);
  auto element = [&](Value k) -> Value { return memref::LoadOp::create(b, loc, from, emit.add(first, k)); };
  auto line = [&](Value k, VectorType type) -> Value {
    return vector::LoadOp::create(b, loc, type, from, emit.add(first, k), /*nontemporal=*/false,
                                  llvm::Align(uint64_t(kCacheLine / type.getNumElements())));
  };
  Run{target, to, at, count, element, line}.write(b);
}

void fillElements(OpBuilder &b, const Target &target, Value to, Value first, Value last, Value value) {
  auto element = [&](Value) { return value; };
  auto line = [&](Value, VectorType type) -> Value {
    return vector::BroadcastOp::create(b, target.loc, type, value);
  };
  Run{target, to, first, target.emitter(b).sub(last, first), element, line}.write(b);
}

void fence(OpBuilder &b, Location loc) { LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst); }

} // namespace tulle::assemble
