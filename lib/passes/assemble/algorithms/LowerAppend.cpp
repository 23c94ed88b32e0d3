// tulle-lower-append and tulle-lower-append-blocks: entries in storage order, of loops or a list, as loops
// that append them, and blocks that loops accumulate, appended before the loops and filled by them.
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/AllocationPlan.h"
#include "passes/assemble/algorithms/ChunkedAppend.h"
#include "passes/assemble/algorithms/CoordinateList.h"
#include "passes/assemble/algorithms/Counters.h"
#include "passes/assemble/algorithms/SegmentRuns.h"
#include "passes/assemble/algorithms/StreamingStores.h"
#include "passes/assemble/algorithms/WholeSegments.h"
#include "passes/assemble/choose/Strategies.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
using namespace assemble;
#define GEN_PASS_DEF_LOWERAPPEND
#define GEN_PASS_DEF_LOWERAPPENDBLOCKS
#include "passes/Passes.h.inc"

using arith::CmpIPredicate;
using format::LevelKind;

namespace {

//===--- Loops ---===//

/// A block whose size is not known counts as large.
constexpr int64_t kLargeBlock = int64_t(1) << 16;

/// Appends every entry of a list.
class ListLoops : public AppendLoops {
public:
  ListLoops(Target &target, AppendOp op) : target(target), op(op) {}

  void append(Appender &appender, const parallel::Chunk *) override {
    CoordinateList list(target, op.getSource());
    forEach(target, op.getCount(), LoopKind::Reduction, [&](Value entry) {
      Values dims = list.dims(entry);
      Value value = list.value(entry);
      appender.append(target.levelCoordinates(dims), value);
    });
  }

private:
  Target &target;
  AppendOp op;
};

/// Appends every entry of a copy of the loops.
class EntryLoops : public AppendLoops {
public:
  EntryLoops(Target &target, const Stream &stream, bool copied)
      : target(target), stream(stream), copied(copied) {}

  void append(Appender &appender, const parallel::Chunk *chunk) override {
    const bool numbered = has(stream.order, format::ExprKind::Counter);
    const bool byFiber = !numbered && FiberAnalysis::oneIterationEach(stream, appender.fiberLevels());
    if (byFiber)
      appender.byFiber();
    Counters counters(target, stream.order, {});
    counters.reset();
    SmallVector<InsertOp> ofSegments;
    auto insert = [&](ValueRange dims, Value value) {
      auto loop = dyn_cast<IterateOp>(target.builder.getInsertionBlock()->getParentOp());
      if (!numbered && value && loop && appender.takesSegments() && insertsSegment(loop)) {
        ofSegments.push_back(InsertOp::create(target.builder, target.loc, value, dims));
        return;
      }
      counters.enter(dims);
      auto number = [&](const format::ExprNode &counter) { return counters.number(counter); };
      appender.append(target.levelCoordinates(dims, number), value);
    };
    cloneFibers(
        target, stream, byFiber ? appender.fiberLevels() : 0, chunk, insert,
        [&](ValueRange fiber) { appender.closeFiber(fiber); }, appender.counting() || copied);
    for (InsertOp segment : ofSegments)
      appendSegment(target, appender, segment);
  }

private:
  Target &target;
  const Stream &stream;
  bool copied; ///< values are copied as they stand
};

//===--- Boundaries of segments ---===//

/// Entries that are looked at together.
constexpr int64_t kTogether = 4;

/// The positions field of a compressed level below a dense one, where coordinates of the latter stand in a
/// buffer, one for each entry, in ascending order (COO->CSR). What a coordinate's segment ends at is written
/// by its last entry, over what the entries before wrote: no branch depends on where a segment ends but one
/// for four entries at a time, which are mostly of one segment (docs/experiments/019).
class SegmentBoundaries {
public:
  /// Whether the target's levels are those (Appender supports it).
  static bool fits(const Target &target) {
    if (target.levels() < 2 || target.format(0).kind != LevelKind::Dense ||
        target.encoding().levels[0].expr->kind != format::ExprKind::Dim ||
        target.format(1).kind != LevelKind::Compressed)
      return false;
    return llvm::all_of(llvm::seq(2u, target.levels()),
                        [&](unsigned l) { return target.format(l).kind == LevelKind::Singleton; });
  }

