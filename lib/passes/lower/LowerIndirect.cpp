// Tensors of integers that give coordinates of others: checked, or made to be some; their values are then the
// coordinates of a selection. Tensors in the buffers of others.
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/assemble/algorithms/Emit.h"
#include "passes/lower/Lowering.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::lower {

namespace {

/// The integers of a dense tensor, one after the other.
class Table {
public:
  using Step = function_ref<Value(Value position, Value carried)>;

  /// `at`: where there are such coordinates, only the integers there count; -1 stands for all of a dimension.
  Table(const Emitter &emit, StringRef text, std::optional<ArrayRef<int64_t>> at)
      : emit(emit), buffer(emit.storage.fields.back()), text(text), places(at) {
    count = memref::DimOp::create(emit.builder, emit.loc, buffer, emit.constant(0));
    read = {emit.constant(0), count};
  }
  /// Only the integers of a range of positions count.
  void readOnly(PositionRange range) { read = range; }

  /// One loop over all of them, or one for each dimension of which not just one coordinate is read.
  Value forEachRead(Value start, Step step) const {
    if (places)
      return forEachRead(0, emit.constant(0), start, step);
    return loop(read, start, step);
  }
  Value stored(Value position) const {
    return memref::LoadOp::create(emit.builder, emit.loc, buffer, position);
  }
  /// Ends the call: the error has the text, the place, the integer and a size.
  void refuse(StringRef symbol, Value position, Value integer, Value size) const {
    refuseAt(symbol, position, emit.storage.dims.size(), coordinate(integer), size);
  }
  /// The same with all integers of the last dimension.
  void refuseTogether(StringRef symbol, Value place, ArrayRef<Value> integers) const {
    refuseAt(symbol, place, emit.storage.dims.size() - 1, address(inMemory(integers)),
             emit.constant(int64_t(integers.size())));
  }
  Value coordinate(Value integer) const {
    return arith::IndexCastOp::create(emit.builder, emit.loc, emit.builder.getIndexType(), integer);
  }

  const Emitter &emit;
  Value buffer, count;

private:
  /// A place is a position in the first dimensions.
  void refuseAt(StringRef symbol, Value place, size_t rank, Value value, Value size) const {
    Values coordinates(rank);
    for (size_t d = rank; d-- > 0;) {
      Value quotient = emit.divide(place, emit.storage.dims[d]);
      coordinates[d] = emit.sub(place, emit.mul(quotient, emit.storage.dims[d]));
      place = quotient;
    }
    assemble::call(emit, symbol,
                   {address(characters(text)), emit.constant(int64_t(text.size())),
                    address(inMemory(coordinates)), emit.constant(int64_t(rank)), value, size});
  }
  Value address(Value memory) const {
    return memref::ExtractAlignedPointerAsIndexOp::create(emit.builder, emit.loc, memory);
  }
  Value inMemory(ArrayRef<Value> numbers) const {
    OpBuilder &b = emit.builder;
    const auto count = std::max<int64_t>(int64_t(numbers.size()), 1);
    Value memory = levels::allocaAtEntry(b, emit.loc, MemRefType::get({count}, b.getI64Type()));
    for (auto [n, number] : llvm::enumerate(numbers))
      memref::StoreOp::create(b, emit.loc, arith::IndexCastOp::create(b, emit.loc, b.getI64Type(), number),
                              memory, emit.constant(int64_t(n)));
    return memory;
  }
  Value forEachRead(unsigned d, Value position, Value carried, Step step) const {
    const ArrayRef<int64_t> fixed = *places;
    if (d == fixed.size())
      return step(position, carried);
    Value size = emit.storage.dims[d], first = emit.mul(position, size);
    if (fixed[d] >= 0)
      return forEachRead(d + 1, emit.add(first, emit.constant(fixed[d])), carried, step);
    return loop({emit.constant(0), size}, carried, [&](Value coordinate, Value inner) {
      return forEachRead(d + 1, emit.add(first, coordinate), inner, step);
    });
  }
  Value loop(PositionRange range, Value start, Step step) const {
    return levels::forLoop(
        emit.builder, emit.loc, range.begin, range.end, LoopKind::Reduction, start,
        [&](Value iteration, const Values &carried) -> Values { return {step(iteration, carried[0])}; })[0];
  }

