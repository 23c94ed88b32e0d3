// Keeps the slots of a tile in a staging buffer, a column after another, and copies each column's to the
// result when the next tile begins.
#include "passes/assemble/algorithms/ColumnTiles.h"
#include "format/Encoding.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/assemble/algorithms/StreamingStores.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;
using format::ExprKind;
using format::LevelKind;

/// Columns of this many slots are whole pages' worth of lines, and a hundred of those still fit an L2 cache.
constexpr int64_t kTileLength = 128;
/// Elements before each column: space for a line's end that waits for the rest of the line, of elements of 32
/// bits and wider, and so many that columns do not begin where the caches hold one another's.
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

/// The level above `below` that is the difference of two dimensions, and which is taken from the other.
static std::optional<TiledLevel> findApart(const Order &order, unsigned below, int64_t level, int64_t dim) {
  auto isDim = [](const format::Expr &e, int64_t d) {
    return e && e->kind == ExprKind::Dim && e->value == d;
  };
  for (unsigned l = 0; l < below; ++l) {
    const format::Expr &e = order.levels[l];
    if (e->kind != ExprKind::Sub)
      continue;
    const bool negated = isDim(e->lhs, level) && isDim(e->rhs, dim);
    if (negated || (isDim(e->lhs, dim) && isDim(e->rhs, level)))
      return TiledLevel{below, unsigned(dim), l, negated};
  }
  return std::nullopt;
}

std::optional<TiledLevel> TiledLevel::find(const Target &target, const Order &order) {
  if (order.keys.empty() || order.keys[0]->kind != ExprKind::Dim || !leavesSlots(target))
    return std::nullopt;
  const int64_t dim = order.keys[0]->value;
  std::optional<TiledLevel> found;
  for (unsigned l = 0; l < target.levels() && !found; ++l) {
    const format::Expr &e = order.levels[l];
    if (e->kind == ExprKind::Dim)
      found = e->value == dim ? TiledLevel{l, unsigned(dim), {}} : findApart(order, l, e->value, dim);
    if (!found && !fitsAbove(target.format(l)))
      return std::nullopt;
  }
  // Of the first level, the slots of a coordinate stand together.
  if (!found || found->level == 0 || found->level + 1 >= target.levels() ||
      target.format(found->level).kind != LevelKind::Dense ||
      format::hasReserve(target.encoding(), target.levels() - 1))
    return std::nullopt;
  // Without tiles (see `fit`) only values are emptied.
  for (unsigned l = found->level + 1; l < target.levels(); ++l)
    if (!fitsBelow(target, l) || (found->apart && target.storage.layout.coordinates[l]))
      return std::nullopt;
  return found;
}

/// All bits set in coordinates: an empty slot. Values become the fill.
static Value emptyElement(const Target &target, unsigned field) {
  if (field == target.storage.layout.valuesField())
    return target.fillValue();
  return target.constantInt(target.elementType(field), -1);
}

static void emptyElements(const Target &target, unsigned field, Value from, Value to) {
  fillBuffer(target, target.storage.fields[field], from, to, emptyElement(target, field));
}

//===--- Columns ---===//

SmallVector<unsigned> TiledColumns::slotFields() const {
  SmallVector<unsigned> fields;
  for (unsigned l = at.level + 1; l < a.levels(); ++l)
    if (const auto &ref = a.storage.layout.coordinates[l])
      fields.push_back(ref->field);
  fields.push_back(a.storage.layout.valuesField());
  return fields;
}

void TiledColumns::forEach(function_ref<void(Value column)> body) const {
  assemble::forEach(a, builds[at.level].parents, LoopKind::Reduction, body);
}

/// Each tile goes over all columns: of many more coordinates than slots in a column, most have nothing in a
/// tile (CSC to DIA of 10 rows and 100,000 columns took 130 times as long).
constexpr int64_t kMostTiles = 4;

Value TiledColumns::fitTiles() const {
  if (!at.apart)
    return {};
  return a.isBelow(a.divide(a.storage.dims[at.dim], a.add(slots(), kTileLength)), kMostTiles);
}

