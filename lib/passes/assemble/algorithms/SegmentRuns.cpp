// A run is emitted in front of a copy of its loops: the copy then writes where segments end, without the loop
// over their entries.
#include "passes/assemble/algorithms/SegmentRuns.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

using format::LevelKind;

/// Two levels, dense and compressed, in whose buffers each coordinate has a position and an element of its
/// own.
static bool isRows(const format::Encoding &encoding) {
  if (encoding.levels.size() != 2 || encoding.levels[0].format.kind != LevelKind::Dense ||
      llvm::any_of(encoding.levels,
                   [](const format::Level &level) { return level.expr->kind != format::ExprKind::Dim; }))
    return false;
  const format::LevelFormat &entries = encoding.levels[1].format;
  const format::Layout layout = format::layout(encoding);
  const auto &ref = layout.coordinates[1];
  return entries.kind == LevelKind::Compressed && entries.unique && entries.ordered && !entries.padded &&
         ref && ref->stride == 1 && ref->offset == 0 && layout.fields[ref->field].width >= 8 &&
         !layout.fields[ref->field].isSigned && !layout.fields[layout.valuesField()].implied;
}

using Run = SegmentRuns::Run;

/// The dimension whose coordinates a level of the target has.
static unsigned levelDim(const Target &target, unsigned level) {
  return unsigned(target.encoding().levels[level].expr->value);
}

static std::optional<Run> runOf(InsertOp insert) {
  Run run{{}, dyn_cast<IterateOp>(insert->getParentOp()), {}};
  auto space = run.entries ? run.entries.getSpace().getDefiningOp<SpaceOp>() : SpaceOp();
  run.rows = space ? dyn_cast<IterateOp>(run.entries->getParentOp()) : IterateOp();
  if (!run.rows)
    return std::nullopt;
  run.tensor = space.getTensor();
  return run;
}

/// Whether the operations of the body, the insert aside, compute values of an entry from what its position
/// stores, and from what is known outside of the loops.
static bool dependsOnPositionOnly(const Run &run, InsertOp insert, unsigned rowsDim) {
  Block &body = IterateOp(run.entries).getBody().front();
  Value iterator = body.getArgument(1);
  for (Operation &op : body) {
    auto load = dyn_cast<LoadOp>(op);
    const bool reads = load && load.getTensor() == run.tensor && load.getIterator() == iterator;
    if (&op != insert && !isa<YieldOp>(op) && !reads && (op.getNumRegions() != 0 || !isMemoryEffectFree(&op)))
      return false;
    for (auto [k, operand] : llvm::enumerate(op.getOperands())) {
      const bool isRow = &op == insert && operand == insert.getCoordinates()[rowsDim];
      const bool ofRows = operand.getParentBlock() == &IterateOp(run.rows).getBody().front();
      if ((operand == iterator && !reads) || (ofRows && !isRow))
        return false;
    }
  }
  return true;
}

bool SegmentRuns::fits(const Target &target, const Stream &stream) {
  if (!isRows(target.encoding()) || !stream.order.unique || !stream.order.sorted() ||
      !FiberAnalysis::oneIterationEach(stream, 1))
    return false;
  const SmallVector<InsertOp> inserts = insertsOf(*stream.loops);
  const SmallVector<Operation *> outermost = outermostLoops(*stream.loops);
  // Each writes where all of its rows end.
  if (inserts.empty() || inserts.size() != outermost.size() ||
      (outermost.size() > 1 && !followEachOther(*stream.loops, target.encoding())))
    return false;
  return llvm::all_of(llvm::zip_equal(inserts, outermost), [&](auto both) {
    auto [insert, loop] = both;
    std::optional<Run> run = runOf(insert);
    if (!run || run->rows != loop || run->rows.getNumResults() != 0 || run->entries.getNumResults() != 0)
      return false;
    auto above = run->rows.getSpace().template getDefiningOp<SpaceOp>();
    auto below = run->entries.getSpace().template getDefiningOp<SpaceOp>();
    if (!above || above.getTensor() != run->tensor || above.getLevel() != 0 || below.getLevel() != 1 ||
        above.getCondition() || below.getCondition() ||
        below.getParent() != run->rows.getBody().getArgument(1) || !isRows(encodingOf(above)))
      return false;
    return !getElementTypeOrSelf(run->tensor.getType()).isInteger(1) &&
           llvm::all_of(run->rows.getBody().front(),
                        [&](Operation &op) { return &op == run->entries || isMemoryEffectFree(&op); }) &&
           dependsOnPositionOnly(*run, insert, levelDim(target, 0));
  });
}

void SegmentRuns::append(Appender &appender, const parallel::Chunk *chunk) {
  SmallVector<InsertOp> copies;
  cloneLoops(target.builder, stream, chunk, [&](ValueRange dims, Value value) {
    copies.push_back(InsertOp::create(target.builder, target.loc, value, dims));
  });
  for (InsertOp copy : copies)
    appendRun(appender, copy);
}

