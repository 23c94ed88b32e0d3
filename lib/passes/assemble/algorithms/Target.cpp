#include "passes/assemble/algorithms/Target.h"
#include "dialect/Attributes.h"
#include "dialect/Scalars.h"
#include "levels/Control.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/assemble/algorithms/RuntimeCalls.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;

Target::Target(OpBuilder &b, AssembleOp op) : TargetFacts(op), loc(op.getLoc()), costs(costModel(op).costs) {
  setSizes(b, op.getSizes());
}

Target::Target(OpBuilder &b, Location loc, RankedTensorType tensor, ValueRange sizes, Combine combine,
               AssemblyPlan plan)
    : TargetFacts(tensor, combine, plan), loc(loc),
      costs(costModel(b.getInsertionBlock()->getParentOp()).costs) {
  setSizes(b, sizes);
}

void Target::setSizes(OpBuilder &b, ValueRange sizes) {
  storage.fields.resize(storage.layout.fields.size());
  storage.sizes.resize(storage.encoding.levels.size());
  for (auto [d, size] : llvm::enumerate(sizes)) {
    int64_t known = type().getDimSize(unsigned(d));
    storage.dims.push_back(
        ShapedType::isDynamic(known) ? size : Value(arith::ConstantIndexOp::create(b, loc, known)));
  }
}

void Target::setSegments(Value positions, Value coordinates, Value values) {
  const unsigned level = levels() - 1;
  storage.fields[*storage.layout.positions[level]] = positions;
  storage.fields[storage.layout.coordinates[level]->field] = coordinates;
  storage.fields.back() = values;
}

void Target::sortSegments(OpBuilder &b, Value first, Value last, Value start) const {
  const unsigned level = levels() - 1;
  SortSegmentsOp::create(b, loc, storage.fields[*storage.layout.positions[level]],
                         storage.fields[storage.layout.coordinates[level]->field], storage.fields.back(),
                         first, last, start, tensor);
}

Value Target::combineRepeats(OpBuilder &b, Value first, Value last, Value start) const {
  const unsigned level = levels() - 1;
  return UniqueOp::create(b, loc, storage.fields[*storage.layout.positions[level]],
                          storage.fields[storage.layout.coordinates[level]->field], storage.fields.back(),
                          first, last, start, tensor, combine);
}

//===--- Level coordinates ---===//

Values Target::levelCoordinates(OpBuilder &b, ValueRange dims, levels::SpecialValue special) const {
  levels::ExpressionEmitter coordinates({b, loc, storage}, {dims, {}, special});
  Values result;
  for (const format::Level &level : encoding().levels)
    result.push_back(coordinates(level.expr));
  return result;
}

//===--- Sizes and memory ---===//

Value Target::checkedSize(OpBuilder &b, unsigned level, Value parents, Value each) const {
  APInt x, y;
  if (matchPattern(parents, m_One()))
    return each;
  if (matchPattern(each, m_One()))
    return parents;
  if (matchPattern(parents, m_ConstantInt(&x)) && matchPattern(each, m_ConstantInt(&y)))
    if (int64_t product; !__builtin_mul_overflow(x.getSExtValue(), y.getSExtValue(), &product))
      return arith::ConstantIndexOp::create(b, loc, product);
  return sizeFrom(b, "tulle_checked_size", level, parents, each);
}

Value Target::checkedPositions(OpBuilder &b, unsigned level, Value parents, Value each) const {
  // What is known to be small fits; what is known anyway stays known to the code behind.
  constexpr int64_t few = 1 << 16;
  APInt x, y;
  bool known = matchPattern(parents, m_ConstantInt(&x)) && matchPattern(each, m_ConstantInt(&y));
  if (known && x.ule(few) && y.ule(few) && (x.getZExtValue() * y.getZExtValue()) <= few)
    return checkedSize(b, level, parents, each);
  Value positions = sizeFrom(b, "tulle_checked_positions", level, parents, each);
  bool product = !matchPattern(parents, m_One()) && !matchPattern(each, m_One());
  return product && !known ? positions : checkedSize(b, level, parents, each);
}

