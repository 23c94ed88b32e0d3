// Emits the memory, checks and values of a new tensor: products of sizes and stored widths are checked at run
// time.
#include "passes/assemble/algorithms/Target.h"
#include "dialect/Scalars.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

Target::Target(OpBuilder &b, Location loc, RankedTensorType tensor, ValueRange sizes, Combine combine,
               AssemblyPlan plan)
    : TargetFacts(tensor, combine, plan), Assembly(b, loc, TargetFacts::storage),
      costs(costModel(b.getInsertionBlock()->getParentOp()).costs) {
  storage.fields.resize(storage.layout.fields.size());
  storage.sizes.resize(storage.encoding.levels.size());
  for (auto [d, size] : llvm::enumerate(sizes)) {
    int64_t known = tensor.getDimSize(unsigned(d));
    storage.dims.push_back(ShapedType::isDynamic(known) ? size : constant(known));
  }
}

Target::Target(const Target &other)
    : TargetFacts(other), Assembly(other.builder, other.loc, TargetFacts::storage), costs(other.costs) {}

void Target::sortSegments(Value first, Value last, Value start) const {
  const unsigned level = levels() - 1;
  SortSegmentsOp::create(builder, loc, storage.fields[*storage.layout.positions[level]],
                         storage.fields[storage.layout.coordinates[level]->field], storage.fields.back(),
                         first, last, start, tensor);
}

Value Target::combineRepeats(Value first, Value last, Value start) const {
  const unsigned level = levels() - 1;
  return make<UniqueOp>(*this, storage.fields[*storage.layout.positions[level]],
                        storage.fields[storage.layout.coordinates[level]->field], storage.fields.back(),
                        first, last, start, tensor, combine);
}

Values Target::levelCoordinates(ValueRange dims, levels::SpecialValue special) const {
  Phase phase(builder, "remapping: " + format::printRemapping(encoding()));
  levels::ExpressionEmitter coordinates(*this, {dims, {}, special});
  return llvm::map_to_vector<6>(encoding().levels,
                                [&](const format::Level &level) { return coordinates(level.expr); });
}

Value Target::positionBelow(Value above, unsigned begin, unsigned end, ValueRange coordinates) const {
  for (unsigned l = begin; l < end; ++l)
    above = add(mul(above, levelSize(l)), coordinates[l]);
  return above;
}

//===--- Sizes and memory ---===//

Value Target::sizesOf(unsigned begin, unsigned end) const {
  Value size = constant(1);
  for (unsigned l = begin; l < end; ++l)
    size = product(l, size, levelSize(l));
  return size;
}

Value Target::product(unsigned level, Value parents, Value each) const {
  APInt x, y;
  if (matchPattern(parents, m_One()))
    return each;
  if (matchPattern(each, m_One()))
    return parents;
  if (matchPattern(parents, m_ConstantInt(&x)) && matchPattern(each, m_ConstantInt(&y)))
    if (int64_t product; !__builtin_mul_overflow(x.getSExtValue(), y.getSExtValue(), &product))
      return constant(product);
  return sizeFrom("tulle_checked_size", level, parents, each);
}

Value Target::positions(unsigned level, Value parents, Value each) const {
  // What is known to be small fits; what is known anyway stays known to the code behind.
  constexpr int64_t few = 1 << 16;
  APInt x, y;
  bool known = matchPattern(parents, m_ConstantInt(&x)) && matchPattern(each, m_ConstantInt(&y));
  if (known && x.ule(few) && y.ule(few) && (x.getZExtValue() * y.getZExtValue()) <= few)
    return product(level, parents, each);
  Value positions = sizeFrom("tulle_checked_positions", level, parents, each);
  bool isProduct = !matchPattern(parents, m_One()) && !matchPattern(each, m_One());
  return isProduct && !known ? positions : product(level, parents, each);
}

Value Target::sizeFrom(StringRef name, unsigned level, Value parents, Value each) const {
  Value number = arith::ConstantIntOp::create(builder, loc, level, 64);
  return callForIndex(*this, name, {number, parents, each});
}

void Target::checkWidth(unsigned field, Value value) const {
  const format::Field &info = storage.layout.fields[field];
  if (info.width == 0 || info.width >= 64)
    return;
  // A coordinate with all bits set would be an empty slot where those exist; signed ones keep a bit for the
  // sign.
  Value most = constant((int64_t(1) << info.width) - 1), shifted = value;
  if (info.isSigned)
    shifted = make<arith::AddIOp>(*this, value, constant(int64_t(1) << (info.width - 1)));
  when(*this, isAbove(shifted, most),
       [&] { call(*this, "tulle_error_width", {constant(info.level), value, constant(info.width)}); });
}

