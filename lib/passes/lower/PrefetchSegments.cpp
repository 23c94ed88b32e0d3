// Software prefetch: a loop over stored coordinates that selects other segments by them (the rows of B in a
// product), or places to store at that it looks up by them (the cursors of a conversion), waits for memory at
// every one, since no hardware predicts where these are. The coordinates of later iterations are in memory
// already, and so say which memory to ask for.
#include "dialect/Costs.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/lower/Lowering.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::lower {

namespace {

void prefetch(const levels::Emitter &emit, unsigned field, Value at) {
  memref::PrefetchOp::create(emit.builder, emit.loc, emit.storage.fields[field], at, /*isWrite=*/false,
                             /*localityHint=*/3, /*isDataCache=*/true);
}

unsigned bytesOf(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * bytesOf(complex.getElementType());
  return type.isIntOrFloat() ? std::max(type.getIntOrFloatBitWidth() / 8, 1u) : 8;
}

/// The segments of a level that are selected by coordinates of a loop.
class Gathered {
public:
  Gathered(levels::Emitter emit, unsigned level, levels::Iterator above, const iteration::CostModel &model)
      : emit(emit), level(level), above(above), model(model) {}

  void prefetchBounds(Value coordinate) const { prefetch(emit, positions(), parent(coordinate)); }
  void prefetchEntries(Value coordinate) const {
    Value first = emit.load(positions(), parent(coordinate));
    const format::Layout &layout = emit.storage.layout;
    prefetchLines(layout.coordinates[level]->field, first, 1);
    if (level + 1 == emit.storage.encoding.levels.size() && !layout.fields[layout.valuesField()].implied)
      prefetchLines(layout.valuesField(), first, model.costs.prefetchSegmentLines);
  }

private:
  unsigned positions() const { return *emit.storage.layout.positions[level]; }
  Value parent(Value coordinate) const {
    unsigned outer = level - 1;
    return levels::find(emit.storage.encoding.levels[outer].format.kind)
        ->locate({emit, outer}, above, coordinate);
  }
  void prefetchLines(unsigned field, Value at, int64_t lines) const {
    int64_t elements =
        model.cpu.line / bytesOf(cast<MemRefType>(emit.storage.fields[field].getType()).getElementType());
    for (int64_t k = 0; k < lines; ++k)
      prefetch(emit, field, emit.add(at, emit.constant(k * elements)));
  }

  levels::Emitter emit;
  unsigned level;
  levels::Iterator above;
  const iteration::CostModel &model;
};

/// Where the iterations of a loop store, as far as its coordinate decides it by way of what is read there.
class Stores {
public:
  Stores(IterateOp op, const IRMapping &outside) : coordinate(op.getBody().getArgument(0)), outside(outside) {
    addRound(op);
    for (Block *block : round)
      for (auto store : block->getOps<memref::StoreOp>()) {
        Value index = store.getIndices().size() == 1 ? store.getIndices()[0] : Value();
        bool near = llvm::any_of(
            found, [&](memref::StoreOp other) { return other.getMemRef() == store.getMemRef(); });
        if (index && !near && outside.contains(store.getMemRef()) && isKnown(index) && isLookedUp(index))
          found.push_back(store);
      }
  }

  bool any() const { return !found.empty(); }

