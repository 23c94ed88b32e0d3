#include "passes/assemble/algorithms/Appender.h"
#include "levels/Control.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <limits>

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using arith::CmpIPredicate;
using format::LevelKind;

Appender::Appender(OpBuilder &b, Target &target, const Order &order, bool counting, bool wholeBlocks)
    : target(target), unique(order.unique), counting(counting), stored(target.storedLevels()) {
  levels::Emitter emit = target.emitter(b);
  Value none = emit.constant(std::numeric_limits<int64_t>::min());
  for (unsigned l = 0; l < stored;) {
    if (target.isFull(l)) {
      ++l;
      continue;
    }
    Run run{l, target.positionsEnd(l), false};
    run.alwaysFresh = unique && run.end == (wholeBlocks ? stored : target.levels());
    State state{Register(b, target.loc, emit.constant(0)), Register(b, target.loc, emit.constant(0)), {}};
    for (unsigned k = run.first; !run.alwaysFresh && k < run.end; ++k)
      state.last.push_back(Register(b, target.loc, none));
    l = run.end;
    runs.push_back(run);
    states.push_back(std::move(state));
  }
  if (groups())
    closed.emplace(b, target.loc, emit.constant(0));
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
  Values entries;
  unsigned r = 0;
  for (unsigned l = 0; l < stored;) {
    if (target.isFull(l)) {
      positions = target.checkedSize(b, l, positions, emit.levelSize(l));
      if (batches(l))
        batchCount = positions;
      ++l;
      continue;
    }
    const Run &run = runs[r];
    if (unsigned field = *layout.positions[l]; !target.storage.fields[field])
      target.allocate(b, field, positionsLength(b, run, positions, batchCount));
    positions = bounds.size() == 1 ? bounds[0] : bounds[r];
    entries.push_back(positions);
    l = run.end;
    ++r;
  }
  block = blockSize(b);
  positions = target.checkedSize(b, target.levels(), positions, block);
  // The largest field first: where memory of an earlier result is used again, it gets the largest block,
  // which need not grow then.
  if (!target.storage.fields[layout.valuesField()])
    target.allocate(b, layout.valuesField(), positions);
  for (auto [run, count] : llvm::zip(runs, entries))
    for (unsigned k = run.first; k < run.end; ++k)
      if (unsigned field = layout.coordinates[k]->field; !target.storage.fields[field])
        target.allocate(b, field, emit.mul(count, emit.constant(layout.coordinates[k]->stride)));
  if (runs.empty())
    target.fillValues(b, emit.constant(0), positions);
}

