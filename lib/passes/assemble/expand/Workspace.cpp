#include "dialect/Costs.h"
#include "levels/Control.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/assemble/algorithms/AllocationPlan.h"
#include "passes/assemble/algorithms/Appender.h"
#include "passes/assemble/algorithms/BitSet.h"
#include "passes/assemble/algorithms/ChunkedAppend.h"
#include "passes/assemble/algorithms/CloneLoops.h"
#include "passes/assemble/algorithms/FiberBoundaries.h"
#include "passes/assemble/algorithms/MarkerArray.h"
#include "passes/assemble/algorithms/StreamingStores.h"
#include "passes/assemble/choose/Strategies.h"
#include "passes/assemble/expand/Expansions.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::LevelKind;

namespace {

/// Blocks up to this size are moved without a loop.
constexpr int64_t kUnrolled = 64;

/// What an element of the values takes in memory.
Type storedElement(const Target &target) {
  Type values = levels::fieldTypes(target.storage.layout, target.storage.element).back();
  return cast<MemRefType>(values).getElementType();
}

/// What no entry has touched must be told from what one has, where the fill is not what it holds.
bool staysByElement(const Target &target, const Order &order) {
  return *workspaceBlock(target) > 1 && !order.unique && !target.fillIsIdentity();
}

/// Whether small blocks are appended as a whole, and are whole cache lines.
bool blocksAreLines(const Target &target, const Order &order) {
  int64_t block = *workspaceBlock(target);
  Type element = storedElement(target);
  return block > 1 && block <= kUnrolled && !staysByElement(target, order) && element.isIntOrFloat() &&
         block * element.getIntOrFloatBitWidth() / 8 % kCacheLine == 0;
}

/// The values of one group, by coordinate of the last stored level and place in its block. Whole blocks stand
/// next to each other in the order in which they are met, so that the caches hold those of a group, however
/// far apart they are in the tensor.
class Workspace {
public:
  /// With space for so many blocks, those of all groups stay in the target's values until they are moved to
  /// the tensor that this is a part of.
  Workspace(OpBuilder &b, Target &target, const Order &order, Value blocks = {})
      : target(target), loc(target.loc), unique(order.unique), level(target.storedLevels() - 1),
        block(*workspaceBlock(target)), byElement(staysByElement(target, order)),
        lines(blocksAreLines(target, order)),
        size(target.checkedSize(b, target.levels(), target.emitter(b).levelSize(level),
                                target.emitter(b).constant(block))),
        keys(b, target, byElement ? size : target.emitter(b).levelSize(level)) {
    stays = blocks && wholeBlocks();
    auto type = MemRefType::get({ShapedType::kDynamic}, storedElement(target));
    values = stays ? target.storage.fields.back() : Value(levels::allocate(b, loc, type, size));
    untouched = initial(b);
    Value zero = target.emitter(b).constant(0);
    if (!wholeBlocks()) {
      clear(b, zero, size);
      return;
    }
    auto slotType = MemRefType::get({ShapedType::kDynamic}, b.getI32Type());
    slots = levels::allocate(b, loc, slotType, target.emitter(b).levelSize(level));
    if (stays)
      sources = levels::allocate(b, loc, slotType, blocks);
    met.emplace(b, loc, zero);
    cleared.emplace(b, loc, zero);
  }

  /// Remembers the coordinate of an entry, and combines its value.
  void insert(OpBuilder &b, ValueRange coordinates, Value value) {
    levels::Emitter emit = target.emitter(b);
    Value place = coordinates[level], isNew;
    if (wholeBlocks()) {
      isNew = keys.insert(b, place);
      if (value)
        place = slotOf(b, place, isNew);
    }
    for (unsigned l = level + 1; l < target.levels(); ++l)
      place = emit.add(emit.mul(place, emit.levelSize(l)), coordinates[l]);
    if (value) {
      if (!unique)
        value = target.combineValues(b, fromMemory(b, memref::LoadOp::create(b, loc, values, place)), value);
      memref::StoreOp::create(b, loc, toMemory(b, value), values, place);
    }
    if (!isNew)
      keys.insert(b, byElement ? place : coordinates[level]);
  }

  /// Whether blocks of a large result go past the caches.
  bool streams() const { return lines; }

  /// What is appended is whole blocks.
  bool wholeBlocks() const { return block > 1 && !byElement; }

  /// Appends what the group has, in order, and empties the workspace.
  void flush(OpBuilder &b, Appender &appender, ValueRange group, bool counting) {
    keys.drain(b, [&](Value key) {
      if (wholeBlocks())
        return flushBlock(b, appender, group, key, counting);
      flushElement(b, appender, group, key, counting);
    });
    if (met && !counting && !stays)
      met->set(b, target.emitter(b).constant(0));
    if (appender.groups())
      appender.closeGroup(b, group);
  }

