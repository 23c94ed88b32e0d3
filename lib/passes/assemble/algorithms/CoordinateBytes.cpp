// Groups of 64 bytes, which are visited as a word of 64 bits: which of them are not zero.
#include "passes/assemble/algorithms/CoordinateBytes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/assemble/algorithms/CoordinateBits.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

CoordinateBytes::CoordinateBytes(const Target &target, Value size) : target(target) {
  Value count = wordsFor(target, size);
  bytes = emptyGroups(count);
  groups = wordsFor(target, count);
  summary = emptyGroups(groups);
}

void CoordinateBytes::insert(Value key) const {
  Value mark = target.constantInt(target.builder.getI8Type(), 1);
  storeAt(target, mark, bytes, key);
  storeAt(target, mark, summary, target.shiftRight(key, 6));
}

void CoordinateBytes::drain(function_ref<void(Value)> visit) const {
  forEach(target, groups, LoopKind::Reduction,
          [&](Value at) { eachByte(summary, at, [&](Value group) { eachByte(bytes, group, visit); }); });
}

void CoordinateBytes::free() const {
  for (Value buffer : {bytes, summary})
    returnFilledBuffer(target, buffer, target.constantInt(target.builder.getI8Type(), 0));
}

Value CoordinateBytes::emptyGroups(Value count) const {
  return filledBuffer(target, target.mul(count, 64), target.constantInt(target.builder.getI8Type(), 0));
}

/// Visits the bytes of one group that are not zero, which become zero.
void CoordinateBytes::eachByte(Value bytes, Value group, function_ref<void(Value)> visit) const {
  OpBuilder &b = target.builder;
  auto type = VectorType::get({64}, b.getI8Type());
  Value base = target.mul(group, 64);
  Value zeros = arith::ConstantOp::create(b, target.loc, DenseElementsAttr::get(type, b.getI8IntegerAttr(0)));
  Value held = make<vector::LoadOp>(target, type, bytes, base);
  vector::StoreOp::create(b, target.loc, zeros, bytes, base);
  Value marked = make<arith::CmpIOp>(target, arith::CmpIPredicate::ne, held, zeros);
  Value word = make<vector::BitCastOp>(target, VectorType::get({1}, b.getI64Type()), marked);
  eachBit(target, make<vector::ExtractOp>(target, word, 0), base, visit);
}

} // namespace tulle::assemble
