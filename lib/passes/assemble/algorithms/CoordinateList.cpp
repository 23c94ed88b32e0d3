// Packs the numbers of a record into words, in order; no number lies in two.
#include "passes/assemble/algorithms/CoordinateList.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "passes/assemble/algorithms/AllocationPlan.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::ExprKind;

/// Dimensions' coordinates fit the target's coordinates field where every level is a dimension as it is.
static bool hasNarrowCoordinates(const format::Encoding &encoding) {
  return encoding.crdWidth == 32 && llvm::all_of(encoding.levels, [](const format::Level &level) {
           return level.expr->kind == ExprKind::Dim;
         });
}

CoordinateList::CoordinateList(const Target &target, Value list)
    : target(target), list(list), narrow(hasNarrowCoordinates(target.encoding())) {
  for (int64_t d = 0; d < target.tensor.getRank(); ++d)
    add(IntegerType::get(target.tensor.getContext(), narrow ? 32 : 64));
  auto complex = dyn_cast<ComplexType>(target.storage.element);
  add(complex ? complex.getElementType() : target.storage.element);
  if (complex)
    add(complex.getElementType());
}

void CoordinateList::add(Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  if (used + bits > 64) {
    ++words;
    used = 0;
  }
  fields.push_back({type, words - 1, used});
  used += bits;
}

Value CoordinateList::allocate(Value bound) const {
  Value size = target.product(target.levels(), bound, target.constant(words));
  return newBuffer(target, target.builder.getI64Type(), size);
}

/// A dense level's coordinate is stored nowhere, so that nobody else would notice that it does not fit.
void CoordinateList::checkSizes() const {
  if (!narrow)
    return;
  for (auto [l, level] : llvm::enumerate(target.encoding().levels)) {
    Value size = target.storage.dims[size_t(level.expr->value)];
    Value wide = target.isAbove(size, int64_t(1) << 32);
    when(target, wide, [&, l = int64_t(l)] {
      call(target, "tulle_error_width", {target.constant(l), size, target.constant(32)});
    });
  }
}

Value CoordinateList::address(Value at, int64_t word) const {
  return target.add(target.mul(at, words), word);
}

static IntegerType bitsOf(Type type) {
  return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth());
}

/// The number's bits as a word.
static Value toWord(const Target &target, Value number) {
  Type type = number.getType(), word = target.builder.getI64Type();
  if (type.isIndex())
    return make<arith::IndexCastUIOp>(target, word, number);
  if (isa<FloatType>(type))
    number = make<arith::BitcastOp>(target, bitsOf(type), number);
  return number.getType() == word ? number : make<arith::ExtUIOp>(target, word, number);
}

void CoordinateList::put(Value at, ValueRange dims, Value value) const {
  Values numbers(dims);
  if (auto complex = dyn_cast<ComplexType>(value.getType())) {
    numbers.push_back(make<complex::ReOp>(target, complex.getElementType(), value));
    numbers.push_back(make<complex::ImOp>(target, complex.getElementType(), value));
  } else {
    numbers.push_back(value);
  }
  Values made;
  for (auto [number, field] : llvm::zip_equal(numbers, fields)) {
    Value bits = toWord(target, number);
    if (field.shift == 0) {
      made.push_back(bits);
      continue;
    }
    Value shift = target.constantInt(bits.getType(), field.shift);
    made.back() = make<arith::OrIOp>(target, made.back(), target.shiftLeft(bits, shift));
  }
  for (auto [word, bits] : llvm::enumerate(made))
    storeAt(target, bits, list, address(at, int64_t(word)));
}

Value CoordinateList::load(Value at, const Field &field) const {
  Value bits = loadAt(target, list, address(at, field.word));
  if (field.shift != 0)
    bits = target.shiftRight(bits, field.shift);
  IntegerType type = bitsOf(field.type);
  if (type.getWidth() < 64)
    bits = make<arith::TruncIOp>(target, type, bits);
  return type == field.type ? bits : make<arith::BitcastOp>(target, field.type, bits);
}

Values CoordinateList::dims(Value at) const {
  return llvm::map_to_vector<6>(ArrayRef(fields).take_front(size_t(target.tensor.getRank())),
                                [&](const Field &field) { return target.toIndex(load(at, field)); });
}

Value CoordinateList::value(Value at) const {
  Value first = load(at, fields[size_t(target.tensor.getRank())]);
  return isa<ComplexType>(target.storage.element)
             ? make<complex::CreateOp>(target, target.storage.element, first, load(at, fields.back()))
             : first;
}

//===--- Sorted lists ---===//

/// The levels that the entries have to be sorted by; those behind are in order already.
static unsigned levelsToSort(const Target &target, const Order &order) {
  unsigned stored = target.storedLevels();
  // Repeats in a block are told by coming next to each other where its values do not tell them.
  bool byBlock = !order.unique && stored < target.levels() && !target.fillIsIdentity();
  unsigned needed = byBlock ? target.levels() : stored;
  unsigned outer = 0;
  while (outer < needed && order.sortedLevels(outer) < needed - outer)
    ++outer;
  return outer;
}

void sortAndAppend(Target &target, EntriesOp entries, bool parallel) {
  OpBuilder &b = target.builder;
  const Stream stream = streamOf(entries, target.encoding());
  Value inserts = boundInserts(target, stream);
  auto buffer = MemRefType::get({ShapedType::kDynamic}, b.getI64Type());
  auto collected =
      CollectOp::create(b, target.loc, buffer, b.getIndexType(), entries, inserts, target.storage.dims,
                        target.type(), parallel && canPartition(*stream.loops));
  Values lists{collected.getList()};
  if (unsigned levels = levelsToSort(target, stream.order)) {
    Value spare = CoordinateList(target, {}).allocate(inserts);
    auto sort =
        SortOp::create(b, target.loc, lists[0], spare, collected.getCount(), levels, target.type(), parallel);
    lists.assign({sort.getSorted(), sort.getOther()});
  }
  auto appended = AppendOp::create(
      b, target.loc, levels::fieldTypes(target.storage.layout, target.storage.element), lists[0],
      collected.getCount(), target.storage.dims, target.type(), stream.order.unique, /*parallel=*/false,
      /*share=*/false, target.combine, target.plan);
  target.storage.fields = appended.getBuffers();
  freeBuffers(target, lists);
}

} // namespace tulle::assemble