  /// Whether blocks stay until moveBlocks.
  bool blocksStay() const { return stays; }

  /// Moves the `count` blocks that have been appended to the values of the tensor, from block `start` on.
  void moveBlocks(OpBuilder &b, Value sink, Value start, Value count) {
    levels::Emitter emit = target.emitter(b);
    levels::forLoop(b, loc, emit.constant(0), count, LoopKind::Reduction, {}, [&](Value k, levels::Values) {
      moveBlock(b, emit.mul(loadIndex(b, sources, k), emit.constant(block)), sink,
                emit.mul(emit.add(start, k), emit.constant(block)));
      return levels::Values{};
    });
    met->set(b, emit.constant(0));
  }

  void free(OpBuilder &b) {
    if (!stays)
      memref::DeallocOp::create(b, loc, values);
    for (Value table : {slots, sources})
      if (table)
        memref::DeallocOp::create(b, loc, table);
    keys.free(b);
  }

private:
  void clear(OpBuilder &b, Value first, Value last) {
    levels::forLoop(b, loc, first, last, LoopKind::Parallel, {}, [&](Value at, levels::Values) {
      memref::StoreOp::create(b, loc, untouched, values, at);
      return levels::Values{};
    });
  }

  Value loadIndex(OpBuilder &b, Value table, Value at) const {
    Value held = memref::LoadOp::create(b, loc, table, at);
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), held);
  }

  /// Where the key's block is: the next place where the key is new. Which ones are is as regular as the
  /// tensor. A place that no group has used is cleared first, apart from finding it: several entries may look
  /// for theirs before any of them stores.
  Value slotOf(OpBuilder &b, Value key, Value isNew) {
    levels::Emitter emit = target.emitter(b);
    Value slot = levels::ifElse(
        b, loc, isNew, b.getIndexType(), [&] { return levels::Values{takeSlot(b, key)}; },
        [&] { return levels::Values{loadIndex(b, slots, key)}; })[0];
    Value fresh = emit.compare(arith::CmpIPredicate::eq, slot, cleared->get(b));
    levels::ifElse(
        b, loc, rarely(b, loc, fresh), TypeRange(),
        [&] {
          Value next = emit.add(slot, emit.constant(1));
          clear(b, emit.mul(slot, emit.constant(block)), emit.mul(next, emit.constant(block)));
          cleared->set(b, next);
          return levels::Values{};
        },
        [&] { return levels::Values{}; });
    return slot;
  }

  Value takeSlot(OpBuilder &b, Value key) {
    Value slot = met->get(b);
    memref::StoreOp::create(b, loc, arith::IndexCastUIOp::create(b, loc, b.getI32Type(), slot), slots, key);
    met->set(b, target.emitter(b).add(slot, target.emitter(b).constant(1)));
    return slot;
  }

  void flushBlock(OpBuilder &b, Appender &appender, ValueRange group, Value key, bool counting) {
    levels::Emitter emit = target.emitter(b);
    Values coordinates(group);
    coordinates.push_back(key);
    if (counting)
      return append(b, appender, coordinates, {});
    Value number = appender.count(b, appender.runCount() - 1);
    Value to = appender.groups() ? appender.appendBlockInGroup(b, coordinates)
                                 : appender.appendBlock(b, coordinates);
    if (stays)
      memref::StoreOp::create(b, loc, Value(memref::LoadOp::create(b, loc, slots, key)), sources, number);
    else
      moveBlock(b, emit.mul(loadIndex(b, slots, key), emit.constant(block)), target.storage.fields.back(),
                to);
  }

  void moveBlock(OpBuilder &b, Value from, Value sink, Value to) {
    levels::Emitter emit = target.emitter(b);
    if (!lines)
      return copyBlock(b, from, sink, to);
    Value held = memref::DimOp::create(b, loc, sink, emit.constant(0));
    Value large = emit.compare(arith::CmpIPredicate::ugt, held, emit.constant(target.costs.streamedElements));
    auto run = [&](void (Workspace::*move)(OpBuilder &, Value, Value, Value)) {
      (this->*move)(b, from, sink, to);
      return levels::Values{};
    };
    levels::ifElse(
        b, loc, large, TypeRange(), [&] { return run(&Workspace::streamBlock); },
        [&] { return run(&Workspace::copyBlock); });
  }

  /// The block's values move to the tensor; small blocks as one run of loads and stores, which become
  /// vectors.
  void copyBlock(OpBuilder &b, Value from, Value sink, Value to) {
    levels::Emitter emit = target.emitter(b);
    if (block > kUnrolled) {
      levels::forLoop(b, loc, emit.constant(0), emit.constant(block), LoopKind::Parallel, {},
                      [&](Value k, levels::Values) {
                        Value at = emit.add(from, k);
                        Value held = memref::LoadOp::create(b, loc, values, at);
                        memref::StoreOp::create(b, loc, untouched, values, at);
                        memref::StoreOp::create(b, loc, held, sink, emit.add(to, k));
                        return levels::Values{};
                      });
      return;
    }
    Values held;
    for (int64_t k = 0; k < block; ++k)
      held.push_back(memref::LoadOp::create(b, loc, values, emit.add(from, emit.constant(k))));
    for (int64_t k = 0; k < block; ++k)
      memref::StoreOp::create(b, loc, untouched, values, emit.add(from, emit.constant(k)));
    for (int64_t k = 0; k < block; ++k)
      memref::StoreOp::create(b, loc, held[size_t(k)], sink, emit.add(to, emit.constant(k)));
  }

  /// The same for whole lines, past the caches.
  void streamBlock(OpBuilder &b, Value from, Value sink, Value to) {
    levels::Emitter emit = target.emitter(b);
    int64_t lanes = kCacheLine / elementBytes();
    auto type = VectorType::get({lanes}, untouched.getType());
    Value clear = vector::BroadcastOp::create(b, loc, type, untouched);
    for (int64_t k = 0; k < block; k += lanes) {
      Value at = emit.add(from, emit.constant(k)), out = emit.add(to, emit.constant(k));
      Value held = vector::LoadOp::create(b, loc, type, values, at, false, llvm::Align(kCacheLine));
      vector::StoreOp::create(b, loc, clear, values, at, false, llvm::Align(kCacheLine));
      vector::StoreOp::create(b, loc, held, sink, out, /*nontemporal=*/true, llvm::Align(kCacheLine));
    }
  }

  int64_t elementBytes() const { return untouched.getType().getIntOrFloatBitWidth() / 8; }

  void flushElement(OpBuilder &b, Appender &appender, ValueRange group, Value place, bool counting) {
    Value value;
    if (!counting) {
      value = fromMemory(b, memref::LoadOp::create(b, loc, values, place));
      memref::StoreOp::create(b, loc, untouched, values, place);
    }
    Values coordinates(group), below;
    levels::Emitter emit = target.emitter(b);
    for (unsigned l = target.levels() - 1; l > level; --l) {
      Value count = emit.levelSize(l);
      below.push_back(arith::RemUIOp::create(b, loc, place, count));
      place = arith::DivUIOp::create(b, loc, place, count);
    }
    coordinates.push_back(place);
    coordinates.append(below.rbegin(), below.rend());
    append(b, appender, coordinates, value);
  }

  static void append(OpBuilder &b, Appender &appender, ValueRange coordinates, Value value) {
    if (appender.groups())
      appender.appendInGroup(b, coordinates, value);
    else
      appender.append(b, coordinates, value);
  }

  /// What the places hold that no entry has touched.
  Value initial(OpBuilder &b) const { return unique ? target.fill(b) : toMemory(b, target.identity(b)); }
  Value toMemory(OpBuilder &b, Value value) const {
    return value.getType().isInteger(1) ? Value(arith::ExtUIOp::create(b, loc, b.getI8Type(), value)) : value;
  }
  Value fromMemory(OpBuilder &b, Value value) const {
    return target.storage.element.isInteger(1) ? Value(arith::TruncIOp::create(b, loc, b.getI1Type(), value))
                                               : value;
  }

  Target &target;
  Location loc;
  bool unique;
  unsigned level;
  int64_t block;
  bool byElement, lines, stays = false;
  Value size;
  Bitmap keys;
  Value values, untouched;
  Value slots;                          ///< where the blocks of keys are, if they are whole
  Value sources;                        ///< by number of an appended block: where it is, if blocks stay
  std::optional<Register> met, cleared; ///< blocks that are there; that have been cleared once
};

} // namespace

