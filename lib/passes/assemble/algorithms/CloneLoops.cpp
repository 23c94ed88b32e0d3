// Copies op by op: only the loops around inserts change, since each insert changes what the next one finds.
// A fiber ends where the outer coordinates of an insert become known, and differ from those of the entry
// before. tulle-inline-entries makes traversals of entries copies of the loops that insert them.
#include "passes/assemble/algorithms/CloneLoops.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/assemble/choose/InsertLoops.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::assemble {

/// The copies of the region's ops, in order.
static SmallVector<Operation *> copyOps(OpBuilder &b, Region &loops) {
  IRMapping mapping;
  SmallVector<Operation *> copies;
  for (Operation &inner : loops.front())
    copies.push_back(b.clone(inner, mapping));
  // Every insert changes what the next one finds: iterations are no longer independent.
  for (InsertOp insert : insertsIn(copies))
    for (Operation *loop = insert->getParentOp(); loop; loop = loop->getParentOp()) {
      if (auto iterate = dyn_cast<IterateOp>(loop))
        iterate.setLoopAttr(iterate.getLoop().withKind(LoopKind::Reduction));
      else if (auto coiterate = dyn_cast<CoiterateOp>(loop))
        coiterate.setLoopAttr(coiterate.getLoop().withKind(LoopKind::Reduction));
      if (loop->getBlock() == b.getInsertionBlock())
        break;
    }
  return copies;
}

/// Reading a value can cost as much as everything else in a copy that counts.
static void eraseUnused(Operation *value) {
  while (value && isOpTriviallyDead(value)) {
    Operation *from = value->getNumOperands() ? value->getOperand(0).getDefiningOp() : nullptr;
    value->erase();
    value = from;
  }
}

SmallVector<parallel::Chunk> chunksOf(OpBuilder &b, ArrayRef<Operation *> loops,
                                      const parallel::Chunk &chunk) {
  if (loops.size() == 1)
    return {chunk};
  levels::IndicesAt emit(b, loops.front()->getLoc());
  Value zero = emit.constant(0), one = emit.constant(1), all = zero;
  SmallVector<Value> before;
  for (Operation *loop : loops) {
    before.push_back(all);
    all = emit.add(all, parallel::work(b, loop));
  }
  before.push_back(all);
  all = emit.max(all, one);
  Value last = emit.sub(chunk.count, one), next = emit.add(chunk.index, one);
  SmallVector<parallel::Chunk> chunks;
  for (size_t k = 0; k < loops.size(); ++k) {
    auto chunksBefore = [&](Value work) { return emit.divide(emit.times(chunk.count, work), all); };
    // Each has a chunk at least, perhaps the one that the loop before ends in.
    Value first = emit.min(chunksBefore(before[k]), last);
    Value count = emit.max(emit.sub(chunksBefore(before[k + 1]), first), one);
    auto own = [&](Value number) { return emit.min(emit.max(emit.sub(number, first), zero), count); };
    chunks.push_back({own(chunk.index), count, own(next)});
  }
  return chunks;
}

Operation *cloneLoops(OpBuilder &b, const Stream &stream, const parallel::Chunk *chunk, OnInsert onInsert,
                      bool counting) {
  SmallVector<Operation *> copies = copyOps(b, *stream.loops);
  const SmallVector<Operation *> outermost = outermostLoops(copies);
  OpBuilder::InsertionGuard guard(b);
  if (chunk) {
    b.setInsertionPoint(outermost.front());
    for (auto [loop, own] : llvm::zip_equal(outermost, chunksOf(b, outermost, *chunk))) {
      b.setInsertionPoint(loop);
      parallel::restrictTo(b, loop, own, stream.alignment);
    }
  }
  for (InsertOp insert : insertsIn(copies)) {
    b.setInsertionPoint(insert);
    onInsert(insert.getCoordinates(), counting ? Value() : insert.getValue());
    Operation *value = insert.getValue().getDefiningOp();
    insert.erase();
    if (counting)
      eraseUnused(value);
  }
  return outermost.size() == 1 ? outermost.front() : nullptr;
}

Operation *cloneCounting(OpBuilder &b, const Stream &stream, const parallel::Chunk *chunk,
                         OnCoordinates onInsert) {
  return cloneLoops(b, stream, chunk, [&](ValueRange dims, Value) { onInsert(dims); }, /*counting=*/true);
}

/// Whether the loop visits coordinates in order, each with an entry, and does nothing but what an entry
/// needs.
static bool ascends(IterateOp loop) {
  if (!loop.getInits().empty() ||
      llvm::any_of(loop.getBody().front(), [](Operation &op) { return op.getNumRegions() != 0; }))
    return false;
  auto space = dyn_cast<SpaceType>(loop.getSpace().getType());
  return !space || (space.getFormat().ordered && space.getFormat().unique &&
                    !levels::find(space.getFormat())->hasPadding(space.getFormat()));
}

