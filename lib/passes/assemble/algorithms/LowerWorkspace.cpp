// tulle-lower-workspace: fibers accumulated in a dense workspace, whose entries are appended in order.
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/AllocationPlan.h"
#include "passes/assemble/algorithms/ChunkedAppend.h"
#include "passes/assemble/algorithms/CoordinateBits.h"
#include "passes/assemble/algorithms/CoordinateBytes.h"
#include "passes/assemble/algorithms/CoordinateList.h"
#include "passes/assemble/algorithms/StreamingStores.h"
#include "passes/assemble/choose/Strategies.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
using namespace assemble;
#define GEN_PASS_DEF_LOWERWORKSPACE
#include "passes/Passes.h.inc"

using arith::CmpIPredicate;
using format::LevelKind;

namespace {

//===--- Workspaces ---===//

/// Blocks up to this size are moved without a loop.
constexpr int64_t kUnrolled = 64;

/// Elements that no entry has touched must be told from those that one has, where the fill is not what they
/// hold.
bool appendsElements(const Target &target, const Stream &stream) {
  return *workspaceBlock(target) > 1 && !stream.order.unique && !target.fillIsIdentity();
}

/// What is appended is whole blocks.
bool appendsBlocks(const Target &target, const Stream &stream) {
  return *workspaceBlock(target) > 1 && !appendsElements(target, stream);
}

/// Whether blocks are small and whole cache lines: those of a large result go past the caches.
bool blocksAreLines(const Target &target, const Stream &stream) {
  const int64_t block = *workspaceBlock(target);
  Type element = target.elementType(target.storage.layout.valuesField());
  return appendsBlocks(target, stream) && block <= kUnrolled && element.isIntOrFloat() &&
         block * element.getIntOrFloatBitWidth() / 8 % kCacheLine == 0;
}

/// The keys below which a fiber's entries are told apart.
Value keysOf(const Target &target, const Stream &stream) {
  const unsigned level = target.storedLevels() - 1;
  const int64_t below = appendsElements(target, stream) ? *workspaceBlock(target) : 1;
  return target.product(target.levels(), target.levelSize(level), target.constant(below));
}

/// The values of one fiber, by coordinate of the last stored level and offset in its block. Whole blocks
/// stand next to each other in insertion order, so that the caches hold those of a fiber, however far apart
/// they are in the tensor.
class Workspace : public AppendLoops {
public:
  /// With space for so many blocks, those of all fibers stay in the target's values, a staging buffer, until
  /// they are moved to the tensor that this is a chunk of. `meeting` (i1, or null for false): many entries
  /// meet at each coordinate.
  Workspace(Target &target, const Stream &stream, Value blocks, Value meeting)
      : target(target), stream(stream), b(target.builder), unique(stream.order.unique),
        level(target.storedLevels() - 1), block(*workspaceBlock(target)),
        byElement(appendsElements(target, stream)), lines(blocksAreLines(target, stream)),
        stays(blocks && wholeBlocks()),
        size(target.product(target.levels(), target.levelSize(level), target.constant(block))),
        meeting(meeting), keys(target, keysOf(target, stream)) {
    untouched = unique ? target.fillValue() : target.toMemory(target.identity());
    if (!wholeBlocks()) {
      values = filledBuffer(target, size, untouched);
      if (meeting)
        bytes.emplace(target, target.select(meeting, keysOf(target, stream), target.constant(0)));
      return;
    }
    values = stays ? target.storage.fields.back()
                   : newBuffer(target, target.elementType(target.storage.layout.valuesField()), size);
    Value zero = target.constant(0);
    slots = newBuffer(target, b.getI32Type(), target.levelSize(level));
    if (stays)
      sources = newBuffer(target, b.getI32Type(), blocks);
    used.emplace(target, zero);
    cleared.emplace(target, zero);
  }

  void append(Appender &appender, const parallel::Chunk *chunk) override {
    appender.byFiber();
    auto collect = [&](ValueRange dims, Value value) { insert(target.levelCoordinates(dims), value); };
    auto loops = [&](bool marksBytes) {
      inBytes = marksBytes;
      cloneFibers(
          target, stream, level, chunk, collect, [&](ValueRange fiber) { flush(appender, fiber); },
          appender.counting());
    };
    if (!bytes || appender.counting())
      return loops(false);
    // Versions of all loops: in one loop, each kind of set would take registers from the other.
    either(target, meeting, [&] { loops(true); }, [&] { loops(false); });
  }

