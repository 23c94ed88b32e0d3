#include "passes/assemble/Strips.h"
#include "format/Places.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/assemble/Stream.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;
using format::ExprKind;
using format::LevelKind;

/// Slabs of this many slots are whole pages' worth of lines, and those of a hundred still fit a second-level
/// cache.
constexpr int64_t kStripLength = 128;
/// Elements before each slab: room for a line's end that waits for the rest of the line, of elements of 32
/// bits and wider, and so many that slabs do not begin where the caches hold one another's.
constexpr int64_t kApart = 24;
constexpr int64_t kMostWaiting = 16;

/// Whether a level above the dense one has no memory for each of its positions.
static bool fitsAbove(const format::LevelFormat &format) {
  return format.kind == LevelKind::Dense || format.kind == LevelKind::Squeezed;
}

/// Whether a level below the dense one has one slot for each of its positions.
static bool fitsBelow(const Target &target, unsigned l) {
  if (target.format(l).kind == LevelKind::Offset)
    return true;
  const auto &ref = target.storage.layout.coordinates[l];
  return target.format(l).kind == LevelKind::Singleton && ref->stride == 1 &&
         target.storage.layout.fields[ref->field].width != 2;
}

/// Whether there can be slots without an entry.
static bool leavesSlots(const Target &target) {
  const format::LevelFormat &last = target.format(target.levels() - 1);
  return last.kind != LevelKind::Singleton || last.padded;
}

std::optional<unsigned> Strips::levelOf(const Target &target, const Order &order) {
  if (order.keys.empty() || order.keys[0]->kind != ExprKind::Dim || !leavesSlots(target))
    return std::nullopt;
  unsigned level = 0;
  while (level < target.levels() &&
         (order.levels[level]->kind != ExprKind::Dim || order.levels[level]->value != order.keys[0]->value)) {
    if (!fitsAbove(target.format(level)))
      return std::nullopt;
    ++level;
  }
  // Of the first level, the slots of a coordinate stand together.
  if (level == 0 || level + 1 >= target.levels() || target.format(level).kind != LevelKind::Dense ||
      format::hasReserve(target.encoding(), target.levels() - 1))
    return std::nullopt;
  for (unsigned l = level + 1; l < target.levels(); ++l)
    if (!fitsBelow(target, l))
      return std::nullopt;
  return level;
}

/// All bits set in coordinates: an empty slot. Values become the fill.
static Value emptyElement(OpBuilder &b, const Target &target, unsigned field) {
  if (field == target.storage.layout.valuesField())
    return target.fill(b);
  auto type = levels::fieldTypes(target.storage.layout, target.storage.element)[field];
  Type element = cast<MemRefType>(type).getElementType();
  return arith::ConstantOp::create(b, target.loc, b.getIntegerAttr(element, -1));
}

static void emptyElements(OpBuilder &b, const Target &target, unsigned field, Value from, Value to) {
  Value empty = emptyElement(b, target, field);
  levels::forLoop(b, target.loc, from, to, LoopKind::Parallel, {}, [&](Value at, levels::Values) {
    memref::StoreOp::create(b, target.loc, empty, target.storage.fields[field], at);
    return levels::Values{};
  });
}

static SmallVector<unsigned> slotFields(const Target &target, unsigned level) {
  SmallVector<unsigned> fields;
  for (unsigned l = level + 1; l < target.levels(); ++l)
    if (const auto &ref = target.storage.layout.coordinates[l])
      fields.push_back(ref->field);
  fields.push_back(target.storage.layout.valuesField());
  return fields;
}

/// Runs the body for every position of the level above the dense one.
static void forSlabs(const TargetAssembly &a, Value slabs, function_ref<void(Value slab)> body) {
  levels::forLoop(a.builder, a.loc, a.constant(0), slabs, LoopKind::Reduction, {},
                  [&](Value slab, levels::Values) {
                    body(slab);
                    return levels::Values{};
                  });
}

void Strips::empty(const TargetAssembly &a, unsigned level, ArrayRef<levels::LevelBuild> builds, Value from,
                   Value to) {
  a.when(a.compare(CmpIPredicate::ult, from, to), [&] {
    forSlabs(a, builds[level].parents, [&](Value slab) {
      Value begin = a.mul(slab, builds[level].size);
      for (unsigned field : slotFields(a.target, level))
        emptyElements(a.builder, a.target, field, a.add(begin, from), a.add(begin, to));
    });
  });
}

Strips::Strips(const TargetAssembly &a, unsigned level, ArrayRef<levels::LevelBuild> builds)
    : assembly(a), level(level), builds(builds), roomTarget(a.target), fields(slotFields(a.target, level)),
      first(a.builder, a.loc, a.constant(0)), base(a.builder, a.loc, a.constant(0)),
      limit(a.builder, a.loc, a.constant(0)), end(a.builder, a.loc, a.constant(0)),
      waits(a.builder, a.loc, a.constant(0)) {
  OpBuilder &b = a.builder;
  large = isStreamed(b, a.target, a.target.storage.fields[a.target.storage.layout.valuesField()]);
  length = a.constant(kStripLength);
  stride = arith::MinUIOp::create(b, a.loc, length, builds[level].size);
  stride = a.add(stride, a.constant(kApart));
  Value slots = a.target.checkedSize(b, level, builds[level].parents, stride);
  for (unsigned field : fields) {
    Target &room = roomTarget;
    auto type = cast<MemRefType>(levels::fieldTypes(room.storage.layout, room.storage.element)[field]);
    room.storage.fields[field] = memref::AllocOp::create(b, a.loc, type, slots);
    emptyElements(b, room, field, a.constant(0), slots);
  }
}

