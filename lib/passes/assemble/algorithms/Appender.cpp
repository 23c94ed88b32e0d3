// Appends by comparing an entry with the newest position of each group: what differs gets a new position, in
// this group and in those below.
#include "passes/assemble/algorithms/Appender.h"
#include <limits>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::LevelKind;

Appender::Appender(Target &target, bool unique, bool counting, bool wholeBlocks)
    : target(target), unique(unique), counts(counting), stored(target.storedLevels()) {
  Value zero = target.constant(0), none = target.constant(std::numeric_limits<int64_t>::min());
  for (unsigned l = 0, above = 0; l < stored; above = l) {
    while (target.isFull(l))
      ++l;
    LevelGroup group{above, l, target.positionsEnd(l), false, Register(target, zero), Register(target, zero),
                     {}};
    group.alwaysNew = unique && group.end == (wholeBlocks ? stored : target.levels());
    for (unsigned k = l; !group.alwaysNew && k < group.end; ++k)
      group.last.emplace_back(target, none);
    l = group.end;
    groups.push_back(std::move(group));
  }
  if (fiberLevels() > 0)
    closed.emplace(target, zero);
  if (!unique && stored < target.levels() && !target.fillIsIdentity())
    lastInBlock.emplace(target, none);
}

Values Appender::positionCounts() const {
  return llvm::map_to_vector<6>(groups, [](const LevelGroup &group) { return group.count.get(); });
}

//===--- Parents and sizes ---===//

Appender::Parent Appender::below(unsigned level, const Parent &above, Value coordinate) const {
  Value position = target.add(target.mul(above.position, target.levelSize(level)), coordinate);
  return {position, target.format(level).kind == LevelKind::Batch ? position : above.batch};
}

/// The numbers of positions of the full levels above a group; `checked` where their product may be too large.
Appender::Parent Appender::throughFullLevels(const LevelGroup &group, const Parent &above,
                                             bool checked) const {
  Parent numbers = above;
  for (unsigned l = group.above; l < group.first; ++l) {
    Value size = target.levelSize(l);
    numbers.position =
        checked ? target.product(l, numbers.position, size) : target.mul(numbers.position, size);
    if (target.format(l).kind == LevelKind::Batch)
      numbers.batch = numbers.position;
  }
  return numbers;
}

/// Where the parent's group starts in the positions field; of numbers of parents: the field's length.
Value Appender::positionsStart(const LevelGroup &group, const Parent &parent) const {
  if (target.format(group.first).kind == LevelKind::LooseCompressed)
    return target.mul(parent.position, 2);
  return parent.batch ? target.add(parent.position, parent.batch) : parent.position;
}

Value Appender::parents(size_t group, Value positions) const {
  return throughFullLevels(groups[group], {positions, {}}, /*checked=*/false).position;
}

void Appender::allocate(ValueRange bounds) {
  const format::Layout &layout = target.storage.layout;
  auto allocateOnce = [&](unsigned field, Value count) {
    if (!target.storage.fields[field])
      target.allocate(field, count);
  };
  auto boundOf = [&](size_t group) { return bounds.size() == 1 ? bounds[0] : bounds[group]; };
  Parent numbers{target.constant(1), target.constant(1)};
  for (auto [r, group] : llvm::enumerate(groups)) {
    numbers = throughFullLevels(group, numbers, /*checked=*/true);
    allocateOnce(positionsField(group), positionsStart(group, numbers));
    numbers.position = boundOf(r);
  }
  block = target.blockValues();
  Value values = target.product(target.levels(), numbers.position, block);
  // The largest field first: where memory of an earlier result is used again, it gets the largest block,
  // which need not grow then.
  allocateOnce(layout.valuesField(), values);
  for (auto [r, group] : llvm::enumerate(groups))
    for (unsigned k = group.first; k < group.end; ++k)
      allocateOnce(layout.coordinates[k]->field, target.mul(boundOf(r), layout.coordinates[k]->stride));
  if (groups.empty())
    target.fillValues(target.constant(0), values);
}

//===--- Entries ---===//

/// Elements of the positions field up to `end` are `count`.
void Appender::fillPositions(const LevelGroup &group, Value end, Value count) {
  if (!counts)
    forEach(target, group.filled.get(), end, LoopKind::Parallel,
            [&](Value at) { target.store(positionsField(group), at, count); });
  group.filled.set(end);
}

