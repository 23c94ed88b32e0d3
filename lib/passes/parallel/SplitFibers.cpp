// Loops where one coordinate can hold most of the work, a dense row of a matrix: parts begin inside of it.
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

/// How what the parts of one coordinate make comes together.
enum class Joined {
  Apart,  ///< They store to places of their own.
  Values, ///< Each makes values of its own, which are combined.
  Rows    ///< Each adds to a copy of what the coordinate selects of a dense tensor, and nothing does later.
};

struct Plan {
  Joined joined;
  SmallVector<IterateOp> inner;  ///< The loops that are cut.
  LocateOp row = {};             ///< Rows: what the coordinate selects,
  Operation *combiner = nullptr; ///< and what is done to it.
};

/// Whether the loop walks what is stored below one coordinate of `outer` only.
bool walksBelow(IterateOp outer, IterateOp inner) {
  auto space = inner.getSpace().getDefiningOp<SpaceOp>();
  if (!space || !space.getParent() || space.getCondition())
    return false;
  Value parent = space.getParent();
  if (parent.getParentBlock() != &outer.getBody().front())
    return false;
  auto locate = parent.getDefiningOp<LocateOp>();
  return !locate || locate.getCoordinate() == outer.getBody().getArgument(0);
}

/// What the loop needs of its body, but for what it goes on from.
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

/// What the loop hands on goes through the inner loops, the last of its body that change it: what they begin
/// with.
Value startOf(IterateOp loop, const SmallVector<IterateOp> &inner, unsigned result) {
  Value at = loop.getBody().front().getTerminator()->getOperand(result);
  for (;;) {
    auto from = at.getDefiningOp<IterateOp>();
    if (!at.hasOneUse() || !from || !llvm::is_contained(inner, from))
      return at;
    at = from.getInits()[cast<OpResult>(at).getResultNumber()];
  }
}

/// Whether the inner loops are all that changes what the loop carries, and that reads it.
bool changeAll(IterateOp loop, const SmallVector<IterateOp> &inner) {
  Block &body = loop.getBody().front();
  const unsigned first = body.getNumArguments() - loop->getNumResults();
  return llvm::all_of(loop->getResults(), [&](OpResult result) {
    Value carried = body.getArgument(first + result.getResultNumber());
    return carried.hasOneUse() && startOf(loop, inner, result.getResultNumber()) == carried;
  });
}

/// The iterator above all places of the carried tensor that the inner loops touch, which a round locates from
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
  Plan plan{Joined::Rows, inner, rowOf(inner, aliases)};
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
    if (walksBelow(loop, op) && canPartition(op))
      below.push_back(op);
  Plan values{Joined::Values, {}};
  for (IterateOp op : below)
    if (addsToValues(op) && !needsOthers(op, values.inner))
      values.inner.push_back(op);
  if (!values.inner.empty())
    return values;
  if (below.empty() || !carriesTensorsOnly(loop) ||
      llvm::any_of(below, [&](IterateOp op) { return needsOthers(op, below); }))
    return std::nullopt;
  // Of two loops, one may go on from what the other stored, at places that are in another part there.
  if (below.size() > 1 || below[0].getKind() != LoopKind::Parallel)
    return planRows(loop, below);
  return changeAll(loop, below) ? std::optional(Plan{Joined::Apart, below}) : std::nullopt;
}

/// Pieces for each thread of rounds that store apart: how long one takes depends on where its operands are
/// too (SpMM with two threads: 0.93 of the time of one piece for each). Finding and handing out one takes 0.7
/// microseconds: SpMV on `grid2d:200` takes 39 so, 47 with as many pieces (Zen 5).
Value piecesOf(OpBuilder &b, Location loc, Value parts, Value work, const iteration::Costs &costs) {
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
  Value of = arith::MulIOp::create(b, loc, parts, constant(costs.workPerChunk));
  Value each = arith::MinUIOp::create(b, loc, arith::DivUIOp::create(b, loc, work, of),
                                      constant(costs.chunksPerThread));
  return severalEach(b, loc, parts, arith::MaxUIOp::create(b, loc, each, constant(1)));
}

bool hasOrder(IterateOp loop) {
  auto type = dyn_cast<SpaceType>(loop.getSpace().getType());
  if (!type)
    return bool(weights(loop));
  const format::LevelFormat &level = type.getEncoding().getValue().levels[type.getLevel()].format;
  return level.ordered &&
         (level.kind == format::LevelKind::Compressed || level.kind == format::LevelKind::Dense);
}