/// A copy of the loops, or of one chunk, that collects the entries of each group and appends them; when
/// counting, their coordinates only.
static void insertAll(OpBuilder &b, Target &target, const Order &order, Workspace &workspace,
                      Appender &appender, bool counting, const parallel::Chunk *chunk = nullptr) {
  FiberBoundaries groups(b, target, order, target.storedLevels() - 1);
  auto insert = [&](OpBuilder &b, ValueRange dims, Value value) {
    groups.atInsert(b, dims);
    workspace.insert(b, target.levelCoordinates(b, dims), value);
  };
  cloneLoops(b, target.op, chunk, insert, counting);
  groups.finish(b, [&](OpBuilder &b, ValueRange group) { workspace.flush(b, appender, group, counting); });
}

/// The numbers of positions, by a copy of the loops that collects coordinates only.
static Values countPositions(OpBuilder &b, Target &target, const Order &order, const Order &flushed,
                             Workspace &workspace) {
  Appender counter(b, target, flushed, /*counting=*/true, workspace.wholeBlocks());
  insertAll(b, target, order, workspace, counter, /*counting=*/true);
  Values counts;
  for (unsigned r = 0; r < counter.runCount(); ++r)
    counts.push_back(counter.count(b, r));
  return counts;
}

/// The tensor's buffers, by way of a workspace.
static void assembleInWorkspace(OpBuilder &b, Target &target, const Order &order, Value entries) {
  Order flushed = order;
  flushed.unique = true;
  Workspace workspace(b, target, order);
  unsigned runs = Appender(b, target, flushed, /*counting=*/true).runCount();
  Values bounds =
      planPositions(b, target, entries, runs, target.emitter(b).constant(*workspaceBlock(target)),
                    [&](OpBuilder &b) { return countPositions(b, target, order, flushed, workspace); });
  Appender appender(b, target, flushed, /*counting=*/false, workspace.wholeBlocks());
  appender.allocate(b, bounds);
  insertAll(b, target, order, workspace, appender, /*counting=*/false);
  // Other threads do not see what went past the caches before.
  if (workspace.streams())
    fence(b, target.loc);
  appender.finish(b, /*loose=*/true);
  workspace.free(b);
}

