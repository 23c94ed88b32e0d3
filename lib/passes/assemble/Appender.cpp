#include "passes/assemble/Appender.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/lower/Control.h"
#include <limits>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;
using format::LevelKind;

static bool isFull(LevelKind kind) { return kind == LevelKind::Dense || kind == LevelKind::Batch; }
static bool startsRun(LevelKind kind) {
  return kind == LevelKind::Compressed || kind == LevelKind::LooseCompressed;
}

/// The levels from `first` that share its positions.
static unsigned runEnd(const Target &target, unsigned first) {
  unsigned end = first + 1;
  while (!target.format(end - 1).unique && end < target.levels() &&
         target.format(end).kind == LevelKind::Singleton)
    ++end;
  return end;
}

bool Appender::supports(const Target &target) {
  for (unsigned l = 0; l < target.levels();) {
    LevelKind kind = target.format(l).kind;
    // The size of a counter's level is known after all entries only.
    if (isFull(kind) && !target.storage.layout.sizes[l]) {
      ++l;
      continue;
    }
    if (!startsRun(kind))
      return false;
    unsigned end = runEnd(target, l);
    for (; l < end; ++l)
      if (target.format(l).padded)
        return false;
  }
  return true;
}

Appender::Appender(OpBuilder &b, Target &target, const Order &order, bool counting, bool wholeBlocks)
    : target(target), unique(order.unique), counting(counting), stored(target.storedLevels()) {
  levels::Emitter emit = target.emitter(b);
  Value none = emit.constant(std::numeric_limits<int64_t>::min());
  for (unsigned l = 0; l < stored;) {
    if (isFull(target.format(l).kind)) {
      ++l;
      continue;
    }
    Run run{l, runEnd(target, l), false};
    run.alwaysFresh = unique && run.end == (wholeBlocks ? stored : target.levels());
    State state{Register(b, target.loc, emit.constant(0)), Register(b, target.loc, emit.constant(0)), {}};
    for (unsigned k = run.first; !run.alwaysFresh && k < run.end; ++k)
      state.last.push_back(Register(b, target.loc, none));
    l = run.end;
    runs.push_back(run);
    states.push_back(std::move(state));
  }
  if (!unique && stored < target.levels() && !target.fillIsIdentity())
    lastInBlock.emplace(b, target.loc, none);
}

bool Appender::batches(unsigned level) const { return target.format(level).kind == LevelKind::Batch; }

Appender::Place Appender::below(OpBuilder &b, unsigned level, const Place &above, Value coordinate) const {
  levels::Emitter emit = target.emitter(b);
  Value position = emit.add(emit.mul(above.position, emit.levelSize(level)), coordinate);
  return {position, batches(level) ? position : above.batch};
}

/// Where the parent's run starts in the positions field.
Value Appender::positionsStart(OpBuilder &b, const Run &run, const Place &parent) const {
  levels::Emitter emit = target.emitter(b);
  if (target.format(run.first).kind == LevelKind::LooseCompressed)
    return emit.mul(parent.position, emit.constant(2));
  return parent.batch ? emit.add(parent.position, parent.batch) : parent.position;
}

Value Appender::positionsLength(OpBuilder &b, const Run &run, Value parents, Value batches) const {
  levels::Emitter emit = target.emitter(b);
  if (target.format(run.first).kind == LevelKind::LooseCompressed)
    return emit.mul(parents, emit.constant(2));
  return emit.add(parents, batches);
}

Value Appender::blockSize(OpBuilder &b) const {
  levels::Emitter emit = target.emitter(b);
  Value size = emit.constant(1);
  for (unsigned l = stored; l < target.levels(); ++l)
    size = target.checkedSize(b, l, size, emit.levelSize(l));
  return size;
}

