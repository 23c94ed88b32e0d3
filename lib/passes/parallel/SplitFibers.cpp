// Splits long fibers: where one coordinate can hold most of the work, a dense row of a matrix, chunks begin
// inside of it (nonzero splitting).
#include "dialect/Scalars.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/parallel/SetLoops.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::parallel {

using arith::CmpIPredicate;

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
  llvm::SetVector<Value> used;
  used.insert(inner.getSpace());
  getUsedValuesDefinedAbove(inner.getBody(), used);
  BackwardSliceOptions options([&](Operation *op) { return op->getBlock() == inner->getBlock(); });
  options.inclusive = options.omitBlockArguments = true;
  options.omitUsesFromAbove = false;
  llvm::SetVector<Operation *> needed;
  for (Value value : used)
    (void)getBackwardSlice(value, &needed, options);
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
  return llvm::all_of(llvm::seq(loop->getNumResults()), [&](unsigned k) {
    Value carried = carriedArgument(loop.getBody(), k);
    return carried.hasOneUse() && startOf(loop, inner, k) == carried;
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
  if (!denseResult(loop))
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

bool hasOrder(IterateOp loop) {
  auto type = dyn_cast<SpaceType>(loop.getSpace().getType());
  if (!type)
    return bool(loop.getWorkEstimate());
  const format::LevelFormat &level = type.getEncoding().getValue().levels[type.getLevel()].format;
  return level.ordered &&
         (level.kind == format::LevelKind::Compressed || level.kind == format::LevelKind::Dense);
}

void eraseUnused(IterateOp loop) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(loop.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

IterateOp copyOf(IterateOp loop, const IRMapping &map) {
  return cast<IterateOp>(map.lookup(loop.getResult(0)).getDefiningOp());
}

/// Rewrites one loop:
///
///   parallel: for the fiber that the chunk begins inside of, and for the one that it ends inside of:
///               the inner loops on the entries of the fiber that are in the chunk
///             all fibers between them
///   for each fiber that was split: its iteration, with the combined results of those instead of inner loops
///
/// A chunk has two slots for its results of split fibers.
class FiberSplitter : Emitter {
public:
  FiberSplitter(OpBuilder &b, IterateOp loop, Plan plan, const Settings &settings)
      : Emitter(b, loop.getLoc()), loop(loop), plan(std::move(plan)), settings(settings),
        space(loop.getSpace()), estimate(loop.getWorkEstimate()), reduces(carriesValuesOnly(loop)) {
    const SharedTasks *shared = settings.shared;
    Value all = shared ? shared->work : work(b, loop);
    Value tasks = shared ? shared->tasks : ThreadsOp::create(b, loc, all, settings.deterministic).getResult();
    chunks = shared ? shared->chunks : reduces ? tasks : chunksFor(*this, tasks, all, settings.costs);
    slots = times(chunks, constant(2));
    Value total = WorkOp::create(b, loc, space, estimate);
    least = divide(total, times(tasks, constant(settings.costs.chunksPerThread)));
    allocateSlots(all);
  }

  void run() {
    SmallVector<std::pair<OpOperand *, unsigned>> uses;
    for (OpResult result : loop->getResults())
      for (OpOperand &use : result.getUses())
        uses.push_back({&use, result.getResultNumber()});
    b.setInsertionPointAfter(loop);
    Values now = reduces ? reduce() : partition();
    if (plan.join != Join::Disjoint)
      now = finish(now);
    for (Value buffer : buffers)
      memref::DeallocOp::create(b, loc, buffer);
    for (auto [use, number] : uses)
      use->set(now[number]);
  }

private:
  using Values = levels::Values;

  Value buffer(Type type, Value size) { return buffers.emplace_back(allocate(type, size)); }

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
      rowSize = times(rowSize, LevelSizeOp::create(b, loc, tensor, l));
    // Copies are written and read once: no fiber is split where there is less work than that.
    Value size = times(slots, rowSize);
    Value fits = is(CmpIPredicate::ule, size, all);
    least = select(fits, least, constant(std::numeric_limits<int64_t>::max()));
    partials.push_back(buffer(type.getElementType(), select(fits, size, constant(0))));
    copies = copiesOf(*this, tensor, below, partials[0], slots);
  }

  /// A reduction into values: the tasks' partial results are combined.
  Values reduce() {
    return reducePartials(loop, chunks, [&](OpBuilder &inside, Value chunk) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(inside.getInsertionBlock(), inside.getInsertionPoint());
      runChunk(chunk, {});
    });
  }

  /// A loop whose iterations have disjoint stores.
  Values partition() {
    SmallVector<Value> inits = initValues(loop);
    const size_t own = inits.size();
    if (copies)
      inits.push_back(copies);
    ValueRange results = region(b, loc, chunks, inits, [&](Value chunk, ValueRange carried) {
      ValueRange tensors = carried.take_front(own);
      Values split = runChunk(chunk, plan.join == Join::Disjoint ? tensors : carried.drop_front(own));
      loop->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
      initsOf(loop).assign(plan.join == Join::Disjoint ? ValueRange(split) : tensors);
      Values yielded(loop->getResults());
      if (plan.join == Join::Rows)
        llvm::append_range(yielded, split);
      return yielded;
    });
    if (plan.join == Join::Rows)
      partials[0] = valuesOf(results[own]);
    return Values(results.take_front(own));
  }

  Value slice(Value begin, Value end, bool one) {
    return SliceOp::create(b, loc, space.getType(), space, begin, end, one);
  }

  /// Restricts the loop to the fibers that are in the chunk as a whole, and runs the parts of those at its
  /// ends; returns the tensors that these have stored to.
  Values runChunk(Value chunk, ValueRange tensors) {
    auto first = PartitionBoundaryOp::create(b, loc, space, chunk, chunks, least, estimate);
    auto last = PartitionBoundaryOp::create(b, loc, space, add(chunk, constant(1)), chunks, least, estimate);
    Value end = larger(first.getEnd(), last.getBegin());
    loop.getSpaceMutable().assign(slice(first.getEnd(), end, /*one=*/false));
    return levels::forLoop(b, loc, constant(0), constant(2), LoopKind::Reduction, tensors,
                           [&](Value half, const Values &carried) {
                             Value slot = add(times(chunk, constant(2)), half);
                             return splitFiber(first, last, half, slot, carried);
                           });
  }

  Values splitFiber(PartitionBoundaryOp first, PartitionBoundaryOp last, Value half, Value slot,
                    const Values &tensors) {
    Value behind = is(CmpIPredicate::eq, half, constant(1));
    // All of the chunk may be inside of one fiber.
    Value one = both(is(CmpIPredicate::eq, first.getBegin(), last.getBegin()),
                     is(CmpIPredicate::eq, first.getEnd(), last.getEnd()));
    Value begin = select(behind, last.getBegin(), first.getBegin());
    Value end = select(behind, select(one, last.getBegin(), last.getEnd()), first.getEnd());
    Value from = select(behind, constant(0), first.getBefore());
    Value to = select(behind, last.getBefore(), select(one, last.getBefore(), first.getWhole()));
    Value whole = select(behind, last.getWhole(), first.getWhole());
    if (plan.join != Join::Disjoint) {
      store(begin, begins, slot);
      store(select(is(CmpIPredicate::ult, begin, end), end, constant(0)), ends, slot);
    }
    IRMapping map;
    auto copy = cast<IterateOp>(b.clone(*loop, map));
    copy.getSpaceMutable().assign(slice(begin, end, /*one=*/true));
    copy.getSpace().getDefiningOp()->moveBefore(copy);
    OpBuilder::InsertionGuard guard(b);
    for (IterateOp op : plan.inner) {
      auto own = copyOf(op, map);
      b.setInsertionPoint(own);
      own.getSpaceMutable().assign(
          PartitionOp::create(b, own.getLoc(), own.getSpace(), from, to, whole, own.getWorkEstimate()));
    }
    if (plan.join == Join::Disjoint)
      copy.getInitsMutable().assign(tensors);
    else if (plan.join == Join::Values)
      storePartials(copy, map, slot);
    else
      reduceIntoSlot(copy, map, tensors[0], slot);
    return plan.join == Join::Values ? Values() : Values(copy.getResults());
  }

  /// Makes the inner loops start from the identities and stores their results; drops everything else of the
  /// iteration.
  void storePartials(IterateOp copy, IRMapping &map, Value slot) {
    size_t number = 0;
    for (IterateOp op : plan.inner) {
      auto own = copyOf(op, map);
      const Combiners combiners = *combinersOf(own);
      b.setInsertionPoint(own);
      for (auto [init, start] : llvm::zip(own.getInitsMutable(), combiners.identities))
        init.set(materialize(b, loc, start, init.get().getType()));
      b.setInsertionPointAfter(own);
      Value at = times(slot, constant(kPartialStride));
      for (Value result : own.getResults())
        store(result, partials[number++], at);
    }
    Block &body = copy.getBody().front();
    body.getTerminator()->setOperands(body.getArguments().take_back(copy->getNumResults()));
    eraseUnused(copy);
  }

  /// Makes the inner loops reduce into the slot's row, which starts from the identity.
  void reduceIntoSlot(IterateOp copy, IRMapping &map, Value rows, Value slot) {
    auto first = copyOf(plan.inner[0], map);
    first.getInitsMutable().assign(copy.getBody().front().getArguments().take_back());
    eraseUnused(copy);
    auto row = cast<LocateOp>(map.lookup(plan.row.getResult()).getDefiningOp());
    redirect(copy, Aliases(copy), rows, slot, row);
    b.setInsertionPointToStart(&copy.getBody().front());
    Value before = copy.getBody().front().getArguments().back();
    Value started = startFromIdentity(*this, plan.combiner, before, times(slot, rowSize), rowSize);
    before.replaceUsesWithIf(started, [&](OpOperand &use) {
      return !isa<ValuesOp>(use.getOwner()) && use.getOwner() != started.getDefiningOp();
    });
  }

  /// The iterations of the fibers that were split.
  Values finish(Values now) {
    now.insert(now.begin(), constant(0));
    Values results = levels::forLoop(
        b, loc, constant(0), slots, LoopKind::Reduction, now, [&](Value slot, const Values &carried) {
          Value done = carried[0], begin = load(begins, slot), end = load(ends, slot);
          ValueRange sums = ValueRange(carried).drop_front();
          // Slots without a partial result end at 0; those of one fiber are consecutive.
          Value isNew = both(is(CmpIPredicate::ne, end, constant(0)), is(CmpIPredicate::ne, end, done));
          Values next = levels::ifElse(
              b, loc, isNew, sums.getTypes(), [&] { return finishFiber(slot, begin, end, sums); },
              [&] { return Values(sums); });
          next.insert(next.begin(), select(isNew, end, done));
          return next;
        });
    return Values(llvm::drop_begin(results));
  }

  Values finishFiber(Value slot, Value begin, Value end, ValueRange sums) {
    Value only = slice(begin, end, /*one=*/true);
    IRMapping map;
    auto copy = cast<IterateOp>(b.clone(*loop, map));
    copy.getSpaceMutable().assign(only);
    copy.getInitsMutable().assign(sums);
    if (plan.join == Join::Values)
      combineValues(map, slot, end);
    else
      combineRows(map, slot, end);
    // Loops that depend on these results are partitioned on their own.
    for (IterateOp op : llvm::make_early_inc_range(copy.getBody().getOps<IterateOp>()))
      if (iteratesFiber(copy, op) && !partitionIterations(op, settings))
        reducePartials(op, settings);
    b.setInsertionPointAfter(copy);
    return Values(copy.getResults());
  }

  /// Whether the slot has a partial result of the fiber that ends there.
  Value isOfFiber(Value slot, Value end) { return is(CmpIPredicate::eq, load(ends, slot), end); }

  void combineValues(IRMapping &map, Value slot, Value end) {
    size_t number = 0;
    for (IterateOp op : plan.inner) {
      auto own = copyOf(op, map);
      const Combiners combiners = *combinersOf(own);
      b.setInsertionPoint(own);
      own->replaceAllUsesWith(levels::forLoop(
          b, loc, slot, slots, LoopKind::Reduction, initValues(own), [&](Value other, Values sums) {
            Value at = times(other, constant(kPartialStride)), mine = isOfFiber(other, end);
            for (auto [combiner, sum] : llvm::zip(combiners.operations, sums))
              sum = select(mine, combine(b, combiner, sum, load(partials[number++], at)), sum);
            return sums;
          }));
      own->erase();
    }
  }

  void combineRows(IRMapping &map, Value slot, Value end) {
    SmallVector<IterateOp> inner =
        llvm::map_to_vector(plan.inner, [&](IterateOp op) { return copyOf(op, map); });
    b.setInsertionPoint(inner[0]);
    Value position = constant(0), tensor = inner[0].getInits()[0];
    SmallVector<LocateOp> path;
    for (Value at = map.lookup(plan.row.getResult()); at; at = path.back().getParent())
      path.push_back(at.getDefiningOp<LocateOp>());
    for (LocateOp at : llvm::reverse(path))
      position = add(times(position, LevelSizeOp::create(b, loc, tensor, at.getLevel())), at.getCoordinate());
    Value values = valuesOf(tensor), first = times(position, rowSize);
    levels::forEach(b, loc, slot, slots, LoopKind::Reduction, [&](Value other) {
      auto mine = scf::IfOp::create(b, loc, isOfFiber(other, end));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(mine.thenBlock());
      Value copy = times(other, rowSize);
      forEach(constant(0), rowSize, [&](Value at) {
        Value to = add(first, at), from = add(copy, at);
        store(combine(b, plan.combiner, load(values, to), load(partials[0], from)), values, to);
      });
    });
    // What came after the inner loops continues from the combined row.
    Value joined = withValues(tensor, values);
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
  record(loop, Threads::Entries);
  OpBuilder b(loop);
  FiberSplitter(b, loop, *plan, settings).run();
  return true;
}

} // namespace tulle::parallel