void Target::refuseGroup(unsigned level, Value parent, Value found, Value most) const {
  call(*this, "tulle_error_group", {constant(level), parent, found, most});
}

void Target::refuseDeclared(unsigned level, format::DeclaredFault fault, Value parent, Value value) const {
  call(*this, "tulle_error_declared", {constant(level), constant(int64_t(fault)), parent, value});
}

/// Elements of the buffer that holds `count` elements of a field.
static Value bufferLength(const Target &target, unsigned field, Value count) {
  if (target.storage.layout.fields[field].width != 2)
    return count;
  Value rounded = target.add(count, 3);
  return target.builder.createOrFold<arith::ShRUIOp>(target.loc, rounded, target.constant(2));
}

MemRefType Target::bufferType(unsigned field) const {
  return cast<MemRefType>(levels::fieldTypes(storage.layout, storage.element)[field]);
}

void Target::allocate(unsigned field, Value count) const {
  Value length = bufferLength(*this, field, count);
  Value buffer = made.fields[field] = newBuffer(*this, elementType(field), length);
  if (storage.layout.fields[field].width != 2)
    return;
  // The last byte may hold fewer coordinates than fit: its other bits are the same every time.
  when(*this, isDifferent(length, 0), [&] {
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(elementType(field)));
    storeAt(*this, zero, buffer, sub(length, 1));
  });
}

void Target::shrink(unsigned field, Value count) const {
  Value buffer = storage.fields[field];
  SmallVector<OpFoldResult> sizes{bufferLength(*this, field, count)}, strides{builder.getIndexAttr(1)};
  made.fields[field] = make<memref::ReinterpretCastOp>(*this, cast<MemRefType>(buffer.getType()), buffer,
                                                       builder.getIndexAttr(0), sizes, strides);
}

Value Target::scratch(Type element, Value count) const {
  return temporaries.emplace_back(newBuffer(*this, element, count));
}

Value Target::cell(Value initial) const {
  Value buffer = levels::allocaAtEntry(builder, loc, MemRefType::get({1}, builder.getIndexType()));
  write(buffer, constant(0), initial);
  return buffer;
}

void Target::freeScratch() const {
  freeBuffers(*this, temporaries);
  temporaries.clear();
}

//===--- Values ---===//

Value Target::toMemory(Value value) const {
  return value.getType().isInteger(1) ? builder.createOrFold<arith::ExtUIOp>(loc, builder.getI8Type(), value)
                                      : value;
}

Value Target::fromMemory(Value value) const {
  return storage.element.isInteger(1) ? make<arith::TruncIOp>(*this, storage.element, value) : value;
}

Value Target::fillValue() const {
  return toMemory(materialize(builder, loc, fillAttr(storage.encoding, storage.element), storage.element));
}

void Target::fillValues(Value begin, Value end) const {
  fillBuffer(*this, storage.fields.back(), begin, end, fillValue());
}

void Target::storeValue(Value position, Value value) const {
  storeAt(*this, toMemory(value), storage.fields.back(), position);
}

void Target::combineValue(Value position, Value value) const {
  Value old = fromMemory(loadAt(*this, storage.fields.back(), position));
  storeValue(position, combineValues(old, value));
}

Value Target::combineValues(Value x, Value y) const {
  if (!isa<ComplexType>(x.getType())) {
    Value combined = arith::getReductionOp(kindOf(x.getType(), combine), builder, loc, x, y);
    // What a statement computes says what it allows.
    auto own = combined.getDefiningOp<arith::ArithFastMathInterface>();
    if (auto value = y.getDefiningOp<arith::ArithFastMathInterface>(); own && value)
      own->setAttr(own.getFastMathAttrName(), value.getFastMathFlagsAttr());
    return combined;
  }
  return combine == Combine::Add ? make<complex::AddOp>(*this, x, y) : make<complex::MulOp>(*this, x, y);
}

Value Target::identity() const {
  return materialize(builder, loc, identityOf(storage.element, combine), storage.element);
}

void Target::either(Value condition, function_ref<void()> then, function_ref<void()> otherwise) {
  const Values before = storage.fields;
  auto branch = [&](function_ref<void()> body) {
    return [&, body] {
      storage.fields = before;
      body();
      return storage.fields;
    };
  };
  storage.fields = assemble::either(*this, condition, levels::fieldTypes(storage.layout, storage.element),
                                    branch(then), branch(otherwise));
}

Value Target::finish() const { return make<StorageOp>(*this, type(), storage.fields, storage.dims); }

} // namespace tulle::assemble