/// Rewrites one loop:
///
///   parallel: for the coordinate that the part begins inside of, and for the one that it ends inside of:
///               what the inner loops make of the part's piece of it
///             all coordinates between them
///   for each coordinate that was cut: its round, with those pieces put together in place of inner loops
///
/// A part has two slots for what it makes of pieces.
class Rewriter : levels::Indices {
public:
  Rewriter(IterateOp loop, Plan plan, const Settings &settings)
      : Indices(loop), loop(loop), plan(std::move(plan)), settings(settings), space(loop.getSpace()),
        weighedBy(weights(loop)), adds(carriesValuesOnly(loop)) {
    Value all = work(b, loop);
    Value parts = ThreadsOp::create(b, loc, all, settings.deterministic);
    pieces = adds ? parts : piecesOf(b, loc, parts, all, settings.costs);
    slots = arith::MulIOp::create(b, loc, pieces, constant(2));
    Value total = WorkOp::create(b, loc, space, weighedBy);
    Value many = arith::MulIOp::create(b, loc, parts, constant(settings.costs.chunksPerThread));
    least = arith::DivUIOp::create(b, loc, total, many);
    makeRoom(all);
  }

  void run() {
    SmallVector<std::pair<OpOperand *, unsigned>> uses;
    for (OpResult result : loop->getResults())
      for (OpOperand &use : result.getUses())
        uses.push_back({&use, result.getResultNumber()});
    b.setInsertionPointAfter(loop);
    SmallVector<Value> now = adds ? addUp() : store();
    if (plan.joined != Joined::Apart)
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

  void makeRoom(Value all) {
    if (plan.joined == Joined::Apart)
      return;
    begins = buffer(b.getIndexType(), slots);
    ends = buffer(b.getIndexType(), slots);
    if (plan.joined == Joined::Values) {
      for (IterateOp op : plan.inner)
        for (Type type : op->getResultTypes())
          partials.push_back(buffer(type, times(slots, constant(kApart))));
      return;
    }
    Value tensor = loop.getInits()[0];
    const size_t below = size_t(plan.row.getLevel()) + 1;
    auto type = cast<RankedTensorType>(tensor.getType());
    rowSize = constant(1);
    for (size_t l = below; l < getEncoding(type).getValue().levels.size(); ++l)
      rowSize = times(rowSize, LevelSizeOp::create(b, loc, tensor, b.getI64IntegerAttr(int64_t(l))));
    // Copies are written and read once: nothing is cut where there is less to do than that.
    Value size = times(slots, rowSize);
    Value fits = is(arith::CmpIPredicate::ule, size, all);
    least = select(fits, least, constant(std::numeric_limits<int64_t>::max()));
    partials.push_back(buffer(type.getElementType(), select(fits, size, constant(0))));
    copies = copiesOf(b, loc, tensor, below, partials[0], slots);
  }

  /// A loop that adds to values: the parts' own are added up.
  SmallVector<Value> addUp() {
    ValueRange sums = sharePartials(loop, pieces, [&](OpBuilder &inside, Value part) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(inside.getInsertionBlock(), inside.getInsertionPoint());
      share(part, {});
    });
    return SmallVector<Value>(sums);
  }

  /// A loop whose rounds store apart.
  SmallVector<Value> store() {
    SmallVector<Value> inits = initValues(loop);
    const size_t own = inits.size();
    if (copies)
      inits.push_back(copies);
    ValueRange results = region(b, loc, pieces, inits, [&](Value part, ValueRange carried) {
      ValueRange tensors = carried.take_front(own);
      SmallVector<Value> shared =
          share(part, plan.joined == Joined::Apart ? tensors : carried.drop_front(own));
      loop->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
      initsOf(loop).assign(plan.joined == Joined::Apart ? ValueRange(shared) : tensors);
      SmallVector<Value> yielded(loop->getResults());
      if (plan.joined == Joined::Rows)
        llvm::append_range(yielded, shared);
      return yielded;
    });
    if (plan.joined == Joined::Rows)
      partials[0] = ValuesOp::create(b, loc, partials[0].getType(), results[own]);
    return SmallVector<Value>(results.take_front(own));
  }

