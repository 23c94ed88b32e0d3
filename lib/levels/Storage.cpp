// Index arithmetic that folds what is known, and loads and stores of elements that may share a byte.
#include "levels/Storage.h"
#include "dialect/Scalars.h"
#include "levels/Expression.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;

namespace tulle::levels {

SmallVector<Type> fieldTypes(const format::Layout &layout, Type element) {
  MLIRContext *context = element.getContext();
  SmallVector<Type> types;
  for (const format::Field &field : layout.fields) {
    Type type = dialect::memoryType(element);
    if (field.kind != format::FieldKind::Values)
      type = IntegerType::get(context, field.width == 0 ? 64 : std::max(field.width, 8u));
    types.push_back(MemRefType::get({ShapedType::kDynamic}, type));
  }
  return types;
}

std::unique_ptr<Storage> Storage::create(OpBuilder &builder, Location loc, const format::Encoding &encoding,
                                         Type element, ValueRange fields, ValueRange dims) {
  auto storage = std::make_unique<Storage>();
  storage->encoding = encoding;
  storage->layout = format::layout(encoding);
  if (auto digits = format::digits(encoding))
    storage->digits = *digits;
  storage->element = element;
  llvm::append_range(storage->fields, fields);
  llvm::append_range(storage->dims, dims);
  Emitter emit(builder, loc, *storage);
  for (std::optional<unsigned> field : storage->layout.sizes)
    storage->sizes.push_back(field ? emit.load(*field, emit.constant(0)) : Value());
  return storage;
}

constexpr arith::IntegerOverflowFlags noWrap =
    arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw;

Value Emitter::constantInt(Type type, int64_t value) const {
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
}

/// The result of an operation on two sizes or positions that are known; one beyond 64 bits is the largest
/// number, which the caller's memory is refused for: with `noWrap` it would fold to poison, and what reads
/// that to anything.
static std::optional<int64_t> known(Value a, Value b, int64_t (*overflows)(int64_t, int64_t, int64_t &)) {
  APInt x, y;
  if (!matchPattern(a, m_ConstantInt(&x)) || !matchPattern(b, m_ConstantInt(&y)))
    return std::nullopt;
  int64_t result = 0;
  return overflows(x.getSExtValue(), y.getSExtValue(), result) ? std::numeric_limits<int64_t>::max() : result;
}

Value Emitter::add(Value a, Value b) const {
  if (matchPattern(a, m_Zero()))
    return b;
  if (matchPattern(b, m_Zero()))
    return a;
  if (std::optional<int64_t> sum = known(a, b, llvm::AddOverflow<int64_t>))
    return constant(*sum);
  return arith::AddIOp::create(builder, loc, a, b, noWrap);
}

Value Emitter::sub(Value a, Value b) const {
  if (matchPattern(b, m_Zero()))
    return a;
  return arith::SubIOp::create(builder, loc, a, b, noWrap);
}

Value Emitter::mul(Value a, Value b) const {
  if (matchPattern(a, m_Zero()) || matchPattern(b, m_One()))
    return a;
  if (matchPattern(b, m_Zero()) || matchPattern(a, m_One()))
    return b;
  if (std::optional<int64_t> product = known(a, b, llvm::MulOverflow<int64_t>))
    return constant(*product);
  return arith::MulIOp::create(builder, loc, a, b, noWrap);
}

Value Emitter::toIndex(Value integer) const {
  if (integer.getType().isIndex())
    return integer;
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), integer);
}

namespace {
/// Element `at` of a buffer with elements of `width` bits, 1 or 2: the first of a byte is in the low bits.
struct PackedElement {
  const Emitter &emit;
  Value buffer, at;
  unsigned width;
  Value byteAt = emit.shiftRight(at, emit.constant(width == 1 ? 3 : 2));

  Value byte() const { return emit.toIndex(memref::LoadOp::create(emit.builder, emit.loc, buffer, byteAt)); }
  Value shift() const {
    Value slot = emit.both(at, emit.constant(8 / width - 1));
    return width == 1 ? slot : emit.add(slot, slot);
  }
  Value mask() const { return emit.constant((1 << width) - 1); }
  Value load() const {
    Value whole = byte();
    return emit.both(emit.shiftRight(whole, shift()), mask());
  }
};
} // namespace

Value Emitter::load(unsigned field, Value at) const {
  Value buffer = storage.fields[field];
  if (storage.layout.fields[field].width == 2)
    return PackedElement{*this, buffer, at, 2}.load();
  Value element = memref::LoadOp::create(builder, loc, buffer, at);
  if (storage.layout.fields[field].isSigned)
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), element);
  return toIndex(element);
}

void Emitter::store(unsigned field, Value at, Value value) const {
  Value buffer = storage.fields[field];
  if (storage.layout.fields[field].width == 2) {
    PackedElement element{*this, buffer, at, 2};
    Value whole = element.byte(), shift = element.shift();
    Value others =
        both(whole, arith::XOrIOp::create(builder, loc, shiftLeft(element.mask(), shift), constant(255)));
    value = arith::OrIOp::create(builder, loc, others, shiftLeft(value, shift));
    at = element.byteAt;
  }
  Type type = cast<MemRefType>(buffer.getType()).getElementType();
  memref::StoreOp::create(builder, loc, arith::IndexCastUIOp::create(builder, loc, type, value), buffer, at);
}