  bool moveValues(const Target &result, Value start, Value count) override {
    if (!stays)
      return false;
    forEach(target, count, LoopKind::Reduction, [&](Value k) {
      moveBlock(addressOf(loadIndex(sources, k)), result.storage.fields.back(),
                addressOf(target.add(start, k)));
    });
    used->set(target.constant(0));
    return true;
  }

  void finish() override {
    if (!wholeBlocks())
      returnFilledBuffer(target, values, untouched);
    else if (!stays)
      freeBuffers(target, values);
    for (Value table : {slots, sources})
      if (table)
        freeBuffers(target, table);
    keys.free();
    if (bytes)
      bytes->free();
  }

private:
  bool wholeBlocks() const { return block > 1 && !byElement; }

  /// Remembers the coordinate of an entry, and combines its value.
  void insert(ValueRange coordinates, Value value) {
    Value at = coordinates[level], isNew;
    if (wholeBlocks()) {
      isNew = keys.insert(at);
      if (value)
        at = slotOf(at, isNew);
    }
    at = target.positionBelow(at, level + 1, target.levels(), coordinates);
    if (value) {
      if (!unique)
        value = target.combineValues(target.fromMemory(loadAt(target, values, at)), value);
      storeAt(target, target.toMemory(value), values, at);
    }
    if (isNew)
      return;
    Value key = byElement ? at : coordinates[level];
    inBytes ? bytes->insert(key) : void(keys.insert(key));
  }

  /// Appends what the fiber has, in order, and empties the workspace.
  void flush(Appender &appender, ValueRange fiber) {
    auto visit = [&](Value key) {
      wholeBlocks() ? flushBlock(appender, fiber, key) : flushElement(appender, fiber, key);
    };
    inBytes ? bytes->drain(visit) : keys.drain(visit);
    if (used && !appender.counting() && !stays)
      used->set(target.constant(0));
    appender.closeFiber(fiber);
  }

  void clear(Value first, Value last) { fillBuffer(target, values, first, last, untouched); }

  Value loadIndex(Value table, Value at) const { return target.toIndex(loadAt(target, table, at)); }

  /// The first value of a block.
  Value addressOf(Value number) const { return target.mul(number, block); }

  /// Where the key's block is: the next free slot where the key is new. Which ones are is as regular as the
  /// tensor. A slot that no fiber has used is cleared first, apart from finding it: several entries may look
  /// for theirs before any of them stores.
  Value slotOf(Value key, Value isNew) {
    Value slot = either(
        target, isNew, b.getIndexType(), [&] { return Values{takeSlot(key)}; },
        [&] { return Values{loadIndex(slots, key)}; })[0];
    Value isUnused = target.isEqual(slot, cleared->get());
    when(target, rarely(target, isUnused), [&] {
      Value next = target.add(slot, 1);
      clear(addressOf(slot), addressOf(next));
      cleared->set(next);
    });
    return slot;
  }

  Value takeSlot(Value key) {
    Value slot = used->get();
    storeAt(target, make<arith::IndexCastUIOp>(target, b.getI32Type(), slot), slots, key);
    used->set(target.add(slot, 1));
    return slot;
  }

  void flushBlock(Appender &appender, ValueRange fiber, Value key) {
    Values coordinates(fiber);
    coordinates.push_back(key);
    if (appender.counting())
      return appender.append(coordinates, {});
    Value number = appender.lastCount();
    Value to = appender.appendBlock(coordinates);
    if (stays)
      storeAt(target, loadAt(target, slots, key), sources, number);
    else
      moveBlock(addressOf(loadIndex(slots, key)), target.storage.fields.back(), to);
  }

  void moveBlock(Value from, Value result, Value to) {
    if (!lines)
      return copyBlock(from, result, to);
    either(
        target, isStreamed(target, result), [&] { streamBlock(from, result, to); },
        [&] { copyBlock(from, result, to); });
  }

