#include "levels/Control.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/assemble/algorithms/Appender.h"
#include "passes/assemble/algorithms/BufferReuse.h"
#include "passes/assemble/algorithms/ChunkedAppend.h"
#include "passes/assemble/algorithms/CloneLoops.h"
#include "passes/assemble/algorithms/FiberBoundaries.h"
#include "passes/assemble/algorithms/SegmentBoundaries.h"
#include "passes/assemble/algorithms/StreamingStores.h"
#include "passes/assemble/choose/Strategies.h"
#include "passes/assemble/expand/Expansions.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

/// Emits a copy of the loops that appends every entry; with `counting` only its coordinates.
static void appendAll(OpBuilder &b, Target &target, AssembleOp op, const Order &order, Appender &appender,
                      bool counting, const parallel::Chunk *chunk = nullptr) {
  bool grouped = FiberAnalysis::oneIterationEach(op, order, appender.groupLevels());
  FiberBoundaries groups(b, target, order, appender.groupLevels());
  auto append = [&](OpBuilder &b, ValueRange dims, Value value) {
    if (!grouped)
      return appender.append(b, target.levelCoordinates(b, dims), value);
    groups.atInsert(b, dims);
    appender.appendInGroup(b, target.levelCoordinates(b, dims), value);
  };
  cloneLoops(b, op, chunk, append, counting);
  if (grouped)
    groups.finish(b, [&](OpBuilder &b, ValueRange group) { appender.closeGroup(b, group); });
}

/// The numbers of positions the entries will need, by a copy of the loops that only counts.
static Values countPositions(OpBuilder &b, Target &target, AssembleOp op, const Order &order) {
  Appender counter(b, target, order, /*counting=*/true);
  appendAll(b, target, op, order, counter, /*counting=*/true);
  Values counts;
  for (unsigned r = 0; r < counter.runCount(); ++r)
    counts.push_back(counter.count(b, r));
  return counts;
}

static void appendToEnds(OpBuilder &b, Target &target, AssembleOp op, const Order &order, ValueRange bounds,
                         bool loose, const BufferReuse *copied) {
  Appender appender(b, target, order, /*counting=*/false);
  if (copied)
    copied->share(b, target);
  appender.allocate(b, bounds);
  if (copied) {
    copied->copy(b, target, target.emitter(b).constant(0), target.emitter(b).constant(1));
    appender.leaveOut(copied->fields());
  }
  appendAll(b, target, op, order, appender, /*counting=*/copied != nullptr);
  appender.finish(b, loose);
}

/// For at most as many entries as the op says, or as copies of the loops count.
static void appendAlone(OpBuilder &b, Target &target, AssembleOp op, const Order &order,
                        const BufferReuse *copied) {
  Value bound = op.getBound();
  bool stores = target.storedLevels() > 0;
  bool loose = stores && bound && op.getPlan() != AssemblyPlan::Count;
  Values bounds{bound};
  if (!loose)
    bounds = stores ? countPositions(b, target, op, order) : Values();
  appendToEnds(b, target, op, order, bounds, loose, copied);
}

/// Whether each insert only waits for whether a segment has entries, which are summed: its ends say so, and
/// counting does not go through them.
static bool countsBySegments(AssembleOp op) {
  auto isOfSegment = [](InsertOp insert) {
    auto branch = dyn_cast<scf::IfOp>(insert->getParentOp());
    auto some = branch ? dyn_cast<OpResult>(branch.getCondition()) : OpResult();
    auto loop = some ? dyn_cast<IterateOp>(some.getOwner()) : IterateOp();
    auto type = loop ? dyn_cast<SpaceType>(loop.getSpace().getType()) : SpaceType();
    if (!type || !isa<IterateOp>(branch->getParentOp()))
      return false;
    const format::LevelFormat &level = type.getEncoding().getValue().levels[type.getLevel()].format;
    Value inEach = loop.getBody().front().getTerminator()->getOperand(some.getResultNumber());
    return level.kind == format::LevelKind::Compressed && !level.padded && matchPattern(inEach, m_One());
  };
  return !op->walk([&](InsertOp insert) {
              return isOfSegment(insert) ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

/// What is copied anyway, or counted in a moment, needs no staging buffer: where a chunk begins, its loops
/// hardly have to run to say.
static void appendInChunks(OpBuilder &b, ChunkedAppend &chunked, AssembleOp op, const Order &order,
                           const BufferReuse *copied) {
  auto work = [&](OpBuilder &b, Target &staging, ChunkedAppend::EachChunk eachChunk) {
    eachChunk([&](const parallel::Chunk &chunk, bool counting, ChunkedAppend::OnAppender begin,
                  ChunkedAppend::OnChunk end) {
      Appender appender(b, staging, order, counting);
      if (copied)
        appender.leaveOut(copied->fields());
      begin(appender);
      appendAll(b, staging, op, order, appender, counting || copied, &chunk);
      end(appender, {});
    });
  };
  Value one = arith::ConstantIndexOp::create(b, op.getLoc(), 1);
  if (copied || countsBySegments(op))
    chunked.assembleInPlace(b, order, one, work, copied);
  else
    chunked.assemble(b, order, one, work);
}

/// Everything but where segments end is there already.
static Value appendEnds(OpBuilder &b, Target &target, AssembleOp op, const Order &order,
                        const BufferReuse &copied, Value coordinates) {
  Value count = countPositions(b, target, op, order).front();
  copied.share(b, target);
  Appender appender(b, target, order, /*counting=*/false);
  appender.allocate(b, count);
  target.checkWidth(b, *target.storage.layout.positions[1], count);
  SegmentBoundaries ends(target, coordinates, count);
  ends.open(b);
  auto share = [&](Value part, Value parts) {
    copied.copy(b, target, part, parts);
    ends.write(b, part, parts);
  };
  levels::Emitter emit = target.emitter(b);
  if (!target.parallel) {
    share(emit.constant(0), emit.constant(1));
  } else {
    Value parts = ThreadsOp::create(b, target.loc, count, /*fixed=*/false);
    levels::parallelTasks(b, target.loc, parts, [&](Value part) {
      share(part, parts);
      fence(b, target.loc);
    });
  }
  for (unsigned field : copied.fields())
    target.shrink(b, field, count);
  return target.finish(b);
}

FailureOr<Value> expandAppend(OpBuilder &b, Target &target, AssembleOp op, const Order &order) {
  std::optional<BufferReuse> found = BufferReuse::find(target, op, order);
  const BufferReuse *copied = found ? &*found : nullptr;
  if (copied && SegmentBoundaries::fits(target))
    if (Value coordinates = copied->outerCoordinates(b, target))
      return appendEnds(b, target, op, order, *copied, coordinates);
  if (!op.getBound() || !ChunkedAppend::possible(target, op, order)) {
    appendAlone(b, target, op, order, copied);
    return target.finish(b);
  }
  ChunkedAppend chunked(b, target, order, op.getBound());
  Target alone = target;
  SmallVector<Type> types = levels::fieldTypes(target.storage.layout, target.storage.element);
  levels::Values buffers = levels::ifElse(
      b, target.loc, chunked.profitable(b), types,
      [&] {
        appendInChunks(b, chunked, op, order, copied);
        return levels::Values(target.storage.fields);
      },
      [&] {
        appendAlone(b, alone, op, order, copied);
        return levels::Values(alone.storage.fields);
      });
  target.storage.fields.assign(buffers.begin(), buffers.end());
  return target.finish(b);
}

} // namespace tulle::assemble