/// Where the coordinate of a level with positions of its own is in its field.
Value Appender::coordinateAt(unsigned level, Value position) const {
  const format::CoordinateRef &ref = *target.storage.layout.coordinates[level];
  return target.add(target.mul(position, ref.stride), ref.offset);
}

Value Appender::appendPosition(const LevelGroup &group, ValueRange coordinates) {
  for (auto [coordinate, last] : llvm::zip(coordinates, group.last))
    last.set(coordinate);
  Value position = group.count.get();
  for (auto [k, coordinate] : llvm::enumerate(coordinates)) {
    const unsigned level = group.first + unsigned(k), field = target.storage.layout.coordinates[level]->field;
    if (counts || llvm::is_contained(leftOut, field))
      continue;
    Value at = coordinateAt(level, position);
    target.checkWidth(field, coordinate);
    target.store(field, at, coordinate);
  }
  group.count.set(target.add(position, 1));
  return position;
}

/// The value at a coordinate below a position of the last group.
void Appender::addValue(Value position, ValueRange coordinates, Value value) {
  position = target.positionBelow(position, stored, target.levels(), coordinates);
  if (unique)
    return target.storeValue(position, value);
  if (!lastInBlock)
    return target.combineValue(position, value);
  Value repeated = target.isEqual(position, lastInBlock->get());
  lastInBlock->set(position);
  either(
      target, repeated, [&] { target.combineValue(position, value); },
      [&] { target.storeValue(position, value); });
}

/// The newest position of a group, at these coordinates of all levels. `end`, if any: the element of the
/// positions field up to which the group's are final when its newest parent is the one it had before.
Value Appender::extend(LevelGroup &group, Value end, ValueRange coordinates, Value value) {
  coordinates = coordinates.slice(group.first, group.end - group.first);
  Value newParent = end ? target.isDifferent(end, group.filled.get()) : Value();
  auto grow = [&] {
    if (newParent)
      when(target, newParent, [&] {
        startPositions(group, target.sub(end, 1));
        fillPositions(group, end, group.count.get());
      });
    return appendPosition(group, coordinates);
  };
  auto newest = [&] { return target.sub(group.count.get(), 1); };
  const bool storesValue = group.end == target.levels() && !counts;
  if (group.alwaysNew) {
    Value position = grow();
    if (storesValue && value)
      target.storeValue(position, value);
    return position;
  }
  either(
      target, anyDiffers(target, coordinates, group.last, newParent),
      [&] {
        Value position = grow();
        if (storesValue) {
          target.storeValue(position, value);
        } else if (!counts && group.end == stored) {
          Value begin = target.mul(position, block);
          target.fillValues(begin, target.add(begin, block));
        }
      },
      [&] {
        if (storesValue)
          target.combineValue(newest(), value);
      });
  return newest();
}

/// The position above level `end`, behind some groups, that has these coordinates; stores the value of a
/// tensor without blocks.
Appender::Parent Appender::reach(MutableArrayRef<LevelGroup> through, unsigned end, ValueRange coordinates,
                                 Value value) {
  Parent parent{target.constant(0), {}};
  unsigned l = 0;
  for (LevelGroup &group : through) {
    for (; l < group.first; ++l)
      parent = below(l, parent, coordinates[l]);
    Value edge = l > 0 ? target.add(positionsStart(group, parent), 1) : Value();
    parent.position = extend(group, edge, coordinates, value);
    l = group.end;
  }
  for (; l < end; ++l)
    parent = below(l, parent, coordinates[l]);
  return parent;
}

/// The position of the last group at these coordinates.
Value Appender::blockAt(ValueRange coordinates, Value value) {
  return fibers ? extend(groups.back(), {}, coordinates, value)
                : reach(groups, stored, coordinates, value).position;
}

void Appender::append(ValueRange coordinates, Value value) {
  Value position = blockAt(coordinates, value);
  if (!counts && (groups.empty() || stored < target.levels()))
    addValue(position, coordinates, value);
}

Value Appender::appendBlock(ValueRange coordinates) { return target.mul(blockAt(coordinates, {}), block); }

void Appender::closeFiber(ValueRange coordinates) {
  if (!fibers)
    return;
  LevelGroup &group = groups.back();
  Value count = group.count.get(), before = closed->get();
  when(target, target.isDifferent(count, before), [&] {
    Parent parent = reach(MutableArrayRef(groups).drop_back(), fiberLevels(), coordinates, {});
    Value end = target.add(positionsStart(group, parent), 1);
    startPositions(group, end);
    // The parents between this one and the one before have no entries; this one's end here.
    fillPositions(group, end, before);
    if (!counts)
      target.store(positionsField(group), end, count);
    group.filled.set(target.add(end, 1));
    closed->set(count);
    // The next entry is not compared with the newest one.
    for (const Register &last : group.last)
      last.set(target.constant(std::numeric_limits<int64_t>::min()));
  });
}