  /// `coordinates` is the buffer, of which `count` elements are entries; the positions are allocated.
  SegmentBoundaries(const Target &target, Value coordinates, Value count)
      : target(target), coordinates(coordinates), count(count) {}

  /// The first segment begins at 0: before any chunk is written.
  void open() const {
    target.store(*target.storage.layout.positions[1], target.constant(0), target.constant(0));
  }

  /// Writes what belongs to a chunk of the entries, which begins and ends between segments: no other chunk
  /// touches its elements.
  void write(Value chunk, Value chunks) const {
    const unsigned field = *target.storage.layout.positions[1];
    Value none = target.constant(0);
    auto [from, firstCoordinate] = begin(chunk, chunks);
    auto [to, lastCoordinate] = begin(target.add(chunk, 1), chunks);
    Value low = target.add(firstCoordinate, 1), high = target.add(lastCoordinate, 1);
    forEach(target, low, high, LoopKind::Parallel, [&](Value at) { target.store(field, at, none); });
    Value fours = target.divide(target.sub(to, from), kTogether);
    forEach(target, fours, LoopKind::Reduction,
            [&](Value number) { noteFour(target.add(from, target.mul(number, kTogether))); });
    Value rest = target.add(from, target.mul(fours, kTogether));
    forEach(target, rest, to, LoopKind::Reduction,
            [&](Value entry) { note(load(entry), target.add(entry, 1)); });
    // Segments without entries end where the ones before do.
    reduce(target, low, high, from, [&](Value at, Values reached) {
      Value end = target.umax(target.load(field, at), reached[0]);
      target.store(field, at, end);
      return Values{end};
    });
  }

private:
  Value load(Value entry) const {
    Value coordinate = loadAt(target, coordinates, entry);
    return target.builder.createOrFold<arith::IndexCastUIOp>(target.loc, entry.getType(), coordinate);
  }

  /// The first entry of a chunk, and the coordinate that its segments begin at: the first that is not of the
  /// segment in which the chunk would begin if all had as many entries.
  std::pair<Value, Value> begin(Value chunk, Value chunks) const {
    Value zero = target.constant(0), size = target.levelSize(0);
    Value each = make<arith::CeilDivUIOp>(target, count, chunks);
    Value about = target.umin(target.mul(each, chunk), count);
    Value inside = target.both(target.isAbove(about, 0), target.isBelow(chunk, chunks));
    Values found = either(
        target, inside, TypeRange({size.getType(), size.getType()}),
        [&] {
          Value before = load(target.sub(about, 1));
          Value entry = levels::whileLoop(
              target, ValueRange{about, count},
              [&](Values range) { return target.isBelow(range[0], range[1]); },
              [&](Values range) {
                Value half = target.shiftRight(target.sub(range[1], range[0]), 1);
                Value middle = target.add(range[0], half);
                Value same = target.isEqual(load(middle), before);
                return Values{target.select(same, target.add(middle, 1), range[0]),
                              target.select(same, range[1], middle)};
              })[0];
          return Values{entry, target.add(before, 1)};
        },
        [&] {
          Value isEnd = target.compare(CmpIPredicate::uge, chunk, chunks);
          return Values{target.select(isEnd, count, zero), target.select(isEnd, size, zero)};
        });
    return {found[0], found[1]};
  }

  void note(Value coordinate, Value end) const {
    target.store(*target.storage.layout.positions[1], target.add(coordinate, 1), end);
  }