  /// A constant buffer with the characters of a text.
  Value characters(StringRef text) const {
    OpBuilder &b = emit.builder;
    auto module = b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
    std::string name = "text";
    for (unsigned number = 0; module.lookupSymbol(name); ++number)
      name = "text" + std::to_string(number);
    auto type = MemRefType::get({int64_t(text.size())}, b.getI8Type());
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(module.getBody());
      SmallVector<int8_t> bytes(text.begin(), text.end());
      auto values =
          DenseElementsAttr::get(RankedTensorType::get(type.getShape(), b.getI8Type()), ArrayRef(bytes));
      memref::GlobalOp::create(b, emit.loc, name, b.getStringAttr("private"), type, values,
                               /*constant=*/true, IntegerAttr());
    }
    return memref::GetGlobalOp::create(b, emit.loc, type, name);
  }

  StringRef text;
  std::optional<ArrayRef<int64_t>> places;
  PositionRange read;
};

/// Integers against a size.
class Integers : Table {
public:
  using Table::readOnly;

  Integers(const Emitter &emit, BoundedIndicesOp op, Value size)
      : Table(emit, op.getText(), op.getAt()), op(op), size(size) {
    // Sums have 64 bits: one beyond them wraps to what is no coordinate either.
    type = op.getPlus() == 0 ? cast<IntegerType>(emit.storage.element) : emit.builder.getI64Type();
    // No integer of the type is above its largest.
    const unsigned width = type.getWidth();
    Value most = width < 64 ? emit.umin(size, emit.constant(int64_t(1) << (width - 1))) : size;
    limit = arith::IndexCastOp::create(emit.builder, emit.loc, type, most);
  }

  /// Ends the call where one is outside.
  void check() const {
    // LLVM makes vectors of a maximum, however short the loop is,
    // but branches of conditions.
    Value zero = emit.constantInt(type, 0);
    Value most =
        forEachRead(zero, [&](Value position, Value most) -> Value { return emit.umax(most, at(position)); });
    levels::when(emit, isOutside(most), [&] {
      forEachRead(zero, [&](Value position, Value carried) {
        levels::when(emit, isOutside(at(position)), [&] { refuse(position); });
        return carried;
      });
    });
  }

  /// Memory for as many integers of a type, each of which is a coordinate, or none.
  Value bounded(IntegerType wide) const {
    OpBuilder &b = emit.builder;
    const bool nearest = op.getOutside() == Outside::Nearest;
    if (nearest) // of none, there is no nearest one
      levels::when(emit,
                   emit.both(emit.compare(arith::CmpIPredicate::eq, size, emit.constant(0)),
                             emit.compare(arith::CmpIPredicate::ne, count, emit.constant(0))),
                   [&] { refuse(emit.constant(0)); });
    Value to = memref::AllocOp::create(b, emit.loc, MemRefType::get({ShapedType::kDynamic}, wide), count);
    Value zero = emit.constantInt(wide, 0), none = emit.constantInt(wide, -1);
    Value last = arith::SubIOp::create(b, emit.loc, resized(limit, wide), emit.constantInt(wide, 1));
    Value first = emit.constantInt(b.getI64Type(), -op.getPlus());
    levels::forEach(b, emit.loc, emit.constant(0), count, LoopKind::Parallel, [&](Value position) {
      Value integer = at(position), value = resized(integer, wide), other = none;
      if (nearest)
        other = emit.select(
            emit.compare(arith::CmpIPredicate::slt, resized(stored(position), b.getI64Type()), first), zero,
            last);
      memref::StoreOp::create(b, emit.loc, emit.select(isOutside(integer), other, value), to, position);
    });
    return to;
  }

private:
  using Step = function_ref<Value(Value position, Value carried)>;