void Appender::allocate(OpBuilder &b, ValueRange bounds) {
  levels::Emitter emit = target.emitter(b);
  const format::Layout &layout = target.storage.layout;
  Value positions = emit.constant(1), batchCount = emit.constant(1);
  unsigned r = 0;
  for (unsigned l = 0; l < stored;) {
    if (isFull(target.format(l).kind)) {
      positions = target.checkedSize(b, l, positions, emit.levelSize(l));
      if (batches(l))
        batchCount = positions;
      ++l;
      continue;
    }
    const Run &run = runs[r];
    target.allocate(b, *layout.positions[l], positionsLength(b, run, positions, batchCount));
    positions = bounds.size() == 1 ? bounds[0] : bounds[r];
    for (unsigned k = l; k < run.end; ++k)
      if (unsigned field = layout.coordinates[k]->field; !target.storage.fields[field])
        target.allocate(b, field, emit.mul(positions, emit.constant(layout.coordinates[k]->stride)));
    l = run.end;
    ++r;
  }
  block = blockSize(b);
  positions = target.checkedSize(b, target.levels(), positions, block);
  target.allocate(b, layout.valuesField(), positions);
  if (runs.empty())
    target.fillValues(b, emit.constant(0), positions);
}

/// Elements of the positions field up to `end` say where the newest position is.
void Appender::fillPositions(OpBuilder &b, unsigned run, Value end) {
  State &state = states[run];
  if (!counting) {
    Value count = state.count.get(b);
    unsigned field = *target.storage.layout.positions[runs[run].first];
    lower::forLoop(b, target.loc, state.filled.get(b), end, LoopKind::Parallel, {},
                   [&](Value at, lower::Values) {
                     target.emitter(b).store(field, at, count);
                     return lower::Values{};
                   });
  }
  state.filled.set(b, end);
}

