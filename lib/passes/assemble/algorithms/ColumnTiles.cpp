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
  Value empty = emptyElement(target, field);
  forEach(target, from, to, LoopKind::Parallel,
          [&](Value at) { storeAt(target, empty, target.storage.fields[field], at); });
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
static void forColumns(const Target &a, Value columns, function_ref<void(Value column)> body) {
  forEach(a, a.constant(0), columns, LoopKind::Reduction, body);
}

/// Each tile goes over all columns: of many more coordinates than slots in a column, most have nothing in a
/// tile (CSC to DIA of 10 rows and 100,000 columns took 130 times as long).
constexpr int64_t kMostTiles = 4;

Value ColumnTiles::fit(const Target &a, const TiledLevel &at, ArrayRef<levels::LevelBuild> builds) {
  if (!at.apart)
    return {};
  Value slots = a.add(builds[at.level].size, a.constant(kTileLength));
  Value tiles = make<arith::DivUIOp>(a, a.storage.dims[at.dim], slots);
  return a.compare(CmpIPredicate::ult, tiles, a.constant(kMostTiles));
}

/// What is added to a dimension's coordinate to have that of the dense level, in one column; null for 0.
static Value shiftOf(const Target &a, const TiledLevel &at, ArrayRef<levels::LevelBuild> builds,
                     Value column) {
  if (!at.apart)
    return {};
  Value position = column;
  for (unsigned l = at.level - 1; l > *at.apart; --l)
    position = make<arith::DivUIOp>(a, position, builds[l].size);
  levels::Iterator parent;
  parent.position = a.constant(0);
  if (*at.apart != 0)
    parent.position = make<arith::DivUIOp>(a, position, builds[*at.apart].size);
  const levels::LevelFormat &format = *levels::find(a.format(*at.apart).kind);
  Value apart = format.coordinate({a, *at.apart}, parent, position);
  return at.negated ? apart : a.difference(a.constant(0), apart);
}

/// The part of from … to - 1 that is in a column of `size`, which may be none.
static std::pair<Value, Value> clip(const Target &a, Value from, Value to, Value size) {
  auto inside = [&](Value x) {
    x = make<arith::MaxSIOp>(a, x, a.constant(0));
    return make<arith::MinSIOp>(a, x, size);
  };
  return {inside(from), inside(to)};
}

static void emptyColumn(const Target &a, unsigned level, Value begin, Value from, Value to) {
  for (unsigned field : slotFields(a, level))
    emptyElements(a, field, a.add(begin, from), a.add(begin, to));
}

void ColumnTiles::empty(const Target &a, const TiledLevel &at, ArrayRef<levels::LevelBuild> builds,
                        Value from, Value to) {
  const levels::LevelBuild &build = builds[at.level];
  when(a, a.compare(CmpIPredicate::ult, from, to), [&] {
    forColumns(a, build.parents, [&](Value column) {
      Value begin = a.mul(column, build.size);
      Value first = from, last = to;
      if (Value shift = shiftOf(a, at, builds, column))
        std::tie(first, last) = clip(a, a.sum(from, shift), a.sum(to, shift), build.size);
      emptyColumn(a, at.level, begin, first, last);
    });
  });
}

void ColumnTiles::emptyOutside(const Target &a, const TiledLevel &at, ArrayRef<levels::LevelBuild> builds) {
  const levels::LevelBuild &build = builds[at.level];
  if (!at.apart)
    return;
  forColumns(a, build.parents, [&](Value column) {
    Value begin = a.mul(column, build.size), shift = shiftOf(a, at, builds, column);
    auto [first, last] = clip(a, shift, a.sum(shift, a.storage.dims[at.dim]), build.size);
    emptyColumn(a, at.level, begin, a.constant(0), first);
    emptyColumn(a, at.level, begin, last, build.size);
  });
}

ColumnTiles::ColumnTiles(const Target &a, const TiledLevel &at, ArrayRef<levels::LevelBuild> builds)
    : a(a), at(at), builds(builds), stagingTarget(a), fields(slotFields(a, at.level)),
      first(a, a.constant(0)), base(a, a.constant(0)), limit(a, a.constant(0)), end(a, a.constant(0)),
      waits(a, a.constant(0)) {
  large = isStreamed(a, a.storage.fields[a.storage.layout.valuesField()]);
  length = a.constant(kTileLength);
  stride = make<arith::MinUIOp>(a, length, a.storage.dims[at.dim]);
  stride = a.add(stride, a.constant(kApart));
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
    Value begins = a.compare(CmpIPredicate::eq, limit.get(), a.constant(0));
    first.set(make<arith::SelectOp>(a, begins, now, first.get()));
    base.set(make<arith::SelectOp>(a, begins, now, base.get()));
    flush(now, /*more=*/true);
    base.set(now);
    Value tile = make<arith::DivUIOp>(a, now, length);
    limit.set(a.mul(a.add(tile, a.constant(1)), length));
  });
  end.set(a.add(coordinate, a.constant(1)));
}