/// What is added to a dimension's coordinate to have that of the dense level, in one column; null for 0.
Value TiledColumns::shiftOf(Value column) const {
  if (!at.apart)
    return {};
  Value position = column;
  for (unsigned l = at.level - 1; l > *at.apart; --l)
    position = a.divide(position, builds[l].size);
  levels::Iterator parent;
  parent.position = a.constant(0);
  if (*at.apart != 0)
    parent.position = a.divide(position, builds[*at.apart].size);
  const levels::LevelFormat &format = *levels::find(a.format(*at.apart));
  Value apart = format.coordinate({a, *at.apart}, parent, position);
  return at.negated ? apart : a.difference(a.constant(0), apart);
}

/// The part of from … to - 1 that is in a column, which may be none.
std::pair<Value, Value> TiledColumns::clip(Value from, Value to) const {
  auto inside = [&](Value x) -> Value {
    x = make<arith::MaxSIOp>(a, x, a.constant(0));
    return make<arith::MinSIOp>(a, x, slots());
  };
  return {inside(from), inside(to)};
}

void TiledColumns::emptySlots(Value column, Value from, Value to) const {
  for (unsigned field : slotFields())
    emptyElements(a, field, a.add(startOf(column), from), a.add(startOf(column), to));
}

void TiledColumns::empty(Value from, Value to) const {
  when(a, a.isBelow(from, to), [&] {
    forEach([&](Value column) {
      Value first = from, last = to;
      if (Value shift = shiftOf(column))
        std::tie(first, last) = clip(a.sum(from, shift), a.sum(to, shift));
      emptySlots(column, first, last);
    });
  });
}

void TiledColumns::emptyOutside() const {
  if (!at.apart)
    return;
  forEach([&](Value column) {
    Value shift = shiftOf(column);
    auto [first, last] = clip(shift, a.sum(shift, a.storage.dims[at.dim]));
    emptySlots(column, a.constant(0), first);
    emptySlots(column, last, slots());
  });
}

//===--- Tiles ---===//

ColumnTiles::ColumnTiles(const TiledColumns &columns)
    : TiledColumns(columns), stagingTarget(a), fields(slotFields()), first(a, a.constant(0)),
      base(a, a.constant(0)), limit(a, a.constant(0)), end(a, a.constant(0)), waits(a, a.constant(0)) {
  large = isStreamed(a, a.storage.fields[a.storage.layout.valuesField()]);
  length = a.constant(kTileLength);
  stride = a.umin(length, a.storage.dims[at.dim]);
  stride = a.add(stride, kApart);
  Value slots = a.product(at.level, builds[at.level].parents, stride);
  for (unsigned field : fields) {
    stagingTarget.storage.fields[field] = newBuffer(a, a.elementType(field), slots);
    emptyElements(stagingTarget, field, a.constant(0), slots);
  }
}

/// The first tile ends where all tiles do, at a multiple of their length.
void ColumnTiles::enter(Value coordinate) const {
  when(a, rarely(a, a.compare(CmpIPredicate::uge, coordinate, limit.get())), [&] {
    Value now = opaque(a, coordinate);
    Value begins = a.isEqual(limit.get(), 0);
    first.set(a.select(begins, now, first.get()));
    base.set(a.select(begins, now, base.get()));
    flush(now, /*more=*/true);
    base.set(now);
    Value tile = a.divide(now, length);
    limit.set(a.mul(a.add(tile, 1), length));
  });
  end.set(a.add(coordinate, 1));
}

Value ColumnTiles::position(Value above, Value coordinate) const {
  return a.add(columnStart(above), a.sub(coordinate, base.get()));
}

Value ColumnTiles::columnStart(Value column) const { return a.add(a.mul(column, stride), kApart); }

/// Elements of a line of a field; 0 where none of them wait.
static int64_t waitingLine(const Target &target, unsigned field) {
  Type element = target.elementType(field);
  const int64_t lanes = element.isIntOrFloat() ? kCacheLine * 8 / element.getIntOrFloatBitWidth() : 0;
  return lanes <= kMostWaiting ? lanes : 0;
}