  /// Makes the loop visit the coordinates that are in the part as a whole, and does the part's pieces of
  /// those at its ends; returns the tensors that these have stored to.
  SmallVector<Value> share(Value part, ValueRange tensors) {
    auto first = PartitionBoundaryOp::create(b, loc, space, part, pieces, least, weighedBy);
    auto last = PartitionBoundaryOp::create(b, loc, space, add(part, constant(1)), pieces, least, weighedBy);
    Value end = arith::MaxUIOp::create(b, loc, first.getEnd(), last.getBegin());
    loop.getSpaceMutable().assign(
        SliceOp::create(b, loc, space.getType(), space, first.getEnd(), end, /*one=*/false));
    auto halves = scf::ForOp::create(b, loc, constant(0), constant(2), constant(1), tensors);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(halves.getBody());
    Value half = halves.getInductionVar();
    SmallVector<Value> stored =
        shareOne(first, last, half, add(times(part, constant(2)), half), halves.getRegionIterArgs());
    if (!tensors.empty())
      scf::YieldOp::create(b, loc, stored);
    return SmallVector<Value>(halves.getResults());
  }

  SmallVector<Value> shareOne(PartitionBoundaryOp first, PartitionBoundaryOp last, Value half, Value slot,
                              ValueRange tensors) {
    using arith::CmpIPredicate;
    Value behind = is(CmpIPredicate::eq, half, constant(1));
    // All of the part may be inside of one coordinate.
    Value one = arith::AndIOp::create(b, loc, is(CmpIPredicate::eq, first.getBegin(), last.getBegin()),
                                      is(CmpIPredicate::eq, first.getEnd(), last.getEnd()));
    Value begin = select(behind, last.getBegin(), first.getBegin());
    Value end = select(behind, select(one, last.getBegin(), last.getEnd()), first.getEnd());
    Value from = select(behind, constant(0), first.getBefore());
    Value to = select(behind, last.getBefore(), select(one, last.getBefore(), first.getWhole()));
    Value whole = select(behind, last.getWhole(), first.getWhole());
    if (plan.joined != Joined::Apart) {
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
      auto own = cast<IterateOp>(map.lookup(op.getResult(0)).getDefiningOp());
      b.setInsertionPoint(own);
      restrictTo(b, own, {from, whole}, to);
    }
    if (plan.joined == Joined::Apart)
      copy.getInitsMutable().assign(tensors);
    else if (plan.joined == Joined::Values)
      keepValues(copy, map, slot);
    else
      keepRow(copy, map, tensors[0], slot);
    return plan.joined == Joined::Values ? SmallVector<Value>() : SmallVector<Value>(copy.getResults());
  }

