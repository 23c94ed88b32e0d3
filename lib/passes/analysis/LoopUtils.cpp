// Matches the operations that define bounds and indices; what is not known has no trip count, is no segment,
// and has no offset. Clones operations in their order, and each once.
#include "passes/analysis/LoopUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace tulle::passes {

using namespace mlir;

bool isOutermost(Operation *loop) {
  Operation *around = loop->getParentOp();
  while (!isa<LoopLikeOpInterface, dialect::ParallelOp, func::FuncOp>(around))
    around = around->getParentOp();
  return !isa<LoopLikeOpInterface>(around);
}

void noteLanes(scf::ForOp loop) {
  const dialect::LoopAttr attr = dialect::loopOf(loop);
  if (const dialect::DirectivesAttr said = attr.getDirectives())
    dialect::noteDone(loop, attr, {.vectorize = said.getVectorize()});
}

void dropDirectives(scf::ForOp loop) {
  const dialect::LoopAttr attr = dialect::loopOf(loop);
  const dialect::DirectivesAttr said = attr.getDirectives();
  if (!said)
    return;
  dialect::noteDone(loop, attr, {.unroll = said.getUnroll()});
  loop->setAttr(dialect::kLoopAttr, attr.withDirectives({}));
}

bool isHoldScheduled(Operation *op) {
  auto holds = [](Operation *each) {
    auto loop = dyn_cast<scf::ForOp>(each);
    const dialect::DirectivesAttr said =
        loop ? dialect::loopOf(loop).getDirectives() : dialect::DirectivesAttr();
    return said && !said.cachedIn(dialect::CachePlace::Registers).empty();
  };
  for (Operation *around = op->getParentOp(); around; around = around->getParentOp())
    if (holds(around))
      return true;
  return anyIn(op, holds);
}

std::optional<int64_t> minWithConstant(Value bound) {
  Operation *op = bound.getDefiningOp();
  if (!isa_and_nonnull<arith::MinUIOp, arith::MinSIOp>(op))
    return std::nullopt;
  std::optional<int64_t> constant = getConstantIntValue(op->getOperand(0));
  return constant ? constant : getConstantIntValue(op->getOperand(1));
}

std::optional<int64_t> exactTripCount(scf::ForOp loop) {
  std::optional<APInt> count = loop.getStaticTripCount();
  return count ? std::optional(count->getSExtValue()) : std::nullopt;
}

/// The least constant among what a bound is a minimum of, or minima of which it is one.
static std::optional<int64_t> leastConstant(Value bound) {
  Operation *op = bound.getDefiningOp();
  if (!isa_and_nonnull<arith::MinUIOp, arith::MinSIOp>(op))
    return getConstantIntValue(bound);
  const std::optional<int64_t> a = leastConstant(op->getOperand(0)), b = leastConstant(op->getOperand(1));
  return a && b ? std::min(*a, *b) : a ? a : b;
}

std::optional<int64_t> maxTripCount(scf::ForOp loop) {
  if (std::optional<int64_t> exactly = exactTripCount(loop))
    return exactly;
  if (std::optional<int64_t> tile = leastConstant(loop.getUpperBound()))
    if (std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()))
      return std::max<int64_t>(*tile - *lower, 0);
  Value length = otherOperand<arith::AddIOp>(loop.getUpperBound(), loop.getLowerBound());
  return length ? getConstantIntValue(length) : std::nullopt;
}

bool onlyLoads(Operation *op) {
  return op->getNumRegions() == 0 && (isMemoryEffectFree(op) || isa<memref::LoadOp, dialect::SegmentOp>(op));
}