  void noteFour(Value first) const {
    auto at = [&](int64_t k) { return target.add(first, k); };
    Value begin = load(first), last = load(at(kTogether - 1));
    either(
        target, target.isEqual(begin, last), [&] { note(last, at(kTogether)); },
        [&] {
          for (int64_t k = 0; k < kTogether; ++k)
            note(load(at(k)), at(k + 1));
        });
  }

  const Target &target;
  Value coordinates, count;
};

//===--- What is appended how ---===//

/// Whether each insert only waits for whether a segment has entries, which are summed: its ends say so, and
/// counting does not go through them.
bool countsBySegments(const Stream &stream) {
  return llvm::all_of(insertsOf(*stream.loops), [](InsertOp insert) {
    auto branch = dyn_cast<scf::IfOp>(insert->getParentOp());
    auto some = branch ? dyn_cast<OpResult>(branch.getCondition()) : OpResult();
    auto loop = some ? dyn_cast<IterateOp>(some.getOwner()) : IterateOp();
    auto type = loop ? dyn_cast<SpaceType>(loop.getSpace().getType()) : SpaceType();
    if (!type || !isa<IterateOp>(branch->getParentOp()))
      return false;
    const format::LevelFormat &level = type.getEncoding().getValue().levels[type.getLevel()].format;
    Value inEach = loop.getBody().front().getTerminator()->getOperand(some.getResultNumber());
    return level.kind == format::LevelKind::Compressed && !level.padded && matchPattern(inEach, m_One());
  });
}

/// Whether there is one insert for each position of segments: their lengths are the counts.
bool countsByLengths(const Stream &stream) {
  return llvm::all_of(insertsOf(*stream.loops), [](InsertOp insert) {
    auto loop = dyn_cast<IterateOp>(insert->getParentOp());
    return loop && visitsSegment(loop);
  });
}

/// Everything but where segments end is there already.
void appendSegments(Target &target, const Appending &how, Value coordinates, bool parallel) {
  Value count;
  {
    Phase phase(target.builder, "analysis: number of positions");
    Appender counter = how.appender(target, /*counting=*/true);
    how.loops(target, {})->append(counter, nullptr);
    count = counter.positionCounts().front();
  }
  how.copied->alias(target);
  how.appender(target, /*counting=*/false).allocate(count);
  target.checkWidth(*target.storage.layout.positions[1], count);
  SegmentBoundaries segments(target, coordinates, count);
  segments.open();
  auto write = [&](Value chunk, Value chunks) {
    how.copied->copy(target, chunk, chunks);
    segments.write(chunk, chunks);
  };
  if (!parallel) {
    write(target.constant(0), target.constant(1));
  } else {
    Value chunks = make<ThreadsOp>(target, count, /*fixed=*/false);
    levels::parallelTasks(target.builder, target.loc, chunks, [&](Value chunk) {
      write(chunk, chunks);
      fence(target);
    });
  }
  for (unsigned field : how.copied->fields())
    target.shrink(field, count);
}

void appendList(Target &target, AppendOp op) {
  auto loops = [&](Target &to, Value) { return std::make_unique<ListLoops>(to, op); };
  const Appending how{loops, op.getUnique(),
                      target.constant(target.blockSize(kLargeBlock).value_or(kLargeBlock))};
  appendAlone(target, how, op.getCount());
}

void appendEntries(Target &target, AppendOp op) {
  const Stream stream = streamOf(op.getSource().getDefiningOp<EntriesOp>(), target.encoding());
  // A number depends on the entries before: one thread gives them, to all entries.
  const bool numbered = has(stream.order, format::ExprKind::Counter);
  std::optional<BufferReuse> reuse;
  if (!numbered)
    reuse = BufferReuse::find(target, stream, op.getShare());
  const bool asRuns = !reuse && SegmentRuns::fits(target, stream);
  auto loops = [&](Target &to, Value) -> std::unique_ptr<AppendLoops> {
    if (asRuns)
      return std::make_unique<SegmentRuns>(to, stream);
    return std::make_unique<EntryLoops>(to, stream, bool(reuse));
  };
  Appending how{loops, stream.order.unique, target.constant(1)};
  if (reuse) {
    how.copied = &*reuse;
    if (Value outer = SegmentBoundaries::fits(target) ? reuse->outerCoordinates(target) : Value())
      return appendSegments(target, how, outer, op.getParallel());
  }
  const bool exact = !stream.bound || target.plan == AssemblyPlan::Count;
  auto bounds = [&](function_ref<Values()> count) {
    return target.storedLevels() == 0 ? Values() : exact ? count() : Values{stream.bound};
  };
  auto alone = [&] { appendAlone(target, how, bounds, exact); };
  // What is copied anyway, or counted in a moment, needs no staging buffer: where a chunk begins, its loops
  // hardly have to run to say.
  const bool inPlace = reuse || asRuns || countsBySegments(stream) || countsByLengths(stream);
  const auto mode = inPlace ? ChunkedAppend::Mode::InPlace : ChunkedAppend::Mode::Staged;
  ChunkedAppend::appendOrElse(target, stream, stream.bound, op.getParallel() && !numbered, mode, how, alone);
  target.freeScratch();
}

Values lower(OpBuilder &b, AppendOp op) {
  Target target(b, op.getLoc(), cast<RankedTensorType>(op.getTensor()), op.getSizes(), op.getCombine(),
                op.getPlan());
  Phase phase(b, "assembly: coordinates and values");
  op.getCount() ? appendList(target, op) : appendEntries(target, op);
  return target.storage.fields;
}

//===--- Blocks ---===//

/// At most as many blocks: the entries of the tensor whose last level the outermost block loop iterates over,
/// where the loops around iterate over its other levels and nothing else, so that no two blocks have an entry
/// in common.
Value boundBlocks(const Target &target, const Stream &stream, const BlockLoops &blockLoops) {
  Value tensor;
  IterateOp loop = blockLoops.front();
  while (loop) {
    auto space = loop.getSpace().getDefiningOp<SpaceOp>();
    if (!space || (tensor && space.getTensor() != tensor))
      return {};
    if (!tensor && size_t(space.getLevel()) + 1 != encodingOf(space).levels.size())
      return {};
    tensor = space.getTensor();
    Operation *around = loop->getParentOp();
    loop = dyn_cast<IterateOp>(around);
    // The parent is the position of the loop around.
    auto parent = dyn_cast_or_null<BlockArgument>(space.getParent());
    if (loop ? !parent || parent.getOwner()->getParentOp() != loop
             : !isa<EntriesOp>(around) || space.getParent())
      return {};
  }
  if (stream.loops->isAncestor(tensor.getParentRegion()))
    return {};
  return make<StoredCountOp>(target, tensor);
}

/// Appends a block where its loops begin, if they have an iteration at all, and has them run behind that.
class AccumulatedBlocks : public AppendLoops {
public:
  AccumulatedBlocks(Target &target, const Stream &stream, const BlockLoops &blockLoops)
      : target(target), stream(stream), blockLoops(blockLoops) {}

