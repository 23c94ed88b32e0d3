#include "levels/Storage.h"
#include "levels/Expression.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include <limits>

using namespace mlir;

namespace tulle::levels {

SmallVector<Type> fieldTypes(const format::Layout &layout, Type element) {
  MLIRContext *context = element.getContext();
  SmallVector<Type> types;
  for (const format::Field &field : layout.fields) {
    Type type = element.isInteger(1) ? IntegerType::get(context, 8) : element;
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

Value Emitter::constant(int64_t value) const { return arith::ConstantIndexOp::create(builder, loc, value); }

/// The result of an operation on two sizes or positions that are known; one beyond 64 bits is the largest
/// number, which the caller's memory is refused for: with `noWrap` it would fold to poison, and what reads
/// that to anything.
template <typename Operation> static std::optional<int64_t> known(Value a, Value b, Operation overflows) {
  APInt x, y;
  if (!matchPattern(a, m_ConstantInt(&x)) || !matchPattern(b, m_ConstantInt(&y)))
    return std::nullopt;
  int64_t result = 0;
  return overflows(x.getSExtValue(), y.getSExtValue(), &result) ? std::numeric_limits<int64_t>::max()
                                                                : result;
}

Value Emitter::add(Value a, Value b) const {
  if (matchPattern(a, m_Zero()))
    return b;
  if (matchPattern(b, m_Zero()))
    return a;
  if (auto sum =
          known(a, b, [](int64_t x, int64_t y, int64_t *to) { return __builtin_add_overflow(x, y, to); }))
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
  if (auto product =
          known(a, b, [](int64_t x, int64_t y, int64_t *to) { return __builtin_mul_overflow(x, y, to); }))
    return constant(*product);
  return arith::MulIOp::create(builder, loc, a, b, noWrap);
}

Value Emitter::compare(arith::CmpIPredicate predicate, Value a, Value b) const {
  return arith::CmpIOp::create(builder, loc, predicate, a, b);
}

/// Four 2-bit coordinates share a byte, the first in the low bits.
static Value loadPacked(const Emitter &emit, Value buffer, Value at) {
  OpBuilder &b = emit.builder;
  Value byte = memref::LoadOp::create(b, emit.loc, buffer,
                                      Value(arith::ShRUIOp::create(b, emit.loc, at, emit.constant(2))));
  Value wide = arith::IndexCastUIOp::create(b, emit.loc, b.getIndexType(), byte);
  Value slot = arith::AndIOp::create(b, emit.loc, at, emit.constant(3));
  Value shift = emit.add(slot, slot);
  return arith::AndIOp::create(b, emit.loc, arith::ShRUIOp::create(b, emit.loc, wide, shift),
                               emit.constant(3));
}

Value Emitter::load(unsigned field, Value at) const {
  Value buffer = storage.fields[field];
  if (storage.layout.fields[field].width == 2)
    return loadPacked(*this, buffer, at);
  Value element = memref::LoadOp::create(builder, loc, buffer, at);
  if (storage.layout.fields[field].isSigned)
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), element);
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), element);
}

static void storePacked(const Emitter &emit, Value buffer, Value at, Value value) {
  OpBuilder &b = emit.builder;
  Value byteAt = arith::ShRUIOp::create(b, emit.loc, at, emit.constant(2));
  Value byte = memref::LoadOp::create(b, emit.loc, buffer, byteAt);
  Value wide = arith::IndexCastUIOp::create(b, emit.loc, b.getIndexType(), byte);
  Value slot = arith::AndIOp::create(b, emit.loc, at, emit.constant(3));
  Value shift = emit.add(slot, slot);
  Value mask = arith::ShLIOp::create(b, emit.loc, emit.constant(3), shift);
  Value others =
      arith::AndIOp::create(b, emit.loc, wide, arith::XOrIOp::create(b, emit.loc, mask, emit.constant(255)));
  Value mine = arith::ShLIOp::create(b, emit.loc, value, shift);
  Value merged = arith::OrIOp::create(b, emit.loc, others, mine);
  merged = arith::IndexCastUIOp::create(b, emit.loc, b.getI8Type(), merged);
  memref::StoreOp::create(b, emit.loc, merged, buffer, byteAt);
}

void Emitter::store(unsigned field, Value at, Value value) const {
  Value buffer = storage.fields[field];
  if (storage.layout.fields[field].width == 2)
    return storePacked(*this, buffer, at, value);
  Type type = cast<MemRefType>(buffer.getType()).getElementType();
  memref::StoreOp::create(builder, loc, arith::IndexCastUIOp::create(builder, loc, type, value), buffer, at);
}

Value Emitter::loadBit(unsigned field, Value at) const {
  Value byte = load(field, arith::ShRUIOp::create(builder, loc, at, constant(3)));
  Value shift = arith::AndIOp::create(builder, loc, at, constant(7));
  Value bit = arith::AndIOp::create(builder, loc, Value(arith::ShRUIOp::create(builder, loc, byte, shift)),
                                    constant(1));
  return compare(arith::CmpIPredicate::ne, bit, constant(0));
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
  return arith::DivUIOp::create(builder, loc, add(dim, constant(digit.stride - 1)), constant(digit.stride));
}

} // namespace tulle::levels