  Value at(Value position) const {
    Value integer = resized(stored(position), type);
    if (op.getPlus() == 0)
      return integer;
    return arith::AddIOp::create(emit.builder, emit.loc, integer, emit.constantInt(type, op.getPlus()));
  }
  /// A negative one is large without its sign.
  Value isOutside(Value integer) const { return emit.compare(arith::CmpIPredicate::uge, integer, limit); }
  Value resized(Value integer, IntegerType to) const {
    const unsigned own = cast<IntegerType>(integer.getType()).getWidth();
    if (own == to.getWidth())
      return integer;
    if (own < to.getWidth())
      return arith::ExtSIOp::create(emit.builder, emit.loc, to, integer);
    return arith::TruncIOp::create(emit.builder, emit.loc, to, integer);
  }

  void refuse(Value position) const { Table::refuse("tulle_error_index", position, at(position), size); }

  mutable BoundedIndicesOp op; ///< accessors of operations are not const
  Value size, limit;
  IntegerType type; ///< of what is compared
};

/// Ends the call where two integers are the same coordinate: each that was met has a bit, of those below the
/// size.
void checkDistinct(const Emitter &emit, DistinctIndicesOp op, Value size) {
  OpBuilder &b = emit.builder;
  const Table table(emit, op.getText(), op.getAt());
  Value words = emit.add(emit.shiftRight(size, 6), 1);
  Value met =
      memref::AllocOp::create(b, emit.loc, MemRefType::get({ShapedType::kDynamic}, b.getI64Type()), words);
  Value zero = emit.constantInt(b.getI64Type(), 0), one = emit.constantInt(b.getI64Type(), 1);
  levels::forEach(b, emit.loc, emit.constant(0), words, LoopKind::Parallel,
                  [&](Value word) { memref::StoreOp::create(b, emit.loc, zero, met, word); });
  table.forEachRead(emit.constant(0), [&](Value position, Value carried) {
    Value integer = table.stored(position),
          at = arith::IndexCastOp::create(b, emit.loc, b.getIndexType(), integer);
    levels::when(emit, emit.isBelow(at, size), [&] {
      Value word = emit.shiftRight(at, 6);
      Value bit = arith::ShLIOp::create(
          b, emit.loc, one,
          arith::IndexCastOp::create(b, emit.loc, b.getI64Type(), emit.both(at, emit.constant(63))));
      Value had = memref::LoadOp::create(b, emit.loc, met, word);
      Value twice = emit.isDifferent(emit.both(had, bit), zero);
      levels::when(emit, twice, [&] { table.refuse("tulle_error_repeated", position, integer, size); });
      memref::StoreOp::create(b, emit.loc, arith::OrIOp::create(b, emit.loc, had, bit), met, word);
    });
    return carried;
  });
  memref::DeallocOp::create(b, emit.loc, met);
}

/// Several coordinates at each place, in a hash table of the places that were met: it has a slot in two for
/// each, whatever the sizes are.
class PlacesMet {
public:
  PlacesMet(const Emitter &emit, DistinctIndicesOp op, ArrayRef<Value> sizes)
      : emit(emit), b(emit.builder), table(emit, op.getText(), std::nullopt), sizes(sizes),
        places(emit.divide(table.count, emit.constant(int64_t(sizes.size())))),
        capacity(emit.add(emit.add(places, places), 1)) {}

  /// Ends the call where the coordinates of a place are those of one before.
  void check() {
    slots = memref::AllocOp::create(b, emit.loc, MemRefType::get({ShapedType::kDynamic}, b.getIndexType()),
                                    capacity);
    levels::forEach(b, emit.loc, zero, capacity, LoopKind::Parallel,
                    [&](Value slot) { memref::StoreOp::create(b, emit.loc, zero, slots, slot); });
    levels::forEach(b, emit.loc, zero, places, LoopKind::Reduction, [&](Value place) {
      const Values own = at(place);
      Value inside = emit.isBelow(own[0], sizes[0]);
      for (size_t k = 1; k < own.size(); ++k)
        inside = emit.both(inside, emit.isBelow(own[k], sizes[k]));
      levels::when(emit, inside, [&] { insert(place, own); });
    });
    memref::DeallocOp::create(b, emit.loc, slots);
  }

private:
  const Emitter &emit;
  OpBuilder &b;
  const Table table;
  ArrayRef<Value> sizes;
  Value places, capacity, slots, zero = emit.constant(0);