  /// Makes the inner loops start anew and keep what they come to; nothing else of the round remains.
  void keepValues(IterateOp copy, IRMapping &map, Value slot) {
    size_t number = 0;
    Value at;
    for (IterateOp op : plan.inner) {
      auto own = cast<IterateOp>(map.lookup(op.getResult(0)).getDefiningOp());
      const Combiners combiners = *combinersOf(own);
      b.setInsertionPoint(own);
      for (auto [init, start] : llvm::zip(own.getInitsMutable(), combiners.identities))
        init.set(parallel::constant(b, loc, start));
      b.setInsertionPointAfter(own);
      at = times(slot, constant(kApart));
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

  /// Makes the inner loops add to the slot's row, from what changes nothing.
  void keepRow(IterateOp copy, IRMapping &map, Value rows, Value slot) {
    auto first = cast<IterateOp>(map.lookup(plan.inner[0].getResult(0)).getDefiningOp());
    first.getInitsMutable().assign(copy.getBody().front().getArguments().take_back());
    eraseUnused(copy.getBody().front());
    auto row = cast<LocateOp>(map.lookup(plan.row.getResult()).getDefiningOp());
    redirect(copy, Aliases(copy), rows, slot, row);
    b.setInsertionPointToStart(&copy.getBody().front());
    Value neutral = parallel::constant(b, loc, *identity(plan.combiner)), begin = times(slot, rowSize);
    Value before = copy.getBody().front().getArguments().back();
    Value values = ValuesOp::create(b, loc, partials[0].getType(), before);
    forEach(b, loc, {constant(0), rowSize}, [&](OpBuilder &b, Value at) {
      memref::StoreOp::create(b, loc, neutral, values, arith::AddIOp::create(b, loc, begin, at).getResult());
    });
    auto started = WithValuesOp::create(b, loc, before.getType(), before, values);
    before.replaceUsesWithIf(started.getResult(), [&](OpOperand &use) {
      return use.getOwner() != started && use.getOwner() != values.getDefiningOp();
    });
  }

  /// The rounds of the coordinates that were cut.
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
    // Slots without a piece end at 0; those of one coordinate follow each other.
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
    if (plan.joined == Joined::Values)
      joinValues(map, slot, end);
    else
      joinRows(map, slot, end);
    // What needs these results is shared by itself.
    for (IterateOp op : llvm::make_early_inc_range(copy.getBody().getOps<IterateOp>()))
      if (walksBelow(copy, op) && !shareRounds(op, settings))
        sharePartials(op, settings);
    return SmallVector<Value>(each.getResults().drop_front());
  }

  /// Whether the slot has a piece of the coordinate that ends there.
  Value belongs(Value slot, Value end) {
    return is(arith::CmpIPredicate::eq, memref::LoadOp::create(b, loc, ends, slot), end);
  }

  void joinValues(IRMapping &map, Value slot, Value end) {
    size_t number = 0;
    for (IterateOp op : plan.inner) {
      auto own = cast<IterateOp>(map.lookup(op.getResult(0)).getDefiningOp());
      const Combiners combiners = *combinersOf(own);
      b.setInsertionPoint(own);
      auto pieces = scf::ForOp::create(b, loc, slot, slots, constant(1), initValues(own));
      own->replaceAllUsesWith(pieces.getResults());
      b.setInsertionPointToStart(pieces.getBody());
      Value at = times(pieces.getInductionVar(), constant(kApart));
      Value mine = belongs(pieces.getInductionVar(), end);
      SmallVector<Value> sums;
      for (auto [combiner, sum] : llvm::zip(combiners.operations, pieces.getRegionIterArgs())) {
        Value piece = memref::LoadOp::create(b, loc, partials[number++], at);
        sums.push_back(select(mine, combine(b, loc, combiner, sum, piece), sum));
      }
      scf::YieldOp::create(b, loc, sums);
      own->erase();
    }
  }

  void joinRows(IRMapping &map, Value slot, Value end) {
    SmallVector<IterateOp> inner;
    for (IterateOp op : plan.inner)
      inner.push_back(cast<IterateOp>(map.lookup(op.getResult(0)).getDefiningOp()));
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
    auto pieces = scf::ForOp::create(b, loc, slot, slots, constant(1));
    b.setInsertionPointToStart(pieces.getBody());
    auto mine = scf::IfOp::create(b, loc, belongs(pieces.getInductionVar(), end));
    b.setInsertionPointToStart(mine.thenBlock());
    Value copy = times(pieces.getInductionVar(), rowSize);
    forEach(b, loc, {constant(0), rowSize}, [&](OpBuilder &b, Value at) {
      Value to = arith::AddIOp::create(b, loc, first, at), from = arith::AddIOp::create(b, loc, copy, at);
      Value sum = combine(b, loc, plan.combiner, memref::LoadOp::create(b, loc, values, to),
                          memref::LoadOp::create(b, loc, partials[0], from));
      memref::StoreOp::create(b, loc, sum, values, to);
    });
    // What came after the inner loops goes on from the row that has everything.
    b.setInsertionPointAfter(pieces);
    Value joined = WithValuesOp::create(b, loc, tensor.getType(), tensor, values);
    for (IterateOp op : inner) {
      op->replaceAllUsesWith(op == inner[0] ? ValueRange(joined) : ValueRange(op.getInits()));
      op->erase();
    }
  }

  IterateOp loop;
  Plan plan;
  const Settings &settings;
  Value space, weighedBy;
  bool adds;
  Value pieces, slots, least;
  Value begins, ends;                   // the places of each slot's coordinate
  SmallVector<Value> partials, buffers; // what the inner loops make, by slots; all that is allocated
  Value rowSize, copies;                // Rows: of a slot, and all of them as a tensor
};

} // namespace

bool shareCutRounds(Operation *op, const Settings &settings) {
  auto loop = dyn_cast<IterateOp>(op);
  if (!loop || !canPartition(loop) || loop.getEach() || !hasOrder(loop))
    return false;
  const bool adds = addsToValues(loop);
  if (!adds && (loop.getKind() != LoopKind::Parallel || !carriesTensorsOnly(loop)))
    return false;
  std::optional<Plan> plan = planOf(loop);
  if (!plan)
    return false;
  Rewriter(loop, *plan, settings).run();
  return true;
}

} // namespace tulle::parallel