/// `condition ? emit() : nothing`.
static void when(OpBuilder &b, Location loc, Value condition, function_ref<void()> emit) {
  auto branch = scf::IfOp::create(b, loc, condition, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  emit();
}

/// The newest position does not have these coordinates.
Value Appender::isFresh(OpBuilder &b, unsigned run, Value newParent, ValueRange coordinates) const {
  levels::Emitter emit = target.emitter(b);
  Value fresh = newParent;
  for (auto [coordinate, last] : llvm::zip(coordinates, states[run].last)) {
    Value differs = emit.compare(CmpIPredicate::ne, coordinate, last.get(b));
    fresh = fresh ? Value(arith::OrIOp::create(b, target.loc, fresh, differs)) : differs;
  }
  return fresh;
}

void Appender::appendPosition(OpBuilder &b, unsigned run, ValueRange coordinates) {
  levels::Emitter emit = target.emitter(b);
  State &state = states[run];
  for (auto [coordinate, last] : llvm::zip(coordinates, state.last))
    last.set(b, coordinate);
  Value position = state.count.get(b);
  for (unsigned k = 0; !counting && k < coordinates.size(); ++k) {
    const format::CoordinateRef &ref = *target.storage.layout.coordinates[runs[run].first + k];
    Value at = emit.add(emit.mul(position, emit.constant(ref.stride)), emit.constant(ref.offset));
    target.checkWidth(b, ref.field, coordinates[k]);
    emit.store(ref.field, at, coordinates[k]);
  }
  state.count.set(b, emit.add(position, emit.constant(1)));
}

/// The value at a coordinate below the last stored position.
void Appender::addValue(OpBuilder &b, Value place, ValueRange coordinates, Value value, bool isNew) {
  levels::Emitter emit = target.emitter(b);
  Place at{place, {}};
  for (unsigned l = stored; l < target.levels(); ++l)
    at = below(b, l, at, coordinates[l]);
  if (isNew)
    return target.storeValue(b, at.position, value);
  if (!lastInBlock)
    return target.combineValue(b, at.position, value);
  Value repeated = emit.compare(CmpIPredicate::eq, at.position, lastInBlock->get(b));
  lastInBlock->set(b, at.position);
  lower::ifElse(
      b, target.loc, repeated, TypeRange(),
      [&] {
        target.combineValue(b, at.position, value);
        return lower::Values{};
      },
      [&] {
        target.storeValue(b, at.position, value);
        return lower::Values{};
      });
}

Appender::Place Appender::reach(OpBuilder &b, ValueRange coordinates, Value value) {
  levels::Emitter emit = target.emitter(b);
  Place place{emit.constant(0), {}};
  unsigned r = 0;
  for (unsigned l = 0; l < stored;) {
    if (isFull(target.format(l).kind)) {
      place = below(b, l, place, coordinates[l]);
      ++l;
      continue;
    }
    const Run &run = runs[r];
    ValueRange mine = coordinates.slice(run.first, run.end - run.first);
    Value end = emit.add(positionsStart(b, run, place), emit.constant(1));
    Value newParent;
    if (run.first > 0)
      newParent = emit.compare(CmpIPredicate::ne, end, states[r].filled.get(b));
    auto grow = [&] {
      if (newParent)
        when(b, target.loc, newParent, [&] { fillPositions(b, r, end); });
      appendPosition(b, r, mine);
    };
    auto newest = [&] { return emit.sub(states[r].count.get(b), emit.constant(1)); };
    bool last = run.end == target.levels();
    if (run.alwaysFresh) {
      grow();
      if (last && !counting)
        target.storeValue(b, newest(), value);
    } else {
      Value fresh = isFresh(b, r, newParent, mine);
      lower::ifElse(
          b, target.loc, fresh, TypeRange(),
          [&] {
            grow();
            if (counting)
              return lower::Values{};
            if (last)
              target.storeValue(b, newest(), value);
            else if (run.end == stored) {
              Value begin = emit.mul(newest(), block);
              target.fillValues(b, begin, emit.add(begin, block));
            }
            return lower::Values{};
          },
          [&] {
            if (last && !counting)
              target.combineValue(b, newest(), value);
            return lower::Values{};
          });
    }
    place.position = newest();
    l = run.end;
    ++r;
  }
  return place;
}

void Appender::append(OpBuilder &b, ValueRange coordinates, Value value) {
  Place place = reach(b, coordinates, value);
  if (!counting && (runs.empty() || stored < target.levels()))
    addValue(b, place.position, coordinates, value, unique);
}

Value Appender::appendBlock(OpBuilder &b, ValueRange coordinates) {
  return target.emitter(b).mul(reach(b, coordinates, {}).position, block);
}

/// The root has one segment, and it starts at 0.
void Appender::openRoot(OpBuilder &b, unsigned run) {
  levels::Emitter emit = target.emitter(b);
  emit.store(*target.storage.layout.positions[runs[run].first], emit.constant(0), emit.constant(0));
  states[run].filled.set(b, emit.constant(1));
}

void Appender::finish(OpBuilder &b, bool loose) {
  levels::Emitter emit = target.emitter(b);
  const format::Layout &layout = target.storage.layout;
  Value positions = emit.constant(1), batchCount = emit.constant(1);
  unsigned r = 0;
  for (unsigned l = 0; l < stored;) {
    if (isFull(target.format(l).kind)) {
      positions = emit.mul(positions, emit.levelSize(l));
      if (batches(l))
        batchCount = positions;
      ++l;
      continue;
    }
    const Run &run = runs[r];
    unsigned field = *layout.positions[l];
    Value length = positionsLength(b, run, positions, batchCount);
    if (run.first == 0)
      openRoot(b, r);
    fillPositions(b, r, length);
    Value count = states[r].count.get(b);
    target.checkWidth(b, field, count);
    if (loose) {
      if (r > 0)
        target.shrink(b, field, length);
      for (unsigned k = l; k < run.end; ++k)
        if (layout.coordinates[k]->offset == 0)
          target.shrink(b, layout.coordinates[k]->field,
                        emit.mul(count, emit.constant(layout.coordinates[k]->stride)));
    }
    positions = count;
    l = run.end;
    ++r;
  }
  if (loose && !runs.empty())
    target.shrink(b, layout.valuesField(), emit.mul(positions, block));
}

} // namespace tulle::assemble
