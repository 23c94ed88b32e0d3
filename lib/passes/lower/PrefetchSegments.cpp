// Software prefetch: a loop over stored coordinates that selects other segments by them (the rows of B in a
// product), or addresses of stores (the cursors of a conversion), waits for memory in every iteration, since
// no hardware prefetcher covers these. The coordinates of later iterations are in memory already, and so say
// which memory to prefetch.
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "passes/analysis/LoopUtils.h"
#include "passes/lower/Lowering.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::lower {

using passes::emitPrefetch;

namespace {

unsigned bytesOf(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * bytesOf(complex.getElementType());
  return type.isIntOrFloat() ? std::max(type.getIntOrFloatBitWidth() / 8, 1u) : 8;
}

/// Prefetches the first coordinates of the segment, and the first values where it has some that are read.
void prefetchEntries(const Emitter &emit, unsigned level, Value parent, bool readsValues,
                     const iteration::CostModel &model) {
  const format::Layout &layout = emit.storage.layout;
  Value first = emit.load(*layout.positions[level], parent);
  auto prefetchLines = [&](unsigned field, int64_t lines) {
    Value buffer = emit.storage.fields[field];
    int64_t elements = model.cpu.line / bytesOf(cast<MemRefType>(buffer.getType()).getElementType());
    for (int64_t k = 0; k < lines; ++k)
      emitPrefetch(emit.builder, emit.loc, buffer, emit.add(first, emit.constant(k * elements)));
  };
  prefetchLines(layout.coordinates[level]->field, 1);
  if (readsValues && level + 1 == emit.storage.encoding.levels.size() &&
      !layout.fields[layout.valuesField()].implied)
    prefetchLines(layout.valuesField(), model.costs.prefetchSegmentLines);
}

/// Where the iterations of a loop store, as far as its coordinate decides it by way of what is read there.
class Stores {
public:
  Stores(IterateOp op, const IRMapping &outside) : coordinate(op.getBody().getArgument(0)), outside(outside) {
    addBlocks(op);
    for (Block *block : blocks)
      for (auto store : block->getOps<memref::StoreOp>()) {
        Value index = store.getIndices().size() == 1 ? store.getIndices()[0] : Value();
        bool known = llvm::any_of(
            found, [&](memref::StoreOp other) { return other.getMemRef() == store.getMemRef(); });
        if (index && !known && outside.contains(store.getMemRef()) && isKnown(index) && isCursor(index))
          found.push_back(store);
      }
  }

  bool any() const { return !found.empty(); }

  /// Prefetches the addresses of the iteration at another coordinate.
  void prefetch(OpBuilder &b, Value later) const {
    IRMapping there = outside;
    // A body may be emitted several times: what its values became elsewhere is nothing here.
    for (Block *block : blocks) {
      for (Value argument : block->getArguments())
        there.erase(argument);
      for (Operation &op : *block)
        for (Value result : op.getResults())
          there.erase(result);
    }
    there.map(coordinate, later);
    for (memref::StoreOp store : found)
      emitPrefetch(b, store.getLoc(), outside.lookup(store.getMemRef()),
                   emit(b, store.getIndices()[0], there), /*isWrite=*/true);
  }

private:
  /// What runs once in an iteration: the loops inside over the one coordinate that goes with an entry's are
  /// part of it.
  void addBlocks(IterateOp op) {
    Block &block = op.getBody().front();
    blocks.push_back(&block);
    for (auto inner : block.getOps<IterateOp>())
      if (auto type = dyn_cast<SpaceType>(inner.getSpace().getType());
          type &&
          type.getEncoding().getValue().levels[type.getLevel()].format.kind == format::LevelKind::Singleton)
        addBlocks(inner);
  }
  /// The operation of an iteration that makes the value, or null.
  Operation *ownOp(Value value) const {
    Operation *op = value.getDefiningOp();
    return op && llvm::is_contained(blocks, op->getBlock()) ? op : nullptr;
  }
  /// Whether nothing but the coordinate, and memory at it, decides the value.
  bool isKnown(Value value) const {
    if (value == coordinate)
      return true;
    if (!llvm::is_contained(blocks, value.getParentBlock()))
      return outside.contains(value);
    Operation *op = ownOp(value);
    bool isArithmetic =
        op && isa_and_nonnull<arith::ArithDialect>(op->getDialect()) && op->getNumRegions() == 0;
    return op && (isa<memref::LoadOp>(op) || isArithmetic) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isKnown(operand); });
  }
  bool depends(Value value) const {
    Operation *op = ownOp(value);
    return value == coordinate ||
           (op && llvm::any_of(op->getOperands(), [&](Value operand) { return depends(operand); }));
  }
  /// Whether the value comes from a cursor at the coordinate, one that every iteration moves on: tables that
  /// stay as they are give addresses on a few streams, which the hardware prefetcher covers.
  bool isCursor(Value value) const {
    Operation *op = ownOp(value);
    if (!op)
      return false;
    auto load = dyn_cast<memref::LoadOp>(op);
    if (!load)
      return llvm::any_of(op->getOperands(), [&](Value operand) { return isCursor(operand); });
    return llvm::any_of(load.getIndices(), [&](Value index) { return depends(index); }) &&
           llvm::any_of(op->getBlock()->getOps<memref::StoreOp>(), [&](memref::StoreOp store) {
             return store.getMemRef() == load.getMemRef() && store.getIndices() == load.getIndices();
           });
  }
  static Value emit(OpBuilder &b, Value value, IRMapping &there) {
    if (Value done = there.lookupOrNull(value))
      return done;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      emit(b, operand, there);
    Operation *copy = b.clone(*op, there);
    if (auto load = dyn_cast<memref::LoadOp>(copy))
      clampIndex(b, load, cast<memref::LoadOp>(op).getIndices());
    return copy->getResult(0);
  }

  /// A later iteration may belong to another one of the loops around, whose coordinate it would have to be
  /// put together with, or have run already, where its cursor stands behind its last address.
  static void clampIndex(OpBuilder &b, memref::LoadOp load, ValueRange original) {
    if (original.size() != 1 || isa<BlockArgument>(original[0]))
      return;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(load);
    Location loc = load.getLoc();
    Value size = memref::DimOp::create(b, loc, load.getMemRef(), arith::ConstantIndexOp::create(b, loc, 0));
    Value last = arith::SubIOp::create(b, loc, size, arith::ConstantIndexOp::create(b, loc, 1));
    load.getIndicesMutable()[0].set(arith::MinUIOp::create(b, loc, load.getIndices()[0], last));
  }

  Value coordinate;
  SmallVector<Block *> blocks;        ///< of an iteration
  const IRMapping &outside;           ///< what the values around the loop have become
  SmallVector<memref::StoreOp> found; ///< the first in each buffer: others store to the same cache lines
};

