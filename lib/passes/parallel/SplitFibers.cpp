// Splits long fibers: where one coordinate can hold most of the work, a dense row of a matrix, chunks begin
// inside of it (nonzero splitting).
#include "levels/Control.h"
#include "levels/Indices.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/parallel/Combiner.h"
#include "passes/parallel/PartitionLoops.h"
#include "passes/parallel/Privatize.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::parallel {
namespace {

/// How the results of the chunks of one fiber are combined.
enum class Join {
  Disjoint, ///< Their stores are disjoint.
  Values,   ///< Each makes partial values, which are combined.
  Rows ///< Each reduces into a copy of what the coordinate selects of a dense tensor, and nothing does later.
};

struct Plan {
  Join join;
  SmallVector<IterateOp> inner;  ///< The loops over the fiber.
  LocateOp row = {};             ///< Rows: what the coordinate selects,
  Operation *combiner = nullptr; ///< and what is done to it.
};

/// Whether the loop iterates a fiber: what is stored below one coordinate of `outer` only.
bool iteratesFiber(IterateOp outer, IterateOp inner) {
  auto space = inner.getSpace().getDefiningOp<SpaceOp>();
  if (!space || !space.getParent() || space.getCondition())
    return false;
  Value parent = space.getParent();
  if (parent.getParentBlock() != &outer.getBody().front())
    return false;
  auto locate = parent.getDefiningOp<LocateOp>();
  return !locate || locate.getCoordinate() == outer.getBody().getArgument(0);
}

/// The ops of the body that the loop depends on, except for its inits.
llvm::SetVector<Operation *> needsOf(IterateOp inner) {
  Block *body = inner->getBlock();
  llvm::SetVector<Operation *> needed;
  auto add = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op != inner && op->getBlock() == body)
      needed.insert(op);
  };
  auto addAll = [&](Operation *op) {
    op->walk([&](Operation *inside) { llvm::for_each(inside->getOperands(), add); });
  };
  add(inner.getSpace());
  for (Operation &op : inner.getBody().front())
    addAll(&op);
  for (size_t k = 0; k < needed.size(); ++k)
    addAll(needed[k]);
  return needed;
}

bool needsOthers(IterateOp inner, const SmallVector<IterateOp> &others) {
  llvm::SetVector<Operation *> needed = needsOf(inner);
  return llvm::any_of(others, [&](IterateOp other) { return needed.contains(other); });
}

/// The start value of a loop-carried value, which the inner loops are the last of the body to change.
Value startOf(IterateOp loop, const SmallVector<IterateOp> &inner, unsigned result) {
  Value at = loop.getBody().front().getTerminator()->getOperand(result);
  for (;;) {
    auto from = at.getDefiningOp<IterateOp>();
    if (!at.hasOneUse() || !from || !llvm::is_contained(inner, from))
      return at;
    at = from.getInits()[cast<OpResult>(at).getResultNumber()];
  }
}

/// Whether only the inner loops change and read the loop-carried values.
bool changeAll(IterateOp loop, const SmallVector<IterateOp> &inner) {
  Block &body = loop.getBody().front();
  const unsigned first = body.getNumArguments() - loop->getNumResults();
  return llvm::all_of(loop->getResults(), [&](OpResult result) {
    Value carried = body.getArgument(first + result.getResultNumber());
    return carried.hasOneUse() && startOf(loop, inner, result.getResultNumber()) == carried;
  });
}

