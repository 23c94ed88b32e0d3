// tulle-lower-accumulate: the entries of a row that lives in one iteration of a loop, as a list of
// coordinates and values. Where they are combined, an array with a bit set or a hash table, is what differs.
#include "levels/Control.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/AllocationPlan.h"
#include "passes/assemble/algorithms/CloneLoops.h"
#include "passes/assemble/algorithms/CoordinateBits.h"
#include "passes/assemble/choose/Strategies.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
using namespace assemble;
#define GEN_PASS_DEF_LOWERACCUMULATE
#include "passes/Passes.h.inc"

namespace {

/// Memory of a task that stays from one iteration to the next, and grows with what these need.
class GrowingBuffer {
public:
  GrowingBuffer(const Target &target, Type element)
      : target(target), type(MemRefType::get({ShapedType::kDynamic}, element)) {
    OpBuilder &b = target.builder;
    cell = levels::allocaAtEntry(b, target.loc, MemRefType::get({}, type));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(cell);
    memref::StoreOp::create(b, target.loc, newBuffer(target, element, target.constant(1)), cell,
                            ValueRange());
    b.setInsertionPoint(cell.getParentBlock()->getTerminator());
    freeBuffers(target, get());
  }

  /// Memory for at least so many elements, which hold anything.
  Value reserve(Value count) const {
    OpBuilder &b = target.builder;
    Value held = make<memref::DimOp>(target, get(), target.constant(0));
    when(target, rarely(target, target.isBelow(held, count)), [&] {
      freeBuffers(target, get());
      memref::StoreOp::create(b, target.loc, newBuffer(target, type.getElementType(), count), cell,
                              ValueRange());
    });
    return get();
  }

private:
  Value get() const { return make<memref::LoadOp>(target, cell, ValueRange()); }

  const Target &target;
  MemRefType type;
  Value cell;
};

/// The smallest power of two that is not less.
Value powerOfTwo(const Target &target, Value count) {
  Value one = target.constant(1);
  Value bits = bitLength(target, target.sub(target.umax(count, 1), one));
  return target.shiftLeft(one, bits);
}

/// A row in the making.
class Row {
public:
  Row(Target &target, const Stream &stream)
      : target(target), stream(stream), b(target.builder), size(target.levelSize(0)),
        count(target, b.getIndexType()) {
    count.set(target.constant(0));
  }

  /// Entries that are distinct and come in the list's order.
  void append() {
    reserveList(mostEntries());
    insertEach([&](Value at, Value value) { add(at, target.toMemory(value)); });
  }

  /// An array of values, of which a bit set says which are there.
  void accumulateInArray() {
    Value sums = newBuffer(target, target.elementType(target.storage.layout.valuesField()), size);
    const CoordinateBits keys(target, size);
    Register entries(target, target.constant(0));
    insertEach([&](Value at, Value value) {
      Value isNew = keys.insert(at), stored = target.toMemory(value);
      if (!stream.order.unique)
        stored = target.select(isNew, stored, combined(sums, at, value));
      storeAt(target, stored, sums, at);
      entries.set(target.add(entries.get(), make<arith::IndexCastUIOp>(target, b.getIndexType(), isNew)));
    });
    reserveList(entries.get());
    keys.drain([&](Value at) { add(at, loadAt(target, sums, at)); });
    keys.free();
    freeBuffers(target, sums);
  }

  /// The list itself: a table has where in it each coordinate is.
  void accumulateInTable() {
    Value most = mostEntries(), two = target.constant(2);
    reserveList(most);
    // At most half of the slots are taken: probes end.
    slots = powerOfTwo(target, target.mul(target.umax(most, 1), two));
    Type key = target.storage.layout.fields[coordinatesField()].width == 64 ? b.getI64Type() : b.getI32Type();
    keys = GrowingBuffer(target, key).reserve(slots);
    places = GrowingBuffer(target, key).reserve(slots);
    fillBuffer(target, keys, target.constant(0), slots, target.constantInt(key, -1));
    insertEach([&](Value at, Value value) { insertInTable(at, value); });
    isUnsorted = true;
  }