  Values at(Value place) const {
    Values coordinates;
    Value first = emit.mul(place, int64_t(sizes.size()));
    for (size_t k = 0; k < sizes.size(); ++k)
      coordinates.push_back(table.coordinate(table.stored(emit.add(first, int64_t(k)))));
    return coordinates;
  }
  /// The next slot without a place is that of this one; slots hold numbers of places from 1 on.
  void insert(Value place, const Values &own) const {
    auto met = [&](Value slot) -> Value { return memref::LoadOp::create(b, emit.loc, slots, slot); };
    Value slot = levels::whileLoop(
        b, emit.loc, slotOf(own),
        [&](const Values &probed) { return emit.isDifferent(met(probed[0]), zero); },
        [&](const Values &probed) -> Values {
          const Values other = at(emit.sub(met(probed[0]), 1));
          Value same = emit.isEqual(own[0], other[0]);
          for (size_t k = 1; k < own.size(); ++k)
            same = emit.both(same, emit.isEqual(own[k], other[k]));
          levels::when(emit, same, [&] { table.refuseTogether("tulle_error_repeated_place", place, own); });
          Value next = emit.add(probed[0], 1);
          return {emit.select(emit.isBelow(next, capacity), next, zero)};
        })[0];
    memref::StoreOp::create(b, emit.loc, emit.add(place, 1), slots, slot);
  }
  /// Multiplication by an odd number near 2^64 divided by the golden ratio spreads neighbours.
  Value slotOf(const Values &coordinates) const {
    Value hash = zero, factor = emit.constant(int64_t(0x9e3779b97f4a7c15));
    for (Value coordinate : coordinates) {
      hash = arith::MulIOp::create(b, emit.loc, arith::AddIOp::create(b, emit.loc, hash, coordinate), factor);
      hash = arith::XOrIOp::create(b, emit.loc, hash, emit.shiftRight(hash, 32));
    }
    return arith::RemUIOp::create(b, emit.loc, hash, capacity);
  }
};

} // namespace

void Lowering::lower(BoundedIndicesOp op) {
  const levels::Storage &source = *tensors.lookup(op.getSource());
  Emitter emit = emitter(op, op.getSource());
  Integers integers(emit, op, values.lookup(op.getSize()));
  if (op.getOver())
    integers.readOnly(spaces.at(op.getOver()).bounds());
  if (op.getOutside() == Outside::Error)
    integers.check();
  if (op.isCheck()) {
    tensors[op.getResult()] = &source;
    return;
  }
  Value made = integers.bounded(cast<IntegerType>(op.getResult().getType().getElementType()));
  temporaries.push_back(made);
  addStorage(op.getResult(), made, source.dims);
}

void Lowering::lower(DistinctIndicesOp op) {
  Values sizes;
  for (Value size : op.getSizes())
    sizes.push_back(values.lookup(size));
  if (sizes.size() == 1)
    checkDistinct(emitter(op, op.getSource()), op, sizes[0]);
  else
    PlacesMet(emitter(op, op.getSource()), op, sizes).check();
  tensors[op.getResult()] = tensors.lookup(op.getSource());
}

void Lowering::lower(ReshapeOp op) {
  addStorage(op.getResult(), tensors.lookup(op.getSource())->fields, plain(op.getSizes()));
}

void Lowering::lower(OneHotOp op) {
  const levels::Storage &source = *tensors.lookup(op.getSource());
  const format::Layout layout = format::layout(getEncoding(op.getResult().getType()).getValue());
  Values fields(layout.fields.size(), source.fields.back()), sizes(source.dims);
  sizes.push_back(values.lookup(op.getSize()));
  addStorage(op.getResult(), fields, sizes);
  storages.back()->noPadding = op.getTotal();
}

} // namespace tulle::lower