Value ColumnTiles::position(Value above, Value coordinate) const {
  return a.add(columnStart(above), a.sub(coordinate, base.get()));
}

Value ColumnTiles::columnStart(Value column) const {
  return a.add(a.mul(column, stride), a.constant(kApart));
}

/// Elements of a line of a field; 0 where none of them wait.
static int64_t waitingLine(const Target &target, unsigned field) {
  Type element = target.elementType(field);
  const int64_t lanes = element.isIntOrFloat() ? kCacheLine * 8 / element.getIntOrFloatBitWidth() : 0;
  return lanes <= kMostWaiting ? lanes : 0;
}

ColumnTiles::Chunk ColumnTiles::chunkOf(Value column, Value from, Value stop, Value keeps) const {
  Value begin = a.mul(column, builds[at.level].size), held = columnStart(column);
  Value shift = shiftOf(a, at, builds, column);
  if (!shift)
    return {a.add(begin, from), a.sub(stop, from), held, held, {}, keeps};
  Value size = builds[at.level].size, start = a.sum(from, shift);
  auto [first, last] = clip(a, start, a.sum(stop, shift), size);
  // What of the tile lies before the column's first slot.
  Value outside = a.difference(a.constant(0), start);
  outside = make<arith::MaxSIOp>(a, outside, a.constant(0));
  // What the column ends with does not wait: nothing behind it fills the line.
  auto inside = [&](Value x) { return a.compare(CmpIPredicate::ult, x, size); };
  Value before = make<arith::SelectOp>(a, inside(first), first, a.constant(0));
  return {a.add(begin, first),
          a.sub(last, first),
          a.add(held, outside),
          held,
          before,
          make<arith::AndIOp>(a, keeps, inside(last))};
}

/// A chunk, and what waits before it, goes to the result; where it `keeps` some, but for what does not fill
/// the last line, which waits then.
void ColumnTiles::copyChunk(unsigned field, const Chunk &chunk) const {
  Value staging = stagingTarget.storage.fields[field], result = a.storage.fields[field];
  const int64_t lanes = waitingLine(a, field);
  if (!lanes)
    return copyElements(a, staging, chunk.held, result, chunk.to, chunk.count);
  auto inLine = [&](Value position, Value condition) {
    Value rest = make<arith::AndIOp>(a, position, a.constant(lanes - 1));
    return make<arith::SelectOp>(a, condition, rest, a.constant(0));
  };
  // A column's first line begins in the column before, and what is not of this column does not wait here.
  auto atMost = [&](Value elements, Value most) -> Value {
    return most ? make<arith::MinUIOp>(a, elements, most) : elements;
  };
  Value before = inLine(chunk.to, a.compare(CmpIPredicate::ne, waits.get(), a.constant(0)));
  before = atMost(before, chunk.before);
  Value all = a.add(chunk.count, before);
  Value behind = inLine(a.add(chunk.to, chunk.count), chunk.keeps);
  behind = atMost(behind, chunk.before ? all : Value());
  copyElements(a, staging, a.sub(chunk.held, before), result, a.sub(chunk.to, before), a.sub(all, behind));
  when(a, a.compare(CmpIPredicate::ne, behind, a.constant(0)), [&] {
    auto type = VectorType::get({lanes}, cast<MemRefType>(staging.getType()).getElementType());
    Value last = a.sub(a.add(chunk.held, chunk.count), a.constant(lanes));
    Value line = make<vector::LoadOp>(a, type, staging, last);
    vector::StoreOp::create(a.builder, a.loc, line, staging, a.sub(chunk.next, a.constant(lanes)));
  });
}

/// The tile's coordinates before `end` go to the result; those between it and `end` are empty.
void ColumnTiles::flush(Value end, bool more) const {
  Value from = base.get(), stop = make<arith::MinUIOp>(a, limit.get(), end);
  stop = make<arith::MaxUIOp>(a, from, stop);
  Value count = a.sub(stop, from), keeps = a.constantInt(a.builder.getI1Type(), 0);
  if (more) {
    Value follows = a.compare(CmpIPredicate::eq, stop, end);
    Value fills = a.compare(CmpIPredicate::uge, count, a.constant(kMostWaiting));
    keeps = make<arith::AndIOp>(a, large, make<arith::AndIOp>(a, follows, fills));
  }
  forColumns(a, builds[at.level].parents, [&](Value column) {
    const Chunk chunk = chunkOf(column, from, stop, keeps);
    for (unsigned field : fields) {
      copyChunk(field, chunk);
      emptyElements(stagingTarget, field, chunk.held, a.add(chunk.held, chunk.count));
    }
  });
  if (more)
    waits.set(make<arith::SelectOp>(a, keeps, a.constant(1), a.constant(0)));
  empty(a, at, builds, stop, end);
}

std::pair<Value, Value> ColumnTiles::finish() const {
  flush(end.get(), /*more=*/false);
  for (unsigned field : fields)
    freeBuffers(a, stagingTarget.storage.fields[field]);
  fence(a);
  return {first.get(), end.get()};
}

} // namespace tulle::assemble