Value Target::sizeFrom(OpBuilder &b, StringRef name, unsigned level, Value parents, Value each) const {
  Value number = arith::ConstantIntOp::create(b, loc, level, 64);
  return callForIndex(b, loc, name, {number, parents, each});
}

void Target::checkWidth(OpBuilder &b, unsigned field, Value value) const {
  const format::Field &info = storage.layout.fields[field];
  if (info.width == 0 || info.width >= 64)
    return;
  levels::Emitter emit = emitter(b);
  // A coordinate with all bits set would be an empty slot where those exist; signed ones keep a bit for the
  // sign.
  Value wide;
  if (info.isSigned) {
    Value half = emit.constant(int64_t(1) << (info.width - 1));
    Value shifted = arith::AddIOp::create(b, loc, value, half);
    wide = emit.compare(CmpIPredicate::ugt, shifted, emit.constant((int64_t(1) << info.width) - 1));
  } else {
    wide = emit.compare(CmpIPredicate::ugt, value, emit.constant((int64_t(1) << info.width) - 1));
  }
  auto branch = scf::IfOp::create(b, loc, wide, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  call(b, loc, "tulle_error_width", {emit.constant(info.level), value, emit.constant(info.width)});
}

/// Elements of the buffer that holds `count` elements of a field.
static Value bufferLength(const levels::Emitter &emit, unsigned field, Value count) {
  if (emit.storage.layout.fields[field].width != 2)
    return count;
  Value rounded = emit.add(count, emit.constant(3));
  return emit.builder.createOrFold<arith::ShRUIOp>(emit.loc, rounded, emit.constant(2));
}

void Target::allocate(OpBuilder &b, unsigned field, Value count) {
  levels::Emitter emit = emitter(b);
  auto type = cast<MemRefType>(levels::fieldTypes(storage.layout, storage.element)[field]);
  Value length = bufferLength(emit, field, count);
  Value buffer = storage.fields[field] = levels::allocate(b, loc, type, length);
  if (storage.layout.fields[field].width != 2)
    return;
  // The last byte may hold fewer coordinates than fit: its other bits are the same every time.
  auto any = scf::IfOp::create(b, loc, emit.compare(CmpIPredicate::ne, length, emit.constant(0)), false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(any.thenBlock());
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
  memref::StoreOp::create(b, loc, zero, buffer, emit.sub(length, emit.constant(1)));
}

void Target::shrink(OpBuilder &b, unsigned field, Value count) {
  levels::Emitter emit = emitter(b);
  Value buffer = storage.fields[field];
  SmallVector<OpFoldResult> sizes{bufferLength(emit, field, count)}, strides{b.getIndexAttr(1)};
  storage.fields[field] = memref::ReinterpretCastOp::create(b, loc, cast<MemRefType>(buffer.getType()),
                                                            buffer, b.getIndexAttr(0), sizes, strides);
}

//===--- Values ---===//

static Value toMemory(OpBuilder &b, Location loc, Value value) {
  return value.getType().isInteger(1) ? b.createOrFold<arith::ExtUIOp>(loc, b.getI8Type(), value) : value;
}

Value Target::fill(OpBuilder &b) const {
  return toMemory(b, loc, materialize(b, loc, fillAttr(storage.encoding, storage.element), storage.element));
}

void Target::fillValues(OpBuilder &b, Value begin, Value end) const {
  Value value = fill(b);
  levels::forLoop(b, loc, begin, end, LoopKind::Parallel, {}, [&](Value at, levels::Values) {
    memref::StoreOp::create(b, loc, value, storage.fields.back(), at);
    return levels::Values{};
  });
}

void Target::storeValue(OpBuilder &b, Value position, Value value) const {
  memref::StoreOp::create(b, loc, toMemory(b, loc, value), storage.fields.back(), position);
}

void Target::combineValue(OpBuilder &b, Value position, Value value) const {
  Value old = memref::LoadOp::create(b, loc, storage.fields.back(), position);
  if (storage.element.isInteger(1))
    old = arith::TruncIOp::create(b, loc, b.getI1Type(), old);
  storeValue(b, position, combineValues(b, old, value));
}

Value Target::combineValues(OpBuilder &b, Value x, Value y) const {
  Type type = x.getType();
  bool isFloat = isa<FloatType>(type), isComplex = isa<ComplexType>(type), isBool = type.isInteger(1);
  switch (combine) {
  case Combine::Add:
    if (isBool)
      return arith::OrIOp::create(b, loc, x, y);
    if (isComplex)
      return complex::AddOp::create(b, loc, x, y);
    return isFloat ? Value(arith::AddFOp::create(b, loc, x, y)) : Value(arith::AddIOp::create(b, loc, x, y));
  case Combine::Mul:
    if (isBool)
      return arith::AndIOp::create(b, loc, x, y);
    if (isComplex)
      return complex::MulOp::create(b, loc, x, y);
    return isFloat ? Value(arith::MulFOp::create(b, loc, x, y)) : Value(arith::MulIOp::create(b, loc, x, y));
  case Combine::Min:
    if (isBool)
      return arith::AndIOp::create(b, loc, x, y);
    return isFloat ? Value(arith::MinimumFOp::create(b, loc, x, y))
                   : Value(arith::MinSIOp::create(b, loc, x, y));
  case Combine::Max:
    if (isBool)
      return arith::OrIOp::create(b, loc, x, y);
    return isFloat ? Value(arith::MaximumFOp::create(b, loc, x, y))
                   : Value(arith::MaxSIOp::create(b, loc, x, y));
  case Combine::And:
    return arith::AndIOp::create(b, loc, x, y);
  case Combine::Or:
    return arith::OrIOp::create(b, loc, x, y);
  case Combine::Xor:
    return arith::XOrIOp::create(b, loc, x, y);
  }
  llvm_unreachable("a combination outside its enumeration");
}

Value Target::identity(OpBuilder &b) const {
  return materialize(b, loc, identityOf(storage.element, combine), storage.element);
}

Value Target::finish(OpBuilder &b) const {
  return StorageOp::create(b, loc, type(), storage.fields, storage.dims);
}

//===--- Registers ---===//

Value rarely(OpBuilder &b, Location loc, Value condition) {
  Value no = arith::ConstantIntOp::create(b, loc, 0, 1);
  return LLVM::ExpectOp::create(b, loc, condition.getType(), condition, no);
}

Value opaque(OpBuilder &b, Location loc, Value index) {
  Type type = b.getI64Type();
  Value wide = arith::IndexCastOp::create(b, loc, type, index);
  auto same = LLVM::InlineAsmOp::create(b, loc, TypeRange(type), ValueRange(wide), "", "=r,0",
                                        /*has_side_effects=*/false, /*is_align_stack=*/false,
                                        LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), same.getResult(0));
}

Register::Register(OpBuilder &b, Location loc, Type type) : loc(loc) {
  OpBuilder::InsertionGuard guard(b);
  // Only what stands at the entry of a function is promoted, and does not grow the stack in a loop. A
  // parallel region becomes a function.
  Operation *function = b.getInsertionBlock()->getParentOp();
  while (!isa<func::FuncOp, ParallelOp>(function))
    function = function->getParentOp();
  b.setInsertionPointToStart(&function->getRegion(0).front());
  cell = memref::AllocaOp::create(b, loc, MemRefType::get({}, type));
}

Register::Register(OpBuilder &b, Location loc, Value initial) : Register(b, loc, initial.getType()) {
  set(b, initial);
}

Value Register::get(OpBuilder &b) const { return memref::LoadOp::create(b, loc, cell, ValueRange()); }

void Register::set(OpBuilder &b, Value value) const {
  memref::StoreOp::create(b, loc, value, cell, ValueRange());
}

Value Register::increment(OpBuilder &b, int64_t by) const {
  Value next = arith::AddIOp::create(b, loc, get(b), arith::ConstantIndexOp::create(b, loc, by),
                                     arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw);
  set(b, next);
  return next;
}

} // namespace tulle::assemble
