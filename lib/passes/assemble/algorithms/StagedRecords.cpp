#include "passes/assemble/algorithms/StagedRecords.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace tulle::assemble {

static IntegerType bitsOf(OpBuilder &b, Type type) { return b.getIntegerType(type.getIntOrFloatBitWidth()); }

/// The number's bits as a word.
static Value toWord(OpBuilder &b, Location loc, Value number) {
  Type word = b.getI64Type();
  if (number.getType().isIndex())
    return arith::IndexCastUIOp::create(b, loc, word, number);
  if (isa<FloatType>(number.getType()))
    number = arith::BitcastOp::create(b, loc, bitsOf(b, number.getType()), number);
  return number.getType() == word ? number : Value(arith::ExtUIOp::create(b, loc, word, number));
}

StagedRecords::StagedRecords(const Target &target, Type coordinate) : target(target), loc(target.loc) {
  for (size_t d = 0; d < size_t(target.tensor.getRank()); ++d)
    add(coordinate);
  Type element = target.storage.element;
  auto complex = dyn_cast<ComplexType>(element);
  add(complex ? complex.getElementType() : element);
  if (complex)
    add(complex.getElementType());
}

/// No number lies in two words.
void StagedRecords::add(Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  if (used + bits > 64) {
    ++words;
    used = 0;
  }
  fields.push_back({type, words - 1, used});
  used += bits;
}

Value StagedRecords::allocate(OpBuilder &b, Value bound) const {
  Value size = target.checkedSize(b, target.levels(), bound, target.emitter(b).constant(words));
  return levels::allocate(b, loc, MemRefType::get({ShapedType::kDynamic}, b.getI64Type()), size);
}

Value StagedRecords::place(OpBuilder &b, Value at, int64_t word) const {
  levels::Emitter emit = target.emitter(b);
  return emit.add(emit.mul(at, emit.constant(words)), emit.constant(word));
}

void StagedRecords::put(OpBuilder &b, Value records, Value at, ValueRange dims, Value value) const {
  Values numbers(dims);
  if (auto complex = dyn_cast<ComplexType>(value.getType())) {
    numbers.push_back(complex::ReOp::create(b, loc, complex.getElementType(), value));
    numbers.push_back(complex::ImOp::create(b, loc, complex.getElementType(), value));
  } else {
    numbers.push_back(value);
  }
  Values made;
  for (auto [number, field] : llvm::zip_equal(numbers, fields)) {
    Value bits = toWord(b, loc, number);
    if (field.shift == 0) {
      made.push_back(bits);
      continue;
    }
    Value shift = arith::ConstantIntOp::create(b, loc, field.shift, 64);
    Value shifted = arith::ShLIOp::create(b, loc, bits, shift);
    made.back() = arith::OrIOp::create(b, loc, made.back(), shifted);
  }
  for (auto [word, bits] : llvm::enumerate(made))
    memref::StoreOp::create(b, loc, bits, records, place(b, at, int64_t(word)));
}

Value StagedRecords::load(OpBuilder &b, Value records, Value at, const Field &field) const {
  Value bits = memref::LoadOp::create(b, loc, records, place(b, at, field.word));
  if (field.shift != 0)
    bits = arith::ShRUIOp::create(b, loc, bits, arith::ConstantIntOp::create(b, loc, field.shift, 64));
  IntegerType type = bitsOf(b, field.type);
  if (type.getWidth() < 64)
    bits = arith::TruncIOp::create(b, loc, type, bits);
  return type == field.type ? bits : Value(arith::BitcastOp::create(b, loc, field.type, bits));
}

Values StagedRecords::dims(OpBuilder &b, Value records, Value at) const {
  Values dims;
  for (const Field &field : ArrayRef(fields).take_front(size_t(target.tensor.getRank())))
    dims.push_back(arith::IndexCastUIOp::create(b, loc, b.getIndexType(), load(b, records, at, field)));
  return dims;
}

Value StagedRecords::value(OpBuilder &b, Value records, Value at) const {
  Values numbers;
  for (const Field &field : ArrayRef(fields).drop_front(size_t(target.tensor.getRank())))
    numbers.push_back(load(b, records, at, field));
  if (numbers.size() == 1)
    return numbers[0];
  return complex::CreateOp::create(b, loc, target.storage.element, numbers[0], numbers[1]);
}

} // namespace tulle::assemble