bool Appender::takesSegments() const {
  return !groups.empty() && groups.back().alwaysNew && stored == target.levels() &&
         (fibers || (groups.size() == 1 && groups.back().first == 0));
}

SmallVector<unsigned> Appender::storedCoordinates() const {
  const LevelGroup &group = groups.back();
  SmallVector<unsigned> levels;
  for (unsigned l = group.first; l < group.end; ++l)
    if (!llvm::is_contained(leftOut, target.storage.layout.coordinates[l]->field))
      levels.push_back(l);
  return levels;
}

void Appender::storeEntry(Value position, ValueRange coordinates, Value value) const {
  for (unsigned l : storedCoordinates())
    target.store(target.storage.layout.coordinates[l]->field, coordinateAt(l, position), coordinates[l]);
  if (value)
    target.storeValue(position, value);
}

void Appender::skip(Value count) {
  const LevelGroup &group = groups.back();
  group.count.set(target.add(group.count.get(), count));
}

void Appender::openFibers(Value first) {
  LevelGroup &group = groups.front();
  Value end = target.add(first, 1);
  startPositions(group, end);
  fillPositions(group, end, group.count.get());
}

void Appender::closeFibers(Value end, Value count) {
  LevelGroup &group = groups.front();
  skip(count);
  group.filled.set(target.add(end, 1));
  closed->set(group.count.get());
}

//===--- Chunks ---===//

void Appender::beginChunk(ValueRange starts) {
  first.emplace(target, target.constant(-1));
  block = target.blockValues();
  for (auto [r, group] : llvm::enumerate(groups)) {
    group.count.set(starts[r]);
    // The first element, where the first parent's begin, is written with the chunk before.
    if (r > 0)
      group.filled.set(target.add(parents(r, starts[r - 1]), 1));
  }
  if (closed)
    closed->set(starts.back());
}

/// What a chunk writes first of the positions field is element `from`.
void Appender::startPositions(const LevelGroup &group, Value from) {
  if (!first || &group != &groups.front())
    return;
  Value none = target.isEqual(first->get(), -1);
  for (const Register &r : {group.filled, *first})
    r.set(target.select(none, from, r.get()));
}

std::pair<Value, Value> Appender::chunkPositions() const {
  Value from = first->get();
  Value none = target.isEqual(from, -1);
  from = target.select(none, target.constant(0), from);
  return {from, groups.front().filled.get()};
}

void Appender::finishChunk() {
  for (size_t r = 1; r < groups.size(); ++r) {
    Value above = parents(r, groups[r - 1].count.get());
    fillPositions(groups[r], target.add(above, 1), groups[r].count.get());
  }
}

void Appender::finishJoined(ValueRange counts, Value reached) {
  for (auto [r, group] : llvm::enumerate(groups)) {
    group.count.set(counts[r]);
    Value filled = reached;
    if (r > 0) {
      filled = target.add(parents(r, counts[r - 1]), 1);
      target.store(positionsField(group), target.constant(0), target.constant(0));
    }
    group.filled.set(filled);
  }
  finish();
}

void Appender::finish(bool exact) {
  const format::Layout &layout = target.storage.layout;
  Parent numbers{target.constant(1), target.constant(1)};
  for (LevelGroup &group : groups) {
    numbers = throughFullLevels(group, numbers, /*checked=*/false);
    const unsigned field = positionsField(group);
    Value length = positionsStart(group, numbers);
    // The root has one segment, and it starts at 0.
    if (group.first == 0) {
      target.store(field, target.constant(0), target.constant(0));
      group.filled.set(target.constant(1));
    }
    numbers.position = group.count.get();
    fillPositions(group, length, numbers.position);
    target.checkWidth(field, numbers.position);
    if (exact)
      continue;
    if (&group != &groups.front())
      target.shrink(field, length);
    for (unsigned k = group.first; k < group.end; ++k)
      if (const format::CoordinateRef &ref = *layout.coordinates[k]; ref.offset == 0)
        target.shrink(ref.field, target.mul(numbers.position, ref.stride));
  }
  if (!groups.empty() && !exact)
    target.shrink(layout.valuesField(), target.mul(numbers.position, block));
}

} // namespace tulle::assemble