/// The same by several threads, each with a workspace of its own. Whole blocks go from there to the result
/// when it is known where the chunk begins: the staging buffer holds them but once.
static void assembleInChunks(OpBuilder &b, const Target &target, ChunkedAppend &chunked, const Order &order) {
  Order flushed = order;
  flushed.unique = true;
  auto work = [&](OpBuilder &b, Target &staging, ChunkedAppend::EachChunk eachChunk) {
    Workspace workspace(b, staging, order, chunked.entriesOfChunk());
    auto moveBlocks = [&](Value start, Value count) {
      workspace.moveBlocks(b, target.storage.fields.back(), start, count);
    };
    eachChunk([&](const parallel::Chunk &chunk, bool counting, ChunkedAppend::OnAppender begin,
                  ChunkedAppend::OnChunk end) {
      Appender appender(b, staging, flushed, counting, workspace.wholeBlocks());
      begin(appender);
      insertAll(b, staging, order, workspace, appender, counting, &chunk);
      if (workspace.blocksStay())
        end(appender, moveBlocks);
      else
        end(appender, {});
    });
    workspace.free(b);
  };
  chunked.assemble(b, flushed, target.emitter(b).constant(*workspaceBlock(target)), work);
}

/// Whether the blocks of chunks can be counted before they are stored, in little of the time: each entry of
/// one tensor makes one of the new one, in an order in which each block's entries are in one chunk.
static bool countsFirst(const Target &target, AssembleOp op, const Order &order, Value bound) {
  const unsigned level = target.storedLevels() - 1;
  if (!bound || level == 0 || *workspaceBlock(target) == 1 || staysByElement(target, order) ||
      target.format(level).kind != LevelKind::Compressed)
    return false;
  for (unsigned l = 0; l < level; ++l)
    if (target.format(l).kind != LevelKind::Dense)
      return false;
  Value tensor;
  llvm::SmallDenseSet<int64_t> levels;
  auto walk = op.getBody().walk([&](Operation *inner) {
    if (isa<CoiterateOp, SearchOp>(inner))
      return WalkResult::interrupt();
    auto space = dyn_cast<SpaceOp>(inner);
    if (!space)
      return WalkResult::advance();
    bool other = tensor && tensor != space.getTensor();
    tensor = space.getTensor();
    return other || !levels.insert(space.getLevel()).second ? WalkResult::interrupt() : WalkResult::advance();
  });
  return tensor && !walk.wasInterrupted();
}

/// FiberBoundaries have numbers for marks (i1).
static Value fewGroups(OpBuilder &b, const Target &target) {
  levels::Emitter emit = target.emitter(b);
  Value groups = emit.constant(1);
  for (unsigned l = 0; l + 1 < target.storedLevels(); ++l)
    groups = target.checkedSize(b, l, groups, emit.levelSize(l));
  return emit.compare(arith::CmpIPredicate::ult, groups, emit.constant(MarkerArray::kMostGroups));
}