ColumnTiles::Chunk ColumnTiles::chunkOf(Value column, Value from, Value stop, Value keeps) const {
  Value begin = startOf(column), held = columnStart(column);
  Value shift = shiftOf(column);
  if (!shift)
    return {a.add(begin, from), a.sub(stop, from), held, held, {}, keeps};
  Value start = a.sum(from, shift);
  auto [first, last] = clip(start, a.sum(stop, shift));
  // What of the tile lies before the column's first slot.
  Value outside = a.difference(a.constant(0), start);
  outside = make<arith::MaxSIOp>(a, outside, a.constant(0));
  // What the column ends with does not wait: nothing behind it fills the line.
  auto inside = [&](Value x) { return a.isBelow(x, slots()); };
  Value before = a.select(inside(first), first, a.constant(0));
  return {a.add(begin, first),        a.sub(last, first), a.add(held, outside), held, before,
          a.both(keeps, inside(last))};
}

/// A chunk, and what waits before it, goes to the result; where it `keeps` some, but for what does not fill
/// the last line, which waits then.
void ColumnTiles::copyChunk(unsigned field, const Chunk &chunk) const {
  Value staging = stagingTarget.storage.fields[field], result = a.storage.fields[field];
  const int64_t lanes = waitingLine(a, field);
  if (!lanes)
    return copyElements(a, staging, chunk.held, result, chunk.to, chunk.count);
  auto inLine = [&](Value position, Value condition) {
    Value rest = a.both(position, lanes - 1);
    return a.select(condition, rest, a.constant(0));
  };
  // A column's first line begins in the column before, and what is not of this column does not wait here.
  auto atMost = [&](Value elements, Value most) -> Value { return most ? a.umin(elements, most) : elements; };
  Value before = inLine(chunk.to, a.isDifferent(waits.get(), 0));
  before = atMost(before, chunk.before);
  Value all = a.add(chunk.count, before);
  Value behind = inLine(a.add(chunk.to, chunk.count), chunk.keeps);
  behind = atMost(behind, chunk.before ? all : Value());
  copyElements(a, staging, a.sub(chunk.held, before), result, a.sub(chunk.to, before), a.sub(all, behind));
  when(a, a.isDifferent(behind, 0), [&] {
    auto type = VectorType::get({lanes}, cast<MemRefType>(staging.getType()).getElementType());
    Value last = a.sub(a.add(chunk.held, chunk.count), lanes);
    Value line = make<vector::LoadOp>(a, type, staging, last);
    vector::StoreOp::create(a.builder, a.loc, line, staging, a.sub(chunk.next, lanes));
  });
}

/// The tile's coordinates before `end` go to the result; those between it and `end` are empty.
void ColumnTiles::flush(Value end, bool more) const {
  Value from = base.get(), stop = a.umin(limit.get(), end);
  stop = a.umax(from, stop);
  Value count = a.sub(stop, from), keeps = a.constantInt(a.builder.getI1Type(), 0);
  if (more) {
    Value follows = a.isEqual(stop, end);
    Value fills = a.compare(CmpIPredicate::uge, count, kMostWaiting);
    keeps = a.both(large, a.both(follows, fills));
  }
  forEach([&](Value column) {
    const Chunk chunk = chunkOf(column, from, stop, keeps);
    for (unsigned field : fields) {
      copyChunk(field, chunk);
      emptyElements(stagingTarget, field, chunk.held, a.add(chunk.held, chunk.count));
    }
  });
  if (more)
    waits.set(a.select(keeps, a.constant(1), a.constant(0)));
  empty(stop, end);
}

std::pair<Value, Value> ColumnTiles::finish() const {
  flush(end.get(), /*more=*/false);
  for (unsigned field : fields)
    freeBuffers(a, stagingTarget.storage.fields[field]);
  fence(a);
  return {first.get(), end.get()};
}

} // namespace tulle::assemble