void eraseDead(Block *block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

memref::LoadOp loadBehindCasts(Value value) {
  while (isa_and_nonnull<arith::IndexCastUIOp, arith::IndexCastOp, arith::ExtUIOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value.getDefiningOp<memref::LoadOp>();
}

bool isLoaded(Value value) { return loadBehindCasts(value) || value.getDefiningOp<dialect::SegmentOp>(); }

bool acceptsSlice(Value value, function_ref<std::optional<bool>(Value)> decide) {
  SmallVector<Value> open{value};
  llvm::SmallDenseSet<Value> seen{value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    std::optional<bool> accepted = decide(next);
    if (accepted == false)
      return false;
    Operation *op = next.getDefiningOp();
    if (!accepted && op)
      for (Value operand : op->getOperands())
        if (seen.insert(operand).second)
          open.push_back(operand);
  }
  return true;
}

bool isFunctionOfIndex(Value value, scf::ForOp inner, scf::ForOp outer) {
  return acceptsSlice(value, [&](Value value) -> std::optional<bool> {
    if (value == inner.getInductionVar() || outer.isDefinedOutsideOfLoop(value))
      return true;
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != inner.getBody() || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
      return false;
    return std::nullopt;
  });
}

bool iteratesSegments(scf::ForOp around, scf::ForOp loop) {
  auto segment = loop.getLowerBound().getDefiningOp<dialect::SegmentOp>();
  return segment && segment.getBegin() == loop.getLowerBound() && segment.getEnd() == loop.getUpperBound() &&
         segment.getAt() == around.getInductionVar() && segment->getBlock() == around.getBody() &&
         around.isDefinedOutsideOfLoop(segment.getPositions());
}

scf::ForOp rowLoopOf(scf::ForOp loop) {
  auto rows = loop->getParentOfType<scf::ForOp>();
  return rows && isOutermost(rows) && rows.getNumResults() == 0 && iteratesSegments(rows, loop)
             ? rows
             : scf::ForOp();
}

std::optional<Value> offsetFrom(Value index, scf::ForOp loop) {
  if (index == loop.getInductionVar())
    return Value();
  Value offset = otherOperand<arith::AddIOp>(index, loop.getInductionVar());
  return offset ? std::optional(offset) : std::nullopt;
}

static bool mayAccess(Operation *op, Value buffer) {
  return anyIn(op, [&](Operation *inside) {
    bool elsewhere = isa<memref::LoadOp, memref::StoreOp, dialect::SegmentOp>(inside) &&
                     !llvm::is_contained(inside->getOperands(), buffer);
    return !elsewhere && !inside->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
           !isMemoryEffectFree(inside);
  });
}

std::optional<InitLoop> asInitLoop(Operation *op, Value buffer) {
  InitLoop init;
  init.loop = dyn_cast<scf::ForOp>(op);
  if (!init.loop || init.loop.getNumRegionIterArgs() != 0 || !isZero(init.loop.getLowerBound()))
    return std::nullopt;
  auto stores = init.loop.getBody()->getOps<memref::StoreOp>();
  if (stores.empty() || (*stores.begin()).getMemRef() != buffer)
    return std::nullopt;
  memref::StoreOp store = *stores.begin();
  Value index = store.getIndices()[0];
  std::optional<Value> offset = offsetFrom(index, init.loop);
  bool onlyStores = llvm::all_of(init.loop.getBody()->without_terminator(), [&](Operation &inside) {
    return &inside == store || &inside == index.getDefiningOp();
  });
  if (!onlyStores || !offset || !matchPattern(store.getValueToStore(), m_Constant(&init.value)))
    return std::nullopt;
  init.offset = *offset;
  init.size = init.loop.getUpperBound();
  return init;
}

std::optional<InitLoop> findInitLoop(Operation *op, Value buffer) {
  while ((op = op->getPrevNode())) {
    if (std::optional<InitLoop> init = asInitLoop(op, buffer))
      return init;
    if (mayAccess(op, buffer))
      return std::nullopt;
  }
  return std::nullopt;
}

//===--- Transformations ---===//

void disableVectorization(scf::ForOp loop, LLVM::LoopUnrollAttr unroll) {
  MLIRContext *context = loop.getContext();
  auto vectorize =
      LLVM::LoopVectorizeAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  loop->setAttr(kLoopAnnotationAttr, LLVM::LoopAnnotationAttr::get(context, {}, vectorize, {}, unroll, {}, {},
                                                                   {}, {}, {}, {}, {}, {}, {}, {}, {}));
}

void disableUnrolling(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true), {}, {}, {}, {}, {}, {});
  loop->setAttr(kLoopAnnotationAttr, LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {},
                                                                   {}, {}, {}, {}, {}, {}, {}, {}));
}