/// Elements of the positions field up to `end` are `count`.
void Appender::fillPositions(OpBuilder &b, unsigned run, Value end, Value count) {
  State &state = states[run];
  if (!counting) {
    unsigned field = *target.storage.layout.positions[runs[run].first];
    levels::forLoop(b, target.loc, state.filled.get(b), end, LoopKind::Parallel, {},
                    [&](Value at, levels::Values) {
                      target.emitter(b).store(field, at, count);
                      return levels::Values{};
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

Value Appender::appendPosition(OpBuilder &b, unsigned run, ValueRange coordinates) {
  levels::Emitter emit = target.emitter(b);
  State &state = states[run];
  for (auto [coordinate, last] : llvm::zip(coordinates, state.last))
    last.set(b, coordinate);
  Value position = state.count.get(b);
  for (unsigned k = 0; !counting && k < coordinates.size(); ++k) {
    const format::CoordinateRef &ref = *target.storage.layout.coordinates[runs[run].first + k];
    if (llvm::is_contained(leftOut, ref.field))
      continue;
    Value at = emit.add(emit.mul(position, emit.constant(ref.stride)), emit.constant(ref.offset));
    target.checkWidth(b, ref.field, coordinates[k]);
    emit.store(ref.field, at, coordinates[k]);
  }
  state.count.set(b, emit.add(position, emit.constant(1)));
  return position;
}

/// The next entry is not compared with the newest one.
void Appender::forgetLast(OpBuilder &b, unsigned run) {
  Value none = target.emitter(b).constant(std::numeric_limits<int64_t>::min());
  for (const Register &last : states[run].last)
    last.set(b, none);
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
  levels::ifElse(
      b, target.loc, repeated, TypeRange(),
      [&] {
        target.combineValue(b, at.position, value);
        return levels::Values{};
      },
      [&] {
        target.storeValue(b, at.position, value);
        return levels::Values{};
      });
}

Value Appender::extend(OpBuilder &b, unsigned r, Value end, ValueRange coordinates, Value value) {
  levels::Emitter emit = target.emitter(b);
  const Run &run = runs[r];
  Value newParent = end ? emit.compare(CmpIPredicate::ne, end, states[r].filled.get(b)) : Value();
  auto grow = [&] {
    if (newParent)
      when(b, target.loc, newParent, [&] {
        startPositions(b, r, emit.sub(end, emit.constant(1)));
        fillPositions(b, r, end, states[r].count.get(b));
      });
    return appendPosition(b, r, coordinates);
  };
  auto newest = [&] { return emit.sub(states[r].count.get(b), emit.constant(1)); };
  bool last = run.end == target.levels();
  if (run.alwaysFresh) {
    Value position = grow();
    if (last && value && !counting)
      target.storeValue(b, position, value);
    return position;
  }
  Value fresh = isFresh(b, r, newParent, coordinates);
  levels::ifElse(
      b, target.loc, fresh, TypeRange(),
      [&] {
        Value position = grow();
        if (counting)
          return levels::Values{};
        if (last)
          target.storeValue(b, position, value);
        else if (run.end == stored) {
          Value begin = emit.mul(position, block);
          target.fillValues(b, begin, emit.add(begin, block));
        }
        return levels::Values{};
      },
      [&] {
        if (last && !counting)
          target.combineValue(b, newest(), value);
        return levels::Values{};
      });
  return newest();
}

Appender::Place Appender::reach(OpBuilder &b, unsigned levelEnd, ValueRange coordinates, Value value) {
  levels::Emitter emit = target.emitter(b);
  Place place{emit.constant(0), {}};
  unsigned r = 0;
  for (unsigned l = 0; l < levelEnd;) {
    if (target.isFull(l)) {
      place = below(b, l, place, coordinates[l]);
      ++l;
      continue;
    }
    const Run &run = runs[r];
    Value end;
    if (run.first > 0)
      end = emit.add(positionsStart(b, run, place), emit.constant(1));
    place.position = extend(b, r, end, coordinates.slice(run.first, run.end - run.first), value);
    l = run.end;
    ++r;
  }
  return place;
}

void Appender::append(OpBuilder &b, ValueRange coordinates, Value value) {
  Place place = reach(b, stored, coordinates, value);
  if (!counting && (runs.empty() || stored < target.levels()))
    addValue(b, place.position, coordinates, value, unique);
}

Value Appender::appendBlock(OpBuilder &b, ValueRange coordinates) {
  return target.emitter(b).mul(reach(b, stored, coordinates, {}).position, block);
}

//===--- FiberBoundaries ---===//

Value Appender::extendLast(OpBuilder &b, ValueRange coordinates, Value value) {
  const Run &run = runs.back();
  return extend(b, unsigned(runs.size()) - 1, {}, coordinates.slice(run.first, run.end - run.first), value);
}

void Appender::appendInGroup(OpBuilder &b, ValueRange coordinates, Value value) {
  Value position = extendLast(b, coordinates, value);
  if (!counting && stored < target.levels())
    addValue(b, position, coordinates, value, unique);
}

Value Appender::appendBlockInGroup(OpBuilder &b, ValueRange coordinates) {
  return target.emitter(b).mul(extendLast(b, coordinates, {}), block);
}

void Appender::closeGroup(OpBuilder &b, ValueRange coordinates) {
  levels::Emitter emit = target.emitter(b);
  unsigned last = unsigned(runs.size()) - 1;
  State &state = states[last];
  Value count = state.count.get(b), before = closed->get(b);
  when(b, target.loc, emit.compare(CmpIPredicate::ne, count, before), [&] {
    Place parent = reach(b, groupLevels(), coordinates, {});
    Value end = emit.add(positionsStart(b, runs[last], parent), emit.constant(1));
    startPositions(b, last, end);
    // The parents between this one and the one before have no entries; this one's end here.
    fillPositions(b, last, end, before);
    if (!counting)
      emit.store(*target.storage.layout.positions[runs[last].first], end, count);
    state.filled.set(b, emit.add(end, emit.constant(1)));
    closed->set(b, count);
    forgetLast(b, last);
  });
}

//===--- Chunks ---===//

void Appender::beginChunk(OpBuilder &b, ValueRange starts) {
  levels::Emitter emit = target.emitter(b);
  first.emplace(b, target.loc, emit.constant(-1));
  block = blockSize(b);
  for (unsigned r = 0; r < runs.size(); ++r) {
    states[r].count.set(b, starts[r]);
    // The first element, where the first parent's begin, is written with the chunk before.
    if (r > 0)
      states[r].filled.set(b, emit.add(parents(b, r, starts[r - 1]), emit.constant(1)));
  }
  if (closed)
    closed->set(b, starts.back());
}

/// What a chunk writes first of the positions field is element `from`.
void Appender::startPositions(OpBuilder &b, unsigned run, Value from) {
  if (!first || run > 0)
    return;
  levels::Emitter emit = target.emitter(b);
  Value none = emit.compare(CmpIPredicate::eq, first->get(b), emit.constant(-1));
  auto chosen = [&](const Register &r) {
    return Value(arith::SelectOp::create(b, target.loc, none, from, r.get(b)));
  };
  states[run].filled.set(b, chosen(states[run].filled));
  first->set(b, chosen(*first));
}

std::pair<Value, Value> Appender::chunkPositions(OpBuilder &b) const {
  levels::Emitter emit = target.emitter(b);
  Value from = first->get(b);
  Value none = emit.compare(CmpIPredicate::eq, from, emit.constant(-1));
  from = arith::SelectOp::create(b, target.loc, none, emit.constant(0), from);
  return {from, states.front().filled.get(b)};
}

Value Appender::parents(OpBuilder &b, unsigned run, Value positions) const {
  levels::Emitter emit = target.emitter(b);
  for (unsigned l = runs[run - 1].end; l < runs[run].first; ++l)
    positions = emit.mul(positions, emit.levelSize(l));
  return positions;
}

void Appender::finishChunk(OpBuilder &b) {
  levels::Emitter emit = target.emitter(b);
  for (unsigned r = 1; r < runs.size(); ++r) {
    Value above = parents(b, r, states[r - 1].count.get(b));
    fillPositions(b, r, emit.add(above, emit.constant(1)), states[r].count.get(b));
  }
}

void Appender::finishJoined(OpBuilder &b, ValueRange counts, Value reached) {
  levels::Emitter emit = target.emitter(b);
  for (unsigned r = 0; r < runs.size(); ++r) {
    states[r].count.set(b, counts[r]);
    Value filled = reached;
    if (r > 0) {
      filled = emit.add(parents(b, r, counts[r - 1]), emit.constant(1));
      emit.store(*target.storage.layout.positions[runs[r].first], emit.constant(0), emit.constant(0));
    }
    states[r].filled.set(b, filled);
  }
  finish(b, /*loose=*/true);
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
    if (target.isFull(l)) {
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
    Value count = states[r].count.get(b);
    fillPositions(b, r, length, count);
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
