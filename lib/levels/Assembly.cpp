// Writes to the buffers of a level in the making: checked against their widths, and counted.
#include "levels/Assembly.h"
#include "format/Encoding.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tulle::levels {

/// Index to an integer of the buffer's width; what does not fit was reported before.
static Value narrow(const Assembly &a, Value value, Type type) {
  return type.isIndex() ? value : Value(arith::IndexCastUIOp::create(a.builder, a.loc, type, value));
}

Value allocate(OpBuilder &b, Location loc, MemRefType type, Value length) {
  constexpr int64_t most = int64_t(1) << 58;
  APInt known;
  if (!matchPattern(length, m_ConstantInt(&known)))
    length = arith::MinUIOp::create(b, loc, length, arith::ConstantIndexOp::create(b, loc, most));
  else if (known.ugt(most))
    length = arith::ConstantIndexOp::create(b, loc, most);
  return memref::AllocOp::create(b, loc, type, length);
}

Value Assembly::read(Value buffer, Value at) const {
  return toIndex(memref::LoadOp::create(builder, loc, buffer, at));
}

void Assembly::write(Value buffer, Value at, Value value) const {
  Type type = cast<MemRefType>(buffer.getType()).getElementType();
  memref::StoreOp::create(builder, loc, narrow(*this, value, type), buffer, at);
}

void Assembly::fill(Value buffer, Value from, Value to, Value value) const {
  forEach(*this, from, to, dialect::LoopKind::Parallel, [&](Value at) { write(buffer, at, value); });
}

Value Assembly::increment(Value buffer, Value at) const {
  Value old = memref::LoadOp::create(builder, loc, buffer, at);
  memref::StoreOp::create(builder, loc, sum(old, constantInt(old.getType(), 1)), buffer, at);
  return toIndex(old);
}

Value Assembly::fetchAdd(const LevelBuild &build, Value at) const {
  if (!build.firstOccurrence)
    return increment(build.work, at);
  Value count = add(read(build.work, at), toIndex(build.firstOccurrence));
  write(build.work, at, count);
  return sub(count, 1);
}

void Assembly::storeChecked(unsigned field, Value at, Value value) const {
  checkWidth(field, value);
  store(field, at, value);
}

void Assembly::allocateCoordinates(unsigned level, Value count) const {
  const format::CoordinateRef &ref = *made.layout.coordinates[level];
  if (made.layout.fields[ref.field].level == level)
    allocate(ref.field, product(level, count, constant(ref.stride)));
}

void Assembly::storeCoordinate(unsigned level, Value position, Value coordinate) const {
  const format::CoordinateRef &ref = *made.layout.coordinates[level];
  Value at = position;
  if (ref.stride != 1)
    at = add(mul(position, ref.stride), ref.offset);
  storeChecked(ref.field, at, coordinate);
}

Value Assembly::exchangeCoordinate(unsigned level, Value position, Value coordinate) const {
  const format::CoordinateRef &ref = *made.layout.coordinates[level];
  checkWidth(ref.field, coordinate);
  Value at = add(mul(position, ref.stride), ref.offset), buffer = made.fields[ref.field];
  Type type = cast<MemRefType>(buffer.getType()).getElementType();
  Value mine = narrow(*this, coordinate, type);
  Value old = memref::AtomicRMWOp::create(builder, loc, arith::AtomicRMWKind::assign, mine, buffer, at);
  Value isOther = isDifferent(old, mine), isTaken = isDifferent(old, constantInt(type, -1));
  return both(isOther, isTaken);
}

Value Assembly::storePositions(const LevelBuild &build, llvm::function_ref<Value(Value)> length) const {
  unsigned field = *made.layout.positions[build.level];
  allocate(field, add(build.parents, 1));
  Value end = reduce(*this, build.parents, constant(0), [&](Value parent, Values sum) {
    store(field, parent, sum[0]);
    return Values{total(sum[0], length(parent))};
  })[0];
  storeChecked(field, build.parents, end);
  return positions(build.level, end, constant(1));
}

void Assembly::makeSize(unsigned level, Value size) const {
  unsigned field = *made.layout.sizes[level];
  allocate(field, constant(1));
  write(made.fields[field], constant(0), size);
  made.sizes[level] = size;
}

void Assembly::storePadding(unsigned level, Value position) const {
  Value buffer = made.fields[made.layout.coordinates[level]->field];
  Value ones = constantInt(cast<MemRefType>(buffer.getType()).getElementType(), -1);
  memref::StoreOp::create(builder, loc, ones, buffer, position);
}

void Assembly::clearCoordinates(unsigned level, Value count) const {
  forEach(*this, count, dialect::LoopKind::Parallel, [&](Value at) { storePadding(level, at); });
}

void Assembly::clearReserve(unsigned level, Value count) const {
  const format::CoordinateRef &ref = *made.layout.coordinates[level];
  if (made.layout.fields[ref.field].level == level && format::hasReserve(made.encoding, level))
    clearCoordinates(level, mul(count, ref.stride));
}

Value Assembly::zeros(Type element, Value count) const {
  Value buffer = scratch(element, count);
  fill(buffer, constant(0), count, constant(0));
  return buffer;
}

Value Assembly::sum(Value x, Value y) const { return arith::AddIOp::create(builder, loc, x, y); }
Value Assembly::difference(Value x, Value y) const { return arith::SubIOp::create(builder, loc, x, y); }

Value Assembly::total(Value sum, Value more) const {
  // Of two numbers up to this and up to 2^63 - 1 the sum has 64 bits.
  constexpr int64_t most = int64_t(1) << 62;
  return umin(this->sum(sum, more), most);
}

} // namespace tulle::levels