/// The loop's body for one position.
static void emitIteration(OpBuilder &b, IterateOp loop, Value position) {
  Block &body = loop.getBody().front();
  IRMapping mapping;
  if (isa<SpaceType>(loop.getSpace().getType())) {
    auto at = IteratorAtOp::create(b, loop.getLoc(), loop.getSpace(), position);
    mapping.map(body.getArguments(), SmallVector<Value>{at.getCoordinate(), at.getIterator()});
  } else {
    mapping.map(body.getArgument(0), position);
  }
  for (Operation &op : body.without_terminator())
    b.clone(op, mapping);
}

InsertOp cloneInsert(OpBuilder &b, IterateOp loop, Value position) {
  emitIteration(b, loop, position);
  Operation *last = &*std::prev(b.getInsertionPoint());
  while (!isa<InsertOp>(last))
    last = last->getPrevNode();
  return cast<InsertOp>(last);
}

/// What a block stores to an element of a buffer and loads again is known; what it stores there once more
/// need not be stored before. Elements are the same where their index is one value; buffers are allocated
/// apart, and nothing but loads and stores accesses them.
static void forwardStores(Block &block) {
  using Element = std::pair<Value, Value>;
  llvm::MapVector<Element, memref::StoreOp> newest;
  auto elementOf = [](auto access) {
    return Element(access.getMemRef(), access.getIndices().empty() ? Value() : access.getIndices()[0]);
  };
  auto forget = [&](Value buffer) {
    newest.remove_if([&](auto &known) { return known.first.first == buffer; });
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      auto *known = newest.find(elementOf(load));
      if (known == newest.end()) {
        forget(load.getMemRef());
        continue;
      }
      load.getResult().replaceAllUsesWith(known->second.getValueToStore());
      load.erase();
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      if (auto *known = newest.find(elementOf(store)); known != newest.end())
        known->second.erase();
      forget(store.getMemRef());
      newest.insert({elementOf(store), store});
    } else if (!isMemoryEffectFree(&op) && !hasSingleEffect<MemoryEffects::Read>(&op)) {
      newest.clear();
    }
  }
}

void visitExtremes(Operation *outermost, ArrayRef<Value> extremes, bool least) {
  SmallVector<IterateOp> loops;
  outermost->walk([&](IterateOp loop) {
    Value coordinate = loop.getBody().getArgument(0);
    if (loop != outermost && ascends(loop) &&
        (coordinate.use_empty() || llvm::is_contained(extremes, coordinate)))
      loops.push_back(loop);
  });
  for (IterateOp loop : loops) {
    OpBuilder b(loop);
    Location loc = loop.getLoc();
    auto bounds = BoundsOp::create(b, loc, loop.getSpace());
    Value some = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, bounds.getBegin(), bounds.getEnd());
    auto branch = scf::IfOp::create(b, loc, some, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    if (least && !loop.getBody().getArgument(0).use_empty())
      emitIteration(b, loop, bounds.getBegin());
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    emitIteration(b, loop, arith::SubIOp::create(b, loc, bounds.getEnd(), one));
    forwardStores(*branch.thenBlock());
    loop.erase();
  }
}

void keepKinds(Operation *loop, Region &loops) {
  SmallVector<Operation *> from, to;
  auto collect = [](SmallVectorImpl<Operation *> &found) {
    return [&](Operation *op) {
      if (isa<IterateOp, CoiterateOp>(op))
        found.push_back(op);
    };
  };
  loops.walk<WalkOrder::PreOrder>(collect(from));
  loop->walk<WalkOrder::PreOrder>(collect(to));
  for (auto [original, copy] : llvm::zip_equal(from, to)) {
    if (auto iterate = dyn_cast<IterateOp>(copy))
      iterate.setLoopAttr(iterate.getLoop().withKind(cast<IterateOp>(original).getKind()));
    else
      cast<CoiterateOp>(copy).setLoopAttr(
          cast<CoiterateOp>(copy).getLoop().withKind(cast<CoiterateOp>(original).getLoop().getKind()));
  }
}

//===--- Fibers ---===//

namespace {

/// Emits into a copy of the loops what runs when a fiber is complete.
class FiberBoundaries {
public:
  FiberBoundaries(const Target &target, const Order &order, unsigned levels, OnCoordinates complete)
      : target(target), levels(levels), complete(complete),
        analysis(order, levels, target.builder.getInsertionBlock()) {
    // No coordinate is -1 in a map of digits, so that the first entry starts a fiber.
    Value none = target.constant(-1);
    for (unsigned l = 0; l < levels; ++l)
      current.emplace_back(target, none);
  }

  /// Marks an insert of the copy, before anything is emitted there.
  void atInsert(ValueRange dims) {
    if (levels > 0)
      analysis.add(target.constant(0).getDefiningOp(), dims);
  }