  void append(Appender &appender, const parallel::Chunk *chunk) override {
    appender.byFiber();
    Operation *counted = nullptr;
    auto insert = [&](ValueRange dims, Value value) {
      BlockLoops loops = loopsAround();
      Value begin = open(loops, appender, dims);
      if (appender.counting())
        counted = loops.front();
      else
        target.combineValue(positionInBlock(begin, dims), value);
    };
    cloneFibers(
        target, stream, appender.fiberLevels(), chunk, insert,
        [&](ValueRange fiber) { appender.closeFiber(fiber); }, appender.counting());
    // What the loops do with a block's entries does not change the number of blocks.
    if (counted)
      counted->erase();
  }

private:
  /// The copies of the block's loops: the builder stands in the innermost.
  BlockLoops loopsAround() const {
    BlockLoops loops;
    for (Operation *loop = target.builder.getInsertionBlock()->getParentOp();
         loops.size() < blockLoops.size(); loop = loop->getParentOp())
      loops.insert(loops.begin(), cast<IterateOp>(loop));
    return loops;
  }

  /// Returns where the block begins; null where only blocks are counted.
  Value open(const BlockLoops &loops, Appender &appender, ValueRange dims) const {
    OpBuilder &b = target.builder;
    OpBuilder::InsertionGuard guard(b);
    IterateOp first = loops.front();
    b.setInsertionPoint(first);
    auto branch = scf::IfOp::create(b, target.loc, haveIterations(loops), /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    Value begin, block = appender.counting() ? Value() : target.blockValues();
    if (!block) {
      appender.append(storedCoordinates(dims), {});
    } else {
      begin = appender.appendBlock(storedCoordinates(dims));
      forEach(target, block, LoopKind::Parallel, [&](Value k) {
        storeAt(target, target.fillValue(), target.storage.fields.back(), target.add(begin, k));
      });
    }
    first->moveBefore(branch.thenBlock()->getTerminator());
    // Iterations do not change where the next one stores.
    for (auto [loop, original] : llvm::zip_equal(loops, blockLoops))
      IterateOp(loop).setLoopAttr(IterateOp(original).getLoop());
    return begin;
  }

  Value haveIterations(const BlockLoops &loops) const {
    Value all;
    for (IterateOp loop : loops) {
      Value some;
      if (auto range = loop.getSpace().getDefiningOp<RangeOp>())
        some = target.compare(CmpIPredicate::slt, range.getLo(), range.getHi());
      else
        some = target.isDifferent(make<SpaceSizeOp>(target, loop.getSpace()), 0);
      all = all ? target.both(all, some) : some;
    }
    return all;
  }

  /// Those of the other dimensions are known inside only, and do not matter.
  Values storedCoordinates(ValueRange dims) const {
    Values known(dims.size(), target.constant(0));
    for (unsigned l = 0; l < target.storedLevels(); ++l) {
      auto dim = size_t(stream.order.levels[l]->value);
      known[dim] = dims[dim];
    }
    return target.levelCoordinates(known);
  }

  Value positionInBlock(Value begin, ValueRange dims) const {
    Value within = target.positionBelow(target.constant(0), target.storedLevels(), target.levels(),
                                        target.levelCoordinates(dims));
    return target.add(begin, within);
  }

  Target &target;
  const Stream &stream;
  const BlockLoops &blockLoops;
};

void appendBlocks(Target &target, const Stream &stream, AppendBlocksOp op) {
  const BlockLoops blockLoops = *matchBlockLoops(target, stream);
  auto loops = [&](Target &to, Value) { return std::make_unique<AccumulatedBlocks>(to, stream, blockLoops); };
  Value bound = boundBlocks(target, stream, blockLoops);
  const Appending how{loops, /*unique=*/true, target.blockValues(), /*wholeBlocks=*/true};
  // To count a chunk its blocks need not be computed.
  ChunkedAppend::appendOrElse(target, stream, bound, op.getParallel(), ChunkedAppend::Mode::InPlace, how,
                              [&] { appendAlone(target, how, bound); });
}

//===--- The passes ---===//

struct LowerAppendBlocks : impl::LowerAppendBlocksBase<LowerAppendBlocks> {
  void runOnOperation() override {
    const FailureOr<bool> lowered =
        lowerBuild<AppendBlocksOp>(getOperation(), fitsAppendBlocks, appendBlocks);
    if (failed(lowered))
      return signalPassFailure();
    if (!*lowered)
      markAllAnalysesPreserved();
  }
};

struct LowerAppend : impl::LowerAppendBase<LowerAppend> {
  void runOnOperation() override {
    if (!lowerEach<AppendOp>(getOperation(), lower))
      markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace tulle::passes