/// By several threads, each of which knows where its blocks belong before it stores them: they go to memory
/// once, and the threads' caches hold no more than a row of blocks.
static void assembleCounted(OpBuilder &b, const Target &target, ChunkedAppend &chunked, const Order &order) {
  Order flushed = order;
  flushed.unique = true;
  auto count = [&](OpBuilder &b, ChunkedAppend::EachCount eachChunk) {
    MarkerArray marks(b, target);
    eachChunk([&](const parallel::Chunk &chunk) { return marks.count(b, chunk); });
    marks.free(b);
  };
  auto work = [&](OpBuilder &b, Target &result, ChunkedAppend::EachChunk eachChunk) {
    Workspace workspace(b, result, order);
    eachChunk([&](const parallel::Chunk &chunk, bool counting, ChunkedAppend::OnAppender begin,
                  ChunkedAppend::OnChunk end) {
      Appender appender(b, result, flushed, counting, workspace.wholeBlocks());
      begin(appender);
      insertAll(b, result, order, workspace, appender, counting, &chunk);
      end(appender, {});
    });
    workspace.free(b);
  };
  chunked.assembleCounted(b, flushed, target.emitter(b).constant(*workspaceBlock(target)), count, work);
}

/// By several threads where that is worth while.
static void assembleByMany(OpBuilder &b, Target &target, const Order &order, ChunkedAppend &chunked,
                           bool counted) {
  Target alone = target;
  SmallVector<Type> types = levels::fieldTypes(target.storage.layout, target.storage.element);
  Value entries = chunked.entries(), several = chunked.profitable(b);
  if (counted)
    several = arith::AndIOp::create(b, target.loc, several, fewGroups(b, target));
  levels::Values buffers = levels::ifElse(
      b, target.loc, several, types,
      [&] {
        if (counted)
          assembleCounted(b, target, chunked, order);
        else
          assembleInChunks(b, target, chunked, order);
        return levels::Values(target.storage.fields);
      },
      [&] {
        assembleInWorkspace(b, alone, order, entries);
        return levels::Values(alone.storage.fields);
      });
  target.storage.fields.assign(buffers.begin(), buffers.end());
}

/// Whether the level is worth an array: i1, or null where that is known.
static Value isSmall(OpBuilder &b, const Target &target, Value entries) {
  const iteration::Costs costs = costModel(target.op).costs;
  levels::Emitter emit = target.emitter(b);
  Value size = emit.levelSize(target.storedLevels() - 1);
  if (APInt known; matchPattern(size, m_ConstantInt(&known)) && known.getSExtValue() <= costs.smallLevel)
    return {};
  // Saturated, so that the product does not wrap.
  Value few = arith::MinUIOp::create(b, target.loc, entries, emit.constant(int64_t(1) << 40));
  Value limit = arith::MaxUIOp::create(b, target.loc, emit.mul(few, emit.constant(costs.sparsest)),
                                       emit.constant(costs.smallLevel));
  return emit.compare(arith::CmpIPredicate::ule, size, limit);
}

FailureOr<Value> expandWorkspace(OpBuilder &b, Target &target, AssembleOp op, const Order &order) {
  std::optional<ChunkedAppend> chunked;
  bool counted = false;
  if (ChunkedAppend::possible(target, op, order)) {
    Value bound = leastBound(b, op);
    counted = countsFirst(target, op, order, bound);
    chunked.emplace(b, target, order, bound, counted);
  }
  Value entries = chunked ? chunked->entries() : boundEntries(b, target, op, order);
  auto assemble = [&](OpBuilder &b) {
    if (chunked)
      assembleByMany(b, target, order, *chunked, counted);
    else
      assembleInWorkspace(b, target, order, entries);
  };
  Value small = isSmall(b, target, entries);
  if (!small) {
    assemble(b);
    return target.finish(b);
  }
  // An array for a level with far more coordinates than entries would cost more than to sort these.
  Target sorted = target;
  SmallVector<Type> types = levels::fieldTypes(target.storage.layout, target.storage.element);
  levels::Values buffers = levels::ifElse(
      b, target.loc, small, types,
      [&] {
        assemble(b);
        return levels::Values(target.storage.fields);
      },
      [&] {
        sortAndAppend(b, sorted, order, boundInserts(b, sorted, op));
        return levels::Values(sorted.storage.fields);
      });
  target.storage.fields.assign(buffers.begin(), buffers.end());
  return target.finish(b);
}

} // namespace tulle::assemble