/// The coordinates and the value of the entry at a position.
static std::pair<Values, Value> entryAt(const Target &target, const Run &run, InsertOp insert,
                                        Value position) {
  OpBuilder &b = target.builder;
  const format::Layout layout = format::layout(encodingOf(run.tensor));
  const SmallVector<Type> types = levels::fieldTypes(layout, getElementTypeOrSelf(run.tensor.getType()));
  auto load = [&](unsigned field, IntegerAttr level) {
    Value buffer = ValuesOp::create(b, target.loc, cast<MemRefType>(types[field]), run.tensor, level);
    return loadAt(target, buffer, position);
  };
  Block &body = IterateOp(run.entries).getBody().front();
  IRMapping map;
  map.map(body.getArgument(0), target.toIndex(load(layout.coordinates[1]->field, b.getI64IntegerAttr(1))));
  for (Operation &op : body.without_terminator())
    if (auto value = dyn_cast<LoadOp>(op); value && value.getTensor() == run.tensor)
      map.map(value, load(layout.valuesField(), {}));
    else if (&op != insert)
      b.clone(op, map);
  const Values dims =
      llvm::map_to_vector<6>(insert.getCoordinates(), [&](Value dim) { return map.lookupOrDefault(dim); });
  return {dims, map.lookupOrDefault(insert.getValue())};
}

/// Coordinates that may be too wide for the target are checked before the loops that store them, where its
/// size says that there may be some.
static void checkWidths(const Target &target, const Run &run, InsertOp insert, Value begin, Value end) {
  const unsigned field = target.storage.layout.coordinates[1]->field, dim = levelDim(target, 1);
  const unsigned width = target.storage.layout.fields[field].width;
  const format::Layout from = format::layout(encodingOf(run.tensor));
  const bool same = insert.getCoordinates()[dim] == IterateOp(run.entries).getBody().getArgument(0);
  if (width >= 64 || (same && from.fields[from.coordinates[1]->field].width <= width))
    return;
  when(target, target.isAbove(target.levelSize(1), target.constant(int64_t(1) << width)), [&] {
    forEach(target, begin, end, LoopKind::Parallel, [&](Value position) {
      target.checkWidth(field, entryAt(target, run, insert, position).first[dim]);
    });
  });
}

void SegmentRuns::appendRun(Appender &appender, InsertOp insert) const {
  OpBuilder &b = target.builder;
  OpBuilder::InsertionGuard guard(b);
  Run run = *runOf(insert);
  b.setInsertionPoint(run.rows);
  auto entries = BoundsBelowOp::create(b, target.loc, run.rows.getSpace(), Value());
  auto rows = BoundsOp::create(b, target.loc, run.rows.getSpace());
  Value count = target.sub(entries.getEnd(), entries.getBegin());
  if (appender.counting()) {
    appender.skip(count);
    run.rows.erase();
    return;
  }
  when(target, target.isBelow(rows.getBegin(), rows.getEnd()), [&] {
    // Where the tensor's entries go, all by the same distance.
    Value distance = arith::SubIOp::create(b, target.loc, appender.lastCount(), entries.getBegin());
    auto moved = [&](Value position) -> Value {
      return arith::AddIOp::create(b, target.loc, position, distance);
    };
    storeEntries(run, insert, entries, moved);
    IRMapping first;
    first.map(run.rows.getBody().getArgument(0), rows.getBegin());
    Value row = insert.getCoordinates()[levelDim(target, 0)], begin = first.lookupOrNull(row);
    if (!begin)
      begin = b.clone(*row.getDefiningOp(), first)->getResult(0);
    appender.openFibers(begin);
    run.rows->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    storeEnds(run, row, moved);
    appender.closeFibers(target.add(begin, target.sub(rows.getEnd(), rows.getBegin())), count);
  });
}

/// One loop over the positions of all segments.
void SegmentRuns::storeEntries(const Run &run, InsertOp insert, BoundsBelowOp positions,
                               function_ref<Value(Value)> moved) const {
  checkWidths(target, run, insert, positions.getBegin(), positions.getEnd());
  const unsigned field = target.storage.layout.coordinates[1]->field;
  forEach(target, positions.getBegin(), positions.getEnd(), LoopKind::Parallel, [&](Value position) {
    auto [dims, value] = entryAt(target, run, insert, position);
    Value to = moved(position);
    target.store(field, to, dims[levelDim(target, 1)]);
    target.storeValue(to, value);
  });
}

/// The copy of the loops becomes one over the ends of segments.
void SegmentRuns::storeEnds(const Run &run, Value row, function_ref<Value(Value)> moved) const {
  IterateOp rows = run.rows, entries = run.entries;
  OpBuilder &b = target.builder;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(entries);
  auto segment = BoundsOp::create(b, target.loc, entries.getSpace());
  target.store(*target.storage.layout.positions[1], target.add(row, 1), moved(segment.getEnd()));
  entries.erase();
  rows.setLoopAttr(rows.getLoop().withKind(LoopKind::Parallel));
}

} // namespace tulle::assemble