/// The iterator above all accesses of the inner loops to the carried tensor, which an iteration locates from
/// the first level on; null where there is none.
LocateOp rowOf(const SmallVector<IterateOp> &inner, const Aliases &aliases) {
  LocateOp row;
  for (IterateOp loop : inner) {
    WalkResult result = loop->walk([&](LocateOp locate) {
      if (!aliases.contains(locate.getTensor()))
        return WalkResult::advance();
      auto above = locate.getParent() ? locate.getParent().getDefiningOp<LocateOp>() : LocateOp();
      if (!above || (!loop->isAncestor(above) && row && row != above))
        return WalkResult::interrupt();
      if (!loop->isAncestor(above))
        row = above;
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return {};
  }
  for (LocateOp at = row; at;) {
    if (at->getBlock() != inner[0]->getBlock())
      return {};
    Value parent = at.getParent();
    at = parent ? parent.getDefiningOp<LocateOp>() : LocateOp();
    if (parent && !at)
      return {};
  }
  return row;
}

std::optional<Plan> planRows(IterateOp loop, const SmallVector<IterateOp> &inner) {
  auto type = loop->getNumResults() == 1 ? dyn_cast<RankedTensorType>(loop->getResult(0).getType())
                                         : RankedTensorType();
  if (!type || !isDense(type) || type.getElementType().isInteger(1))
    return std::nullopt;
  Aliases aliases(loop);
  Plan plan{Join::Rows, inner, rowOf(inner, aliases)};
  Value begin = plan.inner[0].getInits()[0];
  if (!plan.row || startOf(loop, inner, 0) != begin)
    return std::nullopt;
  auto reads = [&](Operation *op) {
    return llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>) ||
           (isa<LoadOp>(op) && aliases.contains(cast<LoadOp>(op).getTensor()));
  };
  for (IterateOp op : inner) {
    Operation *own = combinerOfStores(op, aliases);
    if (!own || !identity(own) || (plan.combiner && plan.combiner->getName() != own->getName()) ||
        llvm::any_of(needsOf(op), reads))
      return std::nullopt;
    plan.combiner = own;
  }
  return plan;
}

std::optional<Plan> planOf(IterateOp loop) {
  if (!isMemoryEffectFree(loop))
    return std::nullopt;
  SmallVector<IterateOp> below;
  for (IterateOp op : loop.getBody().getOps<IterateOp>())
    if (iteratesFiber(loop, op) && canPartition(op))
      below.push_back(op);
  Plan values{Join::Values, {}};
  for (IterateOp op : below)
    if (reducesValues(op) && !needsOthers(op, values.inner))
      values.inner.push_back(op);
  if (!values.inner.empty())
    return values;
  if (below.empty() || !carriesTensorsOnly(loop) ||
      llvm::any_of(below, [&](IterateOp op) { return needsOthers(op, below); }))
    return std::nullopt;
  // Of two loops, one may continue from what the other stored, at addresses of another chunk there.
  if (below.size() > 1 || below[0].getKind() != LoopKind::Parallel)
    return planRows(loop, below);
  return changeAll(loop, below) ? std::optional(Plan{Join::Disjoint, below}) : std::nullopt;
}

/// Several chunks per thread balance the load, as far as each is profitable (experiment 021).
Value chunksOf(OpBuilder &b, Location loc, Value tasks, Value work, const iteration::Costs &costs) {
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
  Value of = arith::MulIOp::create(b, loc, tasks, constant(costs.workPerChunk));
  Value each = arith::MinUIOp::create(b, loc, arith::DivUIOp::create(b, loc, work, of),
                                      constant(costs.chunksPerThread));
  return chunksPerTask(b, loc, tasks, arith::MaxUIOp::create(b, loc, each, constant(1)));
}

bool hasOrder(IterateOp loop) {
  auto type = dyn_cast<SpaceType>(loop.getSpace().getType());
  if (!type)
    return bool(workEstimate(loop));
  const format::LevelFormat &level = type.getEncoding().getValue().levels[type.getLevel()].format;
  return level.ordered &&
         (level.kind == format::LevelKind::Compressed || level.kind == format::LevelKind::Dense);
}

IterateOp copyOf(IterateOp loop, const IRMapping &map) {
  return cast<IterateOp>(map.lookup(loop.getResult(0)).getDefiningOp());
}

/// Rewrites one loop:
///
///   parallel: for the fiber that the chunk begins inside of, and for the one that it ends inside of:
///               the inner loops on the part of the fiber that is in the chunk
///             all fibers between them
///   for each fiber that was split: its iteration, with the results of those combined in place of inner loops
///
/// A chunk has two slots for its results of split fibers.
class FiberSplitter : levels::Indices {
public:
  FiberSplitter(IterateOp loop, Plan plan, const Settings &settings)
      : Indices(loop), loop(loop), plan(std::move(plan)), settings(settings), space(loop.getSpace()),
        estimate(workEstimate(loop)), reduces(carriesValuesOnly(loop)) {
    Value all = work(b, loop);
    Value tasks = ThreadsOp::create(b, loc, all, settings.deterministic);
    chunks = reduces ? tasks : chunksOf(b, loc, tasks, all, settings.costs);
    slots = arith::MulIOp::create(b, loc, chunks, constant(2));
    Value total = WorkOp::create(b, loc, space, estimate);
    Value many = arith::MulIOp::create(b, loc, tasks, constant(settings.costs.chunksPerThread));
    least = arith::DivUIOp::create(b, loc, total, many);
    allocateSlots(all);
  }

  void run() {
    SmallVector<std::pair<OpOperand *, unsigned>> uses;
    for (OpResult result : loop->getResults())
      for (OpOperand &use : result.getUses())
        uses.push_back({&use, result.getResultNumber()});
    b.setInsertionPointAfter(loop);
    SmallVector<Value> now = reduces ? reduce() : partition();
    if (plan.join != Join::Disjoint)
      now = finish(now);
    for (Value buffer : buffers)
      memref::DeallocOp::create(b, loc, buffer);
    for (auto [use, number] : uses)
      use->set(now[number]);
  }

private:
  Value buffer(Type type, Value size) {
    buffers.push_back(memref::AllocOp::create(b, loc, MemRefType::get({ShapedType::kDynamic}, type), size));
    return buffers.back();
  }

  void allocateSlots(Value all) {
    if (plan.join == Join::Disjoint)
      return;
    begins = buffer(b.getIndexType(), slots);
    ends = buffer(b.getIndexType(), slots);
    if (plan.join == Join::Values) {
      for (IterateOp op : plan.inner)
        for (Type type : op->getResultTypes())
          partials.push_back(buffer(type, times(slots, constant(kPartialStride))));
      return;
    }
    Value tensor = loop.getInits()[0];
    const size_t below = size_t(plan.row.getLevel()) + 1;
    auto type = cast<RankedTensorType>(tensor.getType());
    rowSize = constant(1);
    for (size_t l = below; l < getEncoding(type).getValue().levels.size(); ++l)
      rowSize = times(rowSize, LevelSizeOp::create(b, loc, tensor, b.getI64IntegerAttr(int64_t(l))));
    // Copies are written and read once: no fiber is split where there is less work than that.
    Value size = times(slots, rowSize);
    Value fits = is(arith::CmpIPredicate::ule, size, all);
    least = select(fits, least, constant(std::numeric_limits<int64_t>::max()));
    partials.push_back(buffer(type.getElementType(), select(fits, size, constant(0))));
    copies = copiesOf(b, loc, tensor, below, partials[0], slots);
  }

  /// A reduction into values: the tasks' partial results are combined.
  SmallVector<Value> reduce() {
    ValueRange sums = reducePartials(loop, chunks, [&](OpBuilder &inside, Value chunk) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(inside.getInsertionBlock(), inside.getInsertionPoint());
      runChunk(chunk, {});
    });
    return SmallVector<Value>(sums);
  }

  /// A loop whose iterations have disjoint stores.
  SmallVector<Value> partition() {
    SmallVector<Value> inits = initValues(loop);
    const size_t own = inits.size();
    if (copies)
      inits.push_back(copies);
    ValueRange results = region(b, loc, chunks, inits, [&](Value chunk, ValueRange carried) {
      ValueRange tensors = carried.take_front(own);
      SmallVector<Value> split =
          runChunk(chunk, plan.join == Join::Disjoint ? tensors : carried.drop_front(own));
      loop->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
      initsOf(loop).assign(plan.join == Join::Disjoint ? ValueRange(split) : tensors);
      SmallVector<Value> yielded(loop->getResults());
      if (plan.join == Join::Rows)
        llvm::append_range(yielded, split);
      return yielded;
    });
    if (plan.join == Join::Rows)
      partials[0] = ValuesOp::create(b, loc, partials[0].getType(), results[own]);
    return SmallVector<Value>(results.take_front(own));
  }

  /// Restricts the loop to the fibers that are in the chunk as a whole, and runs the parts of those at its
  /// ends; returns the tensors that these have stored to.
  SmallVector<Value> runChunk(Value chunk, ValueRange tensors) {
    auto first = PartitionBoundaryOp::create(b, loc, space, chunk, chunks, least, estimate);
    auto last = PartitionBoundaryOp::create(b, loc, space, add(chunk, constant(1)), chunks, least, estimate);
    Value end = arith::MaxUIOp::create(b, loc, first.getEnd(), last.getBegin());
    loop.getSpaceMutable().assign(
        SliceOp::create(b, loc, space.getType(), space, first.getEnd(), end, /*one=*/false));
    auto halves = scf::ForOp::create(b, loc, constant(0), constant(2), constant(1), tensors);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(halves.getBody());
    Value half = halves.getInductionVar();
    SmallVector<Value> stored =
        splitFiber(first, last, half, add(times(chunk, constant(2)), half), halves.getRegionIterArgs());
    if (!tensors.empty())
      scf::YieldOp::create(b, loc, stored);
    return SmallVector<Value>(halves.getResults());
  }

  SmallVector<Value> splitFiber(PartitionBoundaryOp first, PartitionBoundaryOp last, Value half, Value slot,
                                ValueRange tensors) {
    using arith::CmpIPredicate;
    Value behind = is(CmpIPredicate::eq, half, constant(1));
    // All of the chunk may be inside of one fiber.
    Value one = arith::AndIOp::create(b, loc, is(CmpIPredicate::eq, first.getBegin(), last.getBegin()),
                                      is(CmpIPredicate::eq, first.getEnd(), last.getEnd()));
    Value begin = select(behind, last.getBegin(), first.getBegin());
    Value end = select(behind, select(one, last.getBegin(), last.getEnd()), first.getEnd());
    Value from = select(behind, constant(0), first.getBefore());
    Value to = select(behind, last.getBefore(), select(one, last.getBefore(), first.getWhole()));
    Value whole = select(behind, last.getWhole(), first.getWhole());
    if (plan.join != Join::Disjoint) {
      memref::StoreOp::create(b, loc, begin, begins, slot);
      Value some = is(CmpIPredicate::ult, begin, end);
      memref::StoreOp::create(b, loc, select(some, end, constant(0)), ends, slot);
    }
    IRMapping map;
    auto copy = cast<IterateOp>(b.clone(*loop, map));
    copy.getSpaceMutable().assign(SliceOp::create(b, loc, space.getType(), space, begin, end, /*one=*/true));
    copy.getSpace().getDefiningOp()->moveBefore(copy);
    OpBuilder::InsertionGuard guard(b);
    for (IterateOp op : plan.inner) {
      auto own = copyOf(op, map);
      b.setInsertionPoint(own);
      restrictTo(b, own, {from, whole}, to);
    }
    if (plan.join == Join::Disjoint)
      copy.getInitsMutable().assign(tensors);
    else if (plan.join == Join::Values)
      storePartials(copy, map, slot);
    else
      reduceIntoSlot(copy, map, tensors[0], slot);
    return plan.join == Join::Values ? SmallVector<Value>() : SmallVector<Value>(copy.getResults());
  }

  /// Makes the inner loops start from the identities and stores their results; drops the rest of the
  /// iteration.
  void storePartials(IterateOp copy, IRMapping &map, Value slot) {
    size_t number = 0;
    Value at;
    for (IterateOp op : plan.inner) {
      auto own = copyOf(op, map);
      const Combiners combiners = *combinersOf(own);
      b.setInsertionPoint(own);
      for (auto [init, start] : llvm::zip(own.getInitsMutable(), combiners.identities))
        init.set(parallel::constant(b, loc, start));
      b.setInsertionPointAfter(own);
      at = times(slot, constant(kPartialStride));
      for (Value result : own.getResults())
        memref::StoreOp::create(b, loc, result, partials[number++], at);
    }
    Block &body = copy.getBody().front();
    body.getTerminator()->setOperands(body.getArguments().take_back(copy->getNumResults()));
    eraseUnused(body);
  }

  static void eraseUnused(Block &body) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  /// Makes the inner loops reduce into the slot's row, which starts from the identity.
  void reduceIntoSlot(IterateOp copy, IRMapping &map, Value rows, Value slot) {
    auto first = copyOf(plan.inner[0], map);
    first.getInitsMutable().assign(copy.getBody().front().getArguments().take_back());
    eraseUnused(copy.getBody().front());
    auto row = cast<LocateOp>(map.lookup(plan.row.getResult()).getDefiningOp());
    redirect(copy, Aliases(copy), rows, slot, row);
    b.setInsertionPointToStart(&copy.getBody().front());
    Value neutral = parallel::constant(b, loc, *identity(plan.combiner)), begin = times(slot, rowSize);
    Value before = copy.getBody().front().getArguments().back();
    Value values = ValuesOp::create(b, loc, partials[0].getType(), before);
    levels::forEach(b, loc, constant(0), rowSize, LoopKind::Parallel,
                    [&](Value at) { memref::StoreOp::create(b, loc, neutral, values, add(begin, at)); });
    auto started = WithValuesOp::create(b, loc, before.getType(), before, values);
    before.replaceUsesWithIf(started.getResult(), [&](OpOperand &use) {
      return use.getOwner() != started && use.getOwner() != values.getDefiningOp();
    });
  }

  /// The iterations of the fibers that were split.
  SmallVector<Value> finish(ArrayRef<Value> now) {
    SmallVector<Value> inits{constant(0)};
    llvm::append_range(inits, now);
    auto each = scf::ForOp::create(b, loc, constant(0), slots, constant(1), inits);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(each.getBody());
    Value slot = each.getInductionVar(), done = each.getRegionIterArgs()[0];
    ValueRange carried = each.getRegionIterArgs().drop_front();
    Value begin = memref::LoadOp::create(b, loc, begins, slot),
          end = memref::LoadOp::create(b, loc, ends, slot);
    // Slots without a partial result end at 0; those of one fiber are consecutive.
    Value isNew = arith::AndIOp::create(b, loc, is(arith::CmpIPredicate::ne, end, constant(0)),
                                        is(arith::CmpIPredicate::ne, end, done));
    auto branch = scf::IfOp::create(b, loc, carried.getTypes(), isNew, /*withElseRegion=*/true);
    SmallVector<Value> next{select(isNew, end, done)};
    llvm::append_range(next, branch.getResults());
    scf::YieldOp::create(b, loc, next);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, carried);
    b.setInsertionPointToStart(branch.thenBlock());
    Value only = SliceOp::create(b, loc, space.getType(), space, begin, end, /*one=*/true);
    IRMapping map;
    auto copy = cast<IterateOp>(b.clone(*loop, map));
    copy.getSpaceMutable().assign(only);
    copy.getInitsMutable().assign(carried);
    scf::YieldOp::create(b, loc, copy.getResults());
    if (plan.join == Join::Values)
      combineValues(map, slot, end);
    else
      combineRows(map, slot, end);
    // Loops that depend on these results are partitioned on their own.
    for (IterateOp op : llvm::make_early_inc_range(copy.getBody().getOps<IterateOp>()))
      if (iteratesFiber(copy, op) && !partitionIterations(op, settings))
        reducePartials(op, settings);
    return SmallVector<Value>(each.getResults().drop_front());
  }

  /// Whether the slot has a partial result of the fiber that ends there.
  Value isOfFiber(Value slot, Value end) {
    return is(arith::CmpIPredicate::eq, memref::LoadOp::create(b, loc, ends, slot), end);
  }

  void combineValues(IRMapping &map, Value slot, Value end) {
    size_t number = 0;
    for (IterateOp op : plan.inner) {
      auto own = copyOf(op, map);
      const Combiners combiners = *combinersOf(own);
      b.setInsertionPoint(own);
      auto chunks = scf::ForOp::create(b, loc, slot, slots, constant(1), initValues(own));
      own->replaceAllUsesWith(chunks.getResults());
      b.setInsertionPointToStart(chunks.getBody());
      Value at = times(chunks.getInductionVar(), constant(kPartialStride));
      Value mine = isOfFiber(chunks.getInductionVar(), end);
      SmallVector<Value> sums;
      for (auto [combiner, sum] : llvm::zip(combiners.operations, chunks.getRegionIterArgs())) {
        Value partial = memref::LoadOp::create(b, loc, partials[number++], at);
        sums.push_back(select(mine, combine(b, loc, combiner, sum, partial), sum));
      }
      scf::YieldOp::create(b, loc, sums);
      own->erase();
    }
  }

  void combineRows(IRMapping &map, Value slot, Value end) {
    SmallVector<IterateOp> inner;
    for (IterateOp op : plan.inner)
      inner.push_back(copyOf(op, map));
    b.setInsertionPoint(inner[0]);
    Value position = constant(0), tensor = inner[0].getInits()[0];
    SmallVector<LocateOp> path;
    for (Value at = map.lookup(plan.row.getResult()); at; at = path.back().getParent())
      path.push_back(at.getDefiningOp<LocateOp>());
    for (LocateOp at : llvm::reverse(path)) {
      Value size = LevelSizeOp::create(b, loc, tensor, at.getLevelAttr());
      position = add(times(position, size), at.getCoordinate());
    }
    Value values = ValuesOp::create(b, loc, partials[0].getType(), tensor);
    Value first = times(position, rowSize);
    auto chunks = scf::ForOp::create(b, loc, slot, slots, constant(1));
    b.setInsertionPointToStart(chunks.getBody());
    auto mine = scf::IfOp::create(b, loc, isOfFiber(chunks.getInductionVar(), end));
    b.setInsertionPointToStart(mine.thenBlock());
    Value copy = times(chunks.getInductionVar(), rowSize);
    levels::forEach(b, loc, constant(0), rowSize, LoopKind::Parallel, [&](Value at) {
      Value to = add(first, at), from = add(copy, at);
      Value sum = combine(b, loc, plan.combiner, memref::LoadOp::create(b, loc, values, to),
                          memref::LoadOp::create(b, loc, partials[0], from));
      memref::StoreOp::create(b, loc, sum, values, to);
    });
    // What came after the inner loops continues from the combined row.
    b.setInsertionPointAfter(chunks);
    Value joined = WithValuesOp::create(b, loc, tensor.getType(), tensor, values);
    for (IterateOp op : inner) {
      op->replaceAllUsesWith(op == inner[0] ? ValueRange(joined) : ValueRange(op.getInits()));
      op->erase();
    }
  }

  IterateOp loop;
  Plan plan;
  const Settings &settings;
  Value space, estimate;
  bool reduces;
  Value chunks, slots, least;
  Value begins, ends;                   // the positions around each slot's fiber
  SmallVector<Value> partials, buffers; // results of the inner loops, by slots; all that is allocated
  Value rowSize, copies;                // Rows: of a slot, and all of them as a tensor
};

} // namespace

bool splitFibers(Operation *op, const Settings &settings) {
  auto loop = dyn_cast<IterateOp>(op);
  if (!loop || !canPartition(loop) || loop.getEach() || !hasOrder(loop))
    return false;
  if (!reducesValues(loop) && (loop.getKind() != LoopKind::Parallel || !carriesTensorsOnly(loop)))
    return false;
  std::optional<Plan> plan = planOf(loop);
  if (!plan)
    return false;
  FiberSplitter(loop, *plan, settings).run();
  return true;
}

} // namespace tulle::parallel