void disableLoopTransforms(scf::ForOp loop) {
  auto yes = BoolAttr::get(loop.getContext(), true);
  disableVectorization(loop, LLVM::LoopUnrollAttr::get(loop.getContext(), yes, {}, {}, {}, {}, {}, {}));
}

void splitGroups(scf::ForOp loop, int64_t size,
                 function_ref<levels::Values(levels::IndicesAt at, Value first, ValueRange carried)> emit) {
  levels::Indices at(loop);
  Value lower = loop.getLowerBound(), step = at.constant(size);
  Value limit = at.sub(loop.getUpperBound(), at.constant(size - 1));
  levels::Values inits{lower};
  llvm::append_range(inits, loop.getInitArgs());
  auto groups = scf::ForOp::create(at.b, at.loc, lower, limit, step, inits);
  at.b.setInsertionPointToStart(groups.getBody());
  Value first = groups.getInductionVar();
  levels::Values results{at.add(first, step)};
  llvm::append_range(results, emit({at.b, at.loc}, first, groups.getRegionIterArgs().drop_front()));
  scf::YieldOp::create(at.b, at.loc, results);
  loop.getLowerBoundMutable().assign(groups.getResult(0));
  loop.getInitArgsMutable().assign(groups.getResults().drop_front());
  disableLoopTransforms(groups);
  disableLoopTransforms(loop);
}

void branch(OpBuilder &b, Location loc, Value condition, function_ref<void()> then,
            function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op.thenBlock()->getTerminator());
  then();
  b.setInsertionPoint(op.elseBlock()->getTerminator());
  otherwise();
}

scf::ForOp forSteps(OpBuilder &b, Location loc, Value lower, Value upper, Value step,
                    function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, lower, upper, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
  return loop;
}

Value storeApart(OpBuilder &b, Location loc, Value size, Value tensor,
                 function_ref<Value(Value, Value)> body) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value range = dialect::RangeOp::create(b, loc, zero, size);
  auto loop = dialect::IterateOp::create(b, loc, tensor.getType(), range, tensor,
                                         dialect::LoopAttr::get(b.getContext(), dialect::LoopKind::Parallel));
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&loop.getBody(), {}, {b.getIndexType(), tensor.getType()}, {loc, loc});
  dialect::YieldOp::create(b, loc, body(block->getArgument(0), block->getArgument(1)));
  return loop.getResult(0);
}

void emitPrefetch(OpBuilder &b, Location loc, Value buffer, Value index, bool isWrite, unsigned locality) {
  memref::PrefetchOp::create(b, loc, buffer, index, isWrite, locality, /*isDataCache=*/true);
}

void clonePrologue(OpBuilder &b, scf::ForOp loop, Value iteration, IRMapping &map) {
  map.map(loop.getInductionVar(), iteration);
  auto body = loop.getBody()->without_terminator();
  for (Operation &op : llvm::make_range(body.begin(), std::prev(body.end())))
    b.clone(op, map);
}

Value cloneSlice(OpBuilder &b, Value value, Block *block, IRMapping &map) {
  Operation *op = value.getDefiningOp();
  if (map.contains(value) || !op || op->getBlock() != block)
    return map.lookupOrDefault(value);
  for (Value operand : op->getOperands())
    cloneSlice(b, operand, block, map);
  b.clone(*op, map);
  return map.lookup(value);
}

Value cloneSlice(OpBuilder &b, Value value, scf::ForOp loop, Value iteration) {
  IRMapping map;
  map.map(loop.getInductionVar(), iteration);
  return cloneSlice(b, value, loop.getBody(), map);
}

std::pair<Value, Value> cloneBounds(OpBuilder &b, scf::ForOp loop, scf::ForOp around, Value iteration) {
  IRMapping map;
  map.map(around.getInductionVar(), iteration);
  Value begin = cloneSlice(b, loop.getLowerBound(), around.getBody(), map);
  return {begin, cloneSlice(b, loop.getUpperBound(), around.getBody(), map)};
}

} // namespace tulle::passes