  /// The block's values move to the tensor; small blocks as one run of loads and stores, which become
  /// vectors.
  void copyBlock(Value from, Value result, Value to) {
    if (block > kUnrolled) {
      forEach(target, target.constant(block), LoopKind::Parallel, [&](Value k) {
        Value at = target.add(from, k);
        Value held = loadAt(target, values, at);
        storeAt(target, untouched, values, at);
        storeAt(target, held, result, target.add(to, k));
      });
      return;
    }
    auto element = [&](Value first, int64_t k) { return target.add(first, k); };
    Values held;
    for (int64_t k = 0; k < block; ++k)
      held.push_back(loadAt(target, values, element(from, k)));
    for (int64_t k = 0; k < block; ++k)
      storeAt(target, untouched, values, element(from, k));
    for (int64_t k = 0; k < block; ++k)
      storeAt(target, held[size_t(k)], result, element(to, k));
  }

  /// The same for whole lines, past the caches.
  void streamBlock(Value from, Value result, Value to) {
    const llvm::Align line(kCacheLine);
    const int64_t lanes = kCacheLine * 8 / untouched.getType().getIntOrFloatBitWidth();
    auto type = VectorType::get({lanes}, untouched.getType());
    Value clear = make<vector::BroadcastOp>(target, type, untouched);
    for (int64_t k = 0; k < block; k += lanes) {
      Value at = target.add(from, k), out = target.add(to, k);
      Value held = make<vector::LoadOp>(target, type, values, at, /*nontemporal=*/false, line);
      vector::StoreOp::create(b, target.loc, clear, values, at, /*nontemporal=*/false, line);
      vector::StoreOp::create(b, target.loc, held, result, out, /*nontemporal=*/true, line);
    }
  }

  void flushElement(Appender &appender, ValueRange fiber, Value at) {
    Value value;
    if (!appender.counting()) {
      value = target.fromMemory(loadAt(target, values, at));
      storeAt(target, untouched, values, at);
    }
    Values coordinates(fiber), below;
    for (unsigned l = target.levels() - 1; l > level; --l) {
      Value count = target.levelSize(l);
      below.push_back(make<arith::RemUIOp>(target, at, count));
      at = target.divide(at, count);
    }
    coordinates.push_back(at);
    coordinates.append(below.rbegin(), below.rend());
    appender.append(coordinates, value);
  }

