// A loop over blocks is a loop over their numbers, whose body partitions the space by its coordinate.
#include "passes/program/LoopBlocks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/program/TensorFlow.h"

using namespace mlir;
using namespace tulle::dialect;

namespace tulle::program {

PartitionOp blockOf(IterateOp loop) {
  BlockArgument number = loop.getBody().getArgument(0);
  if (!isa<RangeType>(loop.getSpace().getType()) || !number.hasOneUse())
    return {};
  auto chunk = dyn_cast<PartitionOp>(*number.user_begin());
  return chunk && chunk.getChunk() == number && !chunk.getTo() ? chunk : PartitionOp();
}

bool hasLoops(IterateOp loop) {
  return loop.getBody()
      .walk([](Operation *op) {
        return isa<IterateOp, CoiterateOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool isOutermostBesidesBlocks(IterateOp loop) {
  auto around = dyn_cast<IterateOp>(loop->getParentOp());
  return isa<func::FuncOp>(loop->getParentOp()) || (around && blockOf(around));
}

Value spaceOf(IterateOp loop) {
  PartitionOp block = blockOf(loop);
  return block ? block.getSpace() : loop.getSpace();
}

/// How many elements of a tensor belong to entries of which there are so many: all of them, if every level
/// has all coordinates. Null where levels are not dimensions, or an entry has one element.
static Value elementsOf(OpBuilder &b, Location loc, Value tensor, Value entries) {
  const format::Encoding &encoding = getEncoding(cast<RankedTensorType>(tensor.getType())).getValue();
  const std::optional<std::vector<format::Digit>> digits = format::digits(encoding);
  if (!digits || digits->size() != encoding.order())
    return {};
  auto isFull = [](const format::Level &level) { return format::isFull(level.format); };
  const auto tail = size_t(std::find_if_not(encoding.levels.rbegin(), encoding.levels.rend(), isFull).base() -
                           encoding.levels.begin());
  if (digits->size() <= std::max<size_t>(tail, 1))
    return {};
  Value elements = tail == 0 ? arith::ConstantIndexOp::create(b, loc, 1).getResult() : entries;
  for (size_t level = tail; level < digits->size(); ++level)
    elements =
        arith::MulIOp::create(b, loc, elements, tensor::DimOp::create(b, loc, tensor, (*digits)[level].dim));
  return elements;
}

Blocks blocksOf(OpBuilder &b, IterateOp loop, Value estimate, const iteration::Costs &costs) {
  Location loc = loop.getLoc();
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); };
  Value zero = constant(0);
  Value work = WorkOp::create(b, loc, loop.getSpace(), estimate);
  for (Value init : loop.getInits())
    if (Value elements = isa<RankedTensorType>(init.getType()) ? elementsOf(b, loc, init, work) : Value())
      work = arith::MaxUIOp::create(b, loc, work, elements);
  auto blocks = [&](int64_t entries) {
    return arith::CeilDivUIOp::create(b, loc, work, constant(entries)).getResult();
  };
  Value several =
      arith::MinUIOp::create(b, loc, blocks(costs.fewestBlockEntries), constant(costs.someBlocks));
  Value count = arith::MaxUIOp::create(b, loc, blocks(costs.fusedBlockEntries), several);
  return {RangeOp::create(b, loc, zero, count), loop.getSpace(), count, estimate};
}

Blocks blocksOf(IterateOp loop, PartitionOp block) {
  return {loop.getSpace(), block.getSpace(), block.getChunks(), block.getEstimate()};
}

/// Threads have blocks; what else is said of the loop is about its iterations.
static LoopAttr ofBlocks(LoopAttr loop) {
  DirectivesAttr own = loop.getDirectives();
  if (own)
    own = DirectivesAttr::get(loop.getContext(), {.computeAt = own.getComputeAt(),
                                                  .parallelize = own.getParallelize(),
                                                  .ifPossible = own.getIfPossible()});
  return loop.ofBlocks(own);
}

IterateOp inBlocks(IterateOp loop, const Blocks &blocks) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  LoopAttr attr = loop.getLoop();
  auto outer = IterateOp::create(b, loc, loop.getResultTypes(), blocks.range, loop.getInits(), ofBlocks(attr),
                                 /*each=*/false);
  if (DirectivesAttr own = attr.getDirectives()) {
    Directives said = own.all();
    said.parallelize = {};
    loop.setLoopAttr(attr.withDirectives(DirectivesAttr::get(b.getContext(), said)));
  }
  SmallVector<Type> types{b.getIndexType()};
  llvm::append_range(types, loop.getResultTypes());
  Block *body = b.createBlock(&outer.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
  Value space = PartitionOp::create(b, loc, blocks.space, body->getArgument(0), /*to=*/Value(), blocks.count,
                                    blocks.estimate);
  loop.replaceAllUsesWith(outer);
  loop->moveBefore(body, body->end());
  loop.getSpaceMutable().assign(space);
  loop.getInitsMutable().assign(body->getArguments().drop_front());
  b.setInsertionPointToEnd(body);
  YieldOp::create(b, loc, loop.getResults());
  return outer;
}

void unifyBlocks(IterateOp loop) {
  PartitionOp first;
  for (PartitionOp block : llvm::make_early_inc_range(loop.getBody().getOps<PartitionOp>())) {
    if (block.getChunk() != loop.getBody().getArgument(0))
      continue;
    if (!first) {
      first = block;
      continue;
    }
    block.replaceAllUsesWith(first.getResult());
    block.erase();
  }
}

//===--- Accesses at a loop's own coordinate ---===//

/// Whether the coordinates of the inner loop are those of `loop`: it is that loop, or visits one block of it.
static bool visits(IterateOp inner, IterateOp loop) {
  PartitionOp block = blockOf(loop);
  return block ? inner.getSpace() == block.getResult() : inner == loop;
}

/// The loop whose coordinate, or whose iterator, the value is.
static IterateOp loopWith(Value value, unsigned argument) {
  auto known = dyn_cast<BlockArgument>(value);
  auto loop = known ? dyn_cast<IterateOp>(known.getOwner()->getParentOp()) : IterateOp();
  return loop && known.getArgNumber() == argument ? loop : IterateOp();
}

/// The level of a tensor at which every access that leads to `iterator` is at the loop's own coordinate: it
/// is located at that, or is the loop's iterator.
static std::optional<uint64_t> ownLevel(Value iterator, IterateOp loop) {
  while (iterator) {
    if (auto locate = iterator.getDefiningOp<LocateOp>()) {
      if (IterateOp at = loopWith(locate.getCoordinate(), 0); at && visits(at, loop))
        return locate.getLevel();
      iterator = locate.getParent();
      continue;
    }
    IterateOp around = loopWith(iterator, 1);
    if (!around)
      return std::nullopt;
    auto chunk = around.getSpace().getDefiningOp<PartitionOp>();
    auto space = (chunk ? chunk.getSpace() : around.getSpace()).getDefiningOp<SpaceOp>();
    if (!space)
      return std::nullopt;
    if (visits(around, loop))
      return space.getLevel();
    iterator = space.getParent();
  }
  return std::nullopt;
}

bool OwnAccesses::isOwn(Value iterator) {
  std::optional<uint64_t> found = ownLevel(iterator, loop);
  if (!found || (at && *at != *found))
    return false;
  at = found;
  return true;
}

bool OwnAccesses::add(Value tensor) {
  if (!seen.insert(tensor).second)
    return true;
  return llvm::all_of(tensor.getUses(), [&](OpOperand &use) {
    Operation *op = use.getOwner();
    if (!loop->isProperAncestor(op) || readsPattern(op))
      return true;
    if (auto load = dyn_cast<LoadOp>(op))
      return isOwn(load.getIterator());
    if (auto store = dyn_cast<StoreOp>(op); store && !isOwn(store.getIterator()))
      return false;
    SmallVector<Value> next = continuations(use);
    if (op == loop.getBody().front().getTerminator())
      return true; // the next iteration's
    return !next.empty() && llvm::all_of(next, [&](Value value) { return add(value); });
  });
}

BlockArgument carriedArgument(IterateOp loop, unsigned number) {
  Block &body = loop.getBody().front();
  return body.getArgument(unsigned(body.getNumArguments() - loop.getInits().size()) + number);
}

} // namespace tulle::program