/// The first strip ends where all strips do, at a multiple of their length.
void Strips::enter(Value coordinate) const {
  const TargetAssembly &a = assembly;
  OpBuilder &b = a.builder;
  a.when(rarely(b, a.loc, a.compare(CmpIPredicate::uge, coordinate, limit.get(b))), [&] {
    Value now = opaque(b, a.loc, coordinate);
    Value begins = a.compare(CmpIPredicate::eq, limit.get(b), a.constant(0));
    first.set(b, arith::SelectOp::create(b, a.loc, begins, now, first.get(b)));
    base.set(b, arith::SelectOp::create(b, a.loc, begins, now, base.get(b)));
    flush(now, /*more=*/true);
    base.set(b, now);
    Value strip = arith::DivUIOp::create(b, a.loc, now, length);
    limit.set(b, a.mul(a.add(strip, a.constant(1)), length));
  });
  end.set(b, a.add(coordinate, a.constant(1)));
}

Value Strips::place(Value above, Value coordinate) const {
  const TargetAssembly &a = assembly;
  return a.add(slabStart(above), a.sub(coordinate, base.get(a.builder)));
}

Value Strips::slabStart(Value slab) const {
  return assembly.add(assembly.mul(slab, stride), assembly.constant(kApart));
}

/// Elements of a line of a field; 0 where none of them wait.
static int64_t waitingLine(const Target &target, unsigned field) {
  auto type = cast<MemRefType>(levels::fieldTypes(target.storage.layout, target.storage.element)[field]);
  Type element = type.getElementType();
  const int64_t lanes = element.isIntOrFloat() ? kCacheLine * 8 / element.getIntOrFloatBitWidth() : 0;
  return lanes <= kMostWaiting ? lanes : 0;
}

/// `count` elements of a slab, and those that wait, go to the result from coordinate `from` on; where it
/// `keeps` some, but for what does not fill the last line, which waits then.
void Strips::copySlab(unsigned field, Value slab, Value from, Value count, Value keeps) const {
  const TargetAssembly &a = assembly;
  OpBuilder &b = a.builder;
  Value room = roomTarget.storage.fields[field], result = a.target.storage.fields[field];
  Value held = slabStart(slab), to = a.add(a.mul(slab, builds[level].size), from);
  const int64_t lanes = waitingLine(a.target, field);
  if (!lanes)
    return copyElements(b, a.target, room, held, result, to, count);
  auto inLine = [&](Value at, Value condition) -> Value {
    Value rest = arith::AndIOp::create(b, a.loc, at, a.constant(lanes - 1));
    return arith::SelectOp::create(b, a.loc, condition, rest, a.constant(0));
  };
  Value before = inLine(to, a.compare(CmpIPredicate::ne, waits.get(b), a.constant(0)));
  Value behind = inLine(a.add(to, count), keeps), whole = a.sub(a.add(count, before), behind);
  copyElements(b, a.target, room, a.sub(held, before), result, a.sub(to, before), whole);
  a.when(a.compare(CmpIPredicate::ne, behind, a.constant(0)), [&] {
    auto type = VectorType::get({lanes}, cast<MemRefType>(room.getType()).getElementType());
    Value last = a.sub(a.add(held, count), a.constant(lanes));
    Value line = vector::LoadOp::create(b, a.loc, type, room, last);
    vector::StoreOp::create(b, a.loc, line, room, a.sub(held, a.constant(lanes)));
  });
}

/// The strip's coordinates before `end` go to the result; those between it and `end` are empty.
void Strips::flush(Value end, bool more) const {
  const TargetAssembly &a = assembly;
  OpBuilder &b = a.builder;
  Value from = base.get(b), stop = arith::MinUIOp::create(b, a.loc, limit.get(b), end);
  stop = arith::MaxUIOp::create(b, a.loc, from, stop);
  Value count = a.sub(stop, from), keeps = arith::ConstantIntOp::create(b, a.loc, 0, 1);
  if (more) {
    Value follows = a.compare(CmpIPredicate::eq, stop, end);
    Value fills = a.compare(CmpIPredicate::uge, count, a.constant(kMostWaiting));
    keeps = arith::AndIOp::create(b, a.loc, large, arith::AndIOp::create(b, a.loc, follows, fills));
  }
  forSlabs(a, builds[level].parents, [&](Value slab) {
    for (unsigned field : fields) {
      copySlab(field, slab, from, count, keeps);
      Value held = slabStart(slab);
      emptyElements(b, roomTarget, field, held, a.add(held, count));
    }
  });
  if (more)
    waits.set(b, arith::SelectOp::create(b, a.loc, keeps, a.constant(1), a.constant(0)));
  empty(a, level, builds, stop, end);
}

std::pair<Value, Value> Strips::finish() const {
  OpBuilder &b = assembly.builder;
  flush(end.get(b), /*more=*/false);
  for (unsigned field : fields)
    memref::DeallocOp::create(b, assembly.loc, roomTarget.storage.fields[field]);
  fence(b, assembly.loc);
  return {first.get(b), end.get(b)};
}

} // namespace tulle::assemble
