#include "passes/assemble/Stream.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/lower/Control.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;

namespace {

struct Copy {
  levels::Emitter emit;
  Location loc;
  Value from, to, at;

  /// Elements begin … end - 1, one by one.
  void some(OpBuilder &b, Value begin, Value end) const {
    lower::forLoop(b, loc, begin, end, LoopKind::Parallel, {}, [&](Value k, lower::Values) {
      Value element = memref::LoadOp::create(b, loc, from, k);
      memref::StoreOp::create(b, loc, element, to, emit.add(at, k));
      return lower::Values{};
    });
  }

  /// All of them, line by line past the caches, but for what is no whole line at either end.
  void lines(OpBuilder &b, Value count, Type element, int64_t lanes) const {
    auto type = VectorType::get({lanes}, element);
    Value last = emit.constant(lanes - 1);
    // Wraps, as sizes do not.
    Value negated = arith::SubIOp::create(b, loc, emit.constant(0), at);
    Value ahead = arith::AndIOp::create(b, loc, negated, last);
    Value head = arith::MinUIOp::create(b, loc, ahead, count);
    Value whole = arith::DivUIOp::create(b, loc, emit.sub(count, head), emit.constant(lanes));
    some(b, emit.constant(0), head);
    lower::forLoop(b, loc, emit.constant(0), whole, LoopKind::Reduction, {}, [&](Value line, lower::Values) {
      Value k = emit.add(head, emit.mul(line, emit.constant(lanes)));
      Value held = vector::LoadOp::create(b, loc, type, from, k, /*nontemporal=*/false,
                                          llvm::Align(uint64_t(kCacheLine / lanes)));
      vector::StoreOp::create(b, loc, held, to, emit.add(at, k), /*nontemporal=*/true,
                              llvm::Align(uint64_t(kCacheLine)));
      return lower::Values{};
    });
    some(b, emit.add(head, emit.mul(whole, emit.constant(lanes))), count);
  }
};

} // namespace

void copyElements(OpBuilder &b, const Target &target, Value from, Value to, Value at, Value count) {
  levels::Emitter emit = target.emitter(b);
  Copy copy{emit, target.loc, from, to, at};
  Type element = cast<MemRefType>(to.getType()).getElementType();
  auto plain = [&] {
    copy.some(b, emit.constant(0), count);
    return lower::Values{};
  };
  if (!element.isIntOrFloat()) {
    plain();
    return;
  }
  Value size = memref::DimOp::create(b, target.loc, to, emit.constant(0));
  Value large = emit.compare(CmpIPredicate::ugt, size, emit.constant(kStreamed));
  lower::ifElse(
      b, target.loc, large, TypeRange(),
      [&] {
        copy.lines(b, count, element, kCacheLine * 8 / element.getIntOrFloatBitWidth());
        return lower::Values{};
      },
      plain);
}

void fence(OpBuilder &b, Location loc) { LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst); }

} // namespace tulle::assemble