bool readsValues(IterateOp op, Value tensor) {
  return op
      .walk([&](LoadOp load) {
        return load.getTensor() == tensor ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether the schedule says whether the tensor is prefetched in the loop: tulle-prefetch does so.
bool isPrefetchScheduled(IterateOp op, Value tensor) {
  const DirectivesAttr said = op.getLoop().getDirectives();
  auto argument = dyn_cast<BlockArgument>(tensor);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  auto name =
      function ? function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr) : StringAttr();
  return said && name && said.prefetchOf(name);
}

} // namespace

void Lowering::prefetch(IterateOp op, const Space &space, Value position) {
  const format::Layout &layout = space.storage().layout;
  const std::optional<format::CoordinateRef> &own = layout.coordinates[space.level];
  // What is read at a later position selects memory that is read in turn, so that it has to be a coordinate.
  if (!own || own->stride != 1 || layout.fields[own->field].width < 8 ||
      !space.format->storesEachCoordinate() || space.hasPadding() || space.hasGaps())
    return;
  const Emitter &emit = space.emit;
  // Rows are often shorter than the distance, so that it reaches into later ones: up to the last coordinate
  // of all. Coordinates behind a part of a longer dimension are none of the loop's.
  auto coordinateAfter = [&](int64_t distance) {
    Value count = space.shift
                      ? space.range.end
                      : memref::DimOp::create(b, emit.loc, space.coordinateBuffer(), emit.constant(0));
    Value later = emit.add(position, emit.constant(distance));
    return space.coordinate(emit.least(later, emit.sub(count, emit.constant(1))));
  };
  if (Stores stores(op, values); stores.any() && !op.getLoop().getCacheResident())
    stores.prefetch(b, coordinateAfter(model.costs.prefetchStores));
  Value ofBounds, ofEntries;
  for (SpaceOp selected : op.getBody().getOps<SpaceOp>()) {
    auto locate = selected.getParent() ? selected.getParent().getDefiningOp<LocateOp>() : LocateOp();
    const unsigned level = unsigned(selected.getLevel());
    const Emitter theirs = emitter(op, selected.getTensor());
    // Under a condition the parent may be no entry.
    if (!locate || selected.getCondition() || locate.getCoordinate() != op.getBody().getArgument(0) ||
        theirs.storage.encoding.levels[level].format.kind != format::LevelKind::Compressed ||
        isPrefetchScheduled(op, selected.getTensor()) ||
        (locate.getParent() && op->isAncestor(locate.getParent().getParentBlock()->getParentOp())))
      continue; // in a body that is emitted several times, an iterator is known from before
    if (!ofBounds) {
      ofBounds = coordinateAfter(model.costs.prefetchSegmentBounds);
      ofEntries = coordinateAfter(model.costs.prefetchSegmentEntries);
    }
    const Space located = Space::create(theirs, level - 1, parentIterator(locate.getParent()));
    emitPrefetch(b, theirs.loc, theirs.storage.fields[*theirs.storage.layout.positions[level]],
                 located.locate(ofBounds));
    // Where only their number is needed, the entries are not reached.
    if (llvm::any_of(selected.getResult().getUsers(), llvm::IsaPred<IterateOp, CoiterateOp>))
      prefetchEntries(theirs, level, located.locate(ofEntries), readsValues(op, selected.getTensor()), model);
  }
}

} // namespace tulle::lower