  /// The builder stands behind the copy.
  void finish() const {
    SmallVector<FiberAnalysis::Point> done;
    const bool atEnds = analysis.endsKnown();
    for (const FiberAnalysis::Insert &insert : analysis.inserts) {
      const bool hoisted = analysis.canHoist(insert);
      if (hoisted && llvm::is_contained(done, insert.point))
        continue;
      if (hoisted)
        done.push_back(insert.point);
      OpBuilder::InsertionGuard guard(target.builder);
      if (atEnds) {
        target.builder.setInsertionPoint(insert.point.block->getTerminator());
        complete(coordinates(insert));
      } else {
        checkAt(insert,
                hoisted ? insert.point : FiberAnalysis::Point{insert.marker->getBlock(), insert.marker});
      }
    }
    if (!atEnds)
      complete(newest());
  }

private:
  Values coordinates(const FiberAnalysis::Insert &insert) const {
    // Coordinates of other dimensions may not be known here, and do not matter.
    Values known(insert.dims.size(), target.constant(0));
    for (unsigned d : analysis.fiberDims())
      known[d] = insert.dims[d];
    Values all = target.levelCoordinates(known);
    return Values(ArrayRef<Value>(all).take_front(levels));
  }

  Values newest() const {
    return llvm::map_to_vector<6>(current, [](const Register &r) { return r.get(); });
  }

  /// When the fiber changes, the one before is complete.
  void checkAt(const FiberAnalysis::Insert &insert, const FiberAnalysis::Point &point) const {
    if (point.after)
      target.builder.setInsertionPointAfter(point.after);
    else
      target.builder.setInsertionPointToStart(point.block);
    Values now = coordinates(insert);
    when(target, anyDiffers(target, now, current), [&] {
      complete(newest());
      for (auto [last, value] : llvm::zip(current, now))
        last.set(value);
    });
  }

  const Target &target;
  unsigned levels;
  OnCoordinates complete;
  FiberAnalysis analysis;
  std::vector<Register> current; ///< coordinates of the newest fiber
};

} // namespace

void cloneFibers(const Target &target, const Stream &stream, unsigned levels, const parallel::Chunk *chunk,
                 OnInsert onInsert, OnCoordinates complete, bool counting) {
  FiberBoundaries fibers(target, stream.order, levels, complete);
  auto insert = [&](ValueRange dims, Value value) {
    fibers.atInsert(dims);
    onInsert(dims, value);
  };
  cloneLoops(target.builder, stream, chunk, insert, counting);
  fibers.finish();
}

//===--- Chunks ---===//

void forChunks(const levels::Emitter &e, Value chunks, function_ref<void(const parallel::Chunk *)> body) {
  if (!chunks)
    return body(nullptr);
  levels::parallelTasks(e.builder, e.loc, chunks, [&](Value number) {
    const parallel::Chunk chunk{number, chunks};
    body(&chunk);
  });
}

void forRanges(const levels::Emitter &e, Value ranges, Value count,
               function_ref<void(Value number, Value first, Value last)> body) {
  if (!ranges)
    return body(e.constant(0), e.constant(0), count);
  levels::parallelTasks(e.builder, e.loc, ranges, [&](Value number) {
    auto [first, last] = parallel::chunkBounds(e.builder, e.loc, count, {number, ranges});
    body(number, first, last);
  });
}

} // namespace tulle::assemble

//===--- The pass ---===//

namespace tulle::passes {
using namespace assemble;
#define GEN_PASS_DEF_INLINEENTRIES
#include "passes/Passes.h.inc"

namespace {

Values inlineLoops(OpBuilder &b, ForEachEntryOp op) {
  auto entries = op.getEntries().getDefiningOp<EntriesOp>();
  Block &body = op.getBody().front();
  parallel::Chunk chunk{op.getChunk(), op.getChunks()};
  Stream stream;
  stream.loops = &entries.getBody();
  stream.alignment = entries.getAligned().value_or(1);
  auto inlineBody = [&](ValueRange coordinates, Value value) {
    IRMapping mapping;
    mapping.map(body.getArguments().drop_back(), coordinates);
    if (value)
      mapping.map(body.getArguments().back(), value);
    for (Operation &inner : body)
      b.clone(inner, mapping);
  };
  cloneLoops(b, stream, op.getChunk() ? &chunk : nullptr, inlineBody,
             /*counting=*/body.getArguments().back().use_empty());
  return {};
}

/// A chunk is a part of what the outermost loop iterates over: there must be one that can be partitioned.
LogicalResult check(ForEachEntryOp op) {
  auto entries = op.getEntries().getDefiningOp<EntriesOp>();
  if (!entries)
    return op.emitOpError("expected entries that a tulle.entries makes");
  if (!op.getChunk())
    return success();
  Operation *loop = outermostLoop(entries.getBody());
  if (loop && parallel::canPartition(loop))
    return success();
  InFlightDiagnostic error = op.emitOpError("expected entries of one loop that can be partitioned");
  error.attachNote(entries.getLoc()) << "these are made here";
  return error;
}

struct InlineEntries : impl::InlineEntriesBase<InlineEntries> {
  void runOnOperation() override {
    WalkResult legal = getOperation()->walk([](ForEachEntryOp op) {
      return failed(check(op)) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (legal.wasInterrupted())
      return signalPassFailure();
    lowerEach<ForEachEntryOp>(getOperation(), inlineLoops);
    getOperation()->walk([](EntriesOp entries) {
      if (entries->use_empty())
        entries.erase();
    });
  }
};

} // namespace
} // namespace tulle::passes