  void finish() {
    const unsigned positions = *target.storage.layout.positions[0];
    Value bounds = newBuffer(target, target.elementType(positions), target.constant(2));
    target.storage.fields[positions] = bounds;
    target.storage.fields[coordinatesField()] = coordinates;
    target.storage.fields.back() = values;
    target.store(positions, target.constant(0), target.constant(0));
    target.storeChecked(positions, target.constant(1), count.get());
    if (isUnsorted && target.format(0).ordered)
      target.sortSegments(target.constant(0), target.constant(1), target.constant(0));
    // Readers may look ahead as far as the buffers go.
    target.shrink(coordinatesField(), count.get());
    target.shrink(target.storage.layout.valuesField(), count.get());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(b.getInsertionBlock()->getTerminator());
    freeBuffers(target, bounds);
  }

private:
  Target &target;
  const Stream &stream;
  OpBuilder &b;
  Value size;
  Register count;            ///< entries in the list
  Value coordinates, values; ///< the list
  Value slots, keys, places; ///< of the table; a key is -1 where the slot is free
  bool isUnsorted = false;

  unsigned coordinatesField() const { return target.storage.layout.coordinates[0]->field; }

  void insertEach(function_ref<void(Value, Value)> insert) {
    cloneLoops(b, stream, nullptr,
               [&](ValueRange dims, Value value) { insert(target.levelCoordinates(dims)[0], value); });
  }

  /// As many as there are inserts, or coordinates.
  Value mostEntries() {
    Register inserts(target, target.constant(0));
    cloneCounting(b, stream, nullptr, [&](ValueRange) { inserts.increment(); });
    return target.umin(inserts.get(), size);
  }

  void reserveList(Value most) {
    target.checkWidth(coordinatesField(), size);
    Value length = powerOfTwo(target, most);
    coordinates = GrowingBuffer(target, target.elementType(coordinatesField())).reserve(length);
    values = GrowingBuffer(target, target.elementType(target.storage.layout.valuesField())).reserve(length);
  }

  /// What element `at` holds when a value is combined with it.
  Value combined(Value buffer, Value at, Value value) const {
    return target.toMemory(target.combineValues(target.fromMemory(loadAt(target, buffer, at)), value));
  }

  /// One more entry, whose value is as it stands in memory. Returns its place.
  Value add(Value at, Value value) {
    Value place = count.get();
    storeAt(target, make<arith::IndexCastUIOp>(target, target.elementType(coordinatesField()), at),
            coordinates, place);
    storeAt(target, value, values, place);
    count.increment();
    return place;
  }

  void insertInTable(Value at, Value value) {
    Type type = cast<MemRefType>(keys.getType()).getElementType();
    Value key = make<arith::IndexCastUIOp>(target, type, at), free = target.constantInt(type, -1);
    Value slot = probe(key, at);
    either(
        target, target.isEqual(loadAt(target, keys, slot), free),
        [&] {
          Value place = add(at, target.toMemory(value));
          storeAt(target, key, keys, slot);
          storeAt(target, make<arith::IndexCastUIOp>(target, type, place), places, slot);
        },
        [&] {
          Value place = target.toIndex(loadAt(target, places, slot));
          storeAt(target, combined(values, place, value), values, place);
        });
  }

  /// The first slot that is free or has the key, from the top bits of its product with 2^64 / the golden
  /// ratio on.
  Value probe(Value key, Value at) const {
    Value product = make<arith::MulIOp>(target, at, target.constant(int64_t(0x9E3779B97F4A7C15)));
    Value start = arith::MulUIExtendedOp::create(b, target.loc, product, slots).getHigh();
    Value free = target.constantInt(key.getType(), -1), last = target.sub(slots, 1);
    return levels::whileLoop(
        target, start,
        [&](Values slot) {
          Value there = loadAt(target, keys, slot[0]);
          return target.both(target.isDifferent(there, key), target.isDifferent(there, free));
        },
        [&](Values slot) -> Values { return {target.both(target.add(slot[0], 1), last)}; })[0];
  }
};

void lower(Target &target, const Stream &stream, AccumulateOp op) {
  Row row(target, stream);
  if (stream.order.unique && (!target.format(0).ordered || stream.order.sorted()))
    row.append();
  else if (op.getHashed())
    row.accumulateInTable();
  else
    row.accumulateInArray();
  row.finish();
}

struct LowerAccumulate : impl::LowerAccumulateBase<LowerAccumulate> {
  void runOnOperation() override {
    const FailureOr<bool> lowered = lowerBuild<AccumulateOp>(getOperation(), fitsRow, lower);
    if (failed(lowered))
      return signalPassFailure();
    if (!*lowered)
      return markAllAnalysesPreserved();
    getOperation()->walk([](EntriesOp entries) {
      if (entries->use_empty())
        entries.erase();
    });
  }
};

} // namespace
} // namespace tulle::passes