Value Emitter::loadBit(unsigned field, Value at) const {
  return isDifferent(PackedElement{*this, storage.fields[field], at, 1}.load(), constant(0));
}

Value Emitter::permuted(Value rank) const {
  for (std::optional<unsigned> field : storage.layout.permutation)
    if (field)
      return load(*field, rank);
  llvm_unreachable("ranks are inverted only where a level reads one");
}

Value Emitter::levelLow(unsigned level) const {
  if (!storage.digits.empty())
    return constant(0);
  ExpressionEmitter expression(*this, {storage.dims, {}});
  return expression(format::levelBounds(storage.encoding, level)->low);
}

/// Whether the last coordinate can lie further below the first than by one, where a dimension has size 0.
static bool mayBeEmpty(const format::LevelBounds &bounds, unsigned order) {
  constexpr unsigned most = 8; // dimensions whose combinations are worth trying
  for (unsigned which = 0; order <= most && which < 1u << order; ++which) {
    std::vector<int64_t> sizes;
    for (unsigned d = 0; d < order; ++d)
      sizes.push_back(which >> d & 1);
    format::Bindings none;
    auto low = format::evaluate(bounds.low, sizes, {}, none),
         high = format::evaluate(bounds.high, sizes, {}, none);
    if (!low || !high || *high < *low - 1)
      return true;
  }
  return order > most;
}

Value Emitter::levelSize(unsigned level) const {
  if (storage.sizes[level] && storage.encoding.levels[level].format.kind == format::LevelKind::Dense)
    return storage.sizes[level];
  if (storage.digits.empty()) {
    ExpressionEmitter expression(*this, {storage.dims, {}});
    format::LevelBounds bounds = *format::levelBounds(storage.encoding, level);
    Value low = expression(bounds.low), high = expression(bounds.high);
    Value length = builder.createOrFold<arith::SubIOp>(loc, high, low);
    Value size = builder.createOrFold<arith::AddIOp>(loc, length, constant(1));
    return mayBeEmpty(bounds, storage.encoding.order())
               ? builder.createOrFold<arith::MaxSIOp>(loc, size, constant(0))
               : size;
  }
  const format::Digit &digit = storage.digits[level];
  if (digit.modulus != 0)
    return constant(digit.modulus);
  Value dim = storage.dims[digit.dim];
  if (digit.stride == 1)
    return dim;
  APInt size;
  if (matchPattern(dim, m_ConstantInt(&size)))
    return constant((size.getSExtValue() + digit.stride - 1) / digit.stride);
  return divide(add(dim, constant(digit.stride - 1)), constant(digit.stride));
}

void when(const Emitter &e, Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(e.builder, e.loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(e.builder);
  e.builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

/// Whether both are one value, or computed alike.
static bool areEqual(Value a, Value b) {
  if (a == b)
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return x && y && isPure(x) && x->getNumRegions() == 0 &&
         OperationEquivalence::isEquivalentTo(
             x, y, [](Value p, Value q) { return success(areEqual(p, q)); }, nullptr,
             OperationEquivalence::IgnoreLocations);
}

/// The same segment, where it is known already: nothing stores to what is the caller's.
static dialect::SegmentOp knownSegment(Value positions, Value at, Block *block) {
  if (isa<BlockArgument>(positions))
    for (Operation *user : positions.getUsers())
      if (auto segment = dyn_cast<dialect::SegmentOp>(user);
          segment && segment->getBlock() == block && areEqual(segment.getAt(), at))
        return segment;
  return {};
}

PositionRange LevelEmitter::storedRange(Value at) const {
  Value positions = storage.fields[*storage.layout.positions[level]];
  // Around the builder: what is in its own block may stand behind it.
  for (Operation *op = builder.getInsertionBlock()->getParentOp(); op && op->getBlock();
       op = op->getParentOp())
    if (dialect::SegmentOp known = knownSegment(positions, at, op->getBlock());
        known && known->isBeforeInBlock(op))
      return {known.getBegin(), known.getEnd()};
  auto segment = dialect::SegmentOp::create(builder, loc, positions, at);
  return {segment.getBegin(), segment.getEnd()};
}

Value LevelEmitter::storedCoordinate(Value position) const {
  const format::CoordinateRef &ref = *storage.layout.coordinates[level];
  if (ref.stride != 1)
    position = add(mul(position, constant(ref.stride)), constant(ref.offset));
  return load(ref.field, position);
}

Value LevelEmitter::isEntry(Value coordinate) const {
  unsigned width = storage.layout.fields[storage.layout.coordinates[level]->field].width;
  int64_t empty = width == 0 || width >= 64 ? -1 : (int64_t(1) << width) - 1;
  return isDifferent(coordinate, constant(empty));
}

} // namespace tulle::levels
