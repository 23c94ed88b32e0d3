// tulle-lower-append: entries in storage order, of loops or a list, as loops that append them.
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"
#include "passes/assemble/algorithms/AllocationPlan.h"
#include "passes/assemble/algorithms/ChunkedAppend.h"
#include "passes/assemble/algorithms/CoordinateList.h"
#include "passes/assemble/algorithms/FiberBoundaries.h"
#include "passes/assemble/algorithms/SegmentBoundaries.h"
#include "passes/assemble/algorithms/StreamingStores.h"

namespace tulle::passes {
using namespace mlir;
using namespace dialect;
using namespace assemble;
#define GEN_PASS_DEF_LOWERAPPEND
#include "passes/Passes.h.inc"

namespace {

/// A block whose size is not known counts as large.
constexpr int64_t kLargeBlock = int64_t(1) << 16;

/// Appends every entry of a list.
class ListLoops : public AppendLoops {
public:
  ListLoops(Target &target, AppendOp op) : target(target), op(op) {}

  void append(Appender &appender, const parallel::Chunk *) override {
    CoordinateList list(target, op.getSource());
    forEach(target, target.constant(0), op.getCount(), LoopKind::Reduction, [&](Value entry) {
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
    const bool byFiber = FiberAnalysis::oneIterationEach(stream, appender.fiberLevels());
    FiberBoundaries fibers(target, stream.order, byFiber ? appender.fiberLevels() : 0);
    if (byFiber)
      appender.byFiber();
    auto insert = [&](ValueRange dims, Value value) {
      fibers.atInsert(dims);
      appender.append(target.levelCoordinates(dims), value);
    };
    cloneLoops(target.builder, stream, chunk, insert, appender.counting() || copied);
    if (byFiber)
      fibers.finish([&](ValueRange fiber) { appender.closeFiber(fiber); });
  }

private:
  Target &target;
  const Stream &stream;
  bool copied; ///< values are copied as they stand
};

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

/// Everything but where segments end is there already.
void appendSegments(Target &target, const Appending &how, Value coordinates, bool parallel) {
  Appender counter = how.appender(target, /*counting=*/true);
  how.loops(target, {})->append(counter, nullptr);
  Value count = counter.positionCounts().front();
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
  const size_t runs = Appender(target, how.unique, /*counting=*/true).allRuns().size();
  appendAlone(target, how, [&](function_ref<Values()> count) {
    return planPositions(target, op.getCount(), runs, how.block, count);
  });
}

void appendEntries(Target &target, AppendOp op) {
  const Stream stream = streamOf(op.getSource().getDefiningOp<EntriesOp>(), target.encoding());
  std::optional<BufferReuse> reuse = BufferReuse::find(target, stream, op.getShare());
  auto loops = [&](Target &to, Value) { return std::make_unique<EntryLoops>(to, stream, bool(reuse)); };
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
  if (!op.getParallel() || !stream.bound || !ChunkedAppend::possible(target, stream))
    return alone();
  // What is copied anyway, or counted in a moment, needs no staging buffer: where a chunk begins, its loops
  // hardly have to run to say.
  const bool inPlace = reuse || countsBySegments(stream);
  ChunkedAppend chunked(target, stream, stream.bound,
                        inPlace ? ChunkedAppend::Mode::InPlace : ChunkedAppend::Mode::Staged);
  target.either(chunked.profitable(), [&] { chunked.append(how); }, alone);
}

Values lower(OpBuilder &b, AppendOp op) {
  Target target(b, op.getLoc(), cast<RankedTensorType>(op.getTensor()), op.getSizes(), op.getCombine(),
                op.getPlan());
  op.getCount() ? appendList(target, op) : appendEntries(target, op);
  return target.storage.fields;
}

struct LowerAppend : impl::LowerAppendBase<LowerAppend> {
  void runOnOperation() override { lowerEach<AppendOp>(getOperation(), lower); }
};

} // namespace
} // namespace tulle::passes