  /// Asks for the places of the iteration at another coordinate.
  void prefetch(OpBuilder &b, Value later) const {
    IRMapping there = outside;
    // A body may be emitted several times: what its values became elsewhere is nothing here.
    for (Block *block : round) {
      for (Value argument : block->getArguments())
        there.erase(argument);
      for (Operation &op : *block)
        for (Value result : op.getResults())
          there.erase(result);
    }
    there.map(coordinate, later);
    for (memref::StoreOp store : found)
      memref::PrefetchOp::create(b, store.getLoc(), outside.lookup(store.getMemRef()),
                                 emit(b, store.getIndices()[0], there), /*isWrite=*/true,
                                 /*localityHint=*/3, /*isDataCache=*/true);
  }

private:
  /// What runs once in an iteration: the loops inside over the one coordinate that goes with an entry's are
  /// part of it.
  void addRound(IterateOp op) {
    Block &block = op.getBody().front();
    round.push_back(&block);
    for (auto inner : block.getOps<IterateOp>())
      if (auto type = dyn_cast<SpaceType>(inner.getSpace().getType());
          type &&
          type.getEncoding().getValue().levels[type.getLevel()].format.kind == format::LevelKind::Singleton)
        addRound(inner);
  }
  bool isInRound(Operation *op) const { return op && llvm::is_contained(round, op->getBlock()); }
  /// Whether nothing but the coordinate, and memory at it, decides the value.
  bool isKnown(Value value) const {
    if (value == coordinate)
      return true;
    if (!llvm::is_contained(round, value.getParentBlock()))
      return outside.contains(value);
    Operation *op = value.getDefiningOp();
    return isInRound(op) && (isa<memref::LoadOp>(op) || isArithmetic(op)) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return isKnown(operand); });
  }
  static bool isArithmetic(Operation *op) {
    return isa_and_nonnull<arith::ArithDialect>(op->getDialect()) && op->getNumRegions() == 0;
  }
  bool depends(Value value) const {
    Operation *op = value.getDefiningOp();
    return value == coordinate || (isInRound(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
                                     return depends(operand);
                                   }));
  }
  /// Whether the value comes from a cursor at the coordinate, one that every iteration moves on: tables that
  /// stay as they are give places on a few streams, which the hardware sees.
  bool isLookedUp(Value value) const {
    Operation *op = value.getDefiningOp();
    if (!isInRound(op))
      return false;
    if (auto load = dyn_cast<memref::LoadOp>(op))
      return llvm::any_of(load.getIndices(), [&](Value index) { return depends(index); }) &&
             llvm::any_of(op->getBlock()->getOps<memref::StoreOp>(), [&](memref::StoreOp store) {
               return store.getMemRef() == load.getMemRef() && store.getIndices() == load.getIndices();
             });
    return llvm::any_of(op->getOperands(), [&](Value operand) { return isLookedUp(operand); });
  }
  static Value emit(OpBuilder &b, Value value, IRMapping &there) {
    if (Value done = there.lookupOrNull(value))
      return done;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      emit(b, operand, there);
    Operation *copy = b.clone(*op, there);
    if (auto load = dyn_cast<memref::LoadOp>(copy))
      stayInside(b, load, cast<memref::LoadOp>(op).getIndices());
    return copy->getResult(0);
  }

  /// A later iteration may belong to another one of the loops around, whose coordinate it would have to be
  /// put together with, or have run already, where its cursor stands behind its last place.
  static void stayInside(OpBuilder &b, memref::LoadOp load, ValueRange original) {
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
  SmallVector<Block *> round;
  const IRMapping &outside;           ///< what the values around the loop have become
  SmallVector<memref::StoreOp> found; ///< the first in each buffer: others store next to it
};

} // namespace

void Lowering::prefetchAhead(IterateOp op, const Space &space, Value position) {
  Location loc = op.getLoc();
  const format::Layout &layout = space.storage->layout;
  const std::optional<format::CoordinateRef> &own = layout.coordinates[space.level];
  // What is read at a later position selects memory that is read in turn, so that it has to be a coordinate.
  if (!own || own->stride != 1 || layout.fields[own->field].width < 8 ||
      !space.format->storesEachCoordinate() || space.hasPadding() || space.hasGaps())
    return;
  levels::Emitter emit = space.emitter(b, loc);
  // Rows are often shorter than the distance, so that it reaches into later ones: up to the last coordinate
  // of all.
  auto coordinateAhead = [&](int64_t distance) {
    Value count = memref::DimOp::create(b, loc, space.storage->fields[own->field], emit.constant(0));
    Value later = emit.add(position, emit.constant(distance));
    Value at = arith::MinUIOp::create(b, loc, later, emit.sub(count, emit.constant(1)));
    return space.coordinate(b, loc, at);
  };
  if (Stores stores(op, values); stores.any() && !op.getLoop().getCacheResident())
    stores.prefetch(b, coordinateAhead(model.costs.prefetchStores));
  Value far, near;
  for (SpaceOp selected : op.getBody().getOps<SpaceOp>()) {
    auto locate = selected.getParent() ? selected.getParent().getDefiningOp<LocateOp>() : LocateOp();
    const levels::Storage *storage = tensors.lookup(selected.getTensor());
    // Under a condition the parent may be no entry.
    if (!locate || selected.getCondition() || locate.getCoordinate() != op.getBody().getArgument(0) ||
        storage->encoding.levels[selected.getLevel()].format.kind != format::LevelKind::Compressed ||
        (locate.getParent() && op->isAncestor(locate.getParent().getParentBlock()->getParentOp())))
      continue; // in a body that is emitted several times, an iterator is known from before
    if (!far) {
      far = coordinateAhead(model.costs.prefetchSegmentBounds);
      near = coordinateAhead(model.costs.prefetchSegmentEntries);
    }
    levels::Emitter theirs(b, loc, *storage);
    levels::Iterator root{theirs.constant(0), {}, {}, {}};
    Gathered gathered(theirs, unsigned(selected.getLevel()),
                      locate.getParent() ? *parentIterator(locate.getParent()) : root, model);
    gathered.prefetchBounds(far);
    // Where only their number is asked for, the entries are not reached.
    if (llvm::any_of(selected.getResult().getUsers(), llvm::IsaPred<IterateOp, CoiterateOp>))
      gathered.prefetchEntries(near);
  }
}

} // namespace tulle::lower