  Target &target;
  const Stream &stream;
  OpBuilder &b;
  const bool unique;
  const unsigned level;
  const int64_t block;
  const bool byElement, lines;
  const bool stays; ///< blocks stay until moveValues
  Value size;
  Value meeting;
  CoordinateBits keys;
  std::optional<CoordinateBytes> bytes;  ///< the other kind of set, where the fibers may be of that
  bool inBytes = false;                  ///< of the loops being emitted
  Value values, untouched;               ///< and what elements hold that no entry has touched
  Value slots;                           ///< where the blocks of keys are, if they are whole
  Value sources;                         ///< by number of an appended block: where it is, if blocks stay
  std::optional<Register> used, cleared; ///< slots that have a block; that have been cleared once
};

/// Whether the blocks of chunks can be counted before they are stored, in little of the time: each entry of
/// one tensor makes one of the new one, in an order in which each block's entries are in one chunk.
bool countsFirst(const Target &target, const Stream &stream, Value bound) {
  const unsigned level = target.storedLevels() - 1;
  if (!bound || level == 0 || !appendsBlocks(target, stream) ||
      target.format(level).kind != LevelKind::Compressed ||
      llvm::any_of(llvm::seq(level), [&](unsigned l) { return target.format(l).kind != LevelKind::Dense; }))
    return false;
  Value tensor;
  llvm::SmallDenseSet<int64_t> levels;
  auto walk = stream.loops->walk([&](Operation *inner) {
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

/// Fibers have numbers for marks (i1), which have 32 bits.
Value hasFewFibers(const Target &target) {
  return target.isBelow(target.sizesOf(0, target.storedLevels() - 1), int64_t(1) << 31);
}

/// Whether an array for the level is profitable: i1, or null where that is known.
Value isSmall(const Target &target, Value entries) {
  const iteration::Costs &costs = target.costs;
  Value size = target.levelSize(target.storedLevels() - 1);
  if (APInt known; matchPattern(size, m_ConstantInt(&known)) && known.getSExtValue() <= costs.smallLevel)
    return {};
  Value limit = target.mul(saturated(target, entries), costs.sparsest);
  limit = target.umax(limit, costs.smallLevel);
  return target.compare(CmpIPredicate::ule, size, limit);
}

/// Whether entries of a fiber meet so often that bytes are better marks than bits (i1), by a sample that is
/// counted; null where they cannot, or no sample can be taken.
Value sampleMeetings(const Target &target, const Stream &stream) {
  if (stream.order.unique || appendsBlocks(target, stream) || !ChunkedAppend::possible(target, stream))
    return {};
  const iteration::Costs &costs = target.costs;
  const unsigned level = target.storedLevels() - 1;
  Value size = keysOf(target, stream), zero = target.constant(0);
  const CoordinateBits keys(target, size);
  const Register entries(target, zero), coordinates(target, zero), fibers(target, zero);
  auto insert = [&](ValueRange dims, Value) {
    const Values at = target.levelCoordinates(dims);
    keys.insert(appendsElements(target, stream)
                    ? target.positionBelow(at[level], level + 1, target.levels(), at)
                    : at[level]);
    entries.increment();
  };
  auto complete = [&](ValueRange) {
    keys.drain([&](Value) { coordinates.increment(); });
    fibers.increment();
  };
  forEach(target, target.constant(costs.chunkSamples), LoopKind::Reduction, [&](Value sample) {
    Value number = target.add(target.mul(sample, costs.chunksPerSample), costs.chunksPerSample / 2);
    const parallel::Chunk chunk{number, target.constant(costs.chunkSamples * costs.chunksPerSample)};
    cloneFibers(target, stream, level, &chunk, insert, complete, /*counting=*/true);
  });
  keys.free();
  Value least = target.umax(target.mul(coordinates.get(), costs.meetingEntries),
                            target.mul(fibers.get(), target.divide(size, costs.sparsestBytes)));
  return target.compare(CmpIPredicate::uge, entries.get(), target.umax(least, 1));
}

/// By several threads, each with a workspace of its own, where that is profitable. Blocks that are counted
/// first go to memory once, and the threads' caches hold no more than a row of blocks.
void lower(Target &target, const Stream &stream, WorkspaceOp op) {
  std::optional<ChunkedAppend> chunked;
  bool counted = false;
  if (op.getParallel() && ChunkedAppend::possible(target, stream)) {
    Value bound = stream.leastBound(target.builder, target.loc);
    counted = countsFirst(target, stream, bound);
    chunked.emplace(target, stream, bound,
                    counted ? ChunkedAppend::Mode::Counted : ChunkedAppend::Mode::Staged);
  }
  Value entries = chunked ? chunked->entries() : boundEntries(target, stream);
  Value meeting;
  auto loops = [&](Target &to, Value staged) {
    return std::make_unique<Workspace>(to, stream, staged, meeting);
  };
  const Appending how{loops, /*unique=*/true, target.constant(*workspaceBlock(target)),
                      appendsBlocks(target, stream), blocksAreLines(target, stream)};
  auto alone = [&] { appendAlone(target, how, entries); };
  auto append = [&] {
    meeting = sampleMeetings(target, stream);
    if (!chunked)
      return alone();
    Value several = chunked->profitable();
    if (counted)
      several = target.both(several, hasFewFibers(target));
    target.either(several, [&] { chunked->append(how); }, alone);
  };
  Value small = isSmall(target, entries);
  if (!small)
    return append();
  // An array for a level with far more coordinates than entries would cost more than to sort these.
  auto source = op.getEntries().getDefiningOp<EntriesOp>();
  target.either(small, append, [&] { sortAndAppend(target, source, op.getParallel()); });
}

struct LowerWorkspace : impl::LowerWorkspaceBase<LowerWorkspace> {
  void runOnOperation() override {
    const FailureOr<bool> lowered = lowerBuild<WorkspaceOp>(getOperation(), fitsWorkspace, lower);
    if (failed(lowered))
      return signalPassFailure();
    if (!*lowered)
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
